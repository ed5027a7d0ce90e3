//! What no weights do better than.

use super::choice::{KAPPAS, reach};
use super::design::rule;
use super::search::{Slopes, stepped};
use super::{MomentsDesign, SitePrior, SquareRule, WeightSearch};
use dpgp_gp::sites::SiteReference;
use dpgp_linalg::{LinalgError, largest};
use dpgp_noise::PrivacyError;

/// Steps of the search for weights that the bound is taken at.
const STEPS: usize = 20;
/// Halvings of the search for a multiplier.
const HALVINGS: usize = 60;

impl MomentsDesign {
    /// A lower bound on the expected squared error of every design that [`MomentsDesign::least_risk`] chooses from: all weights on the frequencies
    /// that the kernel reaches, for the same periods and the same kappa. The excess of a design over it is at least what a better search could win.
    ///
    /// # Errors
    /// [`PrivacyError`] without noise, or if the bound on targets is not positive.
    pub fn lower_bound(reference: &SiteReference, sigma: f64, periods: &[f64]) -> Result<f64, PrivacyError> {
        let (prior, mut least) = (SitePrior::new(reference), f64::INFINITY);
        for &period in periods {
            let search = WeightSearch::new(&prior, reach(reference, period), period);
            for kappa in KAPPAS {
                let rule = rule(&[1.0], reference.bound, kappa)?;
                least = least.min(search.lower_bound(&rule, sigma, STEPS)?);
            }
        }
        Ok(least)
    }
}

impl WeightSearch {
    /// A lower bound on the risk of all weights that add up to 1.
    ///
    /// *Proof.* The weights `t_k` of the plain sums are those of `c V^2`, which add up to at most c. So whatever the weights, density passes on to
    /// frequency j at least `p_j`, the least of `sum_k B_jk / (1 / pi + t_k / (sigma^2 D^2))` over all `t >= 0` with that sum, and the risk is at least
    /// `R(u) = tr(K - K L' (Q_0 + diag(sigma^2 D^2 / u + p))^-1 L K) / G`, as it rises with each variance. R is the mean variance of f given
    /// numbers of variance `Q_0 + diag(p)` about the process that are seen with the precisions `u / (sigma^2 D^2)`: the posterior covariance
    /// `(A + diag(u) / (sigma^2 D^2))^-1` of those numbers is convex in u, and so is R. It lies above its tangents: with `g = -grad R`,
    ///
    /// ```text
    /// R(v) >= R(u) - max_j g_j + sum_j u_j g_j     for all v that add up to 1.
    /// ```
    ///
    /// # Errors
    /// [`LinalgError`] without noise.
    pub fn lower_bound(&self, rule: &SquareRule, sigma: f64, steps: usize) -> Result<f64, LinalgError> {
        let noise = (sigma * rule.sensitivity()).powi(2);
        let passed = self.least_passed_on(rule.factor(), noise);
        let mut weights = vec![1.0 / passed.len() as f64; passed.len()];
        let mut bound = 0.0f64;
        for _ in 0..steps {
            let errors = weights.iter().zip(&passed).map(|(u, passed)| noise / u + passed).collect();
            let Slopes { risk, slopes } = self.slopes(errors)?;
            let gains: Vec<f64> =
                weights.iter().zip(&slopes).map(|(u, slope)| slope * noise / (u * u)).collect();
            let mean: f64 = weights.iter().zip(&gains).map(|(u, gain)| u * gain).sum();
            bound = bound.max(risk - largest(gains) + mean);
            weights = stepped(&weights, &slopes);
        }
        Ok(bound)
    }

    /// `p_j`.
    pub(super) fn least_passed_on(&self, most: f64, noise: f64) -> Vec<f64> {
        let rows = self.transfer.row_iter();
        rows.map(|row| {
            Passed { shares: row.iter().copied().collect(), precision: self.precision }.least(most / noise)
        })
        .collect()
    }
}

/// What density passes on to a frequency: `sum_k B_k / (a + x_k)`.
struct Passed {
    /// `B_k`.
    shares: Vec<f64>,
    /// a.
    precision: f64,
}

impl Passed {
    /// A lower bound on the least over `x >= 0` that add up to at most `total`: by duality it is, for any multiplier `l >= 0`, at least
    /// `sum_k min_x (B_k / (a + x) + l x) - l total`, where `x_k = (sqrt(B_k / l) - a)+`.
    fn least(&self, total: f64) -> f64 {
        // At the greatest multiplier no x_k is positive; the best one makes them add up to the total.
        let greatest = largest(self.shares.iter().copied()) / (self.precision * self.precision);
        let (mut low, mut high) = (0.0, greatest);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let used: f64 = self.shares.iter().map(|share| self.place(*share, middle)).sum();
            if used > total { low = middle } else { high = middle }
        }
        let parts = self.shares.iter().map(|share| {
            let x = self.place(*share, high);
            share / (self.precision + x) + high * x
        });
        (parts.sum::<f64>() - high * total).max(0.0)
    }

    fn place(&self, share: f64, multiplier: f64) -> f64 {
        ((share / multiplier).sqrt() - self.precision).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two equal shares take half of the total each; one that is too small takes none. Nothing to share is passed on as it is.
    #[test]
    fn what_is_passed_on_is_least_where_slopes_are_equal() {
        let equal = Passed { shares: vec![3.0, 3.0], precision: 1.0 };
        assert!((equal.least(4.0) - 2.0 * 3.0 / 3.0).abs() < 1e-9);
        let unequal = Passed { shares: vec![16.0, 1.0], precision: 1.0 };
        // The slope 16 / (1 + 2)^2 is still more than that of the other at zero, 1.
        assert!((unequal.least(2.0) - (16.0 / 3.0 + 1.0)).abs() < 1e-9);
        assert!((unequal.least(0.0) - 17.0).abs() < 1e-9);
        for x in 0..=20 {
            let x = f64::from(x);
            assert!(unequal.least(20.0) <= 16.0 / (1.0 + x) + 1.0 / (21.0 - x) + 1e-9);
        }
    }
}
