//! A budget that several Gaussian mechanisms spend together.

use crate::{Calibration, gaussian_delta};

/// The one Gaussian mechanism that several ones are together, `mu = sqrt(sum mu_i^2)`, also when each is chosen by the
/// results of those before. `mu` is the L2 sensitivity over the standard deviation of the noise.
///
/// Obligation: for neighbours the outputs of mechanism i differ as `N(mu_i, 1)` from `N(0, 1)` at most; a product of such
/// pairs is `N(mu, 1)` against `N(0, 1)` by rotation. Source: Dong, Roth and Su 2022, Corollary 3.3.
///
/// ```
/// assert_eq!(dpgp_accounting::composed_mu([3.0, 4.0]), 5.0);
/// ```
pub fn composed_mu(each: impl IntoIterator<Item = f64>) -> f64 {
    each.into_iter().map(|mu| mu * mu).sum::<f64>().sqrt()
}

/// An epsilon and a delta that all releases together must keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivacyBudget {
    /// Epsilon, positive and finite.
    pub epsilon: f64,
    /// Delta, between 0 and 1.
    pub delta: f64,
}

impl PrivacyBudget {
    /// Whether a Gaussian mechanism with this `mu` keeps the budget: it has at least the noise of exact calibration. A
    /// release with that very noise fills the budget.
    pub fn admits(self, mu: f64) -> bool {
        mu <= self.max_mu()
    }

    /// The greatest `mu` whose exact delta at epsilon is at most delta.
    fn max_mu(self) -> f64 {
        1.0 / Calibration::Analytic.sigma(self.epsilon, self.delta)
    }

    /// The exact delta of this `mu` at the budget's epsilon; zero where nothing was released.
    pub fn delta_at(self, mu: f64) -> f64 {
        if mu == 0.0 { 0.0 } else { gaussian_delta(1.0 / mu, self.epsilon) }
    }

    /// The greatest `mu` of one more release after those that make `spent`, zero if none is left.
    pub fn remaining_mu(self, spent: f64) -> f64 {
        let limit = self.max_mu();
        (limit * limit - spent * spent).max(0.0).sqrt()
    }

    /// The epsilon of one of several releases at the budget's delta that together fill the budget, where this one takes a share between
    /// 0 and 1 of the sum of `mu^2`.
    ///
    /// ```
    /// use dpgp_accounting::PrivacyBudget;
    /// let budget = PrivacyBudget { epsilon: 1.0, delta: 1e-5 };
    /// assert!((budget.share_epsilon(1.0) - 1.0).abs() < 1e-9);
    /// assert!((budget.share_epsilon(0.25) - 0.4687).abs() < 1e-4); // one of four
    /// ```
    pub fn share_epsilon(self, share: f64) -> f64 {
        epsilon_of(self.max_mu() * share.sqrt(), self.delta)
    }

    /// The epsilon of one more release at a delta, after those that make `spent`: the least at which its exact delta is
    /// at most `delta`, by bisection.
    pub fn remaining_epsilon(self, spent: f64, delta: f64) -> f64 {
        epsilon_of(self.remaining_mu(spent), delta)
    }
}

/// The least epsilon at which the exact delta of a Gaussian mechanism with this `mu` is at most `delta`, by bisection and
/// rounded up; zero where delta alone suffices, and infinite where no number is great enough.
///
/// ```
/// use dpgp_accounting::{epsilon_of, gaussian_delta};
/// let epsilon = epsilon_of(0.5, 1e-6);
/// assert!((gaussian_delta(2.0, epsilon) / 1e-6 - 1.0).abs() < 1e-9);
/// assert_eq!(epsilon_of(0.0, 1e-6), 0.0);
/// ```
pub fn epsilon_of(mu: f64, delta: f64) -> f64 {
    if is_within(mu, 0.0, delta) {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while !is_within(mu, high, delta) {
        // Epsilon is about mu^2 / 2, which overflows before mu does.
        if high.is_infinite() {
            return high;
        }
        high *= 2.0;
    }
    while high - low > 1e-12 * high {
        let middle = 0.5 * (low + high);
        if is_within(mu, middle, delta) { high = middle } else { low = middle }
    }
    high
}

fn is_within(mu: f64, epsilon: f64, delta: f64) -> bool {
    PrivacyBudget { epsilon, delta }.delta_at(mu) <= delta
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Releases with `mu` of 3/5 and 4/5 of the limit are one with the limit, whose exact delta is the budget's.
    #[test]
    fn what_is_left_fills_the_budget() {
        let budget = PrivacyBudget { epsilon: 0.7, delta: 1e-6 };
        let limit = budget.remaining_mu(0.0);
        assert!((gaussian_delta(1.0 / limit, 0.7) / 1e-6 - 1.0).abs() < 1e-6);
        assert!((budget.remaining_mu(0.6 * limit) / (0.8 * limit) - 1.0).abs() < 1e-12);
        assert!((composed_mu([0.6 * limit, 0.8 * limit]) / limit - 1.0).abs() < 1e-14);
        assert_eq!(budget.remaining_mu(1.1 * limit), 0.0);
        let left = budget.remaining_epsilon(0.6 * limit, 1e-8);
        assert!((gaussian_delta(1.0 / (0.8 * limit), left) / 1e-8 - 1.0).abs() < 1e-6);
    }

    /// Of mpmath, at epsilon 1 and delta 1e-5; the shares of a split fill the budget.
    #[test]
    fn shares_fill_the_budget() {
        let budget = PrivacyBudget { epsilon: 1.0, delta: 1e-5 };
        for (share, epsilon) in [(0.25, 0.468_710_158_354), (0.5, 0.684_148_924_227), (0.75, 0.854_049_039_212)] {
            assert!((budget.share_epsilon(share) / epsilon - 1.0).abs() < 1e-9, "{share}");
        }
        let limits = [0.2, 0.3, 0.5].map(|share| {
            let one = PrivacyBudget { epsilon: budget.share_epsilon(share), delta: budget.delta };
            one.remaining_mu(0.0)
        });
        assert!((composed_mu(limits) / budget.remaining_mu(0.0) - 1.0).abs() < 1e-9);
    }

    /// The smallest budgets have all digits too.
    #[test]
    fn small_epsilons_keep_their_digits() {
        for (mu, delta) in [(1e-6, 1e-9), (1e-4, 1e-6)] {
            let epsilon = epsilon_of(mu, delta);
            assert!((gaussian_delta(1.0 / mu, epsilon) / delta - 1.0).abs() < 1e-5, "{mu}: {epsilon:e}");
        }
    }
}
