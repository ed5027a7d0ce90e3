//! Automatic differentiation variational inference: Gaussian approximations of posteriors by stochastic gradients, which may
//! be clipped and noisy.

mod adagrad;
mod batch;
mod fit;
mod guide;
#[cfg(test)]
mod laws;
mod linear;
mod logistic;
mod mode;
mod model;

pub use adagrad::WindowedAdaGrad;
pub use batch::{Sampling, batch_size};
pub use fit::{FitStreams, Training, fit};
pub use guide::{Family, Guide};
pub use linear::Linear;
pub use logistic::Logistic;
pub use mode::mode;
pub use model::Model;
