//! Types of the sections of a spec: rows, normalisation, model, guarantee and mechanism. Each checks its own
//! values. The task section is a parameter of [`Setting`].

mod data;
mod model;
mod normalise;
mod problem;
mod range;
pub mod rules;
mod source;
mod whole;

pub use data::{ChosenBy, PersonLimit};
pub use data::{DataSetting, FilterSetting};
pub use data::{DrawSetting, QuotaSetting};
pub use model::InducingSetting;
pub use model::NoiseAwareSetting;
pub use model::{ModelSetting, SparseSetting};
pub use normalise::{CentreSetting, NormaliseSetting, prior_mean};
pub use problem::Problem;
pub use range::SplitSetting;
pub use range::ThresholdSetting;
pub use range::{CutSetting, RangeSetting, cuts};
pub use rules::{Checked, SettingError, fail};
pub use source::SyntheticSetting;
pub use source::{ImagesSetting, SourceSetting, TripsSetting};
pub use whole::MechanismSection;
pub use whole::{ChangeRelation, PrivacySetting};
pub use whole::{Sections, Setting};
