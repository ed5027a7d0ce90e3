//! Gaussian process and linear models. Every model here is linear in the targets and exposes its map.

mod exact;
mod features;
mod fitc;
mod kmeans;
mod laplace;
#[cfg(test)]
mod laws;
mod linear_map;
mod polynomial;
mod variance;
pub mod variational;

pub use exact::{exact, exact_variance};
pub use features::{Features, exact_features, regressor_features};
pub use fitc::{fitc, fitc_variance};
pub use kmeans::{KMeans, kmeans};
pub use laplace::{NewtonStep, averaged_probability, latent_variance, logistic, newton_path};
pub use linear_map::LinearMap;
pub use polynomial::polynomial;
