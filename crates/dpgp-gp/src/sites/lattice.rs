//! The cells of a box.

/// Cells of the unit box, as many along each input: what rows are counted in before their moments are taken.
///
/// ```
/// use dpgp_gp::sites::Lattice;
/// let lattice = Lattice::new(4, 2);
/// let place = lattice.cell_index(&[0.3, 2.0]);
/// assert_eq!((lattice.len(), place, lattice.coordinates(place)), (16, 7, vec![1, 3]));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lattice {
    side: usize,
    dimensions: usize,
}

/// The cells along a side, for one to twelve inputs: far finer than sites. Of up to four inputs they are few enough to keep all,
/// of more the number of a cell fits into 60 bits.
const SIDES: [usize; 12] = [4096, 256, 64, 32, 4096, 1024, 256, 128, 64, 64, 32, 32];
/// The most inputs of which all cells are kept.
const ALL_KEPT: usize = 4;

impl Lattice {
    /// With so many cells along each input.
    pub fn new(side: usize, dimensions: usize) -> Self {
        Self { side, dimensions }
    }

    /// The one for so many inputs, 1 to 12.
    pub fn for_inputs(dimensions: usize) -> Self {
        Self::new(SIDES[dimensions.clamp(1, SIDES.len()) - 1], dimensions)
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        (0..self.dimensions).fold(1, |cells, _| cells * self.side)
    }

    /// Whether the cells are few enough to keep all, empty ones too.
    pub fn is_small(&self) -> bool {
        self.dimensions <= ALL_KEPT
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.side == 0
    }

    /// The number of inputs.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// The cells along a side.
    #[inline]
    pub fn cells_per_side(&self) -> usize {
        self.side
    }

    /// The cell along an input; outside the box, or for no number, that at its end.
    #[inline]
    pub fn axis_cell_index(&self, x: f64) -> usize {
        let (scaled, last) = (x * self.side as f64, (self.side - 1) as f64);
        // Comparisons that are one instruction each; that with NaN leaves zero.
        let scaled = if scaled > 0.0 { scaled } else { 0.0 };
        let scaled = if scaled < last { scaled } else { last };
        // It is not negative, so that the cast rounds down, and far below 2^31.
        scaled as i32 as usize
    }

    /// The number of the cell of a point; the last input moves fastest.
    pub fn cell_index(&self, point: &[f64]) -> usize {
        point.iter().fold(0, |place, x| place * self.side + self.axis_cell_index(*x))
    }

    /// The cell along each input.
    pub fn coordinates(&self, place: usize) -> Vec<i64> {
        let mut coordinates = vec![0; self.dimensions];
        let mut rest = place;
        for coordinate in coordinates.iter_mut().rev() {
            *coordinate = (rest % self.side) as i64;
            rest /= self.side;
        }
        coordinates
    }

    /// The middle of a cell.
    pub fn midpoint(&self, place: usize) -> Vec<f64> {
        self.coordinates(place).iter().map(|cell| (*cell as f64 + 0.5) / self.side as f64).collect()
    }

    /// The period of a whole number of cells that is nearest to one, in sides of the box.
    pub fn nearest_period(&self, wanted: f64) -> f64 {
        self.period_in_cells(wanted) as f64 / self.side as f64
    }

    /// The cells of such a period.
    pub fn period_in_cells(&self, period: f64) -> usize {
        ((period * self.side as f64).round() as usize).max(self.side)
    }
}

/// A cell with the rows in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatticeCellSums {
    /// The number of the cell.
    pub place: usize,
    /// Its rows.
    pub rows: u64,
    /// The sum of their targets, in a public unit.
    pub targets: i64,
}

/// Bits of a target: targets are whole numbers of a public unit, at most so many.
pub const TARGET_BITS: i32 = 20;

/// Rows counted in the cells of a lattice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatticeRowSums {
    /// Where they are counted.
    pub lattice: Lattice,
    /// The number of rows.
    pub rows: u64,
    /// The cells that hold any, with the sums of their targets.
    pub cells: Vec<LatticeCellSums>,
    /// The sum of the squares of all targets.
    pub squares: i128,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_coordinates() {
        let lattice = Lattice::new(5, 3);
        assert_eq!((lattice.dimensions(), lattice.len()), (3, 125));
        for place in 0..125 {
            let along = lattice.coordinates(place);
            assert_eq!(along.iter().fold(0, |sum, cell| 5 * sum + cell), place as i64);
            assert_eq!(lattice.cell_index(&lattice.midpoint(place)), place);
        }
    }

    /// Of cells a fifth wide: 1.29 are 6.45 of them, and a period is never less than the box.
    #[test]
    fn periods_are_whole_cells() {
        let lattice = Lattice::new(5, 1);
        assert_eq!(
            (lattice.period_in_cells(1.29), lattice.period_in_cells(1.31), lattice.period_in_cells(0.4)),
            (6, 7, 5)
        );
        assert_eq!(lattice.nearest_period(1.29), 1.2);
    }
}
