//! Scores that are not learned: a column, the difference of two.

use super::score::Score;

/// The number in a column.
#[derive(Debug)]
pub(super) struct ColumnScore {
    pub at: usize,
}

impl Score for ColumnScore {
    fn of(&self, output: &[f64]) -> f64 {
        output[self.at]
    }

    fn name(&self) -> String {
        format!("column {}", self.at + 1)
    }
}

/// The number in a column less that in another one.
#[derive(Debug)]
pub(super) struct GapScore {
    pub at: usize,
    pub from: usize,
}

impl Score for GapScore {
    fn of(&self, output: &[f64]) -> f64 {
        output[self.at] - output[self.from]
    }

    fn name(&self) -> String {
        format!("column {} less column {}", self.at + 1, self.from + 1)
    }
}

/// Columns up to which all pairs of them are tried; of more, neighbours alone.
const ALL_PAIRS: usize = 6;

/// The pairs of columns whose difference is tried.
pub(super) fn gaps(width: usize) -> Vec<GapScore> {
    let mut gaps = Vec::new();
    for at in 1..width {
        let first = if width <= ALL_PAIRS { 0 } else { at - 1 };
        gaps.extend((first..at).map(|from| GapScore { at, from }));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_few_and_of_many_columns() {
        assert_eq!([1, 2, 3, 6, 7, 20].map(|width| gaps(width).len()), [0, 1, 3, 15, 6, 19]);
        assert_eq!(gaps(2)[0].of(&[1.0, 4.0]), 3.0);
    }
}
