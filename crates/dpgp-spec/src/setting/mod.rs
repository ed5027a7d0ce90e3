//! What the sections of a spec hold, each type with the checks of its own values: rows, normalisation, model, guarantee
//! and mechanism. The task is a section too, which this room does not know ([`Setting`] takes it as a parameter).

mod data;
mod draw;
mod inducing;
mod mechanism;
mod missing;
mod model;
mod normalise;
mod person;
mod posterior_rule;
mod privacy;
mod problem;
mod range;
pub mod rules;
mod source;
mod split;
mod synthetic;
mod threshold;
mod whole;

pub use data::{DataSetting, FilterSetting};
pub use draw::{DrawSetting, QuotaSetting};
pub use inducing::InducingSetting;
pub use mechanism::MechanismSection;
pub use model::{ModelSetting, SparseSetting};
pub use normalise::{CentreSetting, NormaliseSetting, prior_mean};
pub use person::{ChosenBy, PersonLimit};
pub use posterior_rule::NoiseAwareSetting;
pub use privacy::{ChangeRelation, PrivacySetting};
pub use problem::Problem;
pub use range::{CutSetting, RangeSetting, cuts};
pub use rules::{Checked, Fault, fail};
pub use source::{ImagesSetting, SourceSetting, TripsSetting};
pub use split::SplitSetting;
pub use synthetic::SyntheticSetting;
pub use threshold::ThresholdSetting;
pub use whole::{Sections, Setting};
