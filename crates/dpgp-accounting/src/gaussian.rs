//! The exact account of Gaussian noise on full batches, a budget that several Gaussian mechanisms spend together, and
//! zero-concentrated differential privacy.
//!
//! rho-zCDP bounds every Rényi divergence of order a between neighbours by `rho a`, and rho adds up over
//! adaptive releases (Bun and Steinke 2016, Definition 1.1 and Lemma 2.3).

use super::root::{Bracket, BracketSearchRange};
use super::{
    Accountant, AccountingError, EpsilonOrDeltaBounds, GivenEpsilonOrDelta, NeighbourRelation, PrivacyEvent, Sampling,
};
use crate::{Calibration, gaussian_delta, gaussian_delta_upper_bound};
use dpgp_number::bisect;

/// The exact accountant of full batches: `T` steps of noise multiplier `m` are one Gaussian mechanism with standard
/// deviation `m / (s sqrt(T))` per unit of sensitivity, `s = 1` for add-remove and 2 for replace-one neighbours.
/// Also when steps depend on earlier ones, since every pair of neighbours is dominated by the pair
/// `N(1, .), N(0, .)`. Source: Dong, Roth and Su 2022, Corollary 3.3; Balle and Wang 2018, Theorem 8.
///
/// Of delta, the upper bound is [`gaussian_delta_upper_bound`] and the lower one [`gaussian_delta`]; of epsilon, where the first of them
/// passes delta.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactGaussianAccountant;

impl Accountant for ExactGaussianAccountant {
    fn name(&self) -> &'static str {
        "exact Gaussian"
    }

    fn bound_missing_parameter(
        &self,
        event: &PrivacyEvent,
        relation: NeighbourRelation,
        given: GivenEpsilonOrDelta,
    ) -> Result<EpsilonOrDeltaBounds, AccountingError> {
        if event.sampling.rate_one_as_full_batch() != Sampling::FullBatch {
            return Err(self.refusal(event, relation, "it does not support subsampling", "full batches"));
        }
        let sigma = event.noise_multiplier / (relation.unit_norm_sum_sensitivity() * f64::from(event.steps).sqrt());
        match given {
            GivenEpsilonOrDelta::Delta(delta) => gaussian_epsilon_bounds(sigma, delta),
            GivenEpsilonOrDelta::Epsilon(epsilon) => {
                let lower = gaussian_delta(sigma, epsilon);
                Ok(EpsilonOrDeltaBounds {
                    lower,
                    ..EpsilonOrDeltaBounds::from_upper_bound(gaussian_delta_upper_bound(sigma, epsilon))
                })
            }
        }
    }
}

/// The epsilon at which the exact delta, which falls along it, passes `delta`; bounds are the ends of the last bracket.
fn gaussian_epsilon_bounds(sigma: f64, delta: f64) -> Result<EpsilonOrDeltaBounds, AccountingError> {
    if log_delta_ratio(sigma, delta, 0.0) <= 0.0 {
        return Ok(EpsilonOrDeltaBounds::from_upper_bound(0.0));
    }
    let search = BracketSearchRange { start: 0.0, stride: 1.0 / sigma, least: 0.0, greatest: f64::MAX };
    let Some(bracket) = Bracket::search(|epsilon| Ok(log_delta_ratio(sigma, delta, epsilon)), search)? else {
        return Ok(EpsilonOrDeltaBounds::from_upper_bound(f64::INFINITY));
    };
    let tight = bracket.narrow(|epsilon| Ok(log_delta_ratio(sigma, delta, epsilon)), 1e-13 * bracket.high.x)?;
    Ok(EpsilonOrDeltaBounds { lower: tight.low.x, ..EpsilonOrDeltaBounds::from_upper_bound(tight.high.x) })
}

/// The logarithm of the exact delta at epsilon over `delta`.
fn log_delta_ratio(sigma: f64, delta: f64, epsilon: f64) -> f64 {
    (gaussian_delta_upper_bound(sigma, epsilon) / delta).ln()
}

/// `rho + 2 sqrt(rho ln(1/delta))`: an epsilon that rho-zCDP gives. Source: Bun and Steinke 2016, Proposition
/// 1.3.
pub fn zcdp_epsilon_classic(rho: f64, delta: f64) -> f64 {
    rho + 2.0 * (-rho * delta.ln()).sqrt()
}

/// The smallest `rho alpha + ln(1/(alpha delta)) / (alpha - 1) + ln(1 - 1/alpha)` over `alpha > 1`, at least
/// zero: the smallest epsilon known to follow from rho-zCDP. The derivative is zero where `rho (alpha - 1)^2 =
/// -ln(alpha delta)`, whose left side rises and whose right side falls. Source: Canonne, Kamath and Steinke
/// 2020, Proposition 12.
pub fn zcdp_epsilon(rho: f64, delta: f64) -> f64 {
    // The slope is negative below the root and positive beyond it. Any other alpha gives a bound as well, so that an error
    // of the root costs tightness and never privacy.
    let rises = bisect(1.0, 1.0 / delta, |alpha| rho * (alpha - 1.0).powi(2) + (alpha * delta).ln() > 0.0);
    let alpha = rises.high;
    let epsilon = rho * alpha - (alpha * delta).ln() / (alpha - 1.0) + (-1.0 / alpha).ln_1p();
    epsilon.max(0.0)
}

/// `(sqrt(epsilon + ln(1/delta)) - sqrt(ln(1/delta)))^2`, the inverse of [`zcdp_epsilon_classic`] in rho.
/// Source: Honkela 2021, Eq. 19.
///
/// ```
/// use dpgp_accounting::{zcdp_epsilon_classic, zcdp_rho_classic};
/// let rho = zcdp_rho_classic(3.0, 1e-5);
/// assert!((zcdp_epsilon_classic(rho, 1e-5) - 3.0).abs() < 1e-12);
/// ```
pub fn zcdp_rho_classic(epsilon: f64, delta: f64) -> f64 {
    let log = -delta.ln();
    // The difference of the roots as a quotient, which does not cancel.
    (epsilon / ((epsilon + log).sqrt() + log.sqrt())).powi(2)
}

/// The inverse of [`zcdp_epsilon`] in rho, from below: a mechanism with this rho is (epsilon, delta)-DP.
///
/// ```
/// use dpgp_accounting::{zcdp_epsilon, zcdp_rho};
/// let spent = zcdp_epsilon(zcdp_rho(3.0, 1e-5), 1e-5);
/// assert!(spent <= 3.0 && spent > 3.0 - 1e-9);
/// ```
pub fn zcdp_rho(epsilon: f64, delta: f64) -> f64 {
    let low = zcdp_rho_classic(epsilon, delta);
    let mut high = 2.0 * low;
    while zcdp_epsilon(high, delta) <= epsilon {
        high *= 2.0;
    }
    // One number below the first that is seen to exceed epsilon: at the end that keeps it.
    bisect(low, high, |rho| zcdp_epsilon(rho, delta) > epsilon).high.next_down()
}

/// The rho of a pure epsilon, `epsilon^2 / 2`. Source: Bun and Steinke 2016, Proposition 1.4.
pub fn zcdp_rho_of_pure(epsilon: f64) -> f64 {
    0.5 * epsilon * epsilon
}

/// The rho that Gaussian mechanisms may spend together, each on what the former have released, to be (epsilon,
/// delta)-DP: `1 / (2 s^2)` with s the exact Gaussian noise per unit of sensitivity. It is 1.15 to 1.9 times
/// what zCDP alone allows. Source: Dong, Roth and Su 2022, Corollary 3.3.
pub fn gaussian_rho_budget(epsilon: f64, delta: f64) -> f64 {
    0.5 / Calibration::Analytic.sigma(epsilon, delta).powi(2)
}

/// The one Gaussian mechanism that several ones are together, `mu = sqrt(sum mu_i^2)`, also when each is chosen by the
/// results of those before. `mu` is the L2 sensitivity over the standard deviation of the noise.
///
/// Obligation: for neighbours the outputs of mechanism i differ as `N(mu_i, 1)` from `N(0, 1)` at most; a product of such
/// pairs is `N(mu, 1)` against `N(0, 1)` by rotation. Source: Dong, Roth and Su 2022, Corollary 3.3.
///
/// ```
/// assert_eq!(dpgp_accounting::composed_mu([3.0, 4.0]), 5.0);
/// assert!((dpgp_accounting::composed_mu([3e-200, 4e-200]) / 5e-200 - 1.0).abs() < 1e-15);
/// ```
pub fn composed_mu(each: impl IntoIterator<Item = f64>) -> f64 {
    let each: Vec<f64> = each.into_iter().collect();
    let squares: f64 = each.iter().map(|mu| mu * mu).sum();
    if squares.is_normal() {
        return squares.sqrt();
    }
    // Squares that leave the range of doubles: in units of the largest mu.
    let largest = each.iter().copied().fold(0.0, f64::max);
    if largest == 0.0 { 0.0 } else { largest * each.iter().map(|mu| (mu / largest).powi(2)).sum::<f64>().sqrt() }
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
    pub fn gaussian_delta_at_mu(self, mu: f64) -> f64 {
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
    /// assert!((budget.epsilon_for_mu_squared_share(1.0) - 1.0).abs() < 1e-9);
    /// assert!((budget.epsilon_for_mu_squared_share(0.25) - 0.4687).abs() < 1e-4); // one of four
    /// ```
    pub fn epsilon_for_mu_squared_share(self, share: f64) -> f64 {
        gaussian_epsilon_at_mu(self.max_mu() * share.sqrt(), self.delta)
    }

    /// The epsilon of one more release at a delta, after those that make `spent`: the least at which its exact delta is
    /// at most `delta`, by bisection.
    pub fn remaining_epsilon(self, spent: f64, delta: f64) -> f64 {
        gaussian_epsilon_at_mu(self.remaining_mu(spent), delta)
    }
}

/// The least epsilon at which the exact delta of a Gaussian mechanism with this `mu` is at most `delta`, by bisection and
/// rounded up; zero where delta alone suffices, and infinite where no number is great enough.
///
/// ```
/// use dpgp_accounting::{gaussian_epsilon_at_mu, gaussian_delta};
/// let epsilon = gaussian_epsilon_at_mu(0.5, 1e-6);
/// assert!((gaussian_delta(2.0, epsilon) / 1e-6 - 1.0).abs() < 1e-9);
/// assert_eq!(gaussian_epsilon_at_mu(0.0, 1e-6), 0.0);
/// ```
pub fn gaussian_epsilon_at_mu(mu: f64, delta: f64) -> f64 {
    if mu_satisfies_guarantee(mu, 0.0, delta) {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while !mu_satisfies_guarantee(mu, high, delta) {
        // Epsilon is about mu^2 / 2, which overflows before mu does.
        if high.is_infinite() {
            return high;
        }
        high *= 2.0;
    }
    while high - low > 1e-12 * high {
        let middle = 0.5 * (low + high);
        if mu_satisfies_guarantee(mu, middle, delta) { high = middle } else { low = middle }
    }
    high
}

fn mu_satisfies_guarantee(mu: f64, epsilon: f64, delta: f64) -> bool {
    PrivacyBudget { epsilon, delta }.gaussian_delta_at_mu(mu) <= delta
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nine steps of noise 12 on replaced records are one Gaussian of standard deviation `12 / (2 * 3) = 2`.
    #[test]
    fn steps_and_relations_scale_the_noise() {
        let event = PrivacyEvent { noise_multiplier: 12.0, sampling: Sampling::FullBatch, steps: 9 };
        let found = ExactGaussianAccountant
            .bound_missing_parameter(&event, NeighbourRelation::ReplaceOne, GivenEpsilonOrDelta::Epsilon(0.7))
            .unwrap();
        assert_eq!((found.lower, found.upper), (gaussian_delta(2.0, 0.7), gaussian_delta_upper_bound(2.0, 0.7)));
        assert_eq!(log_delta_ratio(2.0, gaussian_delta_upper_bound(2.0, 0.7), 0.7), 0.0);
        assert!((log_delta_ratio(2.0, 0.5 * gaussian_delta_upper_bound(2.0, 0.7), 0.7) - 2f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn epsilons_have_their_delta() {
        for (sigma, delta) in [(2.0, 1e-5), (0.1, 1e-9), (40.0, 1e-3)] {
            let EpsilonOrDeltaBounds { lower, upper, .. } = gaussian_epsilon_bounds(sigma, delta).unwrap();
            assert!(lower < upper && upper - lower < 1e-10 * upper, "{lower} {upper}");
            assert!((gaussian_delta(sigma, upper) / delta - 1.0).abs() < 1e-8, "{sigma} {upper}");
        }
        // At epsilon zero `2 Phi(1 / 8) - 1 = 0.0995` is enough.
        assert_eq!(gaussian_epsilon_bounds(4.0, 0.1).unwrap(), EpsilonOrDeltaBounds::from_upper_bound(0.0));
        assert!(gaussian_epsilon_bounds(4.0, 0.099).unwrap().upper > 0.0);
    }

    /// `rho = 1/2`, `delta = e^-2`: `1/2 + 2 sqrt(1)`.
    #[test]
    fn the_classic_epsilon_has_a_closed_form() {
        assert!((zcdp_epsilon_classic(0.5, f64::exp(-2.0)) - 2.5).abs() < 1e-14);
    }

    /// No order of a fine scan does better, and the best of the scan is as good but for its steps.
    #[test]
    fn the_best_order_is_found() {
        for (rho, delta) in [(0.02, 1e-6), (0.5, 1e-5), (3.0, 1e-3)] {
            let orders = (1..40_000).map(|i| 1.0 + 0.0025 * f64::from(i));
            let bounds = orders.map(|a| rho * a + (1.0 / (a * delta)).ln() / (a - 1.0) + f64::ln(1.0 - 1.0 / a));
            let least = bounds.fold(f64::INFINITY, f64::min);
            let epsilon = zcdp_epsilon(rho, delta);
            assert!(epsilon <= least + 1e-12 && epsilon > least - 1e-4, "{epsilon} {least}");
            assert!((zcdp_rho(epsilon, delta) / rho - 1.0).abs() < 1e-9);
        }
    }

    /// By mpmath the exact delta of Gaussian noise is 1e-5 at epsilon 1 where mu = 0.268051123211, so that rho is mu^2 / 2.
    #[test]
    fn rho_of_pure_and_gaussian_mechanisms() {
        assert_eq!(zcdp_rho_of_pure(3.0), 4.5);
        assert!((gaussian_rho_budget(1.0, 1e-5) / 0.035_925_702_327_4 - 1.0).abs() < 1e-9);
        // Its inverse comes from below.
        for (epsilon, delta) in [(0.5, 1e-6), (3.0, 1e-5), (40.0, 1e-3)] {
            let spent = zcdp_epsilon(zcdp_rho(epsilon, delta), delta);
            assert!(spent <= epsilon && spent > epsilon * (1.0 - 1e-9), "{epsilon}: {spent}");
        }
    }

    /// By mpmath `min_alpha` is 0.01 at delta 1/2 where rho = 0.391725358183, 10,939 times what the classic bound allows.
    #[test]
    fn a_large_delta_allows_much_more_than_the_classic_bound() {
        assert!((zcdp_rho(0.01, 0.5) / 0.391_725_358_183 - 1.0).abs() < 1e-9);
    }

    /// The inverse of the closed form, and where epsilon is large beside `ln(1/delta)`: `(sqrt(27) - sqrt(2))^2` at epsilon 25.
    #[test]
    fn the_classic_rho_has_a_closed_form() {
        assert!((zcdp_rho_classic(2.5, f64::exp(-2.0)) - 0.5).abs() < 1e-14);
        let expected = (27f64.sqrt() - 2f64.sqrt()).powi(2);
        assert!((zcdp_rho_classic(25.0, f64::exp(-2.0)) / expected - 1.0).abs() < 1e-14);
    }

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
            assert!((budget.epsilon_for_mu_squared_share(share) / epsilon - 1.0).abs() < 1e-9, "{share}");
        }
        let limits = [0.2, 0.3, 0.5].map(|share| {
            let one = PrivacyBudget { epsilon: budget.epsilon_for_mu_squared_share(share), delta: budget.delta };
            one.remaining_mu(0.0)
        });
        assert!((composed_mu(limits) / budget.remaining_mu(0.0) - 1.0).abs() < 1e-9);
    }

    /// The smallest budgets have all digits too.
    #[test]
    fn small_epsilons_keep_their_digits() {
        for (mu, delta) in [(1e-6, 1e-9), (1e-4, 1e-6)] {
            let epsilon = gaussian_epsilon_at_mu(mu, delta);
            assert!((gaussian_delta(1.0 / mu, epsilon) / delta - 1.0).abs() < 1e-5, "{mu}: {epsilon:e}");
        }
    }
}
