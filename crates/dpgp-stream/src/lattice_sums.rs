//! Rows in the cells of a lattice.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Sum;
use super::lattice_record::LatticeRecord;
use super::sum::are_possible;
use dpgp_gp::sites::{CountedRows, FullCell, Lattice, TARGET_BITS};

/// How many rows lie in each cell of a box, and the sums of their targets, in whole numbers: the same in every order of the rows.
/// Fourier moments of the rows follow from it for any frequencies.
///
/// Obligation: these are exact, as private as the rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "LatticeRecord", into = "LatticeRecord")]
pub struct LatticeSums {
    /// The cells of the box.
    pub(super) lattice: Lattice,
    /// What is in them.
    pub(super) cells: Cells,
    /// The rows.
    pub rows: u64,
    /// `sum_i y_i^2`.
    pub squares: i128,
    /// Rows whose target was clipped.
    pub clipped: u64,
}

/// The rows of a cell, and the sum of their targets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CellSum {
    pub rows: u64,
    pub targets: i64,
}

impl CellSum {
    #[inline]
    fn add(&mut self, more: Self) {
        self.rows += more.rows;
        self.targets += more.targets;
    }

    /// Whether so many rows can have such a sum.
    fn is_possible(self) -> bool {
        self.rows <= 1 << 42 && self.targets.unsigned_abs() <= self.rows << TARGET_BITS
    }
}

/// The cells of a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cells {
    /// All of them, by their numbers.
    All(Vec<CellSum>),
    /// Those that hold rows.
    Full(BTreeMap<usize, CellSum>),
}

impl Cells {
    fn of(lattice: Lattice) -> Self {
        match lattice.is_small() {
            true => Self::All(vec![CellSum::default(); lattice.len()]),
            false => Self::Full(BTreeMap::new()),
        }
    }

    /// The cells that hold rows, with their numbers, in rising order.
    pub fn full(&self) -> Vec<(usize, CellSum)> {
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
        let rows = rows.map(|(place, targets)| (place, CellSum { rows: 1, targets }));
        match self {
            Self::All(cells) => rows.for_each(|(place, row)| cells[place].add(row)),
            Self::Full(cells) => rows.for_each(|(place, row)| cells.entry(place).or_default().add(row)),
        }
    }

    /// Puts rows into an empty cell; false if there is none of this number among so many.
    pub fn put(&mut self, place: usize, cell: CellSum, count: usize) -> bool {
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
                let full = others.full().into_iter();
                full.for_each(|(place, more)| cells.entry(place).or_default().add(more));
            }
            // Sums of one lattice keep their cells alike.
            (Self::All(_), Self::Full(_)) => {}
        }
    }
}

impl LatticeSums {
    /// Of no rows.
    pub fn zero(lattice: Lattice) -> Self {
        Self { lattice, cells: Cells::of(lattice), rows: 0, squares: 0, clipped: 0 }
    }

    /// The cells that hold rows.
    pub fn counted(&self) -> CountedRows {
        let cells = self.cells.full().into_iter();
        let cells = cells.map(|(place, CellSum { rows, targets })| FullCell { place, rows, targets });
        CountedRows { lattice: self.lattice, rows: self.rows, cells: cells.collect(), squares: self.squares }
    }
}

impl Sum for LatticeSums {
    fn add(&mut self, other: &Self) {
        self.cells.merge(&other.cells);
        self.rows += other.rows;
        self.squares += other.squares;
        self.clipped += other.clipped;
    }

    fn fits(&self, other: &Self) -> bool {
        let full = self.cells.full();
        let most = i128::from(self.rows) << (2 * TARGET_BITS);
        self.lattice == other.lattice
            && full.iter().all(|(_, cell)| cell.is_possible())
            && self.rows == full.iter().map(|(_, cell)| cell.rows).sum::<u64>()
            && (0..=most).contains(&self.squares)
            && are_possible(self.clipped, self.rows)
    }
}
