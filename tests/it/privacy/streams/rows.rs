//! Rows that the tests of all sums share.

use std::ops::Range;

use dpgp::data::DataError;
use dpgp::data::rows::{InMemoryRows, RowStream};
use dpgp::stream::{BLOCK, PartialSums, QuantizedKernel, RowSummand, sum_blocks};
use nalgebra::DMatrix;

/// The rows: a few blocks and a part of one.
pub(super) const N: usize = 4 * BLOCK + 321;

/// Smooth numbers within `[-3, 3]`.
pub(super) fn wave(step: f64) -> Vec<f64> {
    (0..N).map(|i| 3.0 * (i as f64 * step).sin()).collect()
}

/// A kernel with twelve inducing inputs in two dimensions.
pub(super) fn kernel() -> QuantizedKernel {
    let z = DMatrix::from_fn(12, 2, |i, d| if d == 0 { (i % 4) as f64 } else { (i / 4) as f64 } - 1.0);
    QuantizedKernel::new(1.0, &[0.8, 0.5], &z, 12f64.sqrt())
}

/// Its covariance of a row of two columns with the first inducing input, by the definition.
pub(super) fn covariance(columns: &[Vec<f64>], row: usize) -> f64 {
    let [x, y] = [columns[0][row] + 1.0, columns[1][row] + 1.0];
    (-0.5 * ((x / 0.8).powi(2) + (y / 0.5).powi(2))).exp()
}

/// The sums of some blocks of the columns.
pub(super) fn summed<T: RowSummand>(
    summand: &T,
    columns: &[Vec<f64>],
    blocks: Range<u64>,
    threads: usize,
) -> Result<PartialSums<T::Sum>, DataError> {
    let mut rows = InMemoryRows::new(columns.iter().map(Vec::as_slice).collect());
    rows.skip(blocks.start * BLOCK as u64).unwrap();
    let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    sum_blocks(&mut rows, blocks, summand, &threads)
}

/// The law of all sums: neither the number of threads nor the parts that rows are summed in changes a bit. The sums of all
/// rows are returned.
pub(super) fn same_in_parts<T: RowSummand>(summand: &T, columns: &[Vec<f64>]) -> T::Sum
where
    T::Sum: std::fmt::Debug,
{
    let whole = summed(summand, columns, 0..u64::MAX, 1).unwrap();
    assert_eq!(whole.blocks, 0..5);
    for threads in [2, 5] {
        assert_eq!(summed(summand, columns, 0..u64::MAX, threads).unwrap(), whole);
    }
    let [mut first, second, third] = [0..1, 1..3, 3..5].map(|blocks| summed(summand, columns, blocks, 2).unwrap());
    assert!(!first.append_if_adjacent(&third), "a gap");
    assert!(
        first.append_if_adjacent(&second) && first.append_if_adjacent(&third) && !first.append_if_adjacent(&second)
    );
    assert_eq!(first, whole);
    whole.sums
}
