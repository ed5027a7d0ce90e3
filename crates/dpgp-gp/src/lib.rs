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
mod linear_map;
mod moments;
mod predictive;
pub mod sites;
pub mod variational;

pub use averaged::{
    ModelAveragedPosterior, ModelAveragedPrediction, TargetCombinationDesign, lengthscale_averaged_kernel,
};
pub use binned::{BinnedCovarianceFamily, jitter_effect_bound};
pub use exact::{
    ExactRegression, Representer, exact_prediction_map, exact_representer, exact_variance, fitc_representer,
};
pub use features::{
    CovarianceFactor, CovarianceRepresentation, KernelFeatures, exact_features, inducing_input_features,
};
pub use fit::{LikelihoodFit, maximise_marginal_likelihood};
pub use fitc::{FitcRegression, fitc_prediction_map, fitc_variance};
pub use grid_counts::{GridAxis, GridHyperparameters, GridPosterior, GridSumEstimate, NoisyGrid, denoise_grid};
pub use kmeans::{KMeansOptions, kmeans};
pub use known_noise::{DenoisedNumbers, FixedHyperparameters, MOST_NOISY_NUMBERS, NoisyNumbers, denoise_numbers};
pub use laplace::{
    CovarianceFamily, NewtonStep, averaged_probability, latent_variance_at_tests, logistic, negative_log_likelihood,
    newton_path,
};
pub use linear_map::{PredictionMap, polynomial_prediction_map};
pub use moments::{
    NoisySumsPosterior, TargetSumCovariances, exact_target_sum_covariances, fitc_target_sum_covariances,
};
pub use predictive::{PredictiveMixture, WeightedNormals};
