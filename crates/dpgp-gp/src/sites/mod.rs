//! A Gaussian process on a public box, observed through noisy sums over rows with private inputs.
//!
//! The data enter as `b = sum_i y_i phi(x_i)` (m numbers), `T = sum_i e(x_i)` (k numbers) and `q = sum_i
//! y_i^2`, each with independent Gaussian noise ([`NoisyFeatureSums`]). Here, phi and e are any functions on the
//! box. The process lives on G public *sites* ([`CountingSites`]), and `p_g` counts the rows near site g. T
//! determines the counts p ([`SiteCounts`]), and b the values of f at the sites. Let `L = Phi' diag(p)` (Phi
//! is the G x m matrix of phi at the sites), K the covariances of the sites, s^2 the noise variance and D the
//! variances of the noise. Then
//!
//! ```text
//! b | p ~ N(0, Q),   Q = L K L' + s^2 L Phi + Phi' (V o E[f f']) Phi + v L L' + D.
//! ```
//!
//! The third term is the error of the counts, with their posterior covariance V and the entrywise product o:
//! if the counts err by `dp`, b errs by `Phi' diag(f) dp`, which has this covariance. The fourth term is the
//! error of the sites ([`SiteInterpolationVariance`]): between sites, f has the variance v about its interpolation, and
//! its error may be the same for all rows near a site. So predictions account for the uncertainty of the
//! inputs. Any kernel works, because nothing is expanded in frequencies.
//!
//! Up to four inputs, sites on a grid suffice. With more inputs, and for additive kernels, b is observed
//! through the weights `w = R f` of its own features ([`InputPosterior::Gram`]): `b = A w` replaces `L f`. The
//! Gram matrix A of the rows is linear in T ([`GramMap`]). The sites, scattered over the box, only determine
//! the prior of the weights. Predictions are those of the kernel. The part of f beyond the features counts as
//! noise.

mod between;
mod counts;
#[cfg(test)]
mod dense;
mod gram;
mod grid;
mod inputs;
mod lattice;
mod mixture;
mod passes;
mod squares;
mod sums;

pub use between::SiteInterpolationVariance;
pub use counts::SiteCounts;
pub use gram::{GramEntry, GramMap, GramPosterior, GramSum};
pub use grid::{CountingSites, additive_site_grid, box_grid, site_grid};
pub use inputs::{GramProjection, InputPosterior};
pub use lattice::{Lattice, LatticeCellSums, LatticeRowSums, TARGET_BITS};
pub use mixture::PublicReferenceModel;
pub use mixture::{HyperparameterGrid, KernelWithPrior, ValueWithPrior};
pub use mixture::{MixturePrediction, SiteMixture};
pub use passes::{fit_mixture_from_matrices, fit_site_mixture};
pub use sums::{FeatureSums, NoisyFeatureSums, SiteFeatures};
