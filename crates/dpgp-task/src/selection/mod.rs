//! Selection of a configuration by the exponential mechanism, on cross-validated errors that include the
//! noise.

mod fold;
mod judged;
mod measure;
mod setting;

pub(super) use fold::LengthscaleChoice;
pub use fold::SelectionErrorFunction;
pub(super) use judged::expected_clipped_square;
pub use setting::{GpCandidate, GpHyperparameterGrid, ModelCandidate, NoiseScale, RowRangeSetting, SelectionTask};
