//! Covariance functions, one file each.

mod bias;
mod combined;
mod covariance;
mod density;
mod eq;
mod gibbs;
#[cfg(test)]
mod laws;
mod linear;
mod periodic;

pub use bias::Bias;
pub use combined::{Product, Sum};
pub use covariance::Kernel;
pub use density::DensityLengthscale;
pub use eq::ExponentiatedQuadratic;
pub use gibbs::Gibbs;
pub use linear::Linear;
pub use periodic::Periodic;
