//! Covariance functions, related ones in one file. All implement [`Kernel`]. To let specs name a kernel
//! ([`SpecKernel`]), declare its file here and add a line to `kernels!`. Bins, whose observations are
//! integrals, have separate covariances ([`BinKernel`]).

mod additive;
mod binned;
mod bins;
mod combined;
mod distance;
mod eq;
mod gibbs;
mod in_box;
mod integral;
#[cfg(test)]
mod laws;
mod linear;
mod named;
mod periodic;

use nalgebra::DMatrix;

pub use additive::{ExponentiatedQuadraticTerm, InputPairKernelSetting};
pub use binned::{BinKernel, BinObservation};
pub use bins::{Bins, Interval};
pub use combined::{ProductKernel, SumKernel};
pub use distance::{Matern, RationalQuadratic, Smoothness};
pub use eq::ExponentiatedQuadratic;
pub use gibbs::{DensityLengthscale, GibbsKernel};
pub use in_box::{BoxKernel, KernelRescaling, StationarySpecKernel};
pub use integral::{kernel_double_integral, kernel_double_integral_log_slope, kernel_single_integral};
pub use named::{KernelKeyError, KernelKeyErrorReason, SpecKernel};

named::kernels! {
    "eq": Eq(eq::ExponentiatedQuadraticSetting) = "Exponentiated quadratic with one lengthscale.",
    "eq-ard": EqArd(eq::ArdExponentiatedQuadraticSetting) = "Exponentiated quadratic with one lengthscale per input.",
    "matern": Matern(distance::MaternSetting) = "Matern kernel of smoothness 1/2, 3/2 or 5/2.",
    "rational-quadratic": RationalQuadratic(distance::RationalQuadraticSetting) = "Rational quadratic: a mixture of lengthscales.",
    "additive": Additive(additive::AdditiveSetting) = "A sum of functions of one or two inputs each, for data with many inputs.",
    "gibbs": Gibbs(gibbs::GibbsSetting) = "Gibbs' nonstationary kernel, with lengthscales that follow the density of the inputs.",
    "bias": Bias(linear::BiasKernel) = "A constant.",
    "linear": Linear(linear::LinearKernel) = "A linear function through the origin.",
    "periodic": Periodic(periodic::PeriodicKernel) = "A periodic function.",
    "sum": Sum(combined::SumSetting) = "The sum of several kernels.",
    "product": Product(combined::ProductSetting) = "The product of several kernels.",
}

/// A covariance function on `R^d`: symmetric, and positive semidefinite on every set of inputs. Inputs are rows of a matrix (n
/// x d), in the units of their columns; values have the squared units of the latent function.
///
/// One method is enough: the others follow from it, and are there to be made faster.
///
/// ```
/// use dpgp_gp::kernel::Kernel;
/// use nalgebra::DMatrix;
///
/// /// The covariance of Brownian motion, for positive inputs.
/// struct Brownian;
///
/// impl Kernel for Brownian {
///     fn value(&self, x: &[f64], y: &[f64]) -> f64 {
///         x[0].min(y[0])
///     }
/// }
///
/// let times = DMatrix::from_column_slice(2, 1, &[1.0, 3.0]);
/// assert_eq!(Brownian.matrix(&times, &times).as_slice(), [1.0, 1.0, 1.0, 3.0]);
/// assert_eq!(Brownian.diagonal(&times), [1.0, 3.0]);
/// ```
pub trait Kernel: Send + Sync {
    /// `k(x, x')` for two rows of length d.
    fn value(&self, x: &[f64], y: &[f64]) -> f64;

    /// `k(x, x)`.
    fn variance(&self, x: &[f64]) -> f64 {
        self.value(x, x)
    }

    /// The (n x m) matrix of `k(a_i, b_j)`.
    fn matrix(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
        let (left, right) = (rows(a), rows(b));
        DMatrix::from_fn(a.nrows(), b.nrows(), |i, j| self.value(&left[i], &right[j]))
    }

    /// The (n x n) matrix of `k(a_i, a_j)` for callers that read only its lower triangle: entries above the diagonal may be zero.
    fn lower_triangle(&self, a: &DMatrix<f64>) -> DMatrix<f64> {
        self.matrix(a, a)
    }

    /// The n values of `k(a_i, a_i)`.
    fn diagonal(&self, a: &DMatrix<f64>) -> Vec<f64> {
        let mut row = vec![0.0; a.ncols()];
        let variance_of_row = |i: usize| {
            row.iter_mut().enumerate().for_each(|(l, x)| *x = a[(i, l)]);
            self.variance(&row)
        };
        (0..a.nrows()).map(variance_of_row).collect()
    }
}

/// Rows as slices: the matrix stores columns, and so a row is gathered once and not once a pair.
fn rows(a: &DMatrix<f64>) -> Vec<Vec<f64>> {
    a.row_iter().map(|row| row.iter().copied().collect()).collect()
}
