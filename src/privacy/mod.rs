//! Privacy: noise calibration, sensitivities, cloaking, the exponential mechanism, certificates.

pub mod accounting;
mod certificate;
mod cloaking;
mod error;
mod function;
mod gaussian;
mod histogram;
mod newton;
mod selection;

pub use certificate::{Caveat, Certificate, Mechanism, Neighbours, Release};
pub use cloaking::{Cloak, CloakingOptions, Objective, ReleaseRecipe, Solver, cloak};
pub use error::PrivacyError;
pub use function::{FunctionNoise, FunctionSensitivity};
pub use gaussian::{Calibration, gaussian_delta};
pub use histogram::{Statistic, count_sensitivity};
pub use newton::PrivateStep;
pub use selection::{FoldColumns, SensitivityRule, selection_probabilities, sse_sensitivity};
