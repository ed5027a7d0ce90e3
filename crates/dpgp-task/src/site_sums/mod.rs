//! Noisy sums at inducing inputs on a grid, and predictions from them for a process on the public box. `A =
//! sum y_i k(x_i)` and `B = sum k(x_i) k(x_i)'` are sums of features, and [`dpgp_gp::sites`] has a posterior
//! for them. This posterior uses that counts of rows are not negative. B enters as the sums at the midpoints,
//! which determine it.

mod posterior;
mod summed;

pub(super) use posterior::check_site_sums;
pub(super) use posterior::{BoxProcessPrior, SitePosterior};
pub(super) use posterior::{NoisyFeatureMap, NoisyFeatureMaps};
pub(super) use summed::EllipsoidKey;
pub(super) use summed::{InducingSums, InputTargetRows};
