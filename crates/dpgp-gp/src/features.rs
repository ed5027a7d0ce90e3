//! A Gaussian process prior as a linear model with independent weights.

use nalgebra::DMatrix;

use super::variance::unexplained;
use crate::kernel::Kernel;
use dpgp_linalg::{Cholesky, LinalgError, ThinSvd, thin_svd};

/// Singular values of K below this, relative to the largest, are rounding: a thousand units in the last place of the largest.
const ROUNDING: f64 = 1e-13;

/// `f = Phi u` with `u ~ N(0, I)`, so that `K = Phi Phi'` at the training inputs and `K_* = Phi_* Phi'` between test and
/// training inputs: no inverse of K is ever needed.
#[derive(Debug, Clone)]
pub struct Features {
    /// `Phi` (n x m).
    pub training: DMatrix<f64>,
    /// `Phi_*` (t x m).
    pub test: DMatrix<f64>,
    /// What the features leave of the prior variance at each test input (t).
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
) -> Result<Features, LinalgError> {
    let svd = thin_svd("K", &kernel.matrix(training, training))?;
    // K is symmetric and positive semidefinite: its singular values are its eigenvalues. The division by their roots at the
    // test inputs would blow the rounding ones up.
    let rank = svd.s.iter().filter(|s| **s > ROUNDING * svd.s[0]).count();
    let at_test = kernel.matrix(test, training) * scaled(&svd, rank, -0.5);
    let residual = unexplained(kernel, test, &at_test.transpose());
    Ok(Features { training: scaled(&svd, rank, 0.5), test: at_test, residual, jitter: 0.0 })
}

/// `U diag(s)^power`, for the largest singular values.
fn scaled(svd: &ThinSvd, rank: usize, power: f64) -> DMatrix<f64> {
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
pub fn regressor_features(
    kernel: &dyn Kernel,
    jitter: f64,
    inducing: &DMatrix<f64>,
    training: &DMatrix<f64>,
    test: &DMatrix<f64>,
) -> Result<Features, LinalgError> {
    // The model's own jitter is a part of its definition; what the factorisation adds to it is reported.
    let mut k_mm = kernel.matrix(inducing, inducing);
    (0..k_mm.nrows()).for_each(|i| k_mm[(i, i)] += jitter);
    let factor = Cholesky::new("K_MM", &k_mm)?;
    let at_training = factor.half_solve(&kernel.matrix(inducing, training)).transpose();
    let at_test = factor.half_solve(&kernel.matrix(inducing, test));
    let residual = unexplained(kernel, test, &at_test);
    let jitter = jitter + factor.jitter();
    Ok(Features { training: at_training, test: at_test.transpose(), residual, jitter })
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
        let regressors = regressor_features(&kernel, 0.0, &inducing, &training, &test).unwrap();
        for features in [exact, regressors] {
            let Features { training: phi, test: phi_test, residual, .. } = features;
            let close = |a: DMatrix<f64>, b: DMatrix<f64>| (a - b).amax() < 1e-8;
            assert!(close(&phi * phi.transpose(), kernel.matrix(&training, &training)));
            assert!(close(&phi_test * phi.transpose(), kernel.matrix(&test, &training)));
            assert!(residual.iter().all(|r| (0.0..1e-2).contains(r)));
        }
    }
}
