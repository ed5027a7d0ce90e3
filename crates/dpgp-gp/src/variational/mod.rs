//! Variational sparse regression that uses only two sums over its data, so that noise on them protects inputs
//! and targets.
//!
//! The data enter as `A = sum_i k_i y_i` and `B = sum_i k_i k_i'` ([`SufficientStatistics`]). Here, `k_i = k(Z, x_i)`
//! are the covariances of input i with m public inducing inputs ([`InducingInputs`]). Noisy sums give a posterior
//! over the weights v of `f(x) = k(x)' v` ([`noise_aware_posterior`], [`projected_moment_posterior`]). Source: Titsias 2009; Honkela 2021.
//!
//! Without noise, for a noise variance of `sigma^2`, the posterior is `v ~ N(S A / sigma^2, S)` with `S =
//! (K_ZZ + B / sigma^2)^-1`. If the sums are scaled by `1 / sigma^2` ([`NoisySufficientStatistics::scaled`]), it
//! becomes `v ~ N(S A, S)`. The modules here use this form, so their formulas have no sigma.

mod bounds;
mod inducing;
mod noise_aware;
mod posterior;
mod statistics;

pub use bounds::{FeatureNormBound, GaussianBumpGrid, squared_kernel_vector_norm_bound};
pub use inducing::{CovariancesWithConditionalVariances, InducingGrid, InducingInputs};
pub use noise_aware::{NoiseCorrection, Regularisation, noise_aware_posterior, projected_moment_posterior};
pub use posterior::{GaussianPrediction, WeightPosterior, draw_from_prior};
pub use statistics::{DirichletLabels, IntegerSumUnits, IntegerSums, NoisySufficientStatistics, SufficientStatistics};
