//! The sums of Fourier moments: rows in the cells of a lattice.

use super::filters::retain;
use super::targets::WholeTarget;
use super::{LatticeSums, SumRows, Targets};
use dpgp_data::Comparison;
use dpgp_gp::sites::{Lattice, TARGET_BITS};

/// The summand: the first columns that are read are inputs, then comes the target, then one for each filter.
///
/// An input outside the public box is in the cell at its end. A target loses its lower [`Targets::BITS`] - [`TARGET_BITS`] bits.
#[derive(Debug, Clone)]
pub struct LatticeSummand {
    /// The cells of the box.
    pub lattice: Lattice,
    /// The public box: the ends of each input.
    pub domain: Vec<[f64; 2]>,
    /// The units of the targets.
    pub targets: Targets,
    /// Only rows that pass all of these count.
    pub filters: Vec<(Comparison, f64)>,
}

/// Bits that a target loses.
const LOST_BITS: i32 = Targets::BITS - TARGET_BITS;

impl LatticeSummand {
    /// What a whole target stands for.
    pub fn unit(&self) -> f64 {
        self.targets.unit() * f64::from(LOST_BITS).exp2()
    }

    /// The cell of each row, from its inputs.
    fn places(&self, inputs: &[Vec<f64>], places: &mut Vec<usize>) {
        places.clear();
        places.resize(inputs.first().map_or(0, Vec::len), 0);
        let side = self.lattice.side();
        for (column, [low, high]) in inputs.iter().zip(&self.domain) {
            let width = high - low;
            for (place, x) in places.iter_mut().zip(column) {
                *place = *place * side + self.lattice.cell((x - low) / width);
            }
        }
    }
}

impl SumRows for LatticeSummand {
    type Sum = LatticeSums;
    type Scratch = Vec<usize>;

    fn columns(&self) -> usize {
        self.domain.len() + 1 + self.filters.len()
    }

    fn zero(&self) -> LatticeSums {
        LatticeSums::zero(self.lattice)
    }

    fn add(&self, columns: &mut [Vec<f64>], sums: &mut LatticeSums, places: &mut Vec<usize>) {
        let inputs = self.domain.len();
        retain(&self.filters, columns, inputs + 1);
        self.places(&columns[..inputs], places);
        let (rounding, mut squares) = (self.targets.rounding(), 0);
        let rows = places.iter().zip(&columns[inputs]).map(|(place, target)| {
            let WholeTarget { number, clipped } = rounding.of(*target);
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
