//! Settings for equally spaced numbers, for the threshold between two classes, and for splits of rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Problem;
use super::rules::{Checked, count, dimension, fail, range};
use dpgp_data::Comparison;
use dpgp_number::Finite;

/// Equally spaced numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeSetting {
    /// The first.
    pub from: f64,
    /// The last.
    pub to: f64,
    /// How many.
    #[schemars(range(min = 2, max = 20_000))]
    pub points: usize,
}

impl RangeSetting {
    /// The number at a place, from 0.
    pub fn at(&self, place: usize) -> f64 {
        self.from + (self.to - self.from) * place as f64 / (self.points - 1) as f64
    }

    /// Whether a number is one of them, up to rounding.
    pub fn holds(&self, x: f64) -> bool {
        let place = (x - self.from) / (self.to - self.from) * (self.points - 1) as f64;
        (place - place.round()).abs() < 1e-6 && (0.0..=(self.points - 1) as f64 + 1e-6).contains(&place)
    }
}

/// A range cut into intervals of one width.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CutSetting {
    /// Where the first begins.
    pub from: f64,
    /// Where the last ends.
    pub to: f64,
    /// How many.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub bins: usize,
}

/// The most bins of a histogram.
const MOST_BINS: usize = 20_000;

/// Fails unless there is a rising range for each input, and their product can be counted.
///
/// # Errors
/// [`super::Problem::WrongDimension`], [`super::Problem::OutOfRange`].
pub fn cuts(path: &str, cuts: &[CutSetting], inputs: usize) -> Checked {
    dimension(path, inputs, cuts.len())?;
    for (i, CutSetting { from, to, bins }) in cuts.iter().enumerate() {
        range(&format!("{path}.{i}.from"), from.is_finite(), "finite", *from)?;
        range(&format!("{path}.{i}.to"), to.is_finite() && to > from, "greater than from and finite", *to)?;
        count(&format!("{path}.{i}.bins"), *bins)?;
    }
    let total = cuts.iter().fold(1, |n: usize, cut| n.saturating_mul(cut.bins));
    range(path, total <= MOST_BINS, "a grid of at most 20000 bins", total as f64)
}

/// A comparison with a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThresholdSetting {
    /// The comparison.
    pub is: Comparison,
    /// The number.
    pub value: Finite,
}

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
