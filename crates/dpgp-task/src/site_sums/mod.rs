//! Noisy sums at inducing inputs on a grid, and what follows from them for a process on the public box.
//!
//! `A = sum y_i k(x_i)` and `B = sum k(x_i) k(x_i)'` are sums of features, for which [`dpgp_gp::sites`] has a posterior: it knows that counts of rows
//! are not negative, and how little noise leaves of them. B enters as the sums at the midpoints, which tell all of it.

mod check;
mod maps;
mod posterior;
mod shaped;
mod summed;

pub(super) use check::check;
pub(super) use maps::{ReleasedMap, ReleasedMaps};
pub(super) use posterior::{BoxModel, SitePosterior};
pub(super) use shaped::{EllipsoidQuestion, ShapedSums};
pub(super) use summed::{SiteRows, SummedRows};
