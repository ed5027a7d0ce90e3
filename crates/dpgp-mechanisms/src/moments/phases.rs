//! Cosines and sines in whole numbers.

use dpgp_gp::sites::Lattice;
use dpgp_number::OutOfRange;

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
/// use dpgp_mechanisms::PhaseTable;
/// let table = PhaseTable::new(4, 6)?;
/// assert_eq!(table.period(), 1.5);
/// # Ok::<(), dpgp_number::OutOfRange>(())
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

    /// For the cells of a box, and the period of whole cells that is nearest to one, in sides of the box.
    ///
    /// # Errors
    /// [`OutOfRange`] for a period that is no number, or longer than a table.
    pub fn of(lattice: Lattice, period: f64) -> Result<Self, OutOfRange> {
        Self::new(lattice.side(), lattice.turn(period))
    }

    /// P, in sides of the box.
    pub fn period(&self) -> f64 {
        self.turn as f64 / self.points as f64
    }

    /// The phases of one entry of a frequency at the midpoints of all cells along an input, each less than a whole turn.
    pub(super) fn along(&self, entry: i64) -> Vec<usize> {
        (0..self.points).map(|cell| (entry * (2 * cell + 1)).rem_euclid(2 * self.turn) as usize).collect()
    }

    /// The cosine and sine of a sum of phases.
    pub(super) fn at(&self, phase: usize) -> WholePhase {
        let place = phase % (2 * self.turn as usize);
        WholePhase { cosine: self.cosines[place], sine: self.sines[place] }
    }
}

fn whole(value: f64) -> i64 {
    (value * f64::from(BITS).exp2()).floor() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four cells in a turn of six: the phases of frequency 1 at their midpoints are 1, 3, 5 and 7 of twelve.
    #[test]
    fn phases_are_counted_in_half_cells() {
        let table = PhaseTable::new(4, 6).unwrap();
        assert_eq!(table.period(), 1.5);
        assert_eq!(table.along(1), [1, 3, 5, 7]);
        assert_eq!(table.along(2), [2, 6, 10, 2]);
        assert_eq!(table.along(-1), [11, 9, 7, 5]);
        let unit = f64::from(BITS).exp2();
        for phase in 0..30 {
            let WholePhase { cosine, sine } = table.at(phase);
            let angle = std::f64::consts::PI * phase as f64 / 6.0;
            let below = [unit * angle.cos() - cosine as f64, unit * angle.sin() - sine as f64];
            // Rounded down, and the library's cosine of a whole turn more errs by less than the rest.
            assert!(below.iter().all(|below| (-0.01..1.01).contains(below)), "{phase}: {below:?}");
        }
    }

    #[test]
    fn tables_have_a_size() {
        assert!(PhaseTable::new(4, 4).is_ok() && PhaseTable::new(1, MOST).is_ok());
        for (points, turn) in [(0, 4), (5, 4), (4, MOST + 1)] {
            assert!(PhaseTable::new(points, turn).is_err(), "{points} {turn}");
        }
    }
}
