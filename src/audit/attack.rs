//! A lower bound on epsilon from samples of a mechanism under two neighbouring data sets.
//!
//! It knows nothing of the mechanism: it finds a mistake of a proof or of the code where both share it. Source: Ding et al. 2018,
//! "Detecting violations of differential privacy"; Bichsel et al. 2021, "DP-Sniper".

use super::binomial::Trials;

/// Thresholds that are tried, at equal shares of the samples.
const THRESHOLDS: usize = 200;

/// The epsilon that the samples prove, with the given confidence; zero where nothing is proved.
///
/// Obligation: an (epsilon, delta)-private mechanism has `p <= e^epsilon q + delta` for the probabilities p, q of any set
/// under neighbours, so `epsilon >= ln((p - delta) / q)`. The set is a half-line, chosen on the first half of the samples,
/// so that the other half is independent of the choice; there p and q are bounded by Clopper and Pearson, each with half
/// of the error (a union bound).
pub(super) fn epsilon_at_least(one: &[f64], other: &[f64], delta: f64, confidence: f64) -> f64 {
    let (one, other) = (one.split_at(one.len() / 2), other.split_at(other.len() / 2));
    let error = 0.5 * (1.0 - confidence);
    let (mut best, mut chosen) = (f64::NEG_INFINITY, None);
    for set in sets(one.0, other.0) {
        for swapped in [false, true] {
            let attack = Attack { set, swapped };
            // Loose bounds choose well enough; they prove nothing, so that trying many sets costs no confidence.
            let guess = attack.proves(one.0, other.0, delta, 0.3);
            if guess > best {
                (best, chosen) = (guess, Some(attack));
            }
        }
    }
    chosen.map_or(0.0, |attack| attack.proves(one.1, other.1, delta, error).max(0.0))
}

/// A set, and which of the two data sets should fall into it more often.
#[derive(Debug, Clone, Copy)]
struct Attack {
    set: HalfLine,
    swapped: bool,
}

impl Attack {
    /// `ln((p - delta) / q)` for the least p and the greatest q.
    fn proves(self, one: &[f64], other: &[f64], delta: f64, error: f64) -> f64 {
        let (p, q) = if self.swapped { (other, one) } else { (one, other) };
        let (least, most) = (self.set.count(p).at_least(error) - delta, self.set.count(q).at_most(error));
        if least > 0.0 { (least / most).ln() } else { f64::NEG_INFINITY }
    }
}

/// The numbers from a threshold on, or those below it.
#[derive(Debug, Clone, Copy)]
struct HalfLine {
    threshold: f64,
    above: bool,
}

impl HalfLine {
    /// How many samples lie in it.
    fn count(self, samples: &[f64]) -> Trials {
        let inside = samples.iter().filter(|x| (**x >= self.threshold) == self.above).count();
        Trials { successes: inside as u32, trials: samples.len() as u32 }
    }
}

/// Half-lines at quantiles of all samples, both sides of each: likelihood ratios that rise or fall along the output, as
/// those of noise on one number, are told apart best by one of them (Neyman and Pearson).
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
        let mut samples = Vec::with_capacity(20_000);
        for _ in 0..20_000 {
            let z: f64 = StandardNormal.sample(&mut stream);
            samples.push(mean + z);
        }
        samples
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
