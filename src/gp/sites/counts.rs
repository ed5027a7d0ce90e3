//! How many rows lie near each site.

use nalgebra::{DMatrix, DVector};

use super::feasible::Misfit;
use super::{NoisyFeatures, SiteFeatures};
use crate::linalg::{Cholesky, LinalgError, gram, transposed_product};

/// The concentrations of the prior that the evidence chooses from.
pub(super) const CONCENTRATIONS: [f64; 6] = [1.0, 3.0, 10.0, 30.0, 100.0, 1000.0];
/// The share of the rows that may lie where the mean has none.
const OVERLOOKED: f64 = 0.01;

/// The posterior of the counts p at G sites, given the noisy sums T.
///
/// A priori p has mean n / G and covariance `S (I / G - 11' / G^2)`, `S = n^2 / (a + 1) + n`: the first two moments of a sample of n
/// rows from a density that is Dirichlet with concentration a. The concentration is the one of greatest evidence of T. The mean
/// is the most probable one with `p >= 0` and `sum p = n`, so that the sums are those of a data set.
///
/// The covariance is the Gaussian posterior's for `S (diag(q) - q q')` a priori, which is that of the same S about the density
/// `q = 0.99 p / n + 0.01 / G` that the mean tells, in place of the uniform one: counts vary with their size, and where there are
/// hardly any rows none can be far off. The uniform part stands for what the mean may have overlooked.
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
        let each = 1.0 / self.features.len() as f64;
        let rows = self.released.sums.rows as f64;
        let uniform = DVector::from_element(self.features.len(), rows * each);
        let gain = factor.half_solve(&(self.centred.transpose() * (scale * each)));
        let mut mean = &uniform + transposed_product(&gain, &solved).column(0);
        if mean.min() < 0.0 {
            mean = Misfit::new(self.features, self.released, &uniform, scale).least(&mean);
        }
        let density = &mean * ((1.0 - OVERLOOKED) / rows) + uniform * (OVERLOOKED / rows);
        let about = AboutDensity::new(self.features, &density, scale);
        let mut covariance = about.given(&self.released.plain)?;
        // A number of rows that is not known scales all counts.
        covariance.ger(self.released.rows / (rows * rows), &mean, &mean, 1.0);
        let unresolved = about.given(&DVector::zeros(self.released.plain.len()))?;
        Ok(SiteCounts { mean, covariance, unresolved, concentration })
    }
}

/// Counts with the covariance `P = S (diag(q) - q q')`.
struct AboutDensity {
    /// P.
    prior: DMatrix<f64>,
    /// `P E'` for e at the sites (G x k).
    cross: DMatrix<f64>,
    /// `E P E'` (k x k).
    spread: DMatrix<f64>,
}

impl AboutDensity {
    fn new(features: &SiteFeatures, density: &DVector<f64>, scale: f64) -> Self {
        let mut prior = DMatrix::from_diagonal(density) * scale;
        prior.ger(-scale, density, density, 1.0);
        let centre = features.plain.tr_mul(density).transpose();
        let mut cross = features.plain.clone();
        for (mut row, share) in cross.row_iter_mut().zip(density.iter()) {
            row -= &centre;
            row *= scale * share;
        }
        let spread = transposed_product(&features.plain, &cross);
        // Its two halves differ by rounding.
        Self { prior, cross, spread: (&spread + spread.transpose()) * 0.5 }
    }

    /// `P - P E' (E P E' + N)^-1 E P` for noise of variances N on the sums.
    fn given(&self, noise: &DVector<f64>) -> Result<DMatrix<f64>, LinalgError> {
        let covariance = &self.spread + DMatrix::from_diagonal(noise);
        let factor = Cholesky::new("the covariance of the plain sums", &covariance)?;
        Ok(&self.prior - gram(&factor.half_solve(&self.cross.transpose())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: with S = 8 and q = (1/2, 1/4, 1/4) the count of the first site has the variance 2 and -1 in common with each other; a sum
    /// that is that count and noise of variance 2 leaves `P - (2, -1, -1)'(2, -1, -1) / 4`.
    #[test]
    fn a_noisy_count_is_known_by_half() {
        let features = SiteFeatures {
            sites: DMatrix::zeros(3, 1),
            weighted: DMatrix::zeros(3, 1),
            plain: DMatrix::from_column_slice(3, 1, &[1.0, 0.0, 0.0]),
            gram: None,
        };
        let about = AboutDensity::new(&features, &DVector::from_column_slice(&[0.5, 0.25, 0.25]), 8.0);
        let found = about.given(&DVector::from_element(1, 2.0)).unwrap();
        let expected =
            DMatrix::from_row_slice(3, 3, &[1.0, -0.5, -0.5, -0.5, 1.25, -0.75, -0.5, -0.75, 1.25]);
        assert!((&found - expected).amax() < 1e-14, "{found}");
        // The other two still share what is left when the first is known.
        let exact = about.given(&DVector::zeros(1)).unwrap();
        assert!(exact.column(0).amax() < 1e-14 && (exact[(1, 1)] - 1.0).abs() < 1e-14, "{exact}");
    }
}
