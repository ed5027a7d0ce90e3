#![doc = include_str!("../README.md")]

mod active_set;
mod design;
mod interior_point;
mod log_det;
mod options;
mod release;
mod risk;
mod trace;

pub use design::RandomStarts;
pub use design::{design_cloaking_noise, design_randomised_cloaking_noise};
pub use options::DroppedDirectionRule;
pub use options::Objective;
pub use options::{CloakingOptions, Solver};
pub use release::CloakingNoise;
pub use risk::{MinimumRiskDesign, RiskProblem, design_minimum_risk};
