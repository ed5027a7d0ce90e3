//! A lower bound on epsilon from samples of a mechanism under two neighbouring data sets.

use super::binomial::Count;

/// Thresholds that are tried.
const THRESHOLDS: usize = 200;

/// The epsilon that the samples prove, with the given confidence: if the mechanism were (epsilon, delta)-private with a
/// smaller one, a set with probabilities p and q would have `p <= e^epsilon q + delta`. The set is a half-line, chosen on the first half
/// of the samples; its probabilities are bounded on the other half by Clopper and Pearson, each with half of the error.
/// Zero where nothing is proved.
pub(super) fn epsilon_at_least(one: &[f64], other: &[f64], delta: f64, confidence: f64) -> f64 {
    let (one, other) = (one.split_at(one.len() / 2), other.split_at(other.len() / 2));
    let error = 0.5 * (1.0 - confidence);
    let mut best = (f64::NEG_INFINITY, None);
    for set in sets(one.0, other.0) {
        for swapped in [false, true] {
            let (p, q) = if swapped { (other.0, one.0) } else { (one.0, other.0) };
            let guess = proved(set.count(p), set.count(q), delta, 0.3);
            if guess > best.0 {
                best = (guess, Some((set, swapped)));
            }
        }
    }
    let Some((set, swapped)) = best.1 else { return 0.0 };
    let (p, q) = if swapped { (other.1, one.1) } else { (one.1, other.1) };
    proved(set.count(p), set.count(q), delta, error).max(0.0)
}

/// `ln((p - delta) / q)` for the least p and the greatest q.
fn proved(p: Count, q: Count, delta: f64, error: f64) -> f64 {
    let (least, most) = (p.at_least(error) - delta, q.at_most(error));
    if least > 0.0 { (least / most).ln() } else { f64::NEG_INFINITY }
}

/// The numbers from a threshold on, or those below it.
#[derive(Debug, Clone, Copy)]
struct HalfLine {
    threshold: f64,
    above: bool,
}

impl HalfLine {
    fn count(self, samples: &[f64]) -> Count {
        let inside = samples.iter().filter(|x| (**x >= self.threshold) == self.above).count();
        Count { successes: inside as u32, trials: samples.len() as u32 }
    }
}

/// Half-lines at quantiles of all samples.
fn sets(one: &[f64], other: &[f64]) -> Vec<HalfLine> {
    let mut all = [one, other].concat();
    all.sort_by(f64::total_cmp);
    let step = (all.len() / THRESHOLDS).max(1);
    let mut thresholds: Vec<f64> = all.into_iter().step_by(step).collect();
    thresholds.dedup();
    thresholds
        .into_iter()
        .flat_map(|threshold| [true, false].map(|above| HalfLine { threshold, above }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    fn samples(mean: f64, seed: u8) -> Vec<f64> {
        let mut stream = Pcg64::from_seed([seed; 32]);
        let normal = |_| {
            let z: f64 = StandardNormal.sample(&mut stream);
            mean + z
        };
        (0..20_000).map(normal).collect()
    }

    /// Two normal distributions one standard deviation apart: the truth at delta 0.01 is epsilon 2.23.
    #[test]
    fn a_known_difference_is_found_and_not_exceeded() {
        let found = epsilon_at_least(&samples(0.0, 1), &samples(1.0, 2), 0.01, 0.95);
        assert!(found > 1.0 && found < 2.23, "{found}");
        assert_eq!(found, epsilon_at_least(&samples(0.0, 1), &samples(1.0, 2), 0.01, 0.95));
    }

    #[test]
    fn no_difference_proves_nothing() {
        let found = epsilon_at_least(&samples(0.0, 3), &samples(0.0, 4), 0.0, 0.99);
        assert!(found < 0.05, "{found}");
    }
}
