//! Rows in the cells of a lattice.

use serde::{Deserialize, Serialize};

use super::Sum;
use super::lattice_record::LatticeRecord;
use super::sum::are_possible;
use crate::gp::sites::{CountedRows, FullCell, Lattice, TARGET_BITS};

/// How many rows lie in each cell of a box, and the sums of their targets, in whole numbers: the same in every order of the rows.
/// Fourier moments of the rows follow from it for any frequencies.
///
/// Obligation: these are exact, as private as the rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "LatticeRecord", into = "LatticeRecord")]
pub struct LatticeSums {
    /// The cells of the box.
    pub(super) lattice: Lattice,
    /// Of all cells.
    pub(super) cells: Vec<CellSum>,
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
    /// Whether so many rows can have such a sum.
    fn is_possible(self) -> bool {
        self.rows <= 1 << 42 && self.targets.unsigned_abs() <= self.rows << TARGET_BITS
    }
}

impl LatticeSums {
    /// Of no rows.
    pub fn zero(lattice: Lattice) -> Self {
        let cells = vec![CellSum::default(); lattice.len()];
        Self { lattice, cells, rows: 0, squares: 0, clipped: 0 }
    }

    /// The cells that hold rows.
    pub fn counted(&self) -> CountedRows {
        let full = self.cells.iter().enumerate().filter(|(_, cell)| cell.rows > 0);
        let cells =
            full.map(|(place, CellSum { rows, targets })| FullCell { place, rows: *rows, targets: *targets });
        CountedRows { lattice: self.lattice, rows: self.rows, cells: cells.collect(), squares: self.squares }
    }
}

impl Sum for LatticeSums {
    fn add(&mut self, other: &Self) {
        for (cell, more) in self.cells.iter_mut().zip(&other.cells) {
            cell.rows += more.rows;
            cell.targets += more.targets;
        }
        self.rows += other.rows;
        self.squares += other.squares;
        self.clipped += other.clipped;
    }

    fn fits(&self, other: &Self) -> bool {
        let possible = self.cells.iter().all(|cell| cell.is_possible());
        let most = i128::from(self.rows) << (2 * TARGET_BITS);
        self.lattice == other.lattice
            && possible
            && self.rows == self.cells.iter().map(|cell| cell.rows).sum::<u64>()
            && (0..=most).contains(&self.squares)
            && are_possible(self.clipped, self.rows)
    }
}
