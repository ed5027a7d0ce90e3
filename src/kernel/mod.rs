//! Covariance functions, one file each.

mod bias;
mod binned;
mod bins;
mod combined;
mod covariance;
mod density;
mod eq;
mod gibbs;
mod integral;
#[cfg(test)]
mod laws;
mod linear;
mod periodic;

pub use bias::Bias;
pub use binned::{BinKernel, Observed};
pub use bins::{Bins, Interval};
pub use combined::{Product, Sum};
pub use covariance::Kernel;
pub use density::DensityLengthscale;
pub use eq::ExponentiatedQuadratic;
pub use gibbs::Gibbs;
pub use integral::{double_integral, double_integral_slope, single_integral};
pub use linear::Linear;
pub use periodic::Periodic;
