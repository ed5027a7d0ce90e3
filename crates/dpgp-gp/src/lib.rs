#![doc = include_str!("../README.md")]
//!
//! Notation: n training inputs X, t test inputs, m inducing inputs Z, d dimensions; `K_ab` is the covariance matrix between
//! inputs a and b, f the latent function, and `y = f(X) + noise` the targets. Prior means are zero.

pub mod advi;
mod averaged;
mod binned;
pub mod cells;
mod exact;
mod features;
mod fit;
mod fitc;
mod grid_counts;
pub mod kernel;
mod kmeans;
mod known_noise;
mod laplace;
#[cfg(test)]
mod laws;
mod linear_map;
mod moments;
mod predictive;
pub mod sites;
pub mod variational;

pub use averaged::{AveragedPosterior, AveragedPrediction, Combinations, averaged_kernel};
pub use binned::BinnedFamily;
pub use binned::jitter_share;
pub use exact::{Exact, exact, exact_variance};
pub use exact::{Representer, exact_representer, fitc_representer};
pub use features::{Features, exact_features, regressor_features};
pub use features::{SharedCovariance, SharedFactor};
pub use fit::{Fit, fit};
pub use fitc::{Fitc, fitc, fitc_variance};
pub use grid_counts::{GridAxis, GridHyperparameters, GridPosterior, GridSum, NoisyGrid, denoise_grid};
pub use kmeans::{KMeans, kmeans};
pub use known_noise::{DenoisedNumbers, KnownModel, MOST_NOISY_NUMBERS, NoisyNumbers, denoise_numbers};
pub use laplace::{CovarianceFamily, negative_log_likelihood};
pub use laplace::{NewtonStep, averaged_probability, latent_variance, logistic, newton_path};
pub use linear_map::LinearMap;
pub use linear_map::polynomial;
pub use moments::{GivenNoisySums, PriorMoments, exact_moments, fitc_moments};
pub use predictive::{Predictive, WeightedNormals};
