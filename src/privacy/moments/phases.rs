//! Cosines and sines in whole numbers.

use crate::number::OutOfRange;

/// Bits of a cosine.
pub(super) const BITS: i32 = 40;

/// The most points of a lattice along a side.
const MOST: usize = 1 << 20;

/// Cosines and sines at the midpoints of `points` cells to a side of the box, for a period of `turn` cells: for cell i and frequency j
/// the phase `2 pi j.(i + 1/2) / turn` is a whole multiple of `pi / turn`, so that a table holds all of them, times `2^40` and rounded
/// down.
///
/// Obligation: an entry is less than 2 units from the real number: 1 by rounding down, and the cosine of the library times `2^40` errs
/// by far less than another.
///
/// ```
/// use dpgp::privacy::PhaseTable;
/// let table = PhaseTable::new(4, 6)?;
/// // The last cell holds all inputs beyond the box, too.
/// assert_eq!([0.0, 0.3, 2.0].map(|x| table.cell(x)), [0, 1, 3]);
/// # Ok::<(), dpgp::number::OutOfRange>(())
/// ```
#[derive(Debug, Clone)]
pub struct PhaseTable {
    points: i64,
    turn: i64,
    cosines: Vec<i64>,
    sines: Vec<i64>,
}

/// A cosine and a sine times `2^40`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WholePhase {
    pub cosine: i64,
    pub sine: i64,
}

impl PhaseTable {
    /// # Errors
    /// [`OutOfRange`] unless there is a cell, at most 2^20, and the period is no shorter than the box.
    pub fn new(points: usize, turn: usize) -> Result<Self, OutOfRange> {
        if points == 0 || turn < points || turn > MOST {
            return Err(OutOfRange::new("at least the cells of a side, and at most 2^20", turn as f64));
        }
        let angles = (0..2 * turn).map(|phase| std::f64::consts::PI * phase as f64 / turn as f64);
        Ok(Self {
            points: points as i64,
            turn: turn as i64,
            cosines: angles.clone().map(|angle| whole(angle.cos())).collect(),
            sines: angles.map(|angle| whole(angle.sin())).collect(),
        })
    }

    /// P, in sides of the box.
    pub fn period(&self) -> f64 {
        self.turn as f64 / self.points as f64
    }

    /// The cell of a coordinate; one outside the box, or no number, is in the cell at its end.
    pub fn cell(&self, x: f64) -> i64 {
        // A cast maps NaN to zero and saturates.
        ((x * self.points as f64).floor() as i64).clamp(0, self.points - 1)
    }

    /// The midpoint of a cell.
    pub fn midpoint(&self, cell: i64) -> f64 {
        (cell as f64 + 0.5) / self.points as f64
    }

    /// Of a frequency at the midpoint of a cell.
    pub(super) fn at(&self, frequency: &[i64], cells: &[i64]) -> WholePhase {
        let phase: i64 = frequency.iter().zip(cells).map(|(j, cell)| j * (2 * cell + 1)).sum();
        let place = phase.rem_euclid(2 * self.turn) as usize;
        WholePhase { cosine: self.cosines[place], sine: self.sines[place] }
    }
}

fn whole(value: f64) -> i64 {
    (value * f64::from(BITS).exp2()).floor() as i64
}
