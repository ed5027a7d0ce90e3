//! A Gaussian process prior as a linear model with independent weights, and the shared covariance of sums of
//! targets.

use nalgebra::DMatrix;

use super::predictive::unexplained_variances;
use crate::kernel::Kernel;
use dpgp_linalg::{Cholesky, LinalgError, ThinSvd, gram, product, thin_svd};

/// Singular values of K below this, relative to the largest, are rounding: a thousand units in the last place of the largest.
const ROUNDING: f64 = 1e-13;

/// `f = Phi u` with `u ~ N(0, I)`, so that `K = Phi Phi'` at the training inputs and `K_* = Phi_* Phi'` between test and
/// training inputs: no inverse of K is ever needed.
#[derive(Debug, Clone)]
pub struct KernelFeatures {
    /// `Phi` (n x m).
    pub training: DMatrix<f64>,
    /// `Phi_*` (t x m).
    pub test: DMatrix<f64>,
    /// Prior variance that the features leave at each test input (t).
    pub residual: Vec<f64>,
    /// The largest jitter added to a diagonal on the way.
    pub jitter: f64,
}

/// The features of the whole prior: with `K = U diag(s) U'`, `Phi = U diag(s)^(1/2)` and `Phi_* = K_* U diag(s)^(-1/2)`,
/// cut where s is rounding.
///
/// # Errors
/// [`LinalgError`] if K is not finite.
pub fn exact_features(
    kernel: &dyn Kernel,
    training: &DMatrix<f64>,
    test: &DMatrix<f64>,
) -> Result<KernelFeatures, LinalgError> {
    let svd = thin_svd("K", &kernel.matrix(training, training))?;
    // K is symmetric and positive semidefinite: its singular values are its eigenvalues. The division by their roots at the
    // test inputs would blow the rounding ones up.
    let rank = svd.s.iter().filter(|s| **s > ROUNDING * svd.s[0]).count();
    let at_test = kernel.matrix(test, training) * scale_left_vectors(&svd, rank, -0.5);
    let residual = unexplained_variances(kernel, test, &at_test.transpose());
    Ok(KernelFeatures { training: scale_left_vectors(&svd, rank, 0.5), test: at_test, residual, jitter: 0.0 })
}

/// `U diag(s)^power`, for the largest singular values.
fn scale_left_vectors(svd: &ThinSvd, rank: usize, power: f64) -> DMatrix<f64> {
    let mut u = svd.u.columns(0, rank).into_owned();
    u.column_iter_mut().zip(svd.s.iter()).for_each(|(mut column, s)| column *= s.powf(power));
    u
}

/// The features of the subset of regressors, `K = K_NM (K_MM + jitter I)^-1 K_MN`: with `K_MM + jitter I = L L'`,
/// `Phi' = L^-1 K_MN`, for inducing inputs (m x d).
///
/// Source: Quinonero-Candela and Rasmussen 2005, Section 4; Smith et al. 2021, Section 4.1.
///
/// # Errors
/// [`LinalgError`] if `K_MM` cannot be factorised.
pub fn inducing_input_features(
    kernel: &dyn Kernel,
    jitter: f64,
    inducing: &DMatrix<f64>,
    training: &DMatrix<f64>,
    test: &DMatrix<f64>,
) -> Result<KernelFeatures, LinalgError> {
    // The model's own jitter is a part of its definition; what the factorisation adds to it is reported.
    let mut k_mm = kernel.matrix(inducing, inducing);
    (0..k_mm.nrows()).for_each(|i| k_mm[(i, i)] += jitter);
    let factor = Cholesky::new("K_MM", &k_mm)?;
    let at_training = factor.lower_solve(&kernel.matrix(inducing, training)).transpose();
    let at_test = factor.lower_solve(&kernel.matrix(inducing, test));
    let residual = unexplained_variances(kernel, test, &at_test);
    let jitter = jitter + factor.jitter();
    Ok(KernelFeatures { training: at_training, test: at_test.transpose(), residual, jitter })
}

/// A covariance matrix (k x k), positive semidefinite, as it is cheapest to multiply with.
#[derive(Debug, Clone)]
pub enum CovarianceRepresentation {
    /// `F F'` for F (k x q), see [`CovarianceRepresentation::of_factor`].
    Factor(CovarianceFactor),
    /// The matrix itself, where F would have no fewer columns than it has.
    Whole(DMatrix<f64>),
}

/// F (k x q) and its transpose, since both are multiplied from the left.
#[derive(Debug, Clone)]
pub struct CovarianceFactor {
    factor: DMatrix<f64>,
    transposed: DMatrix<f64>,
}

impl CovarianceRepresentation {
    /// `F F'` for F (k x q).
    pub fn of_factor(factor: DMatrix<f64>) -> Self {
        Self::Factor(CovarianceFactor { transposed: factor.transpose(), factor })
    }

    /// `R S` for R (r x k).
    pub fn left_multiply(&self, rows: &DMatrix<f64>) -> DMatrix<f64> {
        match self {
            Self::Factor(CovarianceFactor { factor, transposed }) => product(&product(rows, factor), transposed),
            Self::Whole(whole) => product(rows, whole),
        }
    }

    /// `R S R'` for R (r x k).
    pub fn project_covariance(&self, rows: &DMatrix<f64>) -> DMatrix<f64> {
        match self {
            Self::Factor(CovarianceFactor { factor, .. }) => {
                let seen = rows * factor;
                &seen * seen.transpose()
            }
            Self::Whole(whole) => product(&product(rows, whole), &rows.transpose()),
        }
    }

    /// `R (S + diag(e))^-1` for R (r x k) and positive e: of a factor by the inversion lemma,
    /// `D - D F (I + F' D F)^-1 F' D` with `D = diag(1/e)`.
    ///
    /// # Errors
    /// [`LinalgError`] if a factorisation fails.
    pub fn solve_with_diagonal(&self, rows: &DMatrix<f64>, own: &[f64]) -> Result<DMatrix<f64>, LinalgError> {
        let factor = match self {
            Self::Factor(CovarianceFactor { factor, .. }) => factor,
            Self::Whole(whole) => {
                let all = Cholesky::new_in_place("S + diag(e)", || add_diagonal(whole, own))?;
                return Ok(all.solve(&rows.transpose()).transpose());
            }
        };
        let (mut scaled, mut weighted) = (rows.clone(), factor.clone());
        for (u, own) in own.iter().enumerate() {
            scaled.column_mut(u).unscale_mut(*own);
            weighted.row_mut(u).unscale_mut(own.sqrt());
        }
        let inner = gram(&weighted) + DMatrix::identity(factor.ncols(), factor.ncols());
        let solved = Cholesky::new("I + F' D F", &inner)?.solve(&(&scaled * factor).transpose());
        let mut explained = product(factor, &solved);
        explained.row_iter_mut().zip(own).for_each(|(mut row, own)| row /= *own);
        Ok(scaled - explained.transpose())
    }

    /// The largest entry of the diagonal.
    pub fn largest_variance(&self) -> f64 {
        match self {
            Self::Factor(CovarianceFactor { factor, .. }) => {
                factor.row_iter().map(|row| row.norm_squared()).fold(0.0, f64::max)
            }
            Self::Whole(whole) => whole.diagonal().iter().copied().fold(0.0, f64::max),
        }
    }
}

fn add_diagonal(whole: &DMatrix<f64>, own: &[f64]) -> DMatrix<f64> {
    let mut all = whole.clone();
    own.iter().enumerate().for_each(|(u, own)| all[(u, u)] += own);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;

    #[test]
    fn features_multiply_to_the_kernel() {
        let kernel = ExponentiatedQuadratic::isotropic(1.3, 2.0);
        let training = DMatrix::from_fn(20, 1, |i, _| 0.5 * (i / 2) as f64);
        let test = DMatrix::from_fn(4, 1, |i, _| 1.3 * i as f64);
        let inducing = DMatrix::from_fn(10, 1, |i, _| 0.5 * i as f64);
        let exact = exact_features(&kernel, &training, &test).unwrap();
        let regressors = inducing_input_features(&kernel, 0.0, &inducing, &training, &test).unwrap();
        for features in [exact, regressors] {
            let KernelFeatures { training: phi, test: phi_test, residual, .. } = features;
            let close = |a: DMatrix<f64>, b: DMatrix<f64>| (a - b).amax() < 1e-8;
            assert!(close(&phi * phi.transpose(), kernel.matrix(&training, &training)));
            assert!(close(&phi_test * phi.transpose(), kernel.matrix(&test, &training)));
            assert!(residual.iter().all(|r| (0.0..1e-2).contains(r)));
        }
    }
}

#[cfg(test)]
mod shared_covariance_tests {
    use super::*;

    /// Both forms of one matrix, against dense algebra.
    #[test]
    fn both_forms_are_one_matrix() {
        let factor = DMatrix::from_fn(5, 2, |i, j| ((3 * i + 5 * j + 1) as f64).sin());
        let whole = &factor * factor.transpose();
        let rows = DMatrix::from_fn(3, 5, |i, j| ((2 * i + 7 * j) as f64).cos());
        let own = [0.5, 0.1, 2.0, 0.3, 1.0];
        let inverse = add_diagonal(&whole, &own).try_inverse().unwrap();
        for shared in [CovarianceRepresentation::of_factor(factor), CovarianceRepresentation::Whole(whole.clone())] {
            assert!((shared.left_multiply(&rows) - &rows * &whole).amax() < 1e-14);
            assert!((shared.project_covariance(&rows) - &rows * &whole * rows.transpose()).amax() < 1e-14);
            assert!((shared.solve_with_diagonal(&rows, &own).unwrap() - &rows * &inverse).amax() < 1e-13);
            assert!((shared.largest_variance() - whole.diagonal().max()).abs() < 1e-15);
        }
    }
}
