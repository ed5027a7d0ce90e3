//! The sums behind Fourier moments: rows in the cells of a lattice, in memory and on disk.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::summand::{is_possible_row_count, retain_passing_rows};
use super::targets::IntegerTarget;
use super::{MergeableSum, RowSummand, TargetQuantizer};
use dpgp_data::Comparison;
use dpgp_gp::sites::{Lattice, LatticeCellCountAndSum, LatticeCountsAndSums, TARGET_BITS};

/// How many rows lie in each cell of a box, and the sums of their targets, in whole numbers: the same in every order of the rows.
/// Fourier moments of the rows follow from it for any frequencies.
///
/// Obligation: these are exact, as private as the rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SerializedLatticeSums", into = "SerializedLatticeSums")]
pub struct LatticeSums {
    /// The cells of the box.
    pub(super) lattice: Lattice,
    /// Contents of the cells.
    pub(super) cells: LatticeCells,
    /// The rows.
    pub rows: u64,
    /// `sum_i y_i^2`.
    pub squares: i128,
    /// Rows whose target was clipped.
    pub clipped: u64,
}

/// The rows of a cell, and the sum of their targets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LatticeCellTotals {
    pub rows: u64,
    pub targets: i64,
}

impl LatticeCellTotals {
    #[inline]
    fn add(&mut self, more: Self) {
        self.rows += more.rows;
        self.targets += more.targets;
    }

    /// Whether this number of rows can have this sum: false for a damaged file.
    fn is_possible(self) -> bool {
        self.rows <= 1 << 42 && self.targets.unsigned_abs() <= self.rows << TARGET_BITS
    }
}

/// The cells of a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LatticeCells {
    /// All of them, by their numbers.
    All(Vec<LatticeCellTotals>),
    /// Those that hold rows.
    Full(BTreeMap<usize, LatticeCellTotals>),
}

impl LatticeCells {
    fn new(lattice: Lattice) -> Self {
        match lattice.can_keep_all_cells() {
            true => Self::All(vec![LatticeCellTotals::default(); lattice.len()]),
            false => Self::Full(BTreeMap::new()),
        }
    }

    /// The cells that hold rows, with their numbers, in rising order.
    pub fn occupied_cells(&self) -> Vec<(usize, LatticeCellTotals)> {
        match self {
            Self::All(cells) => {
                let numbered = cells.iter().copied().enumerate();
                numbered.filter(|(_, cell)| cell.rows > 0).collect()
            }
            Self::Full(cells) => cells.iter().map(|(place, cell)| (*place, *cell)).collect(),
        }
    }

    /// Adds rows, the number of the cell and the target of each.
    pub fn add(&mut self, rows: impl Iterator<Item = (usize, i64)>) {
        let rows = rows.map(|(place, targets)| (place, LatticeCellTotals { rows: 1, targets }));
        match self {
            Self::All(cells) => rows.for_each(|(place, row)| cells[place].add(row)),
            Self::Full(cells) => rows.for_each(|(place, row)| cells.entry(place).or_default().add(row)),
        }
    }

    /// Puts rows into an empty cell; false if there is none of this number among so many.
    pub fn insert_cell(&mut self, place: usize, cell: LatticeCellTotals, count: usize) -> bool {
        let known = match self {
            Self::All(cells) => cells.get_mut(place),
            Self::Full(cells) => (place < count).then(|| cells.entry(place).or_default()),
        };
        match known {
            Some(empty) if empty.rows == 0 && cell.rows > 0 => *empty = cell,
            _ => return false,
        }
        true
    }

    fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::All(cells), Self::All(others)) => {
                cells.iter_mut().zip(others).for_each(|(cell, more)| cell.add(*more));
            }
            (Self::Full(cells), others) => {
                let full = others.occupied_cells().into_iter();
                full.for_each(|(place, more)| cells.entry(place).or_default().add(more));
            }
            // Sums of one lattice keep their cells alike.
            (Self::All(_), Self::Full(_)) => {}
        }
    }
}

impl LatticeSums {
    /// The sums of no rows.
    pub fn zero(lattice: Lattice) -> Self {
        Self { lattice, cells: LatticeCells::new(lattice), rows: 0, squares: 0, clipped: 0 }
    }

    /// The cells that hold rows.
    pub fn to_row_sums(&self) -> LatticeCountsAndSums {
        let cells = self.cells.occupied_cells().into_iter();
        let cells =
            cells.map(|(place, LatticeCellTotals { rows, targets })| LatticeCellCountAndSum { place, rows, targets });
        LatticeCountsAndSums { lattice: self.lattice, rows: self.rows, cells: cells.collect(), squares: self.squares }
    }
}

impl MergeableSum for LatticeSums {
    fn add(&mut self, other: &Self) {
        self.cells.merge(&other.cells);
        self.rows += other.rows;
        self.squares += other.squares;
        self.clipped += other.clipped;
    }

    fn is_compatible_with(&self, other: &Self) -> bool {
        let full = self.cells.occupied_cells();
        let most = i128::from(self.rows) << (2 * TARGET_BITS);
        self.lattice == other.lattice
            && full.iter().all(|(_, cell)| cell.is_possible())
            && self.rows == full.iter().map(|(_, cell)| cell.rows).sum::<u64>()
            && (0..=most).contains(&self.squares)
            && is_possible_row_count(self.clipped, self.rows)
    }
}

/// The cells that hold rows, in rising order, with their counts and the sums of their targets.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SerializedLatticeSums {
    /// Rows that pass the filters.
    rows: u64,
    /// Those whose target was clipped.
    clipped: u64,
    /// The sum of the squared targets, in decimal: it is wider than the numbers of JSON.
    squares: String,
    /// Cells along each input.
    side: usize,
    /// The number of inputs.
    inputs: usize,
    /// The cells that hold rows.
    cells: Vec<usize>,
    /// Their rows.
    counts: Vec<u64>,
    /// The sums of their targets.
    targets: Vec<i64>,
}

/// No box has more cells: a broken file must not ask for all memory.
const MOST_CELLS: usize = 1 << 24;

impl From<LatticeSums> for SerializedLatticeSums {
    fn from(sums: LatticeSums) -> Self {
        let full = sums.cells.occupied_cells();
        Self {
            rows: sums.rows,
            clipped: sums.clipped,
            squares: sums.squares.to_string(),
            side: sums.lattice.cells_per_side(),
            inputs: sums.lattice.dimensions(),
            cells: full.iter().map(|(place, _)| *place).collect(),
            counts: full.iter().map(|(_, cell)| cell.rows).collect(),
            targets: full.iter().map(|(_, cell)| cell.targets).collect(),
        }
    }
}

impl TryFrom<SerializedLatticeSums> for LatticeSums {
    type Error = &'static str;

    fn try_from(record: SerializedLatticeSums) -> Result<Self, Self::Error> {
        let SerializedLatticeSums { rows, clipped, squares, side, inputs, cells, counts, targets } = record;
        let count = (0..inputs).try_fold(1usize, |count, _| count.checked_mul(side));
        let lattice = Lattice::new(side, inputs);
        let count =
            count.filter(|count| inputs > 0 && side > 0 && (!lattice.can_keep_all_cells() || *count <= MOST_CELLS));
        let Some(count) = count else { return Err("the box has an invalid number of cells") };
        if counts.len() != cells.len() || targets.len() != cells.len() {
            return Err("the numbers of cells, counts and targets differ");
        }
        let squares = squares.parse().map_err(|_| "a sum is not a 128-bit integer")?;
        let mut sums = Self { rows, clipped, squares, ..Self::zero(lattice) };
        for ((place, rows), targets) in cells.into_iter().zip(counts).zip(targets) {
            if !sums.cells.insert_cell(place, LatticeCellTotals { rows, targets }, count) {
                return Err("a cell is outside the box, repeated or empty");
            }
        }
        Ok(sums)
    }
}

/// The summand: the first columns that are read are inputs, then comes the target, then one for each filter.
///
/// An input outside the public box is in the cell at its end. A target loses its lower [`TargetQuantizer::BITS`] - [`TARGET_BITS`] bits.
#[derive(Debug, Clone)]
pub struct LatticeSummand {
    /// The cells of the box.
    pub lattice: Lattice,
    /// The public box: the ends of each input.
    pub domain: Vec<[f64; 2]>,
    /// The units of the targets.
    pub targets: TargetQuantizer,
    /// Only rows that pass all of these count.
    pub filters: Vec<(Comparison, f64)>,
}

/// Bits that a target loses.
const LOST_BITS: i32 = TargetQuantizer::BITS - TARGET_BITS;

impl LatticeSummand {
    /// Value of one unit of a whole target.
    pub fn target_unit_value(&self) -> f64 {
        self.targets.unit_value() * f64::from(LOST_BITS).exp2()
    }

    /// The cell of each row, from its inputs.
    fn compute_cell_indices(&self, inputs: &[Vec<f64>], places: &mut Vec<usize>) {
        places.clear();
        places.resize(inputs.first().map_or(0, Vec::len), 0);
        let side = self.lattice.cells_per_side();
        for (column, [low, high]) in inputs.iter().zip(&self.domain) {
            let width = high - low;
            for (place, x) in places.iter_mut().zip(column) {
                *place = *place * side + self.lattice.axis_cell_index((x - low) / width);
            }
        }
    }
}

impl RowSummand for LatticeSummand {
    type Sum = LatticeSums;
    type Scratch = Vec<usize>;

    fn columns(&self) -> usize {
        self.domain.len() + 1 + self.filters.len()
    }

    fn zero(&self) -> LatticeSums {
        LatticeSums::zero(self.lattice)
    }

    fn add_rows(&self, columns: &mut [Vec<f64>], sums: &mut LatticeSums, places: &mut Vec<usize>) {
        let inputs = self.domain.len();
        retain_passing_rows(&self.filters, columns, inputs + 1);
        self.compute_cell_indices(&columns[..inputs], places);
        let (rounding, mut squares) = (self.targets.rounding(), 0);
        let rows = places.iter().zip(&columns[inputs]).map(|(place, target)| {
            let IntegerTarget { number, clipped } = rounding.round(*target);
            // A division drops the fraction on both sides of zero, a shift would not.
            let number = number / (1 << LOST_BITS);
            squares += number * number;
            sums.clipped += u64::from(clipped);
            (*place, number)
        });
        sums.cells.add(rows);
        sums.squares += i128::from(squares);
        sums.rows += places.len() as u64;
    }
}
