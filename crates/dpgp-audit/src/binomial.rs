//! Clopper-Pearson bounds on a probability.
//!
//! They are exact: their error never exceeds the stated one, for any probability and any number of trials.
//! Normal approximations lack this for rare events.

use libm::lgamma;

/// Trials, and how many of them succeeded.
///
/// ```
/// use dpgp_audit::BinomialTrials;
/// // No failure in n trials: p^n = error at the bound.
/// let all = BinomialTrials { successes: 10, trials: 10 };
/// assert!((all.lower_confidence_bound(0.05) - 0.05f64.powf(0.1)).abs() < 1e-12);
/// assert_eq!(all.upper_confidence_bound(0.05), 1.0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinomialTrials {
    /// Successes.
    pub successes: u32,
    /// Trials.
    pub trials: u32,
}

impl BinomialTrials {
    /// The probability is at least this, with an error of at most `error`: the p at which as many successes or more have
    /// that probability. Source: Clopper and Pearson 1934.
    pub fn lower_confidence_bound(self, error: f64) -> f64 {
        if self.successes == 0 {
            return 0.0;
        }
        bisect(|p| error < 0.25 && self.is_at_most_median(p) || self.log_tail(p, self.successes) > error.ln())
    }

    /// Whether so many successes are at most the usual number: `k <= floor(n p)`, where `P(X >= k)` is at least a half,
    /// since no median lies below `floor(n p)`. Source: Kaas and Buhrman 1980.
    fn is_at_most_median(self, p: f64) -> bool {
        f64::from(self.successes) <= (f64::from(self.trials) * p).floor()
    }

    /// These trials and others.
    #[must_use]
    pub fn combine_trials(self, more: Self) -> Self {
        Self { successes: self.successes + more.successes, trials: self.trials + more.trials }
    }

    /// The probability is at most this, with an error of at most `error`: one less the lower bound for failures.
    pub fn upper_confidence_bound(self, error: f64) -> f64 {
        let failures = Self { successes: self.trials - self.successes, trials: self.trials };
        1.0 - failures.lower_confidence_bound(error)
    }

    /// `ln P(X = x)` for X binomial, by `ln C(n, x)`.
    fn log_probability(self, p: f64, x: u32) -> f64 {
        let (n, x) = (f64::from(self.trials), f64::from(x));
        let choose = lgamma(n + 1.0) - lgamma(x + 1.0) - lgamma(n - x + 1.0);
        // 0 ln 0 = 0 at p = 1.
        let fails = if x == n { 0.0 } else { (n - x) * (-p).ln_1p() };
        choose + x * p.ln() + fails
    }

    /// `ln P(X >= k)` for X binomial: the sum of its terms by their logarithms.
    fn log_tail(self, p: f64, k: u32) -> f64 {
        let n = f64::from(self.trials);
        // Relative to the greatest term, the one at the mode or next to it, nothing overflows.
        let first = self.log_probability(p, k.max(((n + 1.0) * p) as u32).min(self.trials));
        let mut sum = 0.0;
        for x in k..=self.trials {
            let term = (self.log_probability(p, x) - first).exp();
            sum += term;
            // Beyond the mode terms fall; what follows one of 1e-18 of the sum does not count.
            if f64::from(x) > (n + 1.0) * p && term < 1e-18 * sum {
                break;
            }
        }
        first + sum.ln()
    }
}

/// The least p in [0, 1] from which on `beyond` holds, rounded down: a lower bound stays one.
fn bisect(beyond: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if beyond(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(successes: u32, trials: u32) -> BinomialTrials {
        BinomialTrials { successes, trials }
    }

    /// With no failure in n trials the bound is `error^(1/n)`; the others are from tables of the 95 % intervals.
    #[test]
    fn known_intervals() {
        assert!((count(10, 10).lower_confidence_bound(0.025) - 0.025f64.powf(0.1)).abs() < 1e-12);
        assert!((count(0, 10).upper_confidence_bound(0.025) - 0.308_497_1).abs() < 1e-6);
        assert!((count(1, 10).lower_confidence_bound(0.025) - 0.002_528_6).abs() < 1e-6);
        assert!((count(1, 10).upper_confidence_bound(0.025) - 0.445_016_1).abs() < 1e-6);
        assert!((count(5, 10).lower_confidence_bound(0.025) - 0.187_086_0).abs() < 1e-6);
        assert!((count(5, 10).upper_confidence_bound(0.025) - 0.812_914_0).abs() < 1e-6);
        assert!((count(4, 20).lower_confidence_bound(0.025) - 0.057_334).abs() < 1e-5);
        assert!((count(4, 20).upper_confidence_bound(0.025) - 0.436_614).abs() < 1e-5);
    }

    #[test]
    fn many_trials_do_not_overflow() {
        let count = BinomialTrials { successes: 50_000, trials: 100_000 };
        let (low, high) = (count.lower_confidence_bound(0.025), count.upper_confidence_bound(0.025));
        // The normal approximation: 0.5 -+ 1.96 sqrt(0.25 / n).
        assert!((low - 0.4969).abs() < 1e-4 && (high - 0.5031).abs() < 1e-4, "{low} {high}");
        assert_eq!(BinomialTrials { successes: 0, trials: 5 }.lower_confidence_bound(0.05), 0.0);
        assert_eq!(BinomialTrials { successes: 5, trials: 5 }.upper_confidence_bound(0.05), 1.0);
    }
}
