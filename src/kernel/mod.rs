//! Covariance functions, one file each.

mod covariance;
mod density;
mod eq;
mod gibbs;
#[cfg(test)]
mod laws;

pub use covariance::Kernel;
pub use density::DensityLengthscale;
pub use eq::ExponentiatedQuadratic;
pub use gibbs::Gibbs;
