//! Sums over the rows of each class of a classification, and histograms.

use serde::{Deserialize, Serialize};

use super::summand::{is_possible_row_count, passes_filters};
use super::{KernelSums, MergeableSum, QuantizedKernel, RowSummand, SumScratch};
use dpgp_data::Comparison;
use dpgp_gp::kernel::Bins;
use dpgp_gp::variational::IntegerSumUnits;

/// The sums over the rows of each class c: `A_c = sum_i k_i` (m), `B_c = sum_i k_i k_i'` (m x m). Source: Honkela 2021,
/// Section 5, with one-hot labels.
///
/// Obligation: a row enters the sums of one class alone, that of its label. A replaced record moves two classes at most,
/// by one contribution each; `class_sums_sensitivity` bounds both together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassSums(pub Vec<KernelSums>);

impl MergeableSum for ClassSums {
    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(sums, more)| sums.add(more));
    }

    fn is_compatible_with(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(sums, more)| sums.is_compatible_with(more))
    }
}

/// The summand: the first columns that are read are inputs, then comes the class, then one for each filter. A row whose target is
/// none of the classes is left out.
#[derive(Debug, Clone)]
pub struct ClassSummand {
    /// The kernel and its inducing inputs.
    pub kernel: QuantizedKernel,
    /// The number of classes.
    pub classes: usize,
    /// Only rows that pass all of these count; the others may be of any class.
    pub filters: Vec<(Comparison, f64)>,
    /// The number of inputs.
    pub inputs: usize,
}

impl RowSummand for ClassSummand {
    type Sum = ClassSums;
    type Scratch = SumScratch;

    fn columns(&self) -> usize {
        self.inputs + 1 + self.filters.len()
    }

    fn zero(&self) -> ClassSums {
        ClassSums(vec![KernelSums::zero(self.kernel.inducing_count()); self.classes])
    }

    fn add_rows(&self, columns: &mut [Vec<f64>], sums: &mut ClassSums, scratch: &mut SumScratch) {
        for (rows, sums) in self.rows_by_class(columns).iter().zip(&mut sums.0) {
            // Rows of a class lie apart, and the kernel wants them side by side.
            let inputs: Vec<Vec<f64>> =
                columns[..self.inputs].iter().map(|column| rows.iter().map(|row| column[*row]).collect()).collect();
            let inputs: Vec<&[f64]> = inputs.iter().map(Vec::as_slice).collect();
            // A label of 1 for every member: A is the sum of their covariances.
            self.kernel.add_rows_to_sums(&inputs, &vec![1; rows.len()], sums, scratch);
        }
    }
}

impl ClassSummand {
    /// Value of one unit in its sums.
    pub fn units(&self) -> IntegerSumUnits {
        self.kernel.units(1.0)
    }

    /// The rows of each class that pass the filters, in their order.
    fn rows_by_class(&self, columns: &[Vec<f64>]) -> Vec<Vec<usize>> {
        let (targets, tested) = (&columns[self.inputs], &columns[self.inputs + 1..]);
        let mut members = vec![Vec::new(); self.classes];
        let kept = (0..targets.len()).filter(|row| passes_filters(&self.filters, tested, *row));
        for row in kept {
            if let Some(class) = class_of(targets[row], self.classes) {
                members[class].push(row);
            }
        }
        members
    }
}

/// The class that a target names, of the classes `0, 1, ..., classes - 1`.
///
/// ```
/// use dpgp_stream::class_of;
/// assert_eq!([2.0, 3.0, 0.5, f64::NAN].map(|target| class_of(target, 3)), [Some(2), None, None, None]);
/// ```
pub fn class_of(target: f64, classes: usize) -> Option<usize> {
    // The cast saturates and takes NaN to 0; the comparison refuses both, and fractions.
    let class = target as usize;
    (class < classes && class as f64 == target).then_some(class)
}

/// How many records lie in each bin.
///
/// Obligation: a record lies in one bin at most, so that one added or removed moves one count by 1 and a replaced one moves
/// two (`histogram_sensitivity`). A row that stands for at most m records moves them m times as
/// far. Counts are whole numbers, whose sums are exact.
///
/// ```
/// use dpgp_data::rows::InMemoryRows;
/// use dpgp_gp::kernel::Bins;
/// use dpgp_stream::{CountSummand, RecordsPerRow, sum_rows_serially};
/// // Two bins on [0, 2); rows that stand for 1, 2 and 5 records.
/// let summand = CountSummand { bins: Bins::grid(&[(0.0, 2.0, 2)]), filters: Vec::new(), each: RecordsPerRow::Target { most: None } };
/// let mut rows = InMemoryRows::new(vec![&[0.5, 1.5, 7.0], &[1.0, 2.0, 5.0]]);
/// let counts = sum_rows_serially(&mut rows, &summand)?.sums;
/// assert_eq!((counts.bins, counts.outside, counts.rows), (vec![1, 2], 5, 3));
/// # Ok::<(), dpgp_data::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BinCounts {
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

impl MergeableSum for BinCounts {
    fn add(&mut self, other: &Self) {
        self.bins.iter_mut().zip(&other.bins).for_each(|(count, more)| *count += more);
        self.rows += other.rows;
        self.outside += other.outside;
        self.clipped += other.clipped;
    }

    fn is_compatible_with(&self, other: &Self) -> bool {
        let records = self.bins.iter().try_fold(self.outside, |sum, count| sum.checked_add(*count));
        // Each row stands for less than 2^32 records, and not all rows for as many.
        let possible = records.is_some_and(|records| records < u64::MAX >> 8);
        self.bins.len() == other.bins.len() && possible && is_possible_row_count(self.clipped, self.rows)
    }
}

/// How many records a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordsPerRow {
    /// One, whatever the column of targets holds.
    One,
    /// As many as its target says.
    Target {
        /// The most records that a row stands for; it is clipped to as many.
        most: Option<u64>,
    },
}

/// The summand: the first columns that are read are inputs, then comes the column of targets, then one for each filter.
#[derive(Debug, Clone)]
pub struct CountSummand {
    /// The bins, over all inputs.
    pub bins: Bins,
    /// Only rows that pass all of these count.
    pub filters: Vec<(Comparison, f64)>,
    /// The records of a row.
    pub each: RecordsPerRow,
}

impl RowSummand for CountSummand {
    type Sum = BinCounts;
    type Scratch = Vec<f64>;

    fn columns(&self) -> usize {
        self.bins.dimensions() + 1 + self.filters.len()
    }

    fn zero(&self) -> BinCounts {
        BinCounts { rows: 0, outside: 0, bins: vec![0; self.bins.len()], clipped: 0 }
    }

    fn add_rows(&self, columns: &mut [Vec<f64>], counts: &mut BinCounts, point: &mut Vec<f64>) {
        let inputs = self.bins.dimensions();
        let (weights, tested) = (&columns[inputs], &columns[inputs + 1..]);
        for row in (0..weights.len()).filter(|row| passes_filters(&self.filters, tested, *row)) {
            let (records, clipped) = match self.each {
                RecordsPerRow::One => (1, false),
                RecordsPerRow::Target { most } => {
                    let all = record_count(weights[row]);
                    let records = most.map_or(all, |most| all.min(most));
                    (records, records < all)
                }
            };
            counts.clipped += u64::from(clipped);
            point.clear();
            point.extend(columns[..inputs].iter().map(|column| column[row]));
            match self.bins.find_bin(point) {
                Some(bin) => counts.bins[bin] += records,
                None => counts.outside += records,
            }
            counts.rows += 1;
        }
    }
}

/// The number of records that a row stands for: the whole records in its target; none for one below zero or without a number; at most
/// 2^32 - 1, so that the counts of as many rows fit into 64 bits.
fn record_count(weight: f64) -> u64 {
    // The cast drops the fraction, saturates, and takes NaN to 0.
    u64::from(weight as u32)
}
