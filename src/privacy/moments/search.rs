//! Weights of least expected error.

use nalgebra::DMatrix;

use super::torus::Torus;
use super::{Frequencies, PairTable, SquareRule};
use crate::gp::sites::{SiteReference, site_grid};
use crate::linalg::{Cholesky, LinalgError, product};

/// The expected squared error of predictions under a reference, as a function of the weights; no data enter it.
///
/// With the sites g as likely as each other, `L = n Phi' / G`, K their covariances and D the sensitivity, the entries of b have
/// independent errors of variance
///
/// ```text
/// c_j = sigma^2 D^2 / u_j + sum_k B_jk / (1 / pi + t_k / (sigma^2 D^2)),    pi = n^2 / (2 (a + 1)),    B_jk = s(j - k) + s(j + k),
/// ```
///
/// the noise, and the error of the density: T has the prior variance pi and passes on what f has at the frequency between (s, the
/// mass of the kernel on a torus with period P, its bias at the zero). With `Q = L K L' + n s^2 Phi' Phi / G + diag(c)` and
/// `H = Q^-1 L K` the error is `tr(K - (L K)' H) / G`; its slope in `c_j` is the mean square of row j of H.
pub struct WeightSearch {
    frequencies: Frequencies,
    table: PairTable,
    /// `L K` (m x G).
    cross: DMatrix<f64>,
    /// `L K L' + n s^2 Phi' Phi / G` (m x m).
    seen: DMatrix<f64>,
    /// The mean variance of f.
    prior: f64,
    /// B (F x k).
    pub(super) transfer: DMatrix<f64>,
    /// `1 / pi`.
    pub(super) precision: f64,
}

/// What is believed about a function where errors count, on sites that are as likely as each other.
pub struct SitePrior<'a> {
    reference: &'a SiteReference,
    /// G x d.
    sites: DMatrix<f64>,
    /// G x G, the variance of the mean in all of it.
    covariance: DMatrix<f64>,
}

impl<'a> SitePrior<'a> {
    /// On the grid for the inputs of a reference.
    pub fn new(reference: &'a SiteReference) -> Self {
        let sites = site_grid(reference.kernel.dimensions());
        let correlations = reference.kernel.correlations(1.0).matrix(&sites, &sites);
        let covariance = (correlations * reference.kernel.variance()).add_scalar(reference.bias);
        Self { reference, sites, covariance }
    }
}

/// Weights, which add up to 1, and the mean squared error that they are expected to have.
#[derive(Debug, Clone, PartialEq)]
pub struct LeastRisk {
    /// `u_j`.
    pub weights: Vec<f64>,
    /// The expected squared error, in squared units of the target.
    pub risk: f64,
}

/// The variance that takes a number out of a release.
const NEVER: f64 = 1e30;
/// The least weight, relative to the greatest.
const LEAST: f64 = 1e-6;

impl WeightSearch {
    /// For what is believed about the data, and frequencies with their period.
    pub fn new(prior: &SitePrior<'_>, frequencies: Frequencies, period: f64) -> Self {
        let SitePrior { reference, sites, covariance } = prior;
        let (rows, each) = (reference.rows as f64, 1.0 / sites.nrows() as f64);
        let features = frequencies.features(sites, period);
        let map = features.transpose() * (rows * each);
        let cross = product(&map, covariance);
        let seen = product(&cross, &map.transpose()) + product(&map, &features) * reference.noise_variance;
        let table = PairTable::new(&frequencies);
        let torus = Torus::new(reference, period);
        let transfer = DMatrix::from_fn(frequencies.len(), table.frequencies.len(), |j, k| {
            let (j, k) = (&frequencies.vectors()[j], &table.frequencies.vectors()[k]);
            torus.mass(j, k, -1) + torus.mass(j, k, 1)
        });
        let precision = 2.0 * (reference.concentration + 1.0) / (rows * rows);
        Self { prior: covariance.trace() * each, frequencies, table, cross, seen, transfer, precision }
    }

    /// The best weights of a fixed-point iteration `u <- sqrt(u sqrt(gamma))`, gamma the slopes, from some that add up to 1.
    ///
    /// # Errors
    /// [`LinalgError`] without noise.
    pub fn least_risk(
        &self,
        rule: &SquareRule,
        sigma: f64,
        start: Vec<f64>,
        steps: usize,
    ) -> Result<LeastRisk, LinalgError> {
        let noise = (sigma * rule.sensitivity()).powi(2);
        let mut best = LeastRisk { weights: start.clone(), risk: f64::INFINITY };
        let mut weights = start;
        for _ in 0..steps {
            let Slopes { risk, slopes } = self.slopes(self.errors(rule, noise, &weights))?;
            if risk < best.risk {
                best = LeastRisk { weights: weights.clone(), risk };
            }
            weights = stepped(&weights, &slopes);
        }
        Ok(best)
    }

    /// Where the entries of b have independent errors of these variances.
    pub(super) fn slopes(&self, errors: Vec<f64>) -> Result<Slopes, LinalgError> {
        let errors: Vec<f64> = errors.into_iter().map(|c| c.min(NEVER)).collect();
        let covariance = &self.seen + DMatrix::from_diagonal(&self.frequencies.spread(&errors));
        let factor = Cholesky::without_jitter("the covariance of the weighted sums", &covariance)?;
        let half = factor.half_solve(&self.cross);
        let each = 1.0 / half.ncols() as f64;
        let solved = factor.upper_solve(&half);
        let mut rows = vec![0.0; solved.nrows()];
        // Column by column, as it is stored.
        for column in solved.as_slice().chunks_exact(rows.len()) {
            rows.iter_mut().zip(column).for_each(|(sum, value)| *sum += value * value * each);
        }
        Ok(Slopes { risk: self.prior - half.norm_squared() * each, slopes: self.frequencies.gathered(&rows) })
    }

    /// `c_j`.
    fn errors(&self, rule: &SquareRule, noise: f64, weights: &[f64]) -> Vec<f64> {
        let pairs = rule.pair_weights(&self.table, weights);
        let unknown: Vec<f64> = pairs.iter().map(|t| 1.0 / (self.precision + t / noise)).collect();
        let transfer = self.transfer.row_iter().map(|row| row.iter().zip(&unknown).map(|(b, v)| b * v).sum());
        let transfer: Vec<f64> = transfer.collect();
        weights.iter().zip(transfer).map(|(u, passed_on)| noise / u + passed_on).collect()
    }
}

/// The risk, and how it depends on the errors.
pub(super) struct Slopes {
    pub risk: f64,
    /// `d risk / d c_j`.
    pub slopes: Vec<f64>,
}

/// The geometric mean of the weights and of those in proportion to the roots of the slopes.
pub(super) fn stepped(weights: &[f64], slopes: &[f64]) -> Vec<f64> {
    let roots: f64 = slopes.iter().map(|slope| slope.sqrt()).sum();
    let next: Vec<f64> =
        weights.iter().zip(slopes).map(|(u, slope)| (u * slope.sqrt() / roots).sqrt()).collect();
    let least = LEAST * next.iter().copied().fold(0.0, f64::max);
    normalised(next.into_iter().map(|u| u.max(least)).collect())
}

/// The same, adding up to 1.
pub(super) fn normalised(weights: Vec<f64>) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|u| u / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights of 1/2 and slopes of 1 and 16: the roots' shares are 1/5 and 4/5, and the geometric means are as 1 to 2.
    #[test]
    fn a_step_is_a_geometric_mean() {
        let next = stepped(&[0.5, 0.5], &[1.0, 16.0]);
        assert!((next[0] - 1.0 / 3.0).abs() < 1e-15 && (next[1] - 2.0 / 3.0).abs() < 1e-15);
        // Weights in proportion to the roots of the slopes stay.
        let same = stepped(&[0.2, 0.8], &[1.0, 16.0]);
        assert!((same[0] - 0.2).abs() < 1e-15 && (same[1] - 0.8).abs() < 1e-15);
        // One that is zero becomes a millionth of the greatest.
        let least = stepped(&[1.0, 0.0], &[1.0, 1.0]);
        assert!((least[1] / least[0] / 1e-6 - 1.0).abs() < 1e-12);
    }
}
