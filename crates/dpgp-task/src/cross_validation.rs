//! Folds of a cross-validation, and errors relative to that of a constant prediction.

use nalgebra::DMatrix;
use rand::seq::SliceRandom;

use super::normalise::NormalisedTargets;
use super::summary::mean;
use super::{RandomStreams, Sample};
use crate::ScoredTargetsSetting;
use dpgp_spec::setting::SplitSetting;

/// The test rows of each fold; together they hold every row once. Contiguous folds differ in size by at
/// most one, the larger ones first.
pub(super) fn split_into_test_folds(rows: usize, split: SplitSetting, streams: &RandomStreams) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..rows).collect();
    match split {
        SplitSetting::Interleaved(count) => (0..count).map(|fold| (fold..rows).step_by(count).collect()).collect(),
        SplitSetting::Contiguous(count) => cut_into_folds(&order, count),
        SplitSetting::Tail(tested) => vec![order.split_off(rows.saturating_sub(tested))],
        SplitSetting::Shuffled(count) => {
            order.shuffle(&mut streams.data_stream("split"));
            cut_into_folds(&order, count)
        }
    }
}

fn cut_into_folds(order: &[usize], count: usize) -> Vec<Vec<usize>> {
    let (size, larger) = (order.len() / count, order.len() % count);
    let mut from = 0;
    let folds = (0..count).map(|fold| {
        let to = from + size + usize::from(fold < larger);
        order[std::mem::replace(&mut from, to)..to].to_vec()
    });
    folds.collect()
}

/// The rows that are not in the fold, in file order.
pub(super) fn rows_outside_fold(rows: usize, fold: &[usize]) -> Vec<usize> {
    let mut inside = vec![false; rows];
    fold.iter().for_each(|&row| inside[row] = true);
    (0..rows).filter(|&row| !inside[row]).collect()
}

/// The rows of one fold.
pub(super) struct FoldRows {
    /// Its place among the folds.
    pub number: usize,
    /// The inputs that train.
    pub inputs: DMatrix<f64>,
    /// Their targets, on the scale of the model.
    pub targets: Vec<f64>,
    /// The inputs that are held out.
    pub test: DMatrix<f64>,
    /// Their targets on the same scale, clipped or not as the score says.
    pub truth: Vec<f64>,
}

impl FoldRows {
    /// The mean squared error of the constant that a method without privacy would predict, the mean of the training targets, on the scale
    /// of the model.
    pub fn constant_prediction_mse(&self) -> f64 {
        let mean = mean(&self.targets);
        let squares: f64 = self.truth.iter().map(|y| (y - mean) * (y - mean)).sum();
        let largest = self.targets.iter().chain(&self.truth).fold(0.0, |most: f64, y| most.max(y.abs()));
        mean_square_above_rounding(squares / self.truth.len() as f64, largest, self.targets.len())
    }

    /// The folds of a sample, one after the other.
    pub fn split<'a>(
        sample: &'a Sample,
        normalised: &'a NormalisedTargets,
        split: SplitSetting,
        score: ScoredTargetsSetting,
        streams: &RandomStreams,
    ) -> impl Iterator<Item = Self> + use<'a> {
        split_into_test_folds(sample.row_count(), split, streams).into_iter().enumerate().map(move |(number, test)| {
            let training = rows_outside_fold(sample.row_count(), &test);
            Self {
                number,
                inputs: sample.inputs.select_rows(&training),
                targets: normalised.select(&training),
                test: sample.inputs.select_rows(&test),
                truth: match score {
                    ScoredTargetsSetting::Clipped => normalised.select(&test),
                    ScoredTargetsSetting::Original => normalised.select_unclipped(&test),
                },
            }
        })
    }

    /// The name of its random streams.
    pub fn stream_name(&self) -> String {
        format!("fold {}", self.number)
    }
}

/// Why `r2` is undefined of rows that are held out.
pub(super) const NO_ERROR: &str =
    "the constant prediction has no error: every held-out target equals the mean of the training targets";

/// Why `r2` is undefined of all rows.
pub(super) const NO_VARIANCE: &str = "all targets are equal";

/// `1 - square / constant`, for a mean squared error and that of a constant in the same units: 1 without error, 0 for the constant itself.
/// NaN where the constant has no error.
pub(super) fn r_squared(square: f64, constant: f64) -> f64 {
    if constant == 0.0 { f64::NAN } else { 1.0 - square / constant }
}

/// The mean square of differences of numbers up to `largest` from a mean of `count` of them; zero if it is no more than rounding makes of
/// equal numbers: a mean of n equal ones is off by at most n units in their last place, and the difference by two more.
pub(super) fn mean_square_above_rounding(mean_square: f64, largest: f64, count: usize) -> f64 {
    let rounding = (count as f64 + 2.0) * f64::EPSILON * largest;
    if mean_square <= rounding * rounding { 0.0 } else { mean_square }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams() -> RandomStreams {
        RandomStreams { seed: 1, data: "d".into(), block: "b".into(), replicate: 0 }
    }

    #[test]
    fn every_row_is_tested_once() {
        for split in [SplitSetting::Shuffled(4), SplitSetting::Contiguous(4), SplitSetting::Interleaved(4)] {
            let mut rows: Vec<usize> = split_into_test_folds(11, split, &streams()).concat();
            rows.sort_unstable();
            assert_eq!(rows, (0..11).collect::<Vec<_>>(), "{split:?}");
        }
    }

    #[test]
    fn folds_are_cut_as_said() {
        assert_eq!(split_into_test_folds(5, SplitSetting::Contiguous(2), &streams()), [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(split_into_test_folds(4, SplitSetting::Interleaved(2), &streams()), [vec![0, 2], vec![1, 3]]);
        assert_eq!(rows_outside_fold(5, &[1, 4]), [0, 2, 3]);
    }
}

#[cfg(test)]
mod against_constant_tests {
    use super::*;

    #[test]
    fn a_constant_without_error_has_no_counterpart() {
        assert_eq!((r_squared(1.0, 4.0), r_squared(4.0, 4.0)), (0.75, 0.0));
        assert!(r_squared(0.0, 0.0).is_nan() && r_squared(1.0, 0.0).is_nan());
    }

    /// Seven tenths, summed, are not seven times a tenth.
    #[test]
    fn equal_numbers_have_no_spread() {
        let numbers = [0.1; 7];
        let mean = numbers.iter().sum::<f64>() / 7.0;
        let squares = numbers.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / 7.0;
        assert!(mean != 0.1 && squares > 0.0);
        assert_eq!(mean_square_above_rounding(squares, 0.1, 7), 0.0);
        assert_eq!(mean_square_above_rounding(1e-20, 0.1, 7), 1e-20);
    }
}
