#![doc = include_str!("../README.md")]

mod active_set;
mod attempts;
mod design;
mod interior_point;
mod log_det;
mod objective;
mod options;
mod problem;
mod recipe;
mod release;
mod risk;
mod trace;

pub use attempts::Attempts;
pub use design::{cloak, cloak_from};
pub use objective::Objective;
pub use options::{CloakingOptions, Solver};
pub use recipe::ReleaseRecipe;
pub use release::Cloak;
pub use risk::{RiskDesign, RiskProblem, risk_cloak};
