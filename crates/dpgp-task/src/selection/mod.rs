//! Selection of a configuration by the exponential mechanism, on cross-validated errors that include the
//! noise.

mod fold;
mod judged;
mod measure;
mod setting;

pub(super) use fold::Choice;
pub use fold::Selected;
pub(super) use judged::expected_square;
pub use setting::{Candidate, GpCandidate, GpGrid, NoiseScale, RowsSetting, SelectionTask};
