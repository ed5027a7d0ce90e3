//! A Gaussian process on a public box, seen through noisy sums over rows whose inputs nobody knows.
//!
//! The data enter as `b = sum_i y_i phi(x_i)` (m numbers), `T = sum_i e(x_i)` (k numbers) and `q = sum_i y_i^2`, each with independent
//! Gaussian noise ([`NoisyFeatures`]); phi and e are any functions on the box. The process lives on G public *sites*
//! ([`CountSites`]), of which `p_g` stand for the rows near site g: T tells the counts p ([`SiteCounts`]), b the values of f at
//! the sites. With `L = Phi' diag(p)` (Phi the G x m matrix of phi at the sites), K the covariances of the sites, s^2 the noise
//! variance and D the variances of the noise,
//!
//! ```text
//! b | p ~ N(0, Q),   Q = L K L' + s^2 L Phi + Phi' (V o E[f f']) Phi + v L L' + D.
//! ```
//!
//! The third term is the error of the counts, V their posterior covariance and o the entrywise product: the counts err by `dp`, b
//! by `Phi' diag(f) dp`, whose covariance it is. The fourth is the error of the sites ([`BetweenSites`]): f between them, with the variance v about
//! its interpolation, may be the same for all rows near a site. So predictions know how little is known of the inputs. Any kernel will do: nothing
//! is expanded in frequencies here.
//!
//! Sites on a grid are few enough for four inputs. With more, and for additive kernels, b is seen through the weights `w = R f` of its
//! own features ([`SiteInputs::Gram`]): `b = A w` for the Gram matrix A of the rows, which is linear in T ([`GramMap`]), in place of `L f`.
//! The sites, scattered over the box, only say what weights the kernel makes likely; predictions are those of the kernel. What f has
//! beyond the features is taken for noise.

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

pub use between::BetweenSites;
pub use counts::SiteCounts;
pub use gram::{GramEntry, GramMap, GramPosterior, GramSum};
pub use grid::{CountSites, box_grid, site_grid};
pub use inputs::{SeenWeights, SiteInputs};
pub use lattice::{CountedRows, FullCell, Lattice, TARGET_BITS};
pub use mixture::SiteReference;
pub use mixture::{Graded, HyperGrid, SiteKernel};
pub use mixture::{MixturePrediction, SiteMixture};
pub use passes::{site_mixture, site_mixture_among};
pub use sums::{NoisyFeatures, SiteFeatures, SummedFeatures};
