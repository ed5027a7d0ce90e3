//! Information about the inputs in a release.

use nalgebra::{DMatrix, DVector};

use super::gram::GramPosterior;
use super::{GramMap, NoisyFeatureSums, SiteCounts, SiteFeatures};
use dpgp_linalg::{Cholesky, LinalgError, product, transposed_product};

/// What plain sums tell of the inputs, and so of what b says of the process.
#[derive(Debug, Clone)]
pub enum InputPosterior {
    /// How many rows lie near each site: b sees the values at the sites.
    Counts(SiteCounts),
    /// The Gram matrix of the features: b sees the weights of the features in the process.
    Gram(GramProjection),
}

/// The Gram matrix, and which weights a process has: `w = R f` for its values f at the sites, with `R = (Phi' Phi)^-1 Phi'`, the function of
/// the features that is nearest to it.
#[derive(Debug, Clone)]
pub struct GramProjection {
    pub(super) map: GramMap,
    pub(super) gram: GramPosterior,
    /// R (m x G).
    pub(super) projection: DMatrix<f64>,
}

/// What is added to the mean square of each feature over the sites before they are solved for.
const RIDGE: f64 = 1e-6;

impl InputPosterior {
    /// Given the released sums: by the Gram matrix where the features come with one.
    ///
    /// # Errors
    /// [`LinalgError`] if a variance of the noise is not positive.
    pub fn new(features: &SiteFeatures, released: &NoisyFeatureSums) -> Result<Self, LinalgError> {
        let Some(map) = &features.gram else { return Ok(Self::Counts(SiteCounts::new(features, released)?)) };
        Ok(Self::Gram(GramProjection {
            gram: GramPosterior::new(map, released)?,
            projection: projection(&features.weighted)?,
            map: map.clone(),
        }))
    }

    /// How b depends on what it sees of the process (m x that).
    pub(super) fn observation_map(&self, features: &SiteFeatures) -> DMatrix<f64> {
        match self {
            Self::Counts(counts) => {
                let mut map = features.weighted.transpose();
                for (mut column, count) in map.column_iter_mut().zip(counts.mean.iter()) {
                    column *= *count;
                }
                map
            }
            Self::Gram(seen) => seen.gram.mean.clone(),
        }
    }

    /// Image in b of the process that is 1 everywhere.
    pub(super) fn constant_process_image(&self, sites: usize) -> DVector<f64> {
        match self {
            Self::Counts(_) => DVector::from_element(sites, 1.0),
            Self::Gram(seen) => seen.projection.column_sum(),
        }
    }

    /// The covariance of what b sees, for that of the values at the sites.
    pub(super) fn project_covariance(&self, sites: &DMatrix<f64>) -> DMatrix<f64> {
        match self {
            Self::Counts(_) => sites.clone(),
            Self::Gram(GramProjection { projection, .. }) => {
                let weights = product(&product(projection, sites), &projection.transpose());
                0.5 * (&weights + weights.transpose())
            }
        }
    }

    /// How b depends on the values at the sites (m x G).
    pub(super) fn site_observation_map(&self, map: &DMatrix<f64>) -> DMatrix<f64> {
        match self {
            Self::Counts(_) => map.clone(),
            Self::Gram(seen) => product(map, &seen.projection),
        }
    }

    /// The covariance of b by noise of variance 1 on targets.
    pub(super) fn target_noise_covariance(&self, map: &DMatrix<f64>, features: &SiteFeatures) -> DMatrix<f64> {
        match self {
            Self::Counts(_) => product(map, &features.weighted),
            Self::Gram(_) => map.clone(),
        }
    }

    /// The covariance of b by what is not known of the inputs, for second moments M of what b sees; of counts
    /// `Phi' (V o M) Phi` (m x m).
    pub(super) fn input_error_covariance(&self, features: &SiteFeatures, second: &DMatrix<f64>) -> DMatrix<f64> {
        match self {
            Self::Counts(counts) => count_error_covariance(features, &counts.covariance, second),
            Self::Gram(seen) => seen.gram.error_covariance(&seen.map, &seen.gram.variances, second),
        }
    }

    /// The same by what T leaves open without its noise.
    pub(super) fn unresolved_error_covariance(&self, features: &SiteFeatures, second: &DMatrix<f64>) -> DMatrix<f64> {
        match self {
            Self::Counts(counts) => count_error_covariance(features, &counts.unresolved, second),
            Self::Gram(seen) => seen.gram.error_covariance(&seen.map, &seen.gram.unresolved, second),
        }
    }
}

fn count_error_covariance(features: &SiteFeatures, covariance: &DMatrix<f64>, second: &DMatrix<f64>) -> DMatrix<f64> {
    let weighted = &features.weighted;
    let error = transposed_product(weighted, &product(&covariance.component_mul(second), weighted));
    0.5 * (&error + error.transpose())
}

/// `R` (m x G) for the features at the sites (G x m).
fn projection(features: &DMatrix<f64>) -> Result<DMatrix<f64>, LinalgError> {
    let (sites, size) = features.shape();
    let squares = transposed_product(features, features) + DMatrix::identity(size, size) * (RIDGE * sites as f64);
    Ok(Cholesky::new("the Gram matrix of the features at the sites", &squares)?.solve(&features.transpose()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Phi' (V o M) Phi` for features (1, 2) at two sites: `1 * 1 * 3 + 2 * (1 * 2 * 2 * 0.5) + 4 * 5 * 0.25`.
    #[test]
    fn the_error_of_counts_is_a_form() {
        let features = SiteFeatures {
            sites: DMatrix::zeros(2, 1),
            shares: DVector::from_element(2, 0.5),
            weighted: DMatrix::from_column_slice(2, 1, &[1.0, 2.0]),
            plain: DMatrix::zeros(2, 1),
            between: None,
            gram: None,
        };
        let covariance = DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 2.0, 5.0]);
        let second = DMatrix::from_row_slice(2, 2, &[3.0, 0.5, 0.5, 0.25]);
        assert_eq!(count_error_covariance(&features, &covariance, &second)[(0, 0)], 3.0 + 4.0 + 5.0);
    }

    /// Functions of the features are their own projections, but for the ridge: 1e-6 of the mean square.
    #[test]
    fn projections_find_weights() {
        let features = DMatrix::from_fn(5, 2, |i, j| ((i + 1) as f64).powi(j as i32));
        let found = projection(&features).unwrap() * &features;
        assert!((found - DMatrix::identity(2, 2)).amax() < 1e-4);
    }
}
