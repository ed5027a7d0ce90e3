//! Selection of a configuration by the exponential mechanism, on cross-validated errors that include the noise.

mod candidates;
mod choice;
mod clipped_square;
mod fold;
mod judged;
mod measure;
mod selected;
mod setting;

pub(super) use choice::Choice;
pub(super) use clipped_square::expected_square;
pub use selected::Selected;
pub use setting::{Candidate, GpCandidate, GpGrid, NoiseScale, RowsSetting, SelectionTask};
