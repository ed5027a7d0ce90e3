//! Types of the sections of a spec: rows, normalisation, model, guarantee and mechanism. Each checks its own
//! values. The task section is a parameter of [`SpecCellSetting`].

mod data;
mod model;
mod normalise;
mod problem;
mod range;
pub mod rules;
mod source;
mod whole;

pub use data::{DataSetting, FilterSetting};
pub use data::{PersonRowLimit, RowChoiceBasis};
pub use data::{QuotaSetting, RowDrawSetting};
pub use model::InducingSetting;
pub use model::NoiseAwareInverseSetting;
pub use model::{ModelSetting, SparseSetting};
pub use normalise::{NormaliseSetting, PrivateCentreSetting, prior_mean};
pub use problem::SpecProblem;
pub use range::SplitSetting;
pub use range::ThresholdSetting;
pub use range::{BinRangeSetting, RangeSetting, check_bin_ranges};
pub use rules::{CheckResult, SettingError, fail};
pub use source::SyntheticSetting;
pub use source::{ImagesSetting, SourceSetting, TripsSetting};
pub use whole::MechanismSection;
pub use whole::{PrivacySetting, TargetChangeRelation};
pub use whole::{Sections, SpecCellSetting};
