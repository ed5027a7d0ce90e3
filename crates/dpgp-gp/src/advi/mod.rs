//! Automatic differentiation variational inference: Gaussian approximations of posteriors by stochastic gradients, which may
//! be clipped and noisy.
//!
//! A guide `q(z)` maximises the evidence lower bound `E_q[log p(y, z)] + H(q)`. Its draws are `z = mu + L n` with n standard
//! normal, so that gradients pass through the draw to mu and L. With each row's gradient clipped to norm c and Gaussian noise
//! of standard deviation s on their sum, a step is a Gaussian mechanism of sensitivity c (a row added or removed) or 2 c
//! (replaced); an accountant prices all steps together.
//!
//! Source: Kucukelbir et al. 2017 (the parametrisation); Jälkö, Dikmen and Honkela 2016 (clipping and noise).

mod fit;
#[cfg(test)]
mod laws;
mod model;

pub use fit::{
    BatchSampling, FitRandomStreams, GuideDraw, VariationalFamily, VariationalFitOptions, VariationalGaussian,
    WindowedAdaGrad, batch_size, find_posterior_mode, fit_variational_posterior,
};
pub use model::{BayesianLinearModel, BayesianLogisticModel, BayesianModel};
