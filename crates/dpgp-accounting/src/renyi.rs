//! The Rényi accountant, from moments of the likelihood ratio of the Poisson-sampled Gaussian mechanism at
//! any real order.

use std::f64::consts::{PI, TAU};

use super::{
    Accountant, AccountingError, EpsilonOrDeltaBounds, GivenEpsilonOrDelta, NeighbourRelation, PrivacyEvent, Sampling,
};

/// The accountant of Rényi differential privacy, for full batches and for Poisson sampling with add-remove
/// neighbours. It bounds from above only.
///
/// The divergence of order `a` of one step is `a s^2 / (2 m^2)` for full batches (sensitivity `s`, noise multiplier
/// `m`), and for Poisson sampling that of `ln A` of `RenyiMoment` over `a - 1`: the larger of both directions (Mironov, Talwar
/// and Zhang 2019, Theorem 5; Theorem 4 reduces vectors to one dimension). Divergences of one order add up over
/// steps. For every `a > 1`
///
/// `epsilon = rdp + ln((a-1)/a) - (ln delta + ln a) / (a-1)`
///
/// (Canonne, Kamath and Steinke 2020, Proposition 12; Balle et al. 2020, Theorem 21), and the least over real
/// orders is taken.
///
/// ```
/// use dpgp_accounting::{PrivacyEvent, NeighbourRelation, RenyiAccountant, Sampling};
/// // Ten full steps of noise 2: the divergence of order 3 is 10 * 3 / (2 * 2^2).
/// let event = PrivacyEvent { noise_multiplier: 2.0, sampling: Sampling::FullBatch, steps: 10 };
/// assert_eq!(RenyiAccountant.divergence(&event, NeighbourRelation::AddRemove, 3.0)?, 3.75);
/// # Ok::<(), dpgp_accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenyiAccountant;

impl RenyiAccountant {
    /// The Rényi divergence of the given order (above 1) between neighbours, over all steps. Units: nats.
    ///
    /// # Errors
    /// [`AccountingError`] if the event is refused or the order is out of range.
    pub fn divergence(
        self,
        event: &PrivacyEvent,
        relation: NeighbourRelation,
        order: f64,
    ) -> Result<f64, AccountingError> {
        if !(order > 1.0 && order.is_finite()) {
            return Err(AccountingError::out_of_range("the order", "above 1 and finite", order));
        }
        event.check()?;
        self.check_covered(event, relation)?;
        Ok(divergence(event, relation, order))
    }

    fn check_covered(&self, event: &PrivacyEvent, relation: NeighbourRelation) -> Result<(), AccountingError> {
        match (event.sampling.rate_one_as_full_batch(), relation) {
            (Sampling::FullBatch, _) | (Sampling::Poisson { .. }, NeighbourRelation::AddRemove) => Ok(()),
            _ => Err(self.refusal(
                event,
                relation,
                "its moments assume a Poisson sample and an added record",
                "full batches, and Poisson sampling for add-remove neighbours",
            )),
        }
    }
}

fn divergence(event: &PrivacyEvent, relation: NeighbourRelation, order: f64) -> f64 {
    let noise = event.noise_multiplier;
    let one_step = match event.sampling.rate_one_as_full_batch() {
        Sampling::FullBatch => 0.5 * order * (relation.unit_norm_sum_sensitivity() / noise).powi(2),
        sampling => RenyiMoment { rate: sampling.rate(), noise, order }.log() / (order - 1.0),
    };
    f64::from(event.steps) * one_step
}

impl Accountant for RenyiAccountant {
    fn name(&self) -> &'static str {
        "Rényi"
    }

    fn bound_missing_parameter(
        &self,
        event: &PrivacyEvent,
        relation: NeighbourRelation,
        given: GivenEpsilonOrDelta,
    ) -> Result<EpsilonOrDeltaBounds, AccountingError> {
        self.check_covered(event, relation)?;
        Ok(EpsilonOrDeltaBounds::from_upper_bound(match given {
            GivenEpsilonOrDelta::Delta(delta) => minimise_over_orders(|order| {
                let conversion = (1.0 - 1.0 / order).ln() - (delta * order).ln() / (order - 1.0);
                divergence(event, relation, order) + conversion
            })
            .max(0.0),
            GivenEpsilonOrDelta::Epsilon(epsilon) => minimise_over_orders(|order| {
                let gain = divergence(event, relation, order) + (1.0 - 1.0 / order).ln() - epsilon;
                (order - 1.0) * gain - order.ln()
            })
            .min(0.0)
            .exp(),
        }))
    }
}

/// The least value over orders above 1: a scan of `ln(order - 1)` until the function has risen for long, then
/// golden sections. Every order gives a bound, so a missed minimum costs tightness alone.
fn minimise_over_orders(bound: impl Fn(f64) -> f64) -> f64 {
    let (mut t, mut best) = (-7.0, -7.0);
    let mut least = bound(order_at_scan_point(t));
    while t < 16.0 && t - best < 3.0 {
        t += 0.25;
        let value = bound(order_at_scan_point(t));
        if value < least {
            (best, least) = (t, value);
        }
    }
    // The minimum lies between the neighbours of the best point of the scan, if the function has one minimum.
    golden_section_minimum(|t| bound(order_at_scan_point(t)), best - 0.25, best + 0.25).min(least)
}

/// The order at a point of the scan.
fn order_at_scan_point(t: f64) -> f64 {
    1.0 + t.exp()
}

/// The least of the values at two points that narrow down to the minimum of a function with one minimum.
fn golden_section_minimum(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let ratio = 0.5 * (5f64.sqrt() - 1.0);
    let (mut a, mut b) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut fa, mut fb) = (f(a), f(b));
    while high - low > 1e-7 {
        // By the golden ratio one of the inner points is an inner point of the smaller interval too.
        if fa < fb {
            (high, b, fb) = (b, a, fa);
            a = high - ratio * (high - low);
            fa = f(a);
        } else {
            (low, a, fa) = (a, b, fb);
            b = low + ratio * (high - low);
            fb = f(b);
        }
    }
    fa.min(fb)
}

/// Nats by which the quadrature error is below the moment.
const ACCURACY: f64 = 60.0;
/// Standard deviations of the Gaussian beyond which it is cut off.
const REACH: f64 = 12.0;

/// `A = E[(1 - q + q e^((2x - 1) / (2 s^2)))^a]` over `x ~ N(0, s^2)`: `q` the sampling rate, `s` the noise
/// multiplier, `a > 1` the order. Source: Mironov, Talwar and Zhang 2019, Section 3.
pub(super) struct RenyiMoment {
    /// `q`.
    pub rate: f64,
    /// `s`.
    pub noise: f64,
    /// `a`.
    pub order: f64,
}

impl RenyiMoment {
    /// `ln A`, by the trapezoidal rule.
    ///
    /// The integrand is analytic within `|Im x| < pi s^2`, where its modulus is at most
    /// `e^(y^2 / (2 s^2))` times its value on the real line, so steps of `h` err by at most
    /// `2 A e^(d^2 / (2 s^2)) / (e^(2 pi d / h) - 1)` for `d < pi s^2` (Trefethen and Weideman 2014, Theorem 5.1): here by
    /// less than `A e^-59`. The cut tails hold less than e^-70 of it. Rounding leaves about 1e-13 of `ln A`: near `A = 1`
    /// the sum is that of `(1 + q u)^a - 1 - a q u >= 0`, which has the mean `A - 1` since
    /// `u = e^((2x - 1) / (2 s^2)) - 1` has mean zero.
    pub fn log(&self) -> f64 {
        let nodes = QuadratureNodes::new(self.noise, self.order);
        let logs: Vec<f64> =
            nodes.iter().map(|x| self.order * self.log_mixture_ratio(x) + self.log_gaussian(x)).collect();
        // Relative to the greatest term nothing overflows, whatever the order.
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log_moment = top + (nodes.weight * logs.iter().map(|l| (l - top).exp()).sum::<f64>()).ln();
        if log_moment > 0.5 {
            return log_moment;
        }
        // Near A = 1 the logarithm would be lost in the rounding of A.
        (nodes.weight * nodes.iter().map(|x| self.integrand_of_moment_minus_one(x)).sum::<f64>()).ln_1p()
    }

    /// `-x^2 / (2 s^2)`.
    fn log_gaussian(&self, x: f64) -> f64 {
        -0.5 * (x / self.noise).powi(2)
    }

    /// `w = (2x - 1) / (2 s^2)`.
    fn log_likelihood_ratio(&self, x: f64) -> f64 {
        (x - 0.5) / (self.noise * self.noise)
    }

    /// `ln(1 - q + q e^w)`.
    fn log_mixture_ratio(&self, x: f64) -> f64 {
        let w = self.log_likelihood_ratio(x);
        // Beyond 600 the other terms are less than e^-600 / q of it, and e^w is near overflow.
        if w > 600.0 { self.rate.ln() + w } else { (self.rate * w.exp_m1()).ln_1p() }
    }

    /// `e^(-x^2 / (2 s^2)) ((1 + q u)^a - 1 - a q u)`.
    fn integrand_of_moment_minus_one(&self, x: f64) -> f64 {
        let Self { rate: q, order: a, .. } = *self;
        let bell = self.log_gaussian(x).exp();
        let power = a * self.log_mixture_ratio(x);
        if power > 1.0 {
            // e^w times the bell is the bell around 1, which does not overflow where e^w alone would.
            let linear = a * q * (self.log_gaussian(x - 1.0).exp() - bell);
            return (power - 0.5 * (x / self.noise).powi(2)).exp() - bell - linear;
        }
        let v = q * self.log_likelihood_ratio(x).exp_m1();
        bell * if (a * v).abs() < 0.1 { binomial_series_remainder(a, v) } else { power.exp_m1() - a * v }
    }
}

/// The points of the trapezoidal rule.
struct QuadratureNodes {
    first: i64,
    last: i64,
    step: f64,
    /// The step times the constant of the density.
    weight: f64,
}

impl QuadratureNodes {
    fn new(s: f64, a: f64) -> Self {
        // The half-width d of the strip at which the step for this accuracy is the longest, inside pi s^2.
        let d = (0.999 * PI * s * s).min(s * (2.0 * ACCURACY).sqrt());
        let step = TAU * d / (ACCURACY + 0.5 * (d / s).powi(2));
        // The integrand has its greatest values between the centres 0 and a of its two bells.
        let (first, last) = ((-REACH * s / step) as i64 - 1, ((a + REACH * s) / step) as i64 + 1);
        Self { first, last, step, weight: step / (s * TAU.sqrt()) }
    }

    fn iter(&self) -> impl Iterator<Item = f64> {
        (self.first..=self.last).map(|k| k as f64 * self.step)
    }
}

/// `(1 + v)^a - 1 - a v` for `|a v| < 0.1`, by its Taylor series.
fn binomial_series_remainder(a: f64, v: f64) -> f64 {
    let mut term = 0.5 * a * (a - 1.0) * v * v;
    let mut sum = 0.0;
    // Terms fall by a factor of at least ten, so that 22 of them are beyond the last digit.
    for k in 2..24 {
        sum += term;
        term *= (a - f64::from(k)) * v / f64::from(k + 1);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of full batches are rho-zCDP with `rho = T s^2 / (2 m^2)`, and both conversions are Proposition 12 of Canonne,
    /// Kamath and Steinke 2020: the epsilon is that of rho, by a scan of ten thousand orders here.
    #[test]
    fn full_batches_are_concentrated() {
        for (relation, sensitivity) in [(NeighbourRelation::AddRemove, 1.0), (NeighbourRelation::ReplaceOne, 2.0)] {
            let event = PrivacyEvent { noise_multiplier: 4.0, sampling: Sampling::FullBatch, steps: 3 };
            let rho = 3.0 * f64::powi(sensitivity / 4.0, 2) / 2.0;
            let by_order = RenyiAccountant.divergence(&event, relation, 7.0).unwrap();
            assert!((by_order / (7.0 * rho) - 1.0).abs() < 1e-14);
            let delta = 1e-5f64;
            let scan = (1..10_000).map(|i| 1.0 + 0.01 * f64::from(i));
            let bounds = scan.map(|a| a * rho + f64::ln((a - 1.0) / a) - (delta.ln() + a.ln()) / (a - 1.0));
            let least = bounds.fold(f64::INFINITY, f64::min);
            let epsilon = RenyiAccountant.epsilon(&event, relation, delta).unwrap().upper;
            assert!(epsilon <= least && epsilon > least * (1.0 - 1e-4), "{epsilon} {least}");
            // The same orders give back the delta.
            let back = RenyiAccountant.delta(&event, relation, epsilon).unwrap().upper;
            assert!((back / delta - 1.0).abs() < 1e-6, "{back}");
        }
    }

    /// At order 3: half of `ln((1-q)^3 + 3 (1-q)^2 q + 3 (1-q) q^2 e^(1/s^2) + q^3 e^(3/s^2))` for each step.
    #[test]
    fn poisson_samples_have_a_closed_form() {
        let (q, noise) = (0.25, 1.5);
        let event = PrivacyEvent { noise_multiplier: noise, sampling: Sampling::Poisson { rate: q }, steps: 5 };
        let (rest, shift) = (1.0 - q, f64::exp(1.0 / (noise * noise)));
        let moment = rest.powi(3) + 3.0 * rest * rest * q + 3.0 * rest * q * q * shift + q.powi(3) * shift.powi(3);
        let found = RenyiAccountant.divergence(&event, NeighbourRelation::AddRemove, 3.0).unwrap();
        assert!((found / (2.5 * moment.ln()) - 1.0).abs() < 1e-11, "{found}");
    }

    /// The first points divide the interval in the golden ratio, and one more narrows it by that ratio.
    #[test]
    fn golden_sections_find_a_minimum() {
        let golden = 0.618_033_988_749_895;
        for lowest in [1.01, 1.6, 2.0, 2.5, 2.99] {
            let points = std::cell::RefCell::new(Vec::new());
            let least = golden_section_minimum(
                |x| {
                    points.borrow_mut().push(x);
                    2.0 + (x - lowest).abs()
                },
                1.0,
                3.0,
            );
            let points = points.into_inner();
            assert!((2.0..2.0 + 1e-7).contains(&least), "{lowest}: {least}");
            assert!((points[0] - (3.0 - 2.0 * golden)).abs() < 1e-12);
            assert!((points[1] - (1.0 + 2.0 * golden)).abs() < 1e-12);
            assert!(points.iter().all(|x| (1.0..=3.0).contains(x)));
            // ln(2e7) / -ln(.618) = 34.9.
            assert_eq!(points.len(), 2 + 35);
        }
    }

    /// An order must be above 1 and finite, and samples be those whose moments are known.
    #[test]
    fn what_has_no_divergence_is_refused() {
        let full = PrivacyEvent { noise_multiplier: 2.0, sampling: Sampling::FullBatch, steps: 1 };
        for order in [1.0, 0.5, f64::INFINITY, f64::NAN] {
            assert!(RenyiAccountant.divergence(&full, NeighbourRelation::AddRemove, order).is_err(), "{order}");
        }
        assert!(RenyiAccountant.divergence(&full, NeighbourRelation::ReplaceOne, 2.0).is_ok());
        let sampled = PrivacyEvent { sampling: Sampling::Poisson { rate: 0.5 }, ..full };
        assert!(RenyiAccountant.divergence(&sampled, NeighbourRelation::AddRemove, 2.0).is_ok());
        assert!(RenyiAccountant.divergence(&sampled, NeighbourRelation::ReplaceOne, 2.0).is_err());
        assert!(RenyiAccountant.epsilon(&sampled, NeighbourRelation::ReplaceOne, 1e-5).is_err());
    }

    /// `sum_k C(a, k) (1-q)^(a-k) q^k e^(k (k-1) / (2 s^2))`, exact at whole orders.
    #[test]
    fn whole_orders_have_a_closed_form() {
        for (q, s, a) in [(0.3, 0.4, 3), (0.02, 1.3, 7), (0.5, 0.2, 2), (0.9, 5.0, 12)] {
            let mut binomial = 1.0;
            let mut moment = 0.0;
            for k in 0..=a {
                let shift = f64::from(k * (k - 1)) / (2.0 * s * s);
                moment += binomial * f64::powi(1.0 - q, a - k) * f64::powi(q, k) * shift.exp();
                binomial *= f64::from(a - k) / f64::from(k + 1);
            }
            let found = RenyiMoment { rate: q, noise: s, order: f64::from(a) }.log();
            assert!((found / moment.ln() - 1.0).abs() < 1e-12, "{q} {s} {a}: {found} {}", moment.ln());
        }
    }

    /// `A - 1` is `q^2 a (a-1) (e^(1/s^2) - 1) / 2` to leading order, far below the rounding of `A`.
    #[test]
    fn tiny_rates_keep_their_digits() {
        let (q, s, a) = (1e-10, 0.8, 1.5);
        let expected = 0.5 * q * q * a * (a - 1.0) * f64::exp_m1(1.0 / (s * s));
        assert!((RenyiMoment { rate: q, noise: s, order: a }.log() / expected - 1.0).abs() < 1e-7);
    }

    /// With little noise all of the moment comes from the highest power, `q^a e^(a (a-1) / (2 s^2))`: the next is e^-400 of it.
    #[test]
    fn thousands_of_nats_do_not_overflow() {
        for a in [3.0, 2.5] {
            let (q, s): (f64, f64) = (0.5, 0.03);
            let expected = a * q.ln() + a * (a - 1.0) / (2.0 * s * s);
            let found = RenyiMoment { rate: q, noise: s, order: a }.log();
            assert!((found / expected - 1.0).abs() < 1e-13, "{a}: {found} {expected}");
        }
    }

    /// Rare samples and little noise: far out the ratio overflows although the moment is near 1. By a quadrature with 60 digits.
    #[test]
    fn rare_samples_keep_their_digits_far_out() {
        let found = RenyiMoment { rate: 1e-60, noise: 0.05, order: 1.5 }.log();
        assert!((found / 1.393_709_580_666_379_7e-25 - 1.0).abs() < 1e-9, "{found:e}");
    }

    /// With little noise the strip of analyticity is the limit, `pi s^2`; with much of it the accuracy, at `s (2 * 60)^(1/2)`, where
    /// the step is `2 pi s / 120^(1/2)`.
    #[test]
    fn steps_are_those_of_the_widest_strip() {
        let little = 0.999 * PI * 0.25;
        let wanted = TAU * little / (60.0 + 2.0 * little * little);
        assert!((QuadratureNodes::new(0.5, 2.0).step / wanted - 1.0).abs() < 1e-14);
        assert!((QuadratureNodes::new(10.0, 2.0).step / (TAU * 10.0 / 120f64.sqrt()) - 1.0).abs() < 1e-14);
    }
}
