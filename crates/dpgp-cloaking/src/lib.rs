#![doc = include_str!("../README.md")]

mod active_set;
mod design;
mod interior_point;
mod log_det;
mod options;
mod release;
mod risk;
mod trace;

pub use design::Attempts;
pub use design::{cloak, cloak_from};
pub use options::Objective;
pub use options::ReleaseRecipe;
pub use options::{CloakingOptions, Solver};
pub use release::Cloak;
pub use risk::{RiskDesign, RiskProblem, risk_cloak};
