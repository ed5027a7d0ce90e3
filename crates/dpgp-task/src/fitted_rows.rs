//! How many rows a model is fitted to at once.

use dpgp_spec::setting::SplitSetting;

/// Rows that a model is fitted to at once, and points that it predicts at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FittedRows {
    /// Rows of one fit (n).
    pub training: usize,
    /// Points of one fit (p).
    pub points: usize,
    /// Points of all fits whose maps are kept (t).
    pub all_points: usize,
}

impl FittedRows {
    /// The greatest of the fits of a cross-validation.
    pub(super) fn of_split(split: SplitSetting, rows: usize) -> Self {
        let folds = split.folds().max(1);
        match split {
            SplitSetting::Tail(tested) => Self::of_test(rows.saturating_sub(tested), tested),
            _ => Self { training: rows - rows / folds, points: rows.div_ceil(folds), all_points: rows },
        }
    }

    /// One fit, and what it predicts.
    pub(super) fn of_test(training: usize, points: usize) -> Self {
        Self { training, points, all_points: points }
    }
}
