//! Gaussian noise on the two sums of a variational model over private records: `A = sum y k(x)` and `B = sum k(x) k(x)'`.

mod ellipsoid;
mod midpoints;
mod rule;
mod setting;

pub use ellipsoid::{Ellipsoid, NoiseAxes, SumMaps};
pub use midpoints::MidpointBounds;
pub use rule::{HeteroscedasticRule, RecordBounds, SumsNoise, SumsRule, class_sums_sensitivity, free_split};
pub use setting::{FeaturesSetting, ProductsSetting, SummedTargets, SumsSetting, SumsShape};
