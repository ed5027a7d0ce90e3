//! Cloaking: the Gaussian noise covariance that best hides one target in a vector of predictions.
//!
//! For `mean = C y` with columns `c_i`, noise `z ~ N(0, M)` with `max_i c_i' M^-1 c_i <= 1` hides a change
//! of one target by 1 at the noise multiplier of the Gaussian mechanism. Privacy holds for any weights,
//! because the covariance is rescaled by the largest leverage that it is sampled with; the solvers
//! only decide how much noise that costs.

mod active_set;
mod attempts;
mod design;
mod gradient;
mod interior_point;
mod log_det;
mod newton_system;
mod objective;
mod options;
mod problem;
mod recipe;
mod reciprocal;
mod release;
mod risk;
mod spread;
mod trace;

pub use attempts::Attempts;
pub use design::{cloak, cloak_from};
pub use objective::Objective;
pub use options::{CloakingOptions, Solver};
pub use recipe::ReleaseRecipe;
pub use release::Cloak;
pub use risk::{RiskDesign, RiskProblem, risk_cloak};
