//! Histograms.

use serde::{Deserialize, Serialize};

use super::filters::passes;
use super::sum::are_possible;
use super::{Sum, SumRows};
use dpgp_data::Comparison;
use dpgp_gp::kernel::Bins;

/// How many records lie in each bin.
///
/// Obligation: a record lies in one bin at most, so that one added or removed moves one count by 1 and a replaced one moves
/// two (`count_sensitivity`). A row that stands for at most m records moves them m times as
/// far. Counts are whole numbers, whose sums are exact.
///
/// ```
/// use dpgp_data::rows::InMemory;
/// use dpgp_gp::kernel::Bins;
/// use dpgp_stream::{CountSummand, collect_here};
/// // Two bins on [0, 2); rows that stand for 1, 2 and 5 records.
/// let summand = CountSummand { bins: Bins::grid(&[(0.0, 2.0, 2)]), filters: Vec::new(), most: None };
/// let mut rows = InMemory::new(vec![&[0.5, 1.5, 7.0], &[1.0, 2.0, 5.0]]);
/// let counts = collect_here(&mut rows, &summand)?.sums;
/// assert_eq!((counts.bins, counts.outside, counts.rows), (vec![1, 2], 5, 3));
/// # Ok::<(), dpgp_data::DataError>(())
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
    /// Rows that stood for more records than a row may.
    #[serde(default, skip_serializing_if = "is_nought")]
    pub clipped: u64,
}

fn is_nought(number: &u64) -> bool {
    *number == 0
}

impl Sum for Counts {
    fn add(&mut self, other: &Self) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(count, more)| *count += more);
        self.rows += other.rows;
        self.outside += other.outside;
        self.clipped += other.clipped;
    }

    fn fits(&self, other: &Self) -> bool {
        let records = self.bins.iter().try_fold(self.outside, |sum, count| sum.checked_add(*count));
        // Each row stands for less than 2^32 records, and not all rows for as many.
        let possible = records.is_some_and(|records| records < u64::MAX >> 8);
        self.bins.len() == other.bins.len() && possible && are_possible(self.clipped, self.rows)
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
    /// The most records that a row stands for; it is clipped to as many.
    pub most: Option<u64>,
}

impl SumRows for CountSummand {
    type Sum = Counts;
    type Scratch = Vec<f64>;

    fn columns(&self) -> usize {
        self.bins.dimensions() + 1 + self.filters.len()
    }

    fn zero(&self) -> Counts {
        Counts { rows: 0, outside: 0, bins: vec![0; self.bins.len()], clipped: 0 }
    }

    fn add(&self, columns: &mut [Vec<f64>], counts: &mut Counts, point: &mut Vec<f64>) {
        let inputs = self.bins.dimensions();
        let (weights, tested) = (&columns[inputs], &columns[inputs + 1..]);
        for row in (0..weights.len()).filter(|row| passes(&self.filters, tested, *row)) {
            let all = records(weights[row]);
            let records = self.most.map_or(all, |most| all.min(most));
            counts.clipped += u64::from(records < all);
            point.clear();
            point.extend(columns[..inputs].iter().map(|column| column[row]));
            match self.bins.holding(point) {
                Some(bin) => counts.bins[bin] += records,
                None => counts.outside += records,
            }
            counts.rows += 1;
        }
    }
}

/// The number of records that a row stands for: the whole records in its target; none for one below zero or without a number; at most
/// 2^32 - 1, so that the counts of as many rows fit into 64 bits.
fn records(weight: f64) -> u64 {
    // The cast drops the fraction, saturates, and takes NaN to 0.
    u64::from(weight as u32)
}
