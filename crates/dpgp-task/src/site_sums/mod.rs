//! Noisy sums at inducing inputs on a grid, and what follows from them for a process on the public box.
//!
//! `A = sum y_i k(x_i)` and `B = sum k(x_i) k(x_i)'` are sums of features, for which [`dpgp_gp::sites`] has a posterior: it knows that counts of rows
//! are not negative, and how little noise leaves of them. B enters as the sums at the midpoints, which tell all of it.

mod posterior;
mod summed;

pub(super) use posterior::check;
pub(super) use posterior::{BoxModel, SitePosterior};
pub(super) use posterior::{ReleasedMap, ReleasedMaps};
pub(super) use summed::EllipsoidKey;
pub(super) use summed::{SiteRows, SummedRows};
