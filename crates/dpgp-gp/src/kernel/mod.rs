//! Covariance functions, one file each. All implement [`Kernel`]. To let specs name a kernel
//! ([`SpecKernel`]), declare its file here and add a line to `kernels!`. Bins, whose observations are
//! integrals, have separate covariances ([`BinKernel`]).

mod additive;
mod bias;
mod binned;
mod bins;
#[cfg(test)]
mod closed_forms;
mod combined;
mod covariance;
mod eq;
mod gibbs;
mod in_box;
mod integral;
#[cfg(test)]
mod laws;
mod lengthscales;
mod linear;
mod matern;
mod named;
mod periodic;
mod rational_quadratic;

pub use additive::{ExponentiatedQuadraticTerm, InputPairKernelSetting};
pub use binned::{BinKernel, BinObservation};
pub use bins::{Bins, Interval};
pub use combined::{ProductKernel, SumKernel};
pub use covariance::Kernel;
pub use eq::ExponentiatedQuadratic;
pub use gibbs::GibbsKernel;
pub use in_box::DensityLengthscale;
pub use in_box::{BoxKernel, BoxScale, StationaryKernel};
pub use integral::{double_integral, double_integral_slope, single_integral};
pub use matern::{Matern, Smoothness};
pub use named::{KernelError, KernelKeyError, SpecKernel};
pub use rational_quadratic::RationalQuadratic;

named::kernels! {
    "eq": Eq(eq::ExponentiatedQuadraticSetting) = "Exponentiated quadratic with one lengthscale.",
    "eq-ard": EqArd(eq::ArdExponentiatedQuadraticSetting) = "Exponentiated quadratic with one lengthscale per input.",
    "matern": Matern(matern::MaternSetting) = "Matern kernel of smoothness 1/2, 3/2 or 5/2.",
    "rational-quadratic": RationalQuadratic(rational_quadratic::RationalQuadraticSetting) = "Rational quadratic: a mixture of lengthscales.",
    "additive": Additive(additive::AdditiveSetting) = "A sum of functions of one or two inputs each: for many inputs.",
    "gibbs": Gibbs(gibbs::GibbsSetting) = "Gibbs' nonstationary kernel with lengthscales from the density of the inputs.",
    "bias": Bias(bias::BiasKernel) = "A constant.",
    "linear": Linear(linear::LinearKernel) = "A linear function through the origin.",
    "periodic": Periodic(periodic::PeriodicKernel) = "A periodic function.",
    "sum": Sum(combined::SumSetting) = "The sum of several kernels.",
    "product": Product(combined::ProductSetting) = "The product of several kernels.",
}
