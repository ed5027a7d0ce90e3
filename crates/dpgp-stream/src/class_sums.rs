//! The sums of a classification: those over the rows of each class.

use serde::{Deserialize, Serialize};

use super::filters::passes;
use super::{PackedKernel, Scratch, Sum, SumRows, Sums};
use dpgp_data::Comparison;
use dpgp_gp::variational::SumsUnits;

/// The sums over the rows of each class c: `A_c = sum_i k_i` (m), `B_c = sum_i k_i k_i'` (m x m). Source: Honkela 2021,
/// Section 5, with one-hot labels.
///
/// Obligation: a row enters the sums of one class alone, that of its label. A replaced record moves two classes at most,
/// by one contribution each; `class_sums_sensitivity` bounds both together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassSums(pub Vec<Sums>);

impl Sum for ClassSums {
    fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(sums, more)| sums.add(more));
    }

    fn fits(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(sums, more)| sums.fits(more))
    }
}

/// The summand: the first columns that are read are inputs, then comes the class, then one for each filter. A row whose target is
/// none of the classes is left out.
#[derive(Debug, Clone)]
pub struct ClassSummand {
    /// The kernel and its inducing inputs.
    pub kernel: PackedKernel,
    /// The number of classes.
    pub classes: usize,
    /// Only rows that pass all of these count; the others may be of any class.
    pub filters: Vec<(Comparison, f64)>,
    /// The number of inputs.
    pub inputs: usize,
}

impl SumRows for ClassSummand {
    type Sum = ClassSums;
    type Scratch = Scratch;

    fn columns(&self) -> usize {
        self.inputs + 1 + self.filters.len()
    }

    fn zero(&self) -> ClassSums {
        ClassSums(vec![Sums::zero(self.kernel.size()); self.classes])
    }

    fn add(&self, columns: &mut [Vec<f64>], sums: &mut ClassSums, scratch: &mut Scratch) {
        for (rows, sums) in self.members(columns).iter().zip(&mut sums.0) {
            // Rows of a class lie apart, and the kernel wants them side by side.
            let inputs: Vec<Vec<f64>> = columns[..self.inputs]
                .iter()
                .map(|column| rows.iter().map(|row| column[*row]).collect())
                .collect();
            let inputs: Vec<&[f64]> = inputs.iter().map(Vec::as_slice).collect();
            // A label of 1 for every member: A is the sum of their covariances.
            self.kernel.add(&inputs, &vec![1; rows.len()], sums, scratch);
        }
    }
}

impl ClassSummand {
    /// What one stands for in its sums.
    pub fn units(&self) -> SumsUnits {
        self.kernel.units(1.0)
    }

    /// The rows of each class that pass the filters, in their order.
    fn members(&self, columns: &[Vec<f64>]) -> Vec<Vec<usize>> {
        let (targets, tested) = (&columns[self.inputs], &columns[self.inputs + 1..]);
        let mut members = vec![Vec::new(); self.classes];
        let kept = (0..targets.len()).filter(|row| passes(&self.filters, tested, *row));
        for row in kept {
            if let Some(class) = class_of(targets[row], self.classes) {
                members[class].push(row);
            }
        }
        members
    }
}

/// The class that a target names, of the classes `0, 1, ..., classes - 1`.
///
/// ```
/// use dpgp_stream::class_of;
/// assert_eq!([2.0, 3.0, 0.5, f64::NAN].map(|target| class_of(target, 3)), [Some(2), None, None, None]);
/// ```
pub fn class_of(target: f64, classes: usize) -> Option<usize> {
    // The cast saturates and takes NaN to 0; the comparison refuses both, and fractions.
    let class = target as usize;
    (class < classes && class as f64 == target).then_some(class)
}
