//! Histograms.

use serde::{Deserialize, Serialize};

use super::filters::passes;
use super::{Misfit, Sum, SumRows};
use crate::data::{CellProblem, Comparison};
use crate::kernel::Bins;

/// A row stands for fewer records, so that the counts of as many rows fit into 64 bits.
const MOST: f64 = 4_294_967_296.0;

/// How many records lie in each bin.
///
/// Obligation: a record lies in one bin at most, so that one added or removed moves one count by 1 and a replaced one moves
/// two ([`count_sensitivity`](crate::privacy::count_sensitivity)). Counts are whole numbers, whose sums are exact.
///
/// ```
/// use dpgp::data::rows::InMemory;
/// use dpgp::kernel::Bins;
/// use dpgp::stream::{CountSummand, SumRows, collect_here};
/// // Two bins on [0, 2); rows that stand for 1, 2 and 5 records.
/// let summand = CountSummand { bins: Bins::grid(&[(0.0, 2.0, 2)]), filters: Vec::new() };
/// let mut rows = InMemory::new(vec![&[0.5, 1.5, 7.0], &[1.0, 2.0, 5.0]]);
/// let counts = collect_here(&mut rows, &summand)?.total(summand.zero());
/// assert_eq!((counts.bins, counts.outside, counts.rows), (vec![1, 2], 5, 3));
/// # Ok::<(), dpgp::stream::StreamError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Rows that pass the filters.
    pub rows: u64,
    /// Records that lie in no bin.
    pub outside: u64,
    /// Records of each bin.
    pub bins: Vec<u64>,
}

impl Sum for Counts {
    fn plus(self, other: &Self) -> Self {
        let bins = self.bins.iter().zip(&other.bins).map(|(count, more)| count + more).collect();
        Self { rows: self.rows + other.rows, outside: self.outside + other.outside, bins }
    }

    fn fits(&self, other: &Self) -> bool {
        self.bins.len() == other.bins.len()
    }
}

/// The summand: the first columns that are read are inputs, then comes the number of records that a row stands for,
/// then one for each filter.
#[derive(Debug, Clone)]
pub struct CountSummand {
    /// The bins, over all inputs.
    pub bins: Bins,
    /// Only rows that pass all of these count.
    pub filters: Vec<(Comparison, f64)>,
}

impl SumRows for CountSummand {
    type Sum = Counts;
    type Scratch = Vec<f64>;

    fn columns(&self) -> usize {
        self.bins.dimensions() + 1 + self.filters.len()
    }

    fn zero(&self) -> Counts {
        Counts { rows: 0, outside: 0, bins: vec![0; self.bins.len()] }
    }

    fn sum(&self, columns: &mut [Vec<f64>], point: &mut Vec<f64>) -> Result<Counts, Misfit> {
        let inputs = self.bins.dimensions();
        let (weights, tested) = (&columns[inputs], &columns[inputs + 1..]);
        let mut counts = self.zero();
        for row in (0..weights.len()).filter(|row| passes(&self.filters, tested, *row)) {
            let records = records(weights[row]).map_err(|problem| Misfit { row: row as u64, problem })?;
            point.clear();
            point.extend(columns[..inputs].iter().map(|column| column[row]));
            match self.bins.holding(point) {
                Some(bin) => counts.bins[bin] += records,
                None => counts.outside += records,
            }
            counts.rows += 1;
        }
        Ok(counts)
    }
}

/// The number of records that a row stands for.
fn records(weight: f64) -> Result<u64, CellProblem> {
    let whole = (0.0..MOST).contains(&weight) && weight.fract() == 0.0;
    if whole { Ok(weight as u64) } else { Err(CellProblem::NoCount(weight.to_string())) }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{N, same_in_parts, summed, wave};
    use super::super::{BLOCK, StreamError};
    use super::*;

    /// Two inputs, numbers of records, and a column that a filter looks at.
    fn columns() -> Vec<Vec<f64>> {
        vec![wave(0.37), wave(0.011), (0..N).map(|i| (i % 4) as f64).collect(), wave(0.41)]
    }

    fn summand() -> CountSummand {
        let bins = Bins::grid(&[(-2.0, 3.0, 7), (-3.0, 3.0, 4)]);
        CountSummand { bins, filters: vec![(Comparison::Greater, -2.5)] }
    }

    /// Against a plain histogram of the rows that pass.
    #[test]
    fn threads_and_parts_count_the_same() {
        let (columns, summand) = (columns(), summand());
        let total = same_in_parts(&summand, &columns);
        let mut plain = summand.zero();
        for row in (0..N).filter(|row| columns[3][*row] > -2.5) {
            let records = (row % 4) as u64;
            match summand.bins.holding(&[columns[0][row], columns[1][row]]) {
                Some(bin) => plain.bins[bin] += records,
                None => plain.outside += records,
            }
            plain.rows += 1;
        }
        assert_eq!(total, plain);
        assert!(plain.outside > 0 && plain.bins.iter().all(|count| *count > 0));
    }

    #[test]
    fn parts_of_records_are_refused() {
        for (weight, fits) in
            [(0.0, true), (7.0, true), (0.5, false), (-1.0, false), (4.3e9, false), (f64::NAN, false)]
        {
            assert_eq!(records(weight).is_ok(), fits, "{weight}");
        }
        let mut columns = columns();
        columns[3][2 * BLOCK + 9] = 0.0;
        columns[2][2 * BLOCK + 9] = 1.5;
        let Err(StreamError::Misfit(found)) = summed(&summand(), &columns, 0..u64::MAX, 2) else {
            panic!("counted")
        };
        assert_eq!(found.row, 2 * BLOCK as u64 + 9);
    }
}
