//! Sums of independent losses: cumulants, exponential tilts and Chernoff bounds.

use super::discrete::DiscreteLossDistribution;

/// Tilts beyond these, per grid width, are no better: a point outweighs its neighbour by nothing, or by `e^100`.
const LEAST_TILT: f64 = 1e-12;
const GREATEST_TILT: f64 = 100.0;

/// The sum of the losses of all steps.
#[derive(Debug)]
pub(super) struct LossSum<'a> {
    pub step: &'a DiscreteLossDistribution,
    pub steps: u32,
    /// Grid losses of positive mass, with the logarithm of the mass.
    terms: Vec<(f64, f64)>,
}

/// A value of the cumulant generating function, and its slope there.
pub(super) struct CumulantValue {
    pub value: f64,
    pub slope: f64,
}

impl<'a> LossSum<'a> {
    pub fn new(step: &'a DiscreteLossDistribution, steps: u32) -> Self {
        let positive = step.losses_with_masses().filter(|(_, mass)| *mass > 0.0);
        Self { step, steps, terms: positive.map(|(loss, mass)| (loss, mass.ln())).collect() }
    }

    /// `K(t) = ln sum m_i e^(t l_i)` of one step, with its derivative.
    pub fn step_cumulant(&self, tilt: f64) -> CumulantValue {
        let exponents = self.terms.iter().map(|(loss, log)| log + tilt * loss);
        // Relative to the greatest term nothing overflows, whatever the tilt.
        let top = exponents.clone().fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut weighted) = (0.0, 0.0);
        for ((loss, _), exponent) in self.terms.iter().zip(exponents) {
            let term = (exponent - top).exp();
            sum += term;
            weighted += loss * term;
        }
        CumulantValue { value: top + sum.ln(), slope: weighted / sum }
    }

    /// The mean of the sum under a tilt, `T K'(t)`.
    fn tilted_mean(&self, tilt: f64) -> f64 {
        f64::from(self.steps) * self.step_cumulant(tilt).slope
    }

    /// The tilt at which the Chernoff bound `(T K(t) + ln(1/delta)) / t` of the sum is least.
    pub fn tilt_for_delta(&self, delta: f64) -> f64 {
        self.chernoff_tilt(0.0, 1.0, -delta.ln())
    }

    /// The tilt, not negative, at which the sum has a mean of at least `epsilon`.
    pub fn tilt_for_mean(&self, epsilon: f64) -> f64 {
        if self.tilted_mean(0.0) >= epsilon {
            return 0.0;
        }
        self.find_rising_root(|tilt| self.tilted_mean(tilt) - epsilon)
    }

    /// A value that the sum passes, upwards or downwards (`sign`), with probability at most `e^-nats` when its
    /// terms are tilted by `tilt`: `(T (K(tilt + t) - K(tilt)) + nats) / t`.
    pub fn chernoff_quantile_bound(&self, tilt: f64, sign: f64, nats: f64) -> f64 {
        let more = sign * self.chernoff_tilt(tilt, sign, nats);
        let rise = self.step_cumulant(tilt + more).value - self.step_cumulant(tilt).value;
        (f64::from(self.steps) * rise + nats) / more
    }

    /// The size `t` where `T (s t K'(b + s t) - K(b + s t) + K(b)) = nats`, which makes [`LossSum::chernoff_quantile_bound`] tight.
    fn chernoff_tilt(&self, base: f64, sign: f64, nats: f64) -> f64 {
        let start = self.step_cumulant(base).value;
        self.find_rising_root(|size| {
            let CumulantValue { value, slope } = self.step_cumulant(base + sign * size);
            f64::from(self.steps) * (sign * size * slope - value + start) - nats
        })
    }

    /// A root of a rising function of a tilt to about 3 %, or an end of the range of tilts. Bounds hold at any tilt.
    fn find_rising_root(&self, f: impl Fn(f64) -> f64) -> f64 {
        let (least, greatest) = (LEAST_TILT / self.step.width, GREATEST_TILT / self.step.width);
        let start = 0.01 / self.step.width;
        let (mut low, mut high) = (start, start);
        while f(high) < 0.0 {
            (low, high) = (high, 4.0 * high);
            if high > greatest {
                return greatest;
            }
        }
        while low == high || f(low) > 0.0 {
            (low, high) = (low / 4.0, low);
            if low < least {
                return least;
            }
        }
        // Halves the interval of ln tilt: tilts are scales.
        while high > 1.03 * low {
            let middle = f64::sqrt(low * high);
            if f(middle) < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Losses of 1/2 and -1/2, as likely as each other: `K(t) = ln cosh(t / 2)`.
    fn coin() -> DiscreteLossDistribution {
        DiscreteLossDistribution { first: -1, width: 0.5, masses: vec![0.5, 0.0, 0.5], infinite: 0.0 }
    }

    /// The mean of ten tilted coins is `5 tanh(t / 2)`.
    #[test]
    fn a_tilt_moves_the_mean() {
        let coin = coin();
        let sum = LossSum::new(&coin, 10);
        for mean in [0.01, 2.0, 4.9] {
            let tilt = 2.0 * f64::atanh(mean / 5.0);
            let ratio = sum.tilt_for_mean(mean) / tilt;
            assert!((1.0 - 1e-9..1.03 + 1e-9).contains(&ratio), "{mean}: {ratio}");
        }
        assert_eq!((sum.tilt_for_mean(-1.0), sum.tilt_for_mean(6.0)), (0.0, 200.0));
    }

    /// Where a function has no root the end of the range is taken, which goes with the width.
    #[test]
    fn tilts_have_a_range() {
        let coin = coin();
        let sum = LossSum::new(&coin, 1);
        assert_eq!((sum.find_rising_root(|_| 1.0), sum.find_rising_root(|_| -1.0)), (2e-12, 200.0));
    }

    #[test]
    fn cumulants_are_those_of_coins() {
        let coin = coin();
        for tilt in [-3.0, 0.0, 0.5, 40.0] {
            let CumulantValue { value, slope } = LossSum::new(&coin, 7).step_cumulant(tilt);
            assert!((value - (0.5 * tilt).cosh().ln()).abs() < 1e-13, "{tilt}: {value}");
            assert!((slope - 0.5 * (0.5 * tilt).tanh()).abs() < 1e-14, "{tilt}: {slope}");
        }
    }

    fn bound(base: f64, more: f64) -> f64 {
        (10.0 * ((0.5 * (base + more)).cosh() / (0.5 * base).cosh()).ln() + 2.0) / more
    }

    fn scan() -> impl Iterator<Item = f64> {
        (1..4000).map(|i| 1e-3 * f64::from(i))
    }

    /// `(10 ln(cosh((b + t) / 2) / cosh(b / 2)) + 2) / t`, of which a scan knows the least.
    #[test]
    fn reaches_are_the_least_bounds_of_chernoff() {
        let coin = coin();
        let sum = LossSum::new(&coin, 10);
        for base in [0.0, 1.0] {
            let up = scan().map(|t| bound(base, t)).fold(f64::INFINITY, f64::min);
            let down = scan().map(|t| bound(base, -t)).fold(f64::NEG_INFINITY, f64::max);
            let found = [1.0, -1.0].map(|sign| sum.chernoff_quantile_bound(base, sign, 2.0));
            assert!((-1e-6..2e-3).contains(&(found[0] - up)), "{base}: {found:?} {up}");
            assert!((-1e-6..2e-3).contains(&(down - found[1])), "{base}: {found:?} {down}");
        }
        let tilt = sum.tilt_for_delta((-2f64).exp());
        let least = scan().map(|t| bound(0.0, t)).fold(f64::INFINITY, f64::min);
        assert!((-1e-6..2e-3).contains(&(bound(0.0, tilt) - least)), "{tilt}");
    }
}
