//! Folds of a cross-validation.

use rand::seq::SliceRandom;

use super::Streams;
use crate::spec::SplitSetting;

/// The test rows of each fold; together they hold every row once. Contiguous folds differ in size by at
/// most one, the larger ones first.
pub fn folds(rows: usize, split: SplitSetting, streams: &Streams) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..rows).collect();
    match split {
        SplitSetting::Interleaved(count) => {
            (0..count).map(|fold| (fold..rows).step_by(count).collect()).collect()
        }
        SplitSetting::Contiguous(count) => cut(&order, count),
        SplitSetting::Tail(tested) => vec![order.split_off(rows.saturating_sub(tested))],
        SplitSetting::Shuffled(count) => {
            order.shuffle(&mut streams.of_data("split"));
            cut(&order, count)
        }
    }
}

fn cut(order: &[usize], count: usize) -> Vec<Vec<usize>> {
    let (size, larger) = (order.len() / count, order.len() % count);
    let start = |fold: usize| fold * size + fold.min(larger);
    (0..count).map(|fold| order[start(fold)..start(fold + 1)].to_vec()).collect()
}

/// The rows that are not in the fold, in file order.
pub(super) fn others(rows: usize, fold: &[usize]) -> Vec<usize> {
    let mut inside = vec![false; rows];
    fold.iter().for_each(|&row| inside[row] = true);
    (0..rows).filter(|&row| !inside[row]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams() -> Streams {
        Streams { seed: 1, data: "d".into(), block: "b".into(), replicate: 0 }
    }

    #[test]
    fn every_row_is_tested_once() {
        for split in [SplitSetting::Shuffled(4), SplitSetting::Contiguous(4), SplitSetting::Interleaved(4)] {
            let mut rows: Vec<usize> = folds(11, split, &streams()).concat();
            rows.sort_unstable();
            assert_eq!(rows, (0..11).collect::<Vec<_>>(), "{split:?}");
        }
    }

    #[test]
    fn folds_are_cut_as_said() {
        assert_eq!(folds(5, SplitSetting::Contiguous(2), &streams()), [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(folds(4, SplitSetting::Interleaved(2), &streams()), [vec![0, 2], vec![1, 3]]);
        assert_eq!(others(5, &[1, 4]), [0, 2, 3]);
    }
}
