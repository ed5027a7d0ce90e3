//! All rows through all threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::{Forest, Misfit, Node, StreamError, SumRows};
use crate::data::rows::Rows;

/// Rows of a block. Part of the definition of the result: another number adds in another order.
pub const BLOCK: usize = 16_384;

/// The sums of some blocks, by their numbers; the rows begin with the first of them. Ends early where the rows do.
///
/// Threads take blocks from the rows in turn, so that reading and summing overlap. No array grows with the rows.
///
/// # Errors
/// The first [`StreamError`] in the order of the rows.
pub fn collect<T: SumRows>(
    rows: &mut dyn Rows,
    blocks: Range<u64>,
    summand: &T,
    threads: &rayon::ThreadPool,
) -> Result<Forest<T::Sum>, StreamError> {
    let shared = Shared::new(rows, blocks, summand);
    threads.broadcast(|_| shared.work());
    shared.end()
}

/// The sums of all rows on this thread; the same to the last bit.
///
/// # Errors
/// The first [`StreamError`] in the order of the rows.
pub fn collect_here<T: SumRows>(rows: &mut dyn Rows, summand: &T) -> Result<Forest<T::Sum>, StreamError> {
    let shared = Shared::new(rows, 0..u64::MAX, summand);
    shared.work();
    shared.end()
}

/// What the threads share.
struct Shared<'a, T: SumRows> {
    summand: &'a T,
    source: Mutex<Source<'a>>,
    forest: Mutex<Forest<T::Sum>>,
}

impl<'a, T: SumRows> Shared<'a, T> {
    fn new(rows: &'a mut dyn Rows, blocks: Range<u64>, summand: &'a T) -> Self {
        let source = Mutex::new(Source { rows, blocks, failed: None });
        Self { summand, source, forest: Mutex::new(Forest::default()) }
    }

    /// Takes block after block until none is left.
    fn work(&self) {
        let mut columns = vec![Vec::new(); self.summand.columns()];
        let mut scratch = T::Scratch::default();
        loop {
            let Some(first) = lock(&self.source).next(&mut columns) else { break };
            match self.summand.sum(&mut columns, &mut scratch) {
                Ok(sums) => lock(&self.forest).insert(Node { first, level: 0 }, sums),
                Err(misfit) => lock(&self.source).stop(first, misfit),
            }
        }
    }

    fn end(self) -> Result<Forest<T::Sum>, StreamError> {
        match self.source.into_inner().unwrap_or_else(PoisonError::into_inner).failed {
            None => Ok(self.forest.into_inner().unwrap_or_else(PoisonError::into_inner)),
            Some(error) => Err(error),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The rows that are left.
struct Source<'a> {
    rows: &'a mut dyn Rows,
    blocks: Range<u64>,
    failed: Option<StreamError>,
}

impl Source<'_> {
    /// Reads the next block into the columns and returns its number; none at the end or after an error.
    fn next(&mut self, columns: &mut [Vec<f64>]) -> Option<u64> {
        let number = self.blocks.next()?;
        columns.iter_mut().for_each(Vec::clear);
        match self.rows.read(columns, BLOCK) {
            Ok(0) => self.blocks = 0..0,
            Ok(BLOCK) => return Some(number),
            Ok(_) => {
                self.blocks = 0..0;
                return Some(number);
            }
            Err(error) => {
                self.blocks = 0..0;
                self.failed = Some(error.into());
            }
        }
        None
    }

    /// Ends the reading at a row of a block. Blocks before it are already with some thread, so that the first such row
    /// of all remains whichever thread comes first.
    fn stop(&mut self, block: u64, misfit: Misfit) {
        self.blocks = 0..0;
        let misfit = Misfit { row: block * BLOCK as u64 + misfit.row, ..misfit };
        match &self.failed {
            Some(StreamError::Misfit(earlier)) if earlier.row < misfit.row => {}
            _ => self.failed = Some(StreamError::Misfit(misfit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kernel, Summand, Sums, Targets};
    use super::*;
    use crate::data::Comparison;
    use crate::data::rows::InMemory;
    use nalgebra::DMatrix;

    const N: usize = 5 * BLOCK + 777;

    fn columns() -> Vec<Vec<f64>> {
        let column = |step: f64| (0..N).map(|i| 3.0 * (i as f64 * step).sin()).collect();
        vec![column(0.37), column(0.011), column(0.23), column(0.41)]
    }

    fn summand() -> Summand {
        let z = DMatrix::from_fn(12, 2, |i, d| if d == 0 { (i % 4) as f64 } else { (i / 4) as f64 } - 1.0);
        let targets = Targets { low: -2.0, high: 2.0, centre: 0.0, scale: 2.0, bound: 1.0 };
        let filters = vec![(Comparison::Greater, -2.5)];
        Summand { kernel: Kernel::new(1.0, &[0.8, 0.5], &z), targets, filters, inputs: 2 }
    }

    fn run(blocks: Range<u64>, threads: usize) -> Forest<Sums> {
        let columns = columns();
        let mut rows = InMemory::new(columns.iter().map(Vec::as_slice).collect());
        rows.skip(blocks.start * BLOCK as u64).unwrap();
        let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        collect(&mut rows, blocks, &summand(), &threads).unwrap()
    }

    #[test]
    fn threads_and_parts_change_no_bit() {
        let whole = run(0..u64::MAX, 1);
        assert_eq!(whole.blocks(), Some(6));
        assert_eq!(run(0..u64::MAX, 2), whole);
        assert_eq!(run(0..u64::MAX, 5), whole);
        let mut parts = Forest::default();
        for blocks in [4..6, 0..1, 1..4] {
            run(blocks, 2).nodes().for_each(|(node, sums)| parts.insert(node, sums.clone()));
        }
        assert_eq!(parts, whole);
    }

    /// Against plain sums over the rows that pass.
    #[test]
    fn filters_and_clips() {
        let (columns, total) = (columns(), run(0..u64::MAX, 2).total(Sums::zero(12)));
        let kept: Vec<usize> = (0..N).filter(|i| columns[3][*i] > -2.5).collect();
        assert_eq!(total.rows, kept.len() as u64);
        assert_eq!(total.clipped, kept.iter().filter(|i| columns[2][**i].abs() > 2.0).count() as u64);
        let target = |i: &usize| columns[2][*i].clamp(-2.0, 2.0) / 2.0;
        let squares: f64 = kept.iter().map(|i| target(i).powi(2)).sum();
        assert!((total.squares / squares - 1.0).abs() < 1e-12);
        let k = |i: &usize| {
            let [x, y] = [columns[0][*i] + 1.0, columns[1][*i] + 1.0];
            (-0.5 * ((x / 0.8).powi(2) + (y / 0.5).powi(2))).exp()
        };
        let a: f64 = kept.iter().map(|i| k(i) * target(i)).sum();
        assert!((total.a[0] - a).abs() < 1e-9, "{} {a}", total.a[0]);
        let b: f64 = kept.iter().map(|i| k(i) * k(i)).sum();
        assert!((total.b[(0, 0)] / b - 1.0).abs() < 1e-12);
    }

    #[test]
    fn no_rows_are_no_blocks() {
        let mut rows = InMemory::new(vec![&[], &[], &[], &[]]);
        let threads = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let forest = collect(&mut rows, 0..u64::MAX, &summand(), &threads).unwrap();
        assert_eq!((forest.blocks(), forest.total(Sums::zero(12))), (Some(0), Sums::zero(12)));
    }
}
