//! The Gram matrix of features, as a linear map of the plain sums.

use nalgebra::{DMatrix, DVector};

use super::NoisyFeatureSums;
use super::counts::CONCENTRATIONS;
use dpgp_linalg::{LinalgError, product, thin_svd};

/// How the Gram matrix of the features of n rows follows from plain sums: `A = sum_i phi(x_i) phi(x_i)' = n N + sum_k T_k G_k`, which holds
/// for waves, whose products are waves.
#[derive(Debug, Clone)]
pub struct GramMap {
    /// N (m x m).
    pub constant: DMatrix<f64>,
    /// All T that A needs, released or not.
    pub sums: Vec<GramSum>,
}

/// One of the plain sums.
#[derive(Debug, Clone)]
pub struct GramSum {
    /// The mean and the variance of what a row adds to it, for inputs anywhere in the box.
    pub mean: f64,
    /// See [`GramSum::mean`].
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
/// sites ([`super::SiteCounts`]) but for correlations, which are left out; the concentration a is the one of greatest evidence. The mean of
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
        let prior = SumsPrior { map, released, rows };
        let mut scale = prior.prior_variance_scale(CONCENTRATIONS[0]);
        for other in CONCENTRATIONS.map(|concentration| prior.prior_variance_scale(concentration)) {
            if prior.evidence(other) > prior.evidence(scale) {
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
    pub(super) fn error_covariance(&self, map: &GramMap, variances: &[f64], second: &DMatrix<f64>) -> DMatrix<f64> {
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
struct SumsPrior<'a> {
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

impl SumsPrior<'_> {
    /// `S`.
    fn prior_variance_scale(&self, concentration: f64) -> f64 {
        self.rows * self.rows / (concentration + 1.0) + self.rows
    }

    /// The log density of T, up to a constant.
    fn evidence(&self, scale: f64) -> f64 {
        let mut evidence = 0.0;
        for sum in &self.map.sums {
            let Some(place) = sum.released else { continue };
            let variance = scale * sum.variance + self.released.plain[place];
            let residual = self.released.sums.plain[place] - self.rows * sum.mean;
            evidence -= 0.5 * (residual * residual / variance + variance.ln());
        }
        evidence
    }

    fn condition_sum(&self, sum: &GramSum, scale: f64) -> PlainSumPosterior {
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
    use crate::sites::FeatureSums;

    fn entry(row: usize, column: usize, factor: f64) -> GramEntry {
        GramEntry { row, column, factor }
    }

    fn sum(mean: f64, released: Option<usize>, entries: Vec<GramEntry>) -> GramSum {
        GramSum { mean, variance: 0.5, released, entries }
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

    fn dense(sum: &GramSum) -> DMatrix<f64> {
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
