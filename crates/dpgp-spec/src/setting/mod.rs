//! Types of the sections of a spec: rows, normalisation, model, guarantee and mechanism. Each checks its own
//! values. The task section is a parameter of [`SpecCellSetting`].

mod data;
mod model;
mod range;
pub mod rules;
mod source;
mod whole;

pub use data::{DataSetting, FilterSetting, PersonRowChoiceBasis, PersonRowLimit, QuotaSetting, RowDrawSetting};
pub use model::{
    InducingSetting, ModelSetting, NoiseAwareInverseSetting, NormaliseSetting, PrivateCentreSetting, SparseSetting,
    prior_mean,
};
pub use range::{BinRangeSetting, RangeSetting, SplitSetting, ThresholdSetting, check_bin_ranges};
pub use rules::{CheckResult, SettingError, SpecProblem, fail};
pub use source::{ImagesSetting, SourceSetting, SyntheticSetting, TripsSetting};
pub use whole::{CellSections, MechanismSection, PrivacySetting, SpecCellSetting, TargetChangeRelation};
