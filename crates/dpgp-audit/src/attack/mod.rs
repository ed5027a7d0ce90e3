//! Lower bounds on epsilon and delta from outputs of a mechanism under two neighbouring inputs.
//!
//! The attack does not use the code or the proof of the mechanism, so it finds mistakes that both share. Sources: Ding et al.
//! 2018, "Detecting violations of differential privacy"; Bichsel et al. 2021, "DP-Sniper".
//!
//! A [`OutputScore`](outputs::OutputScore) turns an output into a number, and a half-line of that number is a set of outputs. Scores and
//! half-lines are chosen on some outputs and judged on others, by Clopper-Pearson bounds.
//!
//! | score | what it finds |
//! |---|---|
//! | a column | noise of too small a scale, tails, ends of the support |
//! | the difference of two columns | noise that is used twice |
//! | a table of whole outputs | symbols, sequences of symbols, numbers that only one input can give |
//! | a table of the frequent values of all columns | symbols among numbers |
//! | a table of the size of a number and the place of its last bit | numbers that floating-point arithmetic cannot give |
//! | a logistic regression on curves of all columns | leaks that only many columns together show |

mod contest;
mod half_line;
mod outputs;

use crate::binomial::BinomialTrials;
use dpgp_accounting::Guarantee;
use half_line::BoundGoal;

pub use contest::DistinguishingSets;
use outputs::LAST_BITS;
pub use outputs::MechanismOutputs;

/// Lower bounds that outputs prove.
#[derive(Debug, Clone, PartialEq)]
pub struct PrivacyLowerBounds {
    /// Epsilon is at least this, at the claimed delta.
    pub epsilon: f64,
    /// Delta is at least this, at the claimed epsilon.
    pub delta: f64,
    /// The set of outputs that proves the epsilon, in words.
    pub set: String,
}

impl PrivacyLowerBounds {
    /// Whether the claim is refuted.
    pub fn refute(&self, claim: Guarantee) -> bool {
        self.epsilon > claim.epsilon || self.delta > claim.delta
    }

    /// Whether the bound comes from the last bits of floating-point numbers, not from too little noise.
    pub fn shows_floating_point_leak(&self) -> bool {
        self.set.contains(LAST_BITS)
    }
}

/// Evidence of outputs under two neighbouring inputs against a claim, with the given confidence.
///
/// Obligation: the outputs are independent draws in an order that tells nothing. Sets are chosen on the first halves, so
/// that the other halves are independent of the choice; there their probabilities are bounded by Clopper and Pearson. Two
/// sets, one for epsilon and one for delta, have two bounds each: by the union bound all four hold together if each has a
/// quarter of the error.
///
/// ```
/// use dpgp_audit::{MechanismOutputs, attack};
/// use dpgp_accounting::Guarantee;
/// // The true bit is told 90 times in 100: epsilon is ln 9 = 2.197.
/// let told = |bit: f64| (0..20_000).map(|i| if i % 10 == 0 { 1.0 - bit } else { bit }).collect();
/// let [one, other] = [1.0, 0.0].map(|bit| MechanismOutputs::new(1, told(bit)));
/// let found = attack([&one, &other], Guarantee::pure(1.0), 0.95);
/// assert!(found.epsilon > 2.0 && found.epsilon < 2.197 && found.refute(Guarantee::pure(1.0)));
/// ```
pub fn attack(outputs: [&MechanismOutputs; 2], claim: Guarantee, confidence: f64) -> PrivacyLowerBounds {
    let [one, other] = outputs.map(MechanismOutputs::halves);
    let mut contests = DistinguishingSets::from_outputs([&one[0], &other[0]], claim);
    contests.observe([&one[1], &other[1]]);
    contests.lower_bounds(1.0 - confidence)
}

/// The greatest epsilon that an [`attack`] on as many outputs can prove: all of one and none of the other lie in its set.
pub fn max_provable_epsilon(outputs: [&MechanismOutputs; 2], claim: Guarantee, confidence: f64) -> f64 {
    let [one, other] = outputs.map(|outputs| (outputs.len() - outputs.len() / 2) as u32);
    let (all, none) = (BinomialTrials { successes: one, trials: one }, BinomialTrials { successes: 0, trials: other });
    let error = (1.0 - confidence) / 4.0;
    BoundGoal::Epsilon { delta: claim.delta }
        .bound_from_probabilities(all.lower_confidence_bound(error), none.upper_confidence_bound(error))
        .max(0.0)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    use super::*;

    fn normal(mean: f64, seed: u8) -> Vec<f64> {
        let mut stream = Pcg64::from_seed([seed; 32]);
        let mut numbers = Vec::with_capacity(20_000);
        for _ in 0..20_000 {
            let z: f64 = StandardNormal.sample(&mut stream);
            numbers.push(mean + z);
        }
        numbers
    }

    /// Multiples of `2^-20`, whose last bits tell nothing.
    fn rounded(mean: f64, seed: u8) -> MechanismOutputs {
        let scale = 2f64.powi(20);
        MechanismOutputs::new(1, normal(mean, seed).iter().map(|x| (x * scale).round() / scale).collect())
    }

    /// Two normal distributions one standard deviation apart: the truth at delta 0.01 is epsilon 2.23, and at epsilon 1 it
    /// is delta 0.127.
    #[test]
    fn a_known_difference_is_found_and_not_exceeded() {
        let claim = Guarantee { epsilon: 1.0, delta: 0.01 };
        let [one, other] = [rounded(0.0, 1), rounded(1.0, 2)];
        let found = attack([&one, &other], claim, 0.95);
        assert!(found.epsilon > 1.2 && found.epsilon < 2.23, "{found:?}");
        assert!(found.delta > 0.08 && found.delta < 0.127, "{found:?}");
        assert!(found.refute(claim));
        assert_eq!(found, attack([&one, &other], claim, 0.95));
    }

    /// The same numbers as doubles: noise on 1 cannot reach the doubles that noise on 0 reaches.
    #[test]
    fn the_last_bits_of_doubles_tell_them_apart() {
        let [one, other] = [normal(0.0, 1), normal(1.0, 2)].map(|numbers| MechanismOutputs::new(1, numbers));
        let found = attack([&one, &other], Guarantee { epsilon: 1.0, delta: 0.127 }, 0.95);
        assert!(found.epsilon > 5.0 && found.set.contains("last bit"), "{found:?}");
    }

    #[test]
    fn no_difference_proves_nothing() {
        let found = attack([&rounded(0.0, 3), &rounded(0.0, 4)], Guarantee::pure(0.1), 0.99);
        assert!(found.epsilon < 0.05 && found.delta == 0.0, "{found:?}");
    }

    /// Of 1000 outputs 500 judge; with an error of 0.0125 for each bound they prove `p >= 0.0125^(1/500)`, `q <= 1 - p`.
    #[test]
    fn more_cannot_be_proved_than_all_against_none() {
        let [one, other] = [0.0, 1.0].map(|x| MechanismOutputs::new(1, vec![x; 1000]));
        let claim = Guarantee::pure(1.0);
        let most = max_provable_epsilon([&one, &other], claim, 0.95);
        let p = 0.0125f64.powf(0.002);
        assert!((most - (p / (1.0 - p)).ln()).abs() < 1e-9, "{most}");
        assert_eq!(attack([&one, &other], claim, 0.95).epsilon, most);
    }

    #[test]
    fn no_outputs_prove_nothing() {
        let none = MechanismOutputs::new(2, Vec::new());
        let few = MechanismOutputs::new(2, vec![0.0; 6]);
        for outputs in [[&none, &none], [&few, &none], [&few, &few]] {
            let found = attack(outputs, Guarantee::pure(0.1), 0.95);
            assert_eq!((found.epsilon, found.delta), (0.0, 0.0), "{found:?}");
        }
    }
}
