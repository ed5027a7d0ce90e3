//! The Gaussian mechanism: exact delta, classic and exact calibration, and the noise for a guarantee by any accountant.

use serde::{Deserialize, Serialize};

use super::root::{Bracket, BracketSearchRange};
use super::{Accountant, AccountingError, NeighbourRelation, SamplingSchedule};
use dpgp_number::{Budget, bisect, normal_cdf};

/// The exact `delta` at `epsilon` of the Gaussian mechanism with L2 sensitivity 1 and standard
/// deviation `sigma` (the hockey-stick divergence of the worst pair of neighbours):
///
/// `delta = Phi(1/(2 sigma) - epsilon sigma) - e^epsilon Phi(-1/(2 sigma) - epsilon sigma)`.
///
/// Zero noise has `delta = 1`. Source: Balle and Wang 2018, Theorem 8.
///
/// ```
/// use dpgp_accounting::gaussian_delta;
/// assert!((gaussian_delta(1.0, 1.0) - 0.126936737506643).abs() < 1e-12);
/// ```
pub fn gaussian_delta(sigma: f64, epsilon: f64) -> f64 {
    if sigma <= 0.0 {
        return 1.0;
    }
    let DeltaTerms { first, second, .. } = DeltaTerms::new(sigma, epsilon);
    // Both terms are nearly equal for large epsilon; the clamp removes a negative rounding error of their difference.
    (first - second).clamp(0.0, 1.0)
}

/// An upper bound on the exact delta that no rounding breaks: the terms of [`gaussian_delta`] with a bound on the error of each.
///
/// A relative error of `d = 1/(2 sigma) - epsilon sigma` and `s = 1/(2 sigma) + epsilon sigma` of one unit in the last place
/// of s moves `Phi` by at most `1 + s` times that, relative to it, since `phi(x) / Phi(-x) <= 1 + x`. With `u` the machine
/// epsilon and the four units of `erfc`, either `Phi` is right to `u (4 + 2 s (1 + s))`; the exponent `epsilon + ln Phi(-s)` adds
/// `u (epsilon + s^2 + 4)` to the second term, or the series beyond `s = 37` its own 1e-12.
///
/// ```
/// use dpgp_accounting::{gaussian_delta, gaussian_delta_upper_bound};
/// let (delta, bound) = (gaussian_delta(1e8, 4e-8), gaussian_delta_upper_bound(1e8, 4e-8));
/// // The two terms agree to eight digits, so their difference has eight correct digits fewer.
/// assert!(delta < bound && bound < 1.1 * delta);
/// assert!(gaussian_delta_upper_bound(1.0, 1.0) < gaussian_delta(1.0, 1.0) * (1.0 + 1e-13));
/// ```
pub fn gaussian_delta_upper_bound(sigma: f64, epsilon: f64) -> f64 {
    // No number that is not normal is told.
    unfloored_delta_upper_bound(sigma, epsilon).max(f64::MIN_POSITIVE)
}

/// The bound of [`gaussian_delta_upper_bound`], but down to subnormal numbers and zero, so that every delta is reached by some noise.
fn unfloored_delta_upper_bound(sigma: f64, epsilon: f64) -> f64 {
    if sigma <= 0.0 {
        return 1.0;
    }
    let DeltaTerms { first, second, error } = DeltaTerms::new(sigma, epsilon);
    ((first - second).max(0.0) + error).min(1.0)
}

/// The two terms of the exact delta.
struct DeltaTerms {
    first: f64,
    second: f64,
    /// A bound on the rounding error of their difference.
    error: f64,
}

impl DeltaTerms {
    fn new(sigma: f64, epsilon: f64) -> Self {
        let (half, shift) = (0.5 / sigma, epsilon * sigma);
        let (d, s) = (half - shift, half + shift);
        let (first, second) = (normal_cdf(d), exp_weighted_normal_tail(d, s, epsilon));
        let series = if s > FAR { 1e-12 } else { 0.0 };
        // Whatever the rounding of d, the first term is below Phi(-39) < 1e-330, and so below the least number of all, which every delta
        // reaches; the bound below is not a number where s overflows.
        let is_nothing = half * (1.0 + 2.0 * f64::EPSILON) - shift * (1.0 - 2.0 * f64::EPSILON) < NOTHING;
        if is_nothing {
            return Self { first, second, error: LEAST };
        }
        let relative = f64::EPSILON * (16.0 + 4.0 * s * (1.0 + s) + epsilon) + series;
        // The second term is less than the first one. What is too small for a normal number has an error of its own.
        Self { first, second, error: 2.0 * relative * first + f64::MIN_POSITIVE }
    }
}

/// Below this the normal distribution function is less than the least normal number.
const NOTHING: f64 = -39.0;

/// The least positive number, which is not normal.
const LEAST: f64 = f64::from_bits(1);

/// Beyond this the normal tail is given by its series.
const FAR: f64 = 37.0;

/// `e^epsilon Phi(-s) = phi(d) Phi(-s) / phi(s)` with `s^2 - d^2 = 2 epsilon`. Where the tail is no normal number the
/// ratio is `(1 - 1/s^2 + 3/s^4 - 15/s^6 + 105/s^8) / s` to 1e-12.
fn exp_weighted_normal_tail(d: f64, s: f64, epsilon: f64) -> f64 {
    if s <= FAR {
        return (epsilon + normal_cdf(-s).ln()).exp();
    }
    let x = 1.0 / (s * s);
    let series = 1.0 - x * (1.0 - 3.0 * x * (1.0 - 5.0 * x * (1.0 - 7.0 * x)));
    (-0.5 * d * d).exp() / std::f64::consts::TAU.sqrt() * series / s
}

/// How the noise of the Gaussian mechanism is calibrated to (epsilon, delta).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Calibration {
    /// `sigma = sqrt(2 ln(2/delta)) / epsilon` (Hall et al. 2013, Proposition 3). Its proof requires `epsilon <= 1`. For
    /// larger epsilon, rely on the exact delta.
    Classic,
    /// `sigma = sqrt(2 ln(1.25/delta)) / epsilon` (Dwork and Roth 2014, Theorem A.1). Its proof requires `epsilon < 1`. The
    /// result extends to `epsilon = 1` because the exact delta is continuous in epsilon.
    Textbook,
    /// The smallest `sigma` whose exact delta, with its rounding error, is at most `delta` (Balle and Wang 2018, Algorithm 1).
    Analytic,
}

impl Calibration {
    /// The standard deviation per unit of L2 sensitivity; zero where `epsilon` is infinite.
    ///
    /// Obligation: `gaussian_delta_upper_bound(sigma, epsilon) <= delta`; of the classic ones, `gaussian_delta` where their proof
    /// covers `epsilon`.
    ///
    /// ```
    /// use dpgp_accounting::{Calibration, gaussian_delta};
    /// let classic = Calibration::Classic.sigma(1.0, 0.01);
    /// assert!((classic - (2.0 * 200f64.ln()).sqrt()).abs() < 1e-15);
    /// // The least noise is much smaller, and spends all of delta.
    /// let least = Calibration::Analytic.sigma(1.0, 0.01);
    /// assert!((least - 1.877_875_560_907).abs() < 1e-9);
    /// assert!((gaussian_delta(least, 1.0) / 0.01 - 1.0).abs() < 1e-9);
    /// ```
    pub fn sigma(self, epsilon: f64, delta: f64) -> f64 {
        if epsilon.is_infinite() {
            return 0.0;
        }
        match self {
            Self::Classic => (2.0 * (2.0 / delta).ln()).sqrt() / epsilon,
            Self::Textbook => (2.0 * (1.25 / delta).ln()).sqrt() / epsilon,
            Self::Analytic => analytic_sigma(epsilon, delta),
        }
    }

    /// Whether the calibration's proof covers `epsilon`.
    pub fn is_proven_for(self, epsilon: f64) -> bool {
        match self {
            Self::Analytic => true,
            Self::Classic | Self::Textbook => epsilon <= 1.0 || epsilon.is_infinite(),
        }
    }

    /// The calibration's name, as specs spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Textbook => "textbook",
            Self::Analytic => "analytic",
        }
    }
}

/// Bisection on `ln sigma`, along which the exact delta falls; the upper end is returned, so that
/// the exact delta never exceeds `delta`.
fn analytic_sigma(epsilon: f64, delta: f64) -> f64 {
    let (mut low, mut high) = (-2.0f64, 2.0f64);
    // Delta falls from 1 to 0 along ln sigma, so both searches end.
    while unfloored_delta_upper_bound(low.exp(), epsilon) <= delta {
        low -= 2.0;
    }
    while unfloored_delta_upper_bound(high.exp(), epsilon) > delta {
        high += 2.0;
    }
    bisect(low, high, |log| unfloored_delta_upper_bound(log.exp(), epsilon) <= delta).high.exp()
}

/// The range of noise multipliers searched.
const LEAST_MULTIPLIER: f64 = 1e-3;
const GREATEST_MULTIPLIER: f64 = 1e9;
/// The relative precision of the multiplier.
const MULTIPLIER_PRECISION: f64 = 1e-7;

/// The least noise multiplier at which `accountant` bounds the steps by the budget, found along `ln multiplier` to a
/// relative 1e-7. The inverse is [`Accountant::epsilon`].
///
/// Obligation: the multiplier returned is one at which the accountant's own bound on delta was seen to be at most delta.
///
/// ```
/// use dpgp_number::Budget;
/// use dpgp_accounting::Calibration;
/// use dpgp_accounting::{ExactGaussianAccountant, NeighbourRelation, Sampling, SamplingSchedule, calibrate_noise_multiplier};
/// // Four full steps need twice the noise of one: sigma adds up as the root of the number of steps.
/// let schedule = SamplingSchedule { sampling: Sampling::FullBatch, steps: 4 };
/// let noise = calibrate_noise_multiplier(&ExactGaussianAccountant, schedule, NeighbourRelation::AddRemove, Budget::new(1.0, 1e-5)?)?;
/// assert!((noise / (2.0 * Calibration::Analytic.sigma(1.0, 1e-5)) - 1.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`AccountingError`] if the accountant refuses, or the least multiplier does not lie between 1e-3 and 1e9.
pub fn calibrate_noise_multiplier(
    accountant: &dyn Accountant,
    schedule: SamplingSchedule,
    relation: NeighbourRelation,
    budget: Budget,
) -> Result<f64, AccountingError> {
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    // Logarithms of both: delta falls nearly as a parabola along ln noise, over many powers of ten.
    let excess = |log_noise: f64| {
        let spent = accountant.delta(&schedule.with_noise(log_noise.exp()), relation, epsilon)?;
        Ok((spent.upper / delta).ln())
    };
    let search = BracketSearchRange {
        start: 0.0,
        stride: 0.5,
        least: LEAST_MULTIPLIER.ln(),
        greatest: GREATEST_MULTIPLIER.ln(),
    };
    match Bracket::search(excess, search)? {
        Some(bracket) => Ok(bracket.narrow(excess, MULTIPLIER_PRECISION)?.high.x.exp()),
        None => Err(AccountingError::NoMultiplier { low: LEAST_MULTIPLIER, high: GREATEST_MULTIPLIER, epsilon, delta }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExactGaussianAccountant, Sampling};

    /// Exact deltas by arithmetic of 60 digits, rounded: noise, epsilon, delta.
    const EXACT: [(f64, f64, f64); 13] = [
        (1.0, 1.0, 0.126_936_737_506_643_94),
        (3.730_631_634, 1.0, 1.000_000_003_631_450_6e-5),
        (0.05, 100.0, 0.999_999_614_668_556_5),
        (0.3, 8.0, 0.160_596_062_934_729_58),
        (1e3, 1e-3, 8.335_713_212_520_849e-5),
        (1e6, 1e-7, 3.509_353_487_514_653e-7),
        (1e8, 1e-10, 3.939_622_273_689_265e-9),
        (1e8, 4e-8, 7.145_258_575_310_834e-14),
        (30.0, 1.0, 8.967_563_100_011_065e-201),
        (40.0, 0.9, 4.547_962_020_843_102_5e-287),
        (0.6, 60.0, 1.460_818_356_069_794_7e-272),
        (0.02, 1700.0, 9.544_049_652_123_907e-20),
        (12.0, 3.0, 4.328_747_409_902_097e-286),
    ];

    /// Any delta has its noise: `Phi(-39)` is below the least of all numbers, and at epsilon = 1 that is `1/(2 sigma) - sigma` of 39.013.
    #[test]
    fn the_least_deltas_have_noise() {
        for delta in [1e-307, 1e-308, 1e-320, LEAST] {
            let sigma = Calibration::Analytic.sigma(1.0, delta);
            assert!(
                (37.0..39.02).contains(&sigma) && unfloored_delta_upper_bound(sigma, 1.0) <= delta,
                "{delta:e}: {sigma}"
            );
        }
    }

    /// `1/(2 sigma)` and `epsilon sigma` are both 50 here, so that half an ulp of either moves `Phi(0)` by `2^-48 phi(0)`.
    #[test]
    fn the_error_covers_terms_that_cancel() {
        let error = DeltaTerms::new(0.01, 5000.0).error;
        assert!(error >= 2f64.powi(-48) * 0.398, "{error:e}");
    }

    /// The bound is never below the truth, also where the plain formula is, and close to it where delta is of any use.
    #[test]
    fn the_bound_holds() {
        for (sigma, epsilon, exact) in EXACT {
            let bound = gaussian_delta_upper_bound(sigma, epsilon);
            assert!(exact <= bound, "{sigma} {epsilon}: {exact:e} {bound:e}");
            let much = if sigma < 1e6 { 1e-8 } else { 0.1 };
            assert!(bound <= exact * (1.0 + much), "{sigma} {epsilon}: {exact:e} {bound:e}");
        }
        // Where the first term is no normal number, whose rounding is not relative to it.
        assert!(unfloored_delta_upper_bound(1.0, 38.5) >= 7.388_71e-318);
        let is_below = EXACT.iter().any(|row| gaussian_delta(row.0, row.1) < row.2);
        assert!(is_below, "the plain formula is below the truth somewhere");
    }

    /// The noise of the analytic calibration fulfils its claim by the bound, at ordinary and at extreme epsilons.
    #[test]
    fn the_calibration_is_on_the_safe_side() {
        for (epsilon, delta) in [(1.0, 1e-5), (1e-9, 1e-12), (200.0, 1e-30), (0.01, 1e-18), (1e-6, 0.3)] {
            let sigma = Calibration::Analytic.sigma(epsilon, delta);
            assert!(gaussian_delta_upper_bound(sigma, epsilon) <= delta, "{epsilon} {delta}: {sigma}");
            assert!(gaussian_delta(0.99 * sigma, epsilon) > delta, "{epsilon} {delta}: {sigma}");
        }
    }

    /// `delta = 2 e^-8` and `delta = 1.25 e^-8` at epsilon 2: `sqrt(16) / 2`.
    #[test]
    fn the_classic_calibrations_have_closed_forms() {
        assert!((Calibration::Classic.sigma(2.0, 2.0 * f64::exp(-8.0)) - 2.0).abs() < 1e-14);
        assert!((Calibration::Textbook.sigma(2.0, 1.25 * f64::exp(-8.0)) - 2.0).abs() < 1e-14);
    }

    #[test]
    fn calibrations_have_names_and_limits() {
        let all = [Calibration::Classic, Calibration::Textbook, Calibration::Analytic];
        assert_eq!(all.map(Calibration::name), ["classic", "textbook", "analytic"]);
        assert_eq!(all.map(|one| one.is_proven_for(1.0)), [true; 3]);
        assert_eq!(all.map(|one| one.is_proven_for(1.5)), [false, false, true]);
        assert_eq!(all.map(|one| one.is_proven_for(f64::INFINITY)), [true; 3]);
    }

    /// At sigma = epsilon = 1 the first term is `Phi(-1/2)`, and s is 3/2: relative to it `16 + 4 * 3/2 * 5/2 + 1` units, twice.
    #[test]
    fn the_error_of_the_terms_grows_with_their_place() {
        let DeltaTerms { first, error, .. } = DeltaTerms::new(1.0, 1.0);
        assert!((first - 0.308_537_538_725_986_9).abs() < 1e-15);
        assert!((error / (64.0 * f64::EPSILON * first) - 1.0).abs() < 1e-12, "{error:e}");
        // Beyond 37 there is the error of the series, too.
        let far = DeltaTerms::new(40.0, 1.0);
        assert!(far.error > 1.9e-12 * far.first, "{:e} {:e}", far.error, far.first);
        assert_eq!(DeltaTerms::new(41.0, 1.0).error, LEAST);
    }

    /// At the greatest multiplier delta is about `1e-9 / sqrt(2 pi)`, far above the one asked for; at the least, epsilon is about
    /// `1e6 / 2`, far below.
    #[test]
    fn a_budget_beyond_all_multipliers_is_refused() {
        let schedule = SamplingSchedule { sampling: Sampling::FullBatch, steps: 1 };
        for (epsilon, delta) in [(1e-12, 1e-12), (1e8, 1e-5)] {
            let budget = Budget::new(epsilon, delta).unwrap();
            let found =
                calibrate_noise_multiplier(&ExactGaussianAccountant, schedule, NeighbourRelation::AddRemove, budget);
            assert!(matches!(found, Err(AccountingError::NoMultiplier { .. })), "{epsilon}: {found:?}");
        }
    }
}
