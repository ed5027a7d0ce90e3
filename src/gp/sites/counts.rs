//! How many rows lie near each site.

use nalgebra::{DMatrix, DVector};

use super::feasible::Misfit;
use super::{NoisyFeatures, SiteFeatures};
use crate::linalg::{Cholesky, LinalgError, gram, transposed_product};

/// The concentrations of the prior that the evidence chooses from.
pub(super) const CONCENTRATIONS: [f64; 6] = [1.0, 3.0, 10.0, 30.0, 100.0, 1000.0];

/// The posterior of the counts p at G sites, given the noisy sums T.
///
/// A priori p has mean n / G and covariance `S (I / G - 11' / G^2)`, `S = n^2 / (a + 1) + n`: the first two moments of a sample of n
/// rows from a density that is Dirichlet with concentration a. The concentration is the one of greatest evidence of T. The mean
/// is the most probable one with `p >= 0` and `sum p = n`, so that the sums are those of a data set; the covariance is that of the
/// Gaussian posterior.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteCounts {
    /// The counts (G).
    pub mean: DVector<f64>,
    /// Their covariance (G x G).
    pub covariance: DMatrix<f64>,
    /// What it would be without noise on T: what so few sums leave open.
    pub unresolved: DMatrix<f64>,
    /// a.
    pub concentration: f64,
}

impl SiteCounts {
    /// Given the released sums.
    ///
    /// # Errors
    /// [`LinalgError`] if a variance of the noise is not positive.
    pub fn new(features: &SiteFeatures, released: &NoisyFeatures) -> Result<Self, LinalgError> {
        let prior = CountsPrior::new(features, released);
        let mut best = prior.given(CONCENTRATIONS[0])?;
        for concentration in &CONCENTRATIONS[1..] {
            let other = prior.given(*concentration)?;
            if other.evidence > best.evidence {
                best = other;
            }
        }
        prior.posterior(best)
    }
}

/// What all concentrations share.
struct CountsPrior<'a> {
    features: &'a SiteFeatures,
    released: &'a NoisyFeatures,
    /// e at the sites about its mean over them (G x k).
    centred: DMatrix<f64>,
    /// `E (I / G - 11' / G^2) E'` (k x k).
    spread: DMatrix<f64>,
    /// T less its mean a priori (k x 1).
    residual: DMatrix<f64>,
}

/// What follows for one concentration.
struct GivenConcentration {
    concentration: f64,
    /// `S`.
    scale: f64,
    factor: Cholesky,
    /// `F^-1 residual` for the factor F (k x 1).
    solved: DMatrix<f64>,
    evidence: f64,
}

impl<'a> CountsPrior<'a> {
    fn new(features: &'a SiteFeatures, released: &'a NoisyFeatures) -> Self {
        let sites = features.len() as f64;
        let mean = features.plain.row_mean();
        let mut centred = features.plain.clone();
        centred.row_iter_mut().for_each(|mut row| row -= &mean);
        let spread = gram(&centred) / sites;
        let residual = &released.sums.plain - mean.transpose() * released.sums.rows as f64;
        let residual = DMatrix::from_column_slice(residual.len(), 1, residual.as_slice());
        Self { features, released, centred, spread, residual }
    }

    /// `S = n^2 / (a + 1) + n`.
    fn scale(&self, concentration: f64) -> f64 {
        let n = self.released.sums.rows as f64;
        n * n / (concentration + 1.0) + n
    }

    fn given(&self, concentration: f64) -> Result<GivenConcentration, LinalgError> {
        let scale = self.scale(concentration);
        let covariance = &self.spread * scale + DMatrix::from_diagonal(&self.released.plain);
        let factor = Cholesky::without_jitter("the covariance of the plain sums", &covariance)?;
        let solved = factor.half_solve(&self.residual);
        let logs: f64 = factor.factor().diagonal().iter().map(|pivot| pivot.ln()).sum();
        let evidence = -0.5 * solved.norm_squared() - logs;
        Ok(GivenConcentration { concentration, scale, factor, solved, evidence })
    }

    fn posterior(&self, given: GivenConcentration) -> Result<SiteCounts, LinalgError> {
        let GivenConcentration { concentration, scale, factor, solved, .. } = given;
        let sites = self.features.len();
        let each = 1.0 / sites as f64;
        let gain = factor.half_solve(&(self.centred.transpose() * (scale * each)));
        let prior = DMatrix::from_fn(sites, sites, |i, j| scale * (f64::from(i == j) * each - each * each));
        let exact = Cholesky::new("the covariance of the plain sums without noise", &(&self.spread * scale))?;
        let without = exact.half_solve(&(self.centred.transpose() * (scale * each)));
        let unresolved = &prior - gram(&without);
        let uniform = DVector::from_element(sites, self.released.sums.rows as f64 * each);
        let mut mean = &uniform + transposed_product(&gain, &solved).column(0);
        if mean.min() < 0.0 {
            mean = Misfit::new(self.features, self.released, &uniform, scale).least(&mean);
        }
        let mut covariance = prior - gram(&gain);
        // A number of rows that is not known scales all counts.
        let rows = self.released.sums.rows as f64;
        covariance.ger(self.released.rows / (rows * rows), &mean, &mean, 1.0);
        Ok(SiteCounts { mean, covariance, unresolved, concentration })
    }
}
