//! Gaussian noise on the two sums of a variational model over private records: `A = sum y k(x)` and `B = sum k(x) k(x)'`.

mod ellipsoid;
mod midpoints;
mod rule;
mod setting;

pub use ellipsoid::{NoiseAxes, NoiseEllipsoid, SumFeatureMaps};
pub use midpoints::MidpointBounds;
pub use rule::{
    HeteroscedasticSensitivityRule, RecordBounds, SumsNoise, SumsSensitivityRule, class_sums_sensitivity, free_split,
};
pub use setting::{FeatureBoundSetting, SecondSumSetting, SummedValueKind, SumsNoiseShape, SumsSetting};
