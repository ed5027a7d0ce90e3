//! Somebody else's table, judged as a run judges ours.

mod given;
mod graded;

pub use given::GradeError;
pub use graded::{Graded, GradedNumber, grade};
