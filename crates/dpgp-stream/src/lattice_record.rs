//! Rows in the cells of a lattice, on disk.

use serde::{Deserialize, Serialize};

use super::LatticeSums;
use super::lattice_sums::CellSum;
use dpgp_gp::sites::Lattice;

/// The cells that hold rows, in rising order, with their counts and the sums of their targets.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LatticeRecord {
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

impl From<LatticeSums> for LatticeRecord {
    fn from(sums: LatticeSums) -> Self {
        let full = sums.cells.full();
        Self {
            rows: sums.rows,
            clipped: sums.clipped,
            squares: sums.squares.to_string(),
            side: sums.lattice.side(),
            inputs: sums.lattice.dimensions(),
            cells: full.iter().map(|(place, _)| *place).collect(),
            counts: full.iter().map(|(_, cell)| cell.rows).collect(),
            targets: full.iter().map(|(_, cell)| cell.targets).collect(),
        }
    }
}

impl TryFrom<LatticeRecord> for LatticeSums {
    type Error = &'static str;

    fn try_from(record: LatticeRecord) -> Result<Self, Self::Error> {
        let LatticeRecord { rows, clipped, squares, side, inputs, cells, counts, targets } = record;
        let count = (0..inputs).try_fold(1usize, |count, _| count.checked_mul(side));
        let lattice = Lattice::new(side, inputs);
        let count =
            count.filter(|count| inputs > 0 && side > 0 && (!lattice.is_small() || *count <= MOST_CELLS));
        let Some(count) = count else { return Err("there is no box of so many cells") };
        if counts.len() != cells.len() || targets.len() != cells.len() {
            return Err("cells, counts and targets are of different numbers");
        }
        let squares = squares.parse().map_err(|_| "a sum is no whole number of 128 bits")?;
        let mut sums = Self { rows, clipped, squares, ..Self::zero(lattice) };
        for ((place, rows), targets) in cells.into_iter().zip(counts).zip(targets) {
            if !sums.cells.put(place, CellSum { rows, targets }, count) {
                return Err("a cell is not in the box, is there twice, or holds no rows");
            }
        }
        Ok(sums)
    }
}
