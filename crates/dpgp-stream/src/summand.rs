//! The sums of a regression.

use super::filters::retain;
use super::{PackedKernel, Scratch, SumRows, Sums, Targets};
use dpgp_data::Comparison;
use dpgp_gp::variational::SumsUnits;

/// The summand: the first columns that are read are inputs, then comes the target, then one for each filter.
#[derive(Debug, Clone)]
pub struct Summand {
    /// The kernel and its inducing inputs.
    pub kernel: PackedKernel,
    /// The units of the targets.
    pub targets: Targets,
    /// Only rows that pass all of these count; they keep their numbers.
    pub filters: Vec<(Comparison, f64)>,
    /// The number of inputs.
    pub inputs: usize,
}

impl Summand {
    /// What one stands for in its sums.
    pub fn units(&self) -> SumsUnits {
        self.kernel.units(self.targets.unit())
    }
}

impl SumRows for Summand {
    type Sum = Sums;
    type Scratch = Scratch;

    fn columns(&self) -> usize {
        self.inputs + 1 + self.filters.len()
    }

    fn zero(&self) -> Sums {
        Sums::zero(self.kernel.size())
    }

    fn add(&self, columns: &mut [Vec<f64>], sums: &mut Sums, scratch: &mut Scratch) {
        // Filters come before the clip: rows that do not pass are neither summed nor counted as clipped.
        retain(&self.filters, columns, self.inputs + 1);
        let targets = self.targets.whole(&columns[self.inputs]);
        sums.clipped += targets.clipped;
        let inputs: Vec<&[f64]> = columns[..self.inputs].iter().map(Vec::as_slice).collect();
        self.kernel.add(&inputs, &targets.numbers, sums, scratch);
    }
}
