//! Information about the inputs in a release, and the Gram matrix of features as a linear map of the plain
//! sums.

use nalgebra::{DMatrix, DVector};

use super::counts::CONCENTRATIONS;
use super::{NoisyFeatureSums, SiteCountPosterior, SiteFeatures};
use dpgp_linalg::{Cholesky, LinalgError, product, thin_svd, transposed_product};

/// What plain sums tell of the inputs, and so of what b says of the process.
#[derive(Debug, Clone)]
pub enum InputPosterior {
    /// How many rows lie near each site: b sees the values at the sites.
    Counts(SiteCountPosterior),
    /// The Gram matrix of the features: b sees the weights of the features in the process.
    Gram(GramWeights),
}

/// The Gram matrix, and which weights a process has: `w = R f` for its values f at the sites, with `R = (Phi' Phi)^-1 Phi'`, the function of
/// the features that is nearest to it.
#[derive(Debug, Clone)]
pub struct GramWeights {
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
        let Some(map) = &features.gram else { return Ok(Self::Counts(SiteCountPosterior::new(features, released)?)) };
        Ok(Self::Gram(GramWeights {
            gram: GramPosterior::new(map, released)?,
            projection: least_squares_projection(&features.weighted)?,
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
            Self::Gram(GramWeights { projection, .. }) => {
                let weights = product(&product(projection, sites), &projection.transpose());
                0.5 * (&weights + weights.transpose())
            }
        }
    }

    /// How b depends on the values at the sites (m x G).
    pub(super) fn observation_map_on_site_values(&self, map: &DMatrix<f64>) -> DMatrix<f64> {
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

    /// The part of [`InputPosterior::input_error_covariance`] that T would leave open if it had no noise.
    pub(super) fn input_error_under_noiseless_sums(
        &self,
        features: &SiteFeatures,
        second: &DMatrix<f64>,
    ) -> DMatrix<f64> {
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
fn least_squares_projection(features: &DMatrix<f64>) -> Result<DMatrix<f64>, LinalgError> {
    let (sites, size) = features.shape();
    let squares = transposed_product(features, features) + DMatrix::identity(size, size) * (RIDGE * sites as f64);
    Ok(Cholesky::new("the Gram matrix of the features at the sites", &squares)?.solve(&features.transpose()))
}

/// How the Gram matrix of the features of n rows follows from plain sums: `A = sum_i phi(x_i) phi(x_i)' = n N + sum_k T_k G_k`, which holds
/// for waves, whose products are waves.
#[derive(Debug, Clone)]
pub struct GramMap {
    /// N (m x m).
    pub constant: DMatrix<f64>,
    /// All T that A needs, released or not.
    pub sums: Vec<GramMapTerm>,
}

/// One of the plain sums.
#[derive(Debug, Clone)]
pub struct GramMapTerm {
    /// The mean and the variance of what a row adds to it, for inputs anywhere in the box.
    pub mean: f64,
    /// See [`GramMapTerm::mean`].
    pub variance: f64,
    /// Its place among the released sums; none if it was not released.
    pub released: Option<usize>,
    /// The entries of its `G_k` that are not zero.
    pub entries: Vec<GramEntry>,
}

/// An entry of a matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GramEntry {
    /// Its row.
    pub row: usize,
    /// Its column.
    pub column: usize,
    /// Its value.
    pub factor: f64,
}

/// The posterior of the Gram matrix, given the noisy sums.
///
/// A priori T has the mean that inputs all over the box have and the variance `S var e_k`, `S = n^2 / (a + 1) + n`, as for the counts of
/// sites ([`SiteCountPosterior`]) but for correlations, which are left out; the concentration a is the one of greatest evidence. The mean of
/// A is moved to the nearest matrix that rows can have: one without negative eigenvalues.
#[derive(Debug, Clone)]
pub struct GramPosterior {
    /// The mean of A (m x m).
    pub mean: DMatrix<f64>,
    /// The variance of each sum.
    pub variances: Vec<f64>,
    /// The variance of each sum without noise.
    pub unresolved: Vec<f64>,
    /// The relative variance of the number of rows.
    pub rows: f64,
}

/// The least eigenvalue of A, over n.
const LEAST: f64 = 1e-9;

impl GramPosterior {
    /// Given the released sums.
    ///
    /// # Errors
    /// [`LinalgError`] for sums that are no numbers.
    pub fn new(map: &GramMap, released: &NoisyFeatureSums) -> Result<Self, LinalgError> {
        let rows = released.sums.rows as f64;
        let prior = PlainSumModel { map, released, rows };
        let mut scale = prior.prior_variance_scale(CONCENTRATIONS[0]);
        for other in CONCENTRATIONS.map(|concentration| prior.prior_variance_scale(concentration)) {
            if prior.log_evidence(other) > prior.log_evidence(scale) {
                scale = other;
            }
        }
        let known: Vec<PlainSumPosterior> = map.sums.iter().map(|sum| prior.condition_sum(sum, scale)).collect();
        let mut mean = &map.constant * rows;
        for (sum, known) in map.sums.iter().zip(&known) {
            sum.entries.iter().for_each(|entry| mean[(entry.row, entry.column)] += known.mean * entry.factor);
        }
        let size = mean.nrows();
        Ok(Self {
            mean: positive_semidefinite_part(&mean)? + DMatrix::identity(size, size) * (LEAST * rows),
            variances: known.iter().map(|known| known.variance).collect(),
            unresolved: known.iter().map(|known| known.unresolved).collect(),
            rows: released.rows / (rows * rows),
        })
    }

    /// `sum_k v_k G_k M G_k' + r A M A'` (m x m): the covariance of `dA w` by errors of T with variances v and of the number of rows with the
    /// relative variance r, for weights w with `M = E[w w']`.
    fn error_covariance(&self, map: &GramMap, variances: &[f64], second: &DMatrix<f64>) -> DMatrix<f64> {
        let mut error = product(&product(&self.mean, second), &self.mean) * self.rows;
        for (sum, variance) in map.sums.iter().zip(variances).filter(|(_, variance)| **variance > 0.0) {
            for one in &sum.entries {
                let factor = variance * one.factor;
                for other in &sum.entries {
                    error[(one.row, other.row)] += factor * other.factor * second[(one.column, other.column)];
                }
            }
        }
        0.5 * (&error + error.transpose())
    }

    /// `sum_k v_k (w' G_k w)^2 + r (w' A w)^2`: the variance of `w' dA w`.
    pub(super) fn quadratic_form_variance(&self, map: &GramMap, weights: &DVector<f64>) -> f64 {
        let mut error = self.rows * weights.dot(&(&self.mean * weights)).powi(2);
        for (sum, variance) in map.sums.iter().zip(&self.variances) {
            let entries = sum.entries.iter();
            let moved: f64 = entries.map(|entry| entry.factor * weights[entry.row] * weights[entry.column]).sum();
            error += variance * moved * moved;
        }
        error
    }
}

/// State shared by all concentrations.
struct PlainSumModel<'a> {
    map: &'a GramMap,
    released: &'a NoisyFeatureSums,
    rows: f64,
}

/// A sum after the release.
struct PlainSumPosterior {
    mean: f64,
    variance: f64,
    unresolved: f64,
}

impl PlainSumModel<'_> {
    /// `S`.
    fn prior_variance_scale(&self, concentration: f64) -> f64 {
        self.rows * self.rows / (concentration + 1.0) + self.rows
    }

    /// The log density of T, up to a constant.
    fn log_evidence(&self, scale: f64) -> f64 {
        let mut evidence = 0.0;
        for sum in &self.map.sums {
            let Some(place) = sum.released else { continue };
            let variance = scale * sum.variance + self.released.plain[place];
            let residual = self.released.sums.plain[place] - self.rows * sum.mean;
            evidence -= 0.5 * (residual * residual / variance + variance.ln());
        }
        evidence
    }

    fn condition_sum(&self, sum: &GramMapTerm, scale: f64) -> PlainSumPosterior {
        let (mean, variance) = (self.rows * sum.mean, scale * sum.variance);
        let Some(place) = sum.released else {
            return PlainSumPosterior { mean, variance, unresolved: variance };
        };
        let noise = self.released.plain[place];
        let gain = variance / (variance + noise);
        let residual = self.released.sums.plain[place] - mean;
        PlainSumPosterior { mean: mean + gain * residual, variance: gain * noise, unresolved: 0.0 }
    }
}

/// `(A + |A|) / 2` with `|A| = V S V'` for the singular values S and right vectors V: a symmetric matrix without its negative eigenvalues.
fn positive_semidefinite_part(matrix: &DMatrix<f64>) -> Result<DMatrix<f64>, LinalgError> {
    let svd = thin_svd("the Gram matrix of the features", matrix)?;
    let scaled = DMatrix::from_fn(svd.v.nrows(), svd.v.ncols(), |i, j| svd.v[(i, j)] * svd.s[j]);
    let absolute = product(&scaled, &svd.v.transpose());
    Ok(0.25 * (matrix + matrix.transpose() + &absolute + absolute.transpose()))
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
        let found = least_squares_projection(&features).unwrap() * &features;
        assert!((found - DMatrix::identity(2, 2)).amax() < 1e-4);
    }
}

#[cfg(test)]
mod gram_tests {
    use super::*;
    use crate::sites::FeatureSums;

    fn entry(row: usize, column: usize, factor: f64) -> GramEntry {
        GramEntry { row, column, factor }
    }

    fn sum(mean: f64, released: Option<usize>, entries: Vec<GramEntry>) -> GramMapTerm {
        GramMapTerm { mean, variance: 0.5, released, entries }
    }

    /// Three features and two sums, of which the first was released.
    fn map() -> GramMap {
        let first = vec![entry(0, 1, 0.5), entry(1, 0, 0.5), entry(2, 2, -1.0)];
        let second = vec![entry(0, 2, 2.0), entry(2, 0, 2.0), entry(1, 1, 0.25)];
        GramMap {
            constant: DMatrix::from_diagonal_element(3, 3, 0.5),
            sums: vec![sum(0.1, Some(0), first), sum(0.0, None, second)],
        }
    }

    fn released(rows: f64) -> NoisyFeatureSums {
        NoisyFeatureSums {
            sums: FeatureSums {
                rows: 10,
                weighted: DVector::zeros(3),
                plain: DVector::from_element(1, 1.5),
                squares: 0.0,
            },
            weighted: DVector::from_element(3, 1.0),
            plain: DVector::from_element(1, 2.0),
            squares: 1.0,
            rows,
        }
    }

    fn dense(sum: &GramMapTerm) -> DMatrix<f64> {
        let mut matrix = DMatrix::zeros(3, 3);
        sum.entries.iter().for_each(|entry| matrix[(entry.row, entry.column)] += entry.factor);
        matrix
    }

    #[test]
    fn errors_are_those_of_the_dense_matrices() {
        let map = map();
        let found = GramPosterior::new(&map, &released(9.0)).unwrap();
        let root = DMatrix::from_fn(3, 3, |i, j| ((i + 2 * j) as f64).sin());
        let second = &root * root.transpose();
        let mut expected = &found.mean * &second * &found.mean * 0.09;
        let weights = DVector::from_vec(vec![0.3, -1.0, 0.7]);
        let mut quadratic = 0.09 * weights.dot(&(&found.mean * &weights)).powi(2);
        for (sum, variance) in map.sums.iter().zip([0.6, 1.7]) {
            let matrix = dense(sum);
            expected += &matrix * &second * matrix.transpose() * variance;
            quadratic += variance * weights.dot(&(&matrix * &weights)).powi(2);
        }
        assert!((found.error_covariance(&map, &[0.6, 1.7], &second) - expected).amax() < 1e-12);
        let known = GramPosterior { variances: vec![0.6, 1.7], ..found };
        assert!((known.quadratic_form_variance(&map, &weights) - quadratic).abs() < 1e-12);
    }

    /// The scalar rule of a Gaussian prior and Gaussian noise, and what was not released as it was.
    #[test]
    fn noisy_sums_are_shrunk_to_their_mean() {
        let found = GramPosterior::new(&map(), &released(0.0)).unwrap();
        // A residual of a half is likeliest under the least of the scales.
        let prior = 0.5 * (100.0 / 1001.0 + 10.0);
        let gain = prior / (prior + 2.0);
        assert!((found.variances[0] - gain * 2.0).abs() < 1e-12 && found.unresolved[0] == 0.0);
        assert_eq!((found.variances[1], found.unresolved[1]), (prior, prior));
        let sum = 1.0 + gain * 0.5;
        // Positive as it is, so that it stays.
        assert!((found.mean[(0, 1)] - 0.5 * sum).abs() < 1e-9 && (found.mean[(2, 2)] - (5.0 - sum)).abs() < 1e-7);
    }

    /// A matrix with these eigenvalues.
    fn turned(one: f64, other: f64) -> DMatrix<f64> {
        let vectors = DMatrix::from_row_slice(2, 2, &[0.6, -0.8, 0.8, 0.6]);
        &vectors * DMatrix::from_diagonal(&DVector::from_vec(vec![one, other])) * vectors.transpose()
    }

    #[test]
    fn negative_eigenvalues_go() {
        assert!((positive_semidefinite_part(&turned(3.0, -2.0)).unwrap() - turned(3.0, 0.0)).amax() < 1e-14);
        assert!((positive_semidefinite_part(&turned(3.0, 2.0)).unwrap() - turned(3.0, 2.0)).amax() < 1e-14);
    }
}
