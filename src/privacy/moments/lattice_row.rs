//! Rows in whole numbers.

use super::PhaseTable;

/// Bits of a target.
pub(super) const TARGET_BITS: i32 = 20;

/// A row on the lattice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatticeRow {
    /// The cell of each input.
    pub cells: Vec<i64>,
    /// The target over R, times `2^20`, its fraction dropped.
    pub target: i64,
}

impl LatticeRow {
    /// Of inputs in units of the box and a target, which is clipped to `[-bound, bound]`.
    pub fn new(table: &PhaseTable, inputs: &[f64], target: f64, bound: f64) -> Self {
        let unit = f64::from(TARGET_BITS).exp2();
        let most = unit as i64;
        // A cast drops the fraction, maps NaN to zero and saturates.
        let target = ((target / bound * unit) as i64).clamp(-most, most);
        Self { cells: inputs.iter().map(|x| table.cell(*x)).collect(), target }
    }
}
