//! Numbers by which outputs are told apart.

use std::fmt::Debug;

/// A number for each output: the greater it is, the likelier the output came from one of the inputs.
pub(super) trait Score: Debug + Send + Sync {
    /// The number of an output. It may be no number: half-lines are of the total order of all doubles.
    fn of(&self, output: &[f64]) -> f64;

    /// What it looks at, in words.
    fn name(&self) -> String;
}
