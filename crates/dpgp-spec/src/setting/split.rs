//! How rows are split.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Problem;
use super::rules::{Checked, count, fail, range};

/// How rows are split into folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SplitSetting {
    /// Shuffled (seeded), then cut into this many folds.
    Shuffled(usize),
    /// Cut into this many folds in file order.
    Contiguous(usize),
    /// Row i goes to fold i mod this.
    Interleaved(usize),
    /// A single fold: the last rows, this many, are tested.
    Tail(usize),
}

impl SplitSetting {
    /// Number of folds, or the fewest rows that it can split.
    pub fn folds(self) -> usize {
        match self {
            Self::Tail(rows) => rows + 1,
            Self::Shuffled(folds) | Self::Contiguous(folds) | Self::Interleaved(folds) => folds,
        }
    }

    /// Number of folds.
    pub fn parts(self) -> usize {
        match self {
            Self::Tail(_) => 1,
            Self::Shuffled(folds) | Self::Contiguous(folds) | Self::Interleaved(folds) => folds,
        }
    }

    /// Fails unless there are folds.
    ///
    /// # Errors
    /// [`Problem::OutOfRange`].
    pub fn check(self, path: &str) -> Checked {
        if let Self::Tail(rows) = self {
            return count(&format!("{path}.tail"), rows);
        }
        range(path, self.folds() >= 2, "at least 2", self.folds() as f64)
    }

    /// Fails unless there is a row for each fold.
    ///
    /// # Errors
    /// [`Problem::TooManyFolds`].
    pub fn check_rows(self, path: &str, rows: usize) -> Checked {
        let folds = self.folds();
        if folds <= rows { Ok(()) } else { fail(path, Problem::TooManyFolds { folds, rows }) }
    }
}
