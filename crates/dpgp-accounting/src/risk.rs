//! The risk behind a guarantee, in terms that people can judge.
//!
//! An attacker knows that the dataset is one of two neighbours and decides between them from the release. A
//! guarantee bounds each pair of error rates, and so the quantities here (Wasserman and Zhou 2010, Theorem
//! 2.4; Kairouz, Oh and Viswanath 2015, Theorem 2.1; Dong, Roth and Su 2022, Section 2).

use dpgp_number::{ThresholdBracket, bisect, normal_cdf};

/// What an attacker gains from a release at most, who decides between two neighbouring data sets.
///
/// ```
/// use dpgp_accounting::AttackRisk;
///
/// let risk = AttackRisk::of_gaussian(0.27);
/// assert_eq!(
///     risk.describe_risk("two versions of one record"),
///     "Someone who knows everything else and gives even odds to two versions of one record guesses right at most 55.4 % of the time."
/// );
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttackRisk {
    /// The greatest difference of the rates of true and false alarms: 0 if the release reveals nothing, 1 if it reveals which of the two
    /// it is.
    pub advantage: f64,
    /// The greatest rate of true alarms where 1 % of the other alarms are false.
    pub true_positive_rate: f64,
}

/// The rate of false alarms at which [`AttackRisk::true_positive_rate`] is stated.
pub const FALSE_POSITIVE_RATE: f64 = 0.01;

impl AttackRisk {
    /// The risk of mu-Gaussian differential privacy.
    ///
    /// The best test is between N(0, 1) and N(mu, 1). At the false alarm rate a it finds `Phi(Phi^-1(a) + mu)`, and the difference from a
    /// is greatest in the middle: `2 Phi(mu / 2) - 1`.
    pub fn of_gaussian(mu: f64) -> Self {
        Self {
            // The difference of two normal probabilities, without cancellation for small mu.
            advantage: libm::erf(0.5 * mu * std::f64::consts::FRAC_1_SQRT_2),
            true_positive_rate: normal_cdf(normal_quantile(FALSE_POSITIVE_RATE) + mu),
        }
    }

    /// The risk of (epsilon, delta)-differential privacy alone.
    ///
    /// True and false alarm rates t and a satisfy `t <= e^epsilon a + delta` and `1 - a <= e^epsilon (1 - t) + delta`; where both are
    /// equalities, `t - a = (e^epsilon - 1 + 2 delta) / (e^epsilon + 1)`.
    pub fn of_budget(epsilon: f64, delta: f64) -> Self {
        let (less, a) = ((-epsilon).exp(), FALSE_POSITIVE_RATE);
        // Multiplied by e^-epsilon, so that no epsilon overflows.
        let advantage = (1.0 - less + 2.0 * delta * less) / (1.0 + less);
        let low = epsilon.exp() * a + delta;
        let high = 1.0 - less * (1.0 - delta - a);
        Self { advantage: advantage.min(1.0), true_positive_rate: low.min(high).min(1.0) }
    }

    /// The largest probability of a right guess between two data sets with even odds: without the release it is 1/2.
    pub fn max_right_guess_probability(&self) -> f64 {
        0.5 * (1.0 + self.advantage)
    }

    /// States the risk in a sentence for lay readers. `alternatives` names two neighbouring data sets, to which even odds are given.
    ///
    /// A guarantee bounds one decision between two data sets. It says less of guesses among several, and nothing of data sets that are
    /// further apart, so the sentence names both.
    pub fn describe_risk(&self, alternatives: &str) -> String {
        let share = self.max_right_guess_percent();
        format!(
            "Someone who knows everything else and gives even odds to {alternatives} guesses right at most {share:.1} % of the time."
        )
    }

    /// The same share of right guesses in percent, rounded up to a tenth, so that it stays a bound.
    pub fn max_right_guess_percent(&self) -> f64 {
        (1000.0 * self.max_right_guess_probability().next_up()).ceil().min(1000.0) / 10.0
    }

    /// The true positive rate per thousand, rounded up: of 1,000 people whose data are in question, the most that an attack
    /// finds whose false positive rate is [`FALSE_POSITIVE_RATE`].
    pub fn max_true_positives_per_thousand(&self) -> u32 {
        (1000.0 * self.true_positive_rate).ceil().min(1000.0) as u32
    }
}

/// The argument at which the normal distribution function is `p`, from 1e-300 to a half.
fn normal_quantile(p: f64) -> f64 {
    let ThresholdBracket { high, .. } = bisect(-40.0, 0.0, |x| normal_cdf(x) > p);
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of Python's `statistics.NormalDist`; `riskcal` 1.5.1 has the same to 1e-14.
    #[test]
    fn gaussian_releases() {
        for (mu, advantage, rate) in [
            (0.1, 0.039_877_611_676_74, 0.012_995_444_546_15),
            (1.0, 0.382_924_922_548_03, 0.092_362_248_073_69),
            (3.0, 0.866_385_597_462_28, 0.749_733_747_466_80),
        ] {
            let risk = AttackRisk::of_gaussian(mu);
            assert!((risk.advantage - advantage).abs() < 1e-12, "{mu}: {risk:?}");
            assert!((risk.true_positive_rate - rate).abs() < 1e-12, "{mu}: {risk:?}");
        }
        assert_eq!(AttackRisk::of_gaussian(0.0).max_right_guess_probability(), 0.5);
    }

    /// Values of `riskcal` 1.5.1.
    #[test]
    fn budgets_alone() {
        for (epsilon, delta, advantage, rate) in [
            (1.0, 1e-5, 0.462_122_536_088_44, 0.027_192_818_284_59),
            (4.0, 1e-6, 0.964_027_616_048_24, 0.545_982_500_331_44),
            (3.0, 0.01, 0.906_096_771_108_42, 0.210_855_369_231_88),
        ] {
            let risk = AttackRisk::of_budget(epsilon, delta);
            assert!((risk.advantage - advantage).abs() < 1e-12, "{epsilon}: {risk:?}");
            assert!((risk.true_positive_rate - rate).abs() < 1e-12, "{epsilon}: {risk:?}");
        }
        let all = AttackRisk::of_budget(f64::INFINITY, 0.0);
        assert_eq!((all.advantage, all.max_true_positives_per_thousand()), (1.0, 1000));
    }

    /// A Gaussian release is no worse than its epsilon and delta say.
    #[test]
    fn what_is_known_exactly_is_less() {
        for mu in [0.1, 0.5, 1.0, 2.0] {
            let (exact, sigma) = (AttackRisk::of_gaussian(mu), 1.0 / mu);
            for epsilon in [0.1, 1.0, 4.0] {
                let bound = AttackRisk::of_budget(epsilon, crate::gaussian_delta_upper_bound(sigma, epsilon));
                assert!(exact.advantage <= bound.advantage + 1e-12, "{mu} {epsilon}");
                assert!(exact.true_positive_rate <= bound.true_positive_rate + 1e-12, "{mu} {epsilon}");
            }
        }
    }
}
