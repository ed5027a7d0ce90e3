//! Variational sparse regression that uses only two sums over its data, so that noise on them protects inputs
//! and targets.
//!
//! The data enter as `A = sum_i k_i y_i` and `B = sum_i k_i k_i'` ([`Statistics`]). Here, `k_i = k(Z, x_i)`
//! are the covariances of input i with m public inducing inputs ([`Inducing`]). Noisy sums give a posterior
//! over the weights v of `f(x) = k(x)' v` ([`noise_aware`], [`moment`]). Source: Titsias 2009; Honkela 2021.
//!
//! Without noise, for a noise variance of `sigma^2`, the posterior is `v ~ N(S A / sigma^2, S)` with `S =
//! (K_ZZ + B / sigma^2)^-1`. If the sums are scaled by `1 / sigma^2` ([`NoisyStatistics::scaled`]), it
//! becomes `v ~ N(S A, S)`. The modules here use this form, so their formulas have no sigma.

mod bounds;
mod dirichlet;
mod inducing;
mod noise_aware;
mod posterior;
mod statistics;
mod supremum;

pub use bounds::Bumps;
pub use bounds::FeatureBound;
pub use dirichlet::DirichletLabels;
pub use inducing::InducingGrid;
pub use inducing::{Inducing, Located};
pub use noise_aware::Correction;
pub use noise_aware::Regularisation;
pub use noise_aware::noise_aware;
pub use posterior::Prediction;
pub use posterior::WeightPosterior;
pub use posterior::prior_draw;
pub use statistics::{IntegerSums, SumsUnits};
pub use statistics::{NoisyStatistics, Statistics};
pub use supremum::grid_supremum;
pub use supremum::moment;
