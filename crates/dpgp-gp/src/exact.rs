//! Exact Gaussian process regression, with low-rank systems for smooth kernels and predictive means as finite
//! sums of kernel functions.

use nalgebra::{DMatrix, DVector};

use super::PredictionMap;
use super::binned::ensure_negligible_jitter;
use super::fitc::FitcFactors;
use super::predictive::{subtract_explained_variances, unexplained_variances};
use crate::kernel::Kernel;
use dpgp_linalg::{Cholesky, LinalgError, low_rank_factor, product, transposed_product};

/// Exact regression with a prior mean of zero, factorised once for any number of predictions. Where many rows have a smooth
/// kernel, whose matrix has a low rank r up to rounding, all costs fall by about `r / n`.
///
/// Source: Rasmussen and Williams 2006, Algorithm 2.1.
///
/// ```
/// use dpgp_gp::ExactRegression;
/// use dpgp_gp::kernel::ExponentiatedQuadratic;
/// use nalgebra::DMatrix;
///
/// // One target of 4 with a prior variance of 3 and a noise variance of 1, seen from the same input:
/// // the mean is 3 / (3 + 1) 4 = 3, the variance 3 - 3 (3 + 1)^-1 3 = 0.75.
/// let kernel = ExponentiatedQuadratic::isotropic(3.0, 1.0);
/// let input = DMatrix::from_element(1, 1, 0.5);
/// let (mean, variance) = ExactRegression::new(&kernel, 1.0, &input)?.predict(&[4.0], &input);
/// assert!((mean[0] - 3.0).abs() < 1e-14 && (variance[0] - 0.75).abs() < 1e-14);
/// # Ok::<(), dpgp_linalg::LinalgError>(())
/// ```
pub struct ExactRegression<'a> {
    kernel: &'a dyn Kernel,
    training: &'a DMatrix<f64>,
    system: TrainingCovarianceFactor,
}

/// `K_ff + noise_variance I`.
enum TrainingCovarianceFactor {
    Smooth(Box<LowRankPlusNoiseCovariance>),
    Factorised(Cholesky),
}

impl TrainingCovarianceFactor {
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

impl<'a> ExactRegression<'a> {
    /// Factorises `K_ff + noise_variance I` for training inputs (n x d). Cost `n^3 / 3`.
    ///
    /// # Errors
    /// [`LinalgError`] if `K + sigma^2 I` cannot be factorised.
    pub fn new(kernel: &'a dyn Kernel, noise_variance: f64, training: &'a DMatrix<f64>) -> Result<Self, LinalgError> {
        let system = match LowRankPlusNoiseCovariance::new(kernel, noise_variance, training)? {
            Some(system) => TrainingCovarianceFactor::Smooth(Box::new(system)),
            None => {
                TrainingCovarianceFactor::Factorised(factorise_training_covariance(kernel, noise_variance, training)?)
            }
        };
        Ok(Self { kernel, training, system })
    }

    /// The map `C = K_*f (K_ff + noise_variance I)^-1` (t x n) to test inputs (t x d). Cost `2 n^2 t`.
    pub fn prediction_map(&self, test: &DMatrix<f64>) -> PredictionMap {
        // C' rather than C: the inverse is symmetric, and solvers take the right-hand sides as columns.
        let c = self.system.solve(&self.kernel.matrix(self.training, test));
        PredictionMap::new(&c.transpose(), self.training).with_jitter(self.system.jitter())
    }

    /// Mean (t) and variance (t, squared units of the target) of the latent function at test inputs (t x d), for n targets.
    /// Cost `n^2 t`.
    pub fn predict(&self, targets: &[f64], test: &DMatrix<f64>) -> (DVector<f64>, Vec<f64>) {
        // `K_f*` serves the mean first and may then be overwritten: no second matrix of its size.
        let cross = self.kernel.matrix(self.training, test);
        let targets = DMatrix::from_column_slice(targets.len(), 1, targets);
        let mean = cross.tr_mul(&self.system.solve(&targets).column(0));
        (mean, self.variance_from_cross_covariance(test, cross))
    }

    /// The variances `k_** - k_*f (K_ff + noise_variance I)^-1 k_f*` of the latent function at test inputs (t x d), without
    /// the noise of the likelihood. They depend on public inputs alone. Cost `n^2 t`.
    pub fn variance(&self, test: &DMatrix<f64>) -> Vec<f64> {
        self.variance_from_cross_covariance(test, self.kernel.matrix(self.training, test))
    }

    /// The variances that are left, for `K_f*` (n x t).
    fn variance_from_cross_covariance(&self, test: &DMatrix<f64>, mut cross: DMatrix<f64>) -> Vec<f64> {
        match &self.system {
            TrainingCovarianceFactor::Smooth(system) => {
                subtract_explained_variances(self.kernel, test, system.inverse_quadratic_forms(&cross).into_iter())
            }
            TrainingCovarianceFactor::Factorised(cholesky) => {
                cholesky.lower_solve_mut(&mut cross);
                unexplained_variances(self.kernel, test, &cross)
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
pub fn exact_prediction_map(
    kernel: &dyn Kernel,
    noise_variance: f64,
    training: &DMatrix<f64>,
    test: &DMatrix<f64>,
) -> Result<PredictionMap, LinalgError> {
    Ok(ExactRegression::new(kernel, noise_variance, training)?.prediction_map(test))
}

/// The variances of [`ExactRegression::variance`].
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
    Ok(ExactRegression::new(kernel, noise_variance, training)?.variance(test))
}

const MATRIX: &str = "K + sigma^2 I";

/// The factor of `K_ff + noise_variance I`. The noise variance, in squared units of the target, bounds its smallest
/// eigenvalue from below, so that jitter is needed only where it is tiny; with more jitter than noise it is an error.
pub(super) fn factorise_training_covariance(
    kernel: &dyn Kernel,
    noise_variance: f64,
    training: &DMatrix<f64>,
) -> Result<Cholesky, LinalgError> {
    let factor = Cholesky::new_in_place(MATRIX, || {
        let mut k = kernel.lower_triangle(training);
        (0..k.nrows()).for_each(|i| k[(i, i)] += noise_variance);
        k
    })?;
    ensure_negligible_jitter(MATRIX, factor, noise_variance)
}

/// The least number of rows where a low rank is looked for.
const MANY: usize = 512;
/// The rank is at most this part of the rows.
const SHARE: usize = 8;
/// The least noise variance as a part of the trace of K, which bounds the condition number: the formula of Woodbury subtracts
/// numbers of that size.
const LEAST_NOISE: f64 = 1e-6;
/// The remainder over the trace of K, in its own trace: what rounding the entries of K alone may move its eigenvalues by.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// `A = K + s^2 I` for `K = L L'` up to rounding, with L (n x r): `A^-1 = (I - L (s^2 I + L' L)^-1 L') / s^2`. It takes `n r^2` in
/// place of the `n^3 / 3` of a factorisation, and `n r` numbers in place of `n^2`.
///
/// What is left out of K is positive semidefinite with a trace of at most `2^-50 tr K`: relative to A it is less than
/// `2^-50 tr K / s^2`, the bound on the error of a solve by factorisation too.
pub(super) struct LowRankPlusNoiseCovariance {
    factor: DMatrix<f64>,
    /// Of `s^2 I + L' L` (r x r).
    inner: Cholesky,
    noise_variance: f64,
}

impl LowRankPlusNoiseCovariance {
    /// For training inputs (n x d); none if K has no low rank, or the noise is too small.
    ///
    /// # Errors
    /// [`LinalgError`] if the kernel is not finite.
    pub fn new(kernel: &dyn Kernel, noise_variance: f64, training: &DMatrix<f64>) -> Result<Option<Self>, LinalgError> {
        let n = training.nrows();
        let diagonal = kernel.diagonal(training);
        let trace: f64 = diagonal.iter().sum();
        if n < MANY || noise_variance <= LEAST_NOISE * trace {
            return Ok(None);
        }
        let Some(factor) = low_rank_factor(
            &diagonal,
            |j, out| write_kernel_column(kernel, training, j, out),
            ROUNDING * trace,
            n / SHARE,
        ) else {
            return Ok(None);
        };
        let mut inner = transposed_product(&factor, &factor);
        (0..inner.nrows()).for_each(|i| inner[(i, i)] += noise_variance);
        let inner = Cholesky::new("s^2 I + L' L", &inner)?;
        Ok(Some(Self { factor, inner, noise_variance }))
    }

    /// `A^-1 b` for b (n x k).
    pub fn solve(&self, b: &DMatrix<f64>) -> DMatrix<f64> {
        let seen = self.inner.solve(&transposed_product(&self.factor, b));
        (b - product(&self.factor, &seen)) / self.noise_variance
    }

    /// `b' A^-1 b` for each column of b (n x k).
    pub fn inverse_quadratic_forms(&self, b: &DMatrix<f64>) -> Vec<f64> {
        let solved = self.solve(b);
        let pairs = b.column_iter().zip(solved.column_iter());
        pairs.map(|(b, solved)| b.dot(&solved)).collect()
    }

    /// Jitter that rounding made necessary.
    pub fn jitter(&self) -> f64 {
        self.inner.jitter()
    }
}

/// Column j of K between the training inputs.
fn write_kernel_column(kernel: &dyn Kernel, training: &DMatrix<f64>, j: usize, out: &mut [f64]) {
    out.copy_from_slice(kernel.matrix(training, &training.rows(j, 1).into_owned()).as_slice());
}

/// The predictive mean `f = sum_i w_i k(., b_i)` with `w = A y`, an element of the kernel's Hilbert space (RKHS).
/// A sample of the prior with the same kernel hides moves of f in that norm. Source: Hall, Rinaldo and Wasserman 2013;
/// Smith et al. 2016.
#[derive(Debug, Clone)]
pub struct Representer {
    /// The points b (m x d).
    pub basis: DMatrix<f64>,
    /// `A` (m x n).
    pub weights: DMatrix<f64>,
    /// How far f moves when one target moves by 1, in the norm of the RKHS: `sqrt([A' K A]_jj)` for each target, where
    /// K is the covariance of the basis (n values).
    pub norms: Vec<f64>,
    /// The largest jitter added to a diagonal on the way.
    pub jitter: f64,
}

impl Representer {
    /// f at test points (t x d).
    pub fn predict(&self, kernel: &dyn Kernel, targets: &DVector<f64>, test: &DMatrix<f64>) -> DVector<f64> {
        kernel.matrix(test, &self.basis) * (&self.weights * targets)
    }
}

/// The mean of exact regression: the basis is the training inputs, `A = (K + sigma^2 I)^-1`, and
/// `A' K A = A - sigma^2 A^2`. Cost `7/3 n^3`.
///
/// # Errors
/// [`LinalgError`] if `K + sigma^2 I` cannot be factorised.
pub fn exact_representer(
    kernel: &dyn Kernel,
    noise_variance: f64,
    training: &DMatrix<f64>,
) -> Result<Representer, LinalgError> {
    let cholesky = factorise_training_covariance(kernel, noise_variance, training)?;
    let n = training.nrows();
    let weights = cholesky.solve(&DMatrix::identity(n, n));
    // `K = A^-1 - sigma^2 I` turns the quadratic form into entries that are at hand; their difference may round below zero.
    let squares = (0..n).map(|j| weights[(j, j)] - noise_variance * weights.column(j).norm_squared());
    let norms = squares.map(|square| square.max(0.0).sqrt()).collect();
    Ok(Representer { basis: training.clone(), weights, norms, jitter: cholesky.jitter() })
}

/// The mean of FITC regression: the basis is the inducing inputs, `A = Q^-1 K_MN D^-1` with the matrices of
/// `fitc_prediction_map`. With `K_MM = L L'`, `V = L^-1 K_MN` and `B = (I + V D^-1 V')^-1 V D^-1`, it is `A = L^-T B`, and
/// `A' K_MM A = B' B`.
///
/// # Errors
/// [`LinalgError`] if `K_MM` or `I + V D^-1 V'` cannot be factorised.
pub fn fitc_representer(
    kernel: &dyn Kernel,
    noise_variance: f64,
    inducing: &DMatrix<f64>,
    training: &DMatrix<f64>,
) -> Result<Representer, LinalgError> {
    let FitcFactors { k_mm, scaled, a } = FitcFactors::new(kernel, noise_variance, inducing, training)?;
    let b = a.solve(&scaled);
    // A sum of squares, unlike the form above: nothing cancels.
    let norms = b.column_iter().map(|column| column.norm()).collect();
    let weights = k_mm.upper_solve(&b);
    Ok(Representer { basis: inducing.clone(), weights, norms, jitter: k_mm.jitter() })
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
        let c = exact_prediction_map(&kernel, 0.3, &training, &test).unwrap().to_full_matrix();
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
        let found = ExactRegression::new(&kernel, 0.3, &training).unwrap();
        assert!(matches!(found.system, TrainingCovarianceFactor::Smooth(_)));
        let cholesky = factorise_training_covariance(&kernel, 0.3, &training).unwrap();
        let whole = ExactRegression {
            kernel: &kernel,
            training: &training,
            system: TrainingCovarianceFactor::Factorised(cholesky),
        };
        let ((mean, variance), expected) = (found.predict(&y, &test), whole.predict(&y, &test));
        assert!((mean - expected.0).amax() < 1e-11);
        (0..5).for_each(|i| assert!((variance[i] - expected.1[i]).abs() < 1e-11));
        assert!(
            (found.prediction_map(&test).distinct_columns() - whole.prediction_map(&test).distinct_columns()).amax()
                < 1e-12
        );
        // With little noise the matrix is too ill-conditioned for it.
        let sharp = ExactRegression::new(&kernel, 1e-9, &training).unwrap();
        assert!(matches!(sharp.system, TrainingCovarianceFactor::Factorised(_)));
    }

    /// Mean and variance of a prediction are those of the map and of the formula.
    #[test]
    fn a_prediction_is_that_of_the_map() {
        let kernel = ExponentiatedQuadratic::isotropic(1.7, 2.0);
        let training = DMatrix::from_fn(12, 1, |i, _| 0.9 * i as f64);
        let test = DMatrix::from_fn(5, 1, |i, _| 3.1 * i as f64);
        let y: Vec<f64> = (0..12).map(|i| f64::from(i).sin()).collect();
        let (mean, variance) = ExactRegression::new(&kernel, 0.3, &training).unwrap().predict(&y, &test);
        let expected = exact_prediction_map(&kernel, 0.3, &training, &test).unwrap().predict(&y);
        assert!((mean - expected).amax() < 1e-13);
        assert_eq!(variance, exact_variance(&kernel, 0.3, &training, &test).unwrap());
    }

    /// Without noise, exact regression interpolates.
    #[test]
    fn exact_regression_interpolates() {
        let training = DMatrix::from_fn(12, 1, |i, _| (i as f64 * 0.7) + (i as f64).sin() * 0.2);
        let targets: Vec<f64> = (0..12).map(|i| (i as f64 * 0.6).cos()).collect();
        let kernel = ExponentiatedQuadratic::isotropic(1.0, 0.5);
        let mean = exact_prediction_map(&kernel, 1e-10, &training, &training).unwrap().predict(&targets);
        assert!((mean - DVector::from_vec(targets)).amax() < 1e-6);
    }
}

#[cfg(test)]
mod smooth_tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;

    fn line(rows: usize) -> DMatrix<f64> {
        DMatrix::from_fn(rows, 1, |i, _| 4.0 * i as f64 / rows as f64)
    }

    /// As by the factor of the whole matrix.
    #[test]
    fn systems_are_solved_by_their_rank() {
        let (kernel, inputs) = (ExponentiatedQuadratic::isotropic(2.0, 1.0), line(600));
        let system = LowRankPlusNoiseCovariance::new(&kernel, 0.1, &inputs).unwrap().unwrap();
        let whole = kernel.matrix(&inputs, &inputs) + DMatrix::identity(600, 600) * 0.1;
        let whole = Cholesky::new("A", &whole).unwrap();
        let b = DMatrix::from_fn(600, 2, |i, j| (0.01 * (i * (j + 1)) as f64).sin() + j as f64);
        let expected = whole.solve(&b);
        assert!((system.solve(&b) - &expected).amax() < 1e-8 * expected.amax());
        for (explained, (b, solved)) in
            system.inverse_quadratic_forms(&b).iter().zip(b.column_iter().zip(expected.column_iter()))
        {
            assert!((explained / b.dot(&solved) - 1.0).abs() < 1e-8);
        }
        assert_eq!(system.jitter(), 0.0);
    }

    /// Few rows, little noise (2e-6 of a trace of 1200 is more), and a kernel of full rank.
    #[test]
    fn some_systems_have_no_low_rank() {
        let smooth = ExponentiatedQuadratic::isotropic(2.0, 1.0);
        assert!(LowRankPlusNoiseCovariance::new(&smooth, 0.1, &line(511)).unwrap().is_none());
        assert!(LowRankPlusNoiseCovariance::new(&smooth, 0.0011, &line(600)).unwrap().is_none());
        assert!(LowRankPlusNoiseCovariance::new(&smooth, 0.0013, &line(600)).unwrap().is_some());
        let rough = ExponentiatedQuadratic::isotropic(2.0, 1e-3);
        assert!(LowRankPlusNoiseCovariance::new(&rough, 0.1, &line(600)).unwrap().is_none());
    }
}

#[cfg(test)]
mod representer_tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;
    use crate::{exact_prediction_map, fitc_prediction_map};

    fn setting() -> (DMatrix<f64>, DMatrix<f64>, DMatrix<f64>, DVector<f64>) {
        let training = DMatrix::from_fn(14, 1, |i, _| 0.6 * i as f64 + (i as f64).sin());
        let inducing = DMatrix::from_column_slice(3, 1, &[1.0, 4.0, 7.0]);
        let test = DMatrix::from_column_slice(4, 1, &[-1.0, 2.0, 5.5, 12.0]);
        (training, inducing, test, DVector::from_fn(14, |i, _| (i as f64).cos()))
    }

    fn assert_right(kernel: &dyn Kernel, of: &Representer, map: &DMatrix<f64>) {
        let (_, _, test, y) = setting();
        assert!((of.predict(kernel, &y, &test) - map * &y).amax() < 1e-10);
        let quadratic = of.weights.transpose() * kernel.matrix(&of.basis, &of.basis) * &of.weights;
        for (j, norm) in of.norms.iter().enumerate() {
            assert!((norm * norm - quadratic[(j, j)]).abs() < 1e-10);
        }
    }

    /// Both give the predictions of the linear maps, and the norms of their definition.
    #[test]
    fn means_and_norms_are_those_of_the_definition() {
        let (training, inducing, test, _) = setting();
        let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.5);
        let whole = exact_representer(&kernel, 0.3, &training).unwrap();
        assert_right(&kernel, &whole, &exact_prediction_map(&kernel, 0.3, &training, &test).unwrap().to_full_matrix());
        let sparse = fitc_representer(&kernel, 0.3, &inducing, &training).unwrap();
        assert_right(
            &kernel,
            &sparse,
            &fitc_prediction_map(&kernel, 0.3, &inducing, &training, &test).unwrap().to_full_matrix(),
        );
    }
}
