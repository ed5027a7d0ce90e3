#![doc = include_str!("../README.md")]
//!
//! Notation: n training inputs X, t test inputs, m inducing inputs Z, d dimensions; `K_ab` is the covariance matrix between
//! inputs a and b, f the latent function, and `y = f(X) + noise` the targets. Prior means are zero.

pub mod advi;
mod binned;
mod exact;
mod features;
mod fit;
mod fitc;
mod jitter;
pub mod kernel;
mod kmeans;
mod laplace;
#[cfg(test)]
mod laws;
mod likelihood;
mod linear_map;
mod moments;
mod polynomial;
mod predictive;
mod representer;
mod shared_covariance;
pub mod sites;
mod variance;
pub mod variational;

pub use binned::BinnedFamily;
pub use exact::{Exact, exact, exact_variance};
pub use features::{Features, exact_features, regressor_features};
pub use fit::{Fit, fit};
pub use fitc::{Fitc, fitc, fitc_variance};
pub use jitter::jitter_share;
pub use kmeans::{KMeans, kmeans};
pub use laplace::{NewtonStep, averaged_probability, latent_variance, logistic, newton_path};
pub use likelihood::{CovarianceFamily, negative_log_likelihood};
pub use linear_map::LinearMap;
pub use moments::{GivenNoisySums, PriorMoments, exact_moments, fitc_moments};
pub use polynomial::polynomial;
pub use predictive::{Predictive, WeightedNormals};
pub use representer::{Representer, exact_representer, fitc_representer};
pub use shared_covariance::{SharedCovariance, SharedFactor};
