#![doc = include_str!("../README.md")]

mod active_set;
mod design;
mod interior_point;
mod objective;
mod options;
mod release;
mod risk;

pub use design::{RandomStarts, design_cloaking_noise, design_randomised_cloaking_noise};
pub use options::{CloakingOptions, DroppedDirectionRule, Objective, Solver};
pub use release::CloakingNoise;
pub use risk::{MinimumRiskDesign, PredictionRiskProblem, design_minimum_risk_prediction};
