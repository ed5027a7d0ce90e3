//! Exact Gaussian process regression.

use nalgebra::{DMatrix, DVector};

use super::LinearMap;
use super::jitter::ensure_same_model;
use super::smooth::SmoothSystem;
use super::variance::{left, unexplained};
use crate::kernel::Kernel;
use dpgp_linalg::{Cholesky, LinalgError};

/// Exact regression with a prior mean of zero, factorised once for any number of predictions. Where many rows have a smooth
/// kernel, whose matrix has a low rank r up to rounding, all costs fall by about `r / n`.
///
/// Source: Rasmussen and Williams 2006, Algorithm 2.1.
///
/// ```
/// use dpgp_gp::Exact;
/// use dpgp_gp::kernel::ExponentiatedQuadratic;
/// use nalgebra::DMatrix;
///
/// // One target of 4 with a prior variance of 3 and a noise variance of 1, seen from the same input:
/// // the mean is 3 / (3 + 1) 4 = 3, the variance 3 - 3 (3 + 1)^-1 3 = 0.75.
/// let kernel = ExponentiatedQuadratic::isotropic(3.0, 1.0);
/// let input = DMatrix::from_element(1, 1, 0.5);
/// let (mean, variance) = Exact::new(&kernel, 1.0, &input)?.predict(&[4.0], &input);
/// assert!((mean[0] - 3.0).abs() < 1e-14 && (variance[0] - 0.75).abs() < 1e-14);
/// # Ok::<(), dpgp_linalg::LinalgError>(())
/// ```
pub struct Exact<'a> {
    kernel: &'a dyn Kernel,
    training: &'a DMatrix<f64>,
    system: System,
}

/// `K_ff + noise_variance I`.
enum System {
    Smooth(Box<SmoothSystem>),
    Factorised(Cholesky),
}

impl System {
    fn solve(&self, b: &DMatrix<f64>) -> DMatrix<f64> {
        match self {
            Self::Smooth(system) => system.solve(b),
            Self::Factorised(cholesky) => cholesky.solve(b),
        }
    }

    fn jitter(&self) -> f64 {
        match self {
            Self::Smooth(system) => system.jitter(),
            Self::Factorised(cholesky) => cholesky.jitter(),
        }
    }
}

impl<'a> Exact<'a> {
    /// Factorises `K_ff + noise_variance I` for training inputs (n x d). Cost `n^3 / 3`.
    ///
    /// # Errors
    /// [`LinalgError`] if `K + sigma^2 I` cannot be factorised.
    pub fn new(
        kernel: &'a dyn Kernel,
        noise_variance: f64,
        training: &'a DMatrix<f64>,
    ) -> Result<Self, LinalgError> {
        let system = match SmoothSystem::new(kernel, noise_variance, training)? {
            Some(system) => System::Smooth(Box::new(system)),
            None => System::Factorised(factor(kernel, noise_variance, training)?),
        };
        Ok(Self { kernel, training, system })
    }

    /// The map `C = K_*f (K_ff + noise_variance I)^-1` (t x n) to test inputs (t x d). Cost `2 n^2 t`.
    pub fn map(&self, test: &DMatrix<f64>) -> LinearMap {
        // C' rather than C: the inverse is symmetric, and solvers take the right-hand sides as columns.
        let c = self.system.solve(&self.kernel.matrix(self.training, test));
        LinearMap::new(&c.transpose(), self.training).with_jitter(self.system.jitter())
    }

    /// Mean (t) and variance (t, squared units of the target) of the latent function at test inputs (t x d), for n targets.
    /// Cost `n^2 t`.
    pub fn predict(&self, targets: &[f64], test: &DMatrix<f64>) -> (DVector<f64>, Vec<f64>) {
        // `K_f*` serves the mean first and may then be overwritten: no second matrix of its size.
        let cross = self.kernel.matrix(self.training, test);
        let targets = DMatrix::from_column_slice(targets.len(), 1, targets);
        let mean = cross.tr_mul(&self.system.solve(&targets).column(0));
        (mean, self.left(test, cross))
    }

    /// The variances `k_** - k_*f (K_ff + noise_variance I)^-1 k_f*` of the latent function at test inputs (t x d), without
    /// the noise of the likelihood. They depend on public inputs alone. Cost `n^2 t`.
    pub fn variance(&self, test: &DMatrix<f64>) -> Vec<f64> {
        self.left(test, self.kernel.matrix(self.training, test))
    }

    /// The variances that are left, for `K_f*` (n x t).
    fn left(&self, test: &DMatrix<f64>, mut cross: DMatrix<f64>) -> Vec<f64> {
        match &self.system {
            System::Smooth(system) => left(self.kernel, test, system.explained(&cross).into_iter()),
            System::Factorised(cholesky) => {
                cholesky.half_solve_mut(&mut cross);
                unexplained(self.kernel, test, &cross)
            }
        }
    }
}

/// The map of exact regression, `C = K_*f (K_ff + noise_variance I)^-1` (t x n), for training inputs
/// (n x d), test inputs (t x d) and a prior mean of zero. Cost `n^3 / 3 + 2 n^2 t`.
///
/// Source: Rasmussen and Williams 2006, Eq. 2.25.
///
/// # Errors
/// [`LinalgError`] if `K + sigma^2 I` cannot be factorised.
pub fn exact(
    kernel: &dyn Kernel,
    noise_variance: f64,
    training: &DMatrix<f64>,
    test: &DMatrix<f64>,
) -> Result<LinearMap, LinalgError> {
    Ok(Exact::new(kernel, noise_variance, training)?.map(test))
}

/// The variances of [`Exact::variance`].
///
/// Source: Rasmussen and Williams 2006, Eq. 2.26.
///
/// # Errors
/// [`LinalgError`] if `K + sigma^2 I` cannot be factorised.
pub fn exact_variance(
    kernel: &dyn Kernel,
    noise_variance: f64,
    training: &DMatrix<f64>,
    test: &DMatrix<f64>,
) -> Result<Vec<f64>, LinalgError> {
    Ok(Exact::new(kernel, noise_variance, training)?.variance(test))
}

const MATRIX: &str = "K + sigma^2 I";

/// The factor of `K_ff + noise_variance I`. The noise variance, in squared units of the target, bounds its smallest
/// eigenvalue from below, so that jitter is needed only where it is tiny; with more jitter than noise it is an error.
pub(super) fn factor(
    kernel: &dyn Kernel,
    noise_variance: f64,
    training: &DMatrix<f64>,
) -> Result<Cholesky, LinalgError> {
    let factor = Cholesky::assembled(MATRIX, || {
        let mut k = kernel.matrix(training, training);
        (0..k.nrows()).for_each(|i| k[(i, i)] += noise_variance);
        k
    })?;
    ensure_same_model(MATRIX, factor, noise_variance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;

    /// Against `k_** - C k_f*`.
    #[test]
    fn the_variance_is_what_the_map_leaves() {
        let kernel = ExponentiatedQuadratic::isotropic(1.7, 2.0);
        let training = DMatrix::from_fn(12, 1, |i, _| 0.9 * i as f64);
        let test = DMatrix::from_fn(5, 1, |i, _| 3.1 * i as f64);
        let c = exact(&kernel, 0.3, &training, &test).unwrap().expand();
        let left = kernel.matrix(&test, &test) - c * kernel.matrix(&training, &test);
        let variance = exact_variance(&kernel, 0.3, &training, &test).unwrap();
        (0..5).for_each(|i| assert!((variance[i] - left[(i, i)]).abs() < 1e-13));
    }

    /// A smooth kernel on many rows, on the short way, against the factorisation that a kernel without that way takes.
    #[test]
    fn low_rank_changes_nothing() {
        let kernel = ExponentiatedQuadratic::isotropic(1.7, 4.0);
        let training = DMatrix::from_fn(700, 2, |i, j| ((i * (3 + 4 * j)) % 701) as f64 / 100.0);
        let test = DMatrix::from_fn(5, 2, |i, j| (3 * i + 2 * j) as f64);
        let y: Vec<f64> = (0..700).map(|i| f64::from(i).sin()).collect();
        let found = Exact::new(&kernel, 0.3, &training).unwrap();
        assert!(matches!(found.system, System::Smooth(_)));
        let cholesky = factor(&kernel, 0.3, &training).unwrap();
        let whole = Exact { kernel: &kernel, training: &training, system: System::Factorised(cholesky) };
        let ((mean, variance), expected) = (found.predict(&y, &test), whole.predict(&y, &test));
        assert!((mean - expected.0).amax() < 1e-11);
        (0..5).for_each(|i| assert!((variance[i] - expected.1[i]).abs() < 1e-11));
        assert!((found.map(&test).columns() - whole.map(&test).columns()).amax() < 1e-12);
        // With little noise the matrix is too ill-conditioned for it.
        let sharp = Exact::new(&kernel, 1e-9, &training).unwrap();
        assert!(matches!(sharp.system, System::Factorised(_)));
    }

    /// Mean and variance of a prediction are those of the map and of the formula.
    #[test]
    fn a_prediction_is_that_of_the_map() {
        let kernel = ExponentiatedQuadratic::isotropic(1.7, 2.0);
        let training = DMatrix::from_fn(12, 1, |i, _| 0.9 * i as f64);
        let test = DMatrix::from_fn(5, 1, |i, _| 3.1 * i as f64);
        let y: Vec<f64> = (0..12).map(|i| f64::from(i).sin()).collect();
        let (mean, variance) = Exact::new(&kernel, 0.3, &training).unwrap().predict(&y, &test);
        let expected = exact(&kernel, 0.3, &training, &test).unwrap().predict(&y);
        assert!((mean - expected).amax() < 1e-13);
        assert_eq!(variance, exact_variance(&kernel, 0.3, &training, &test).unwrap());
    }
}
