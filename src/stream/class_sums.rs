//! The sums of a classification: those over the rows of each class.

use serde::{Deserialize, Serialize};

use super::filters::passes;
use super::{Kernel, Misfit, Scratch, Sum, SumRows, Sums};
use crate::data::{CellProblem, Comparison};

/// The sums over the rows of each class c: `A_c = sum_i k_i` (m), `B_c = sum_i k_i k_i'` (m x m). Source: Honkela 2021,
/// Section 5, with one-hot labels.
///
/// Obligation: a row enters the sums of one class alone, that of its label. A replaced record moves two classes at most,
/// by one contribution each; [`class_sums_sensitivity`](crate::privacy::class_sums_sensitivity) bounds both together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassSums(pub Vec<Sums>);

impl Sum for ClassSums {
    fn plus(self, other: &Self) -> Self {
        Self(self.0.into_iter().zip(&other.0).map(|(sums, more)| sums.plus(more)).collect())
    }

    fn fits(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(|(sums, more)| sums.fits(more))
    }
}

/// The summand: the first columns that are read are inputs, then comes the class, then one for each filter.
#[derive(Debug, Clone)]
pub struct ClassSummand {
    /// The kernel and its inducing inputs.
    pub kernel: Kernel,
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

    fn sum(&self, columns: &mut [Vec<f64>], scratch: &mut Scratch) -> Result<ClassSums, Misfit> {
        let mut sums = self.zero();
        for (rows, sums) in self.members(columns)?.iter().zip(&mut sums.0) {
            // Rows of a class lie apart, and the kernel wants them side by side.
            let inputs: Vec<Vec<f64>> = columns[..self.inputs]
                .iter()
                .map(|column| rows.iter().map(|row| column[*row]).collect())
                .collect();
            let inputs: Vec<&[f64]> = inputs.iter().map(Vec::as_slice).collect();
            // A label of 1 for every member: A is the sum of their covariances.
            self.kernel.add(&inputs, &vec![1.0; rows.len()], sums, scratch);
        }
        Ok(sums)
    }
}

impl ClassSummand {
    /// The rows of each class that pass the filters, in their order.
    fn members(&self, columns: &[Vec<f64>]) -> Result<Vec<Vec<usize>>, Misfit> {
        let (targets, tested) = (&columns[self.inputs], &columns[self.inputs + 1..]);
        let mut members = vec![Vec::new(); self.classes];
        let kept = (0..targets.len()).filter(|row| passes(&self.filters, tested, *row));
        for row in kept {
            let Some(class) = class_of(targets[row], self.classes) else {
                let problem = CellProblem::NoClass(targets[row].to_string(), self.classes - 1);
                return Err(Misfit { row: row as u64, problem });
            };
            members[class].push(row);
        }
        Ok(members)
    }
}

/// The class that a target names, of the classes `0, 1, ..., classes - 1`.
///
/// ```
/// use dpgp::stream::class_of;
/// assert_eq!([2.0, 3.0, 0.5, f64::NAN].map(|target| class_of(target, 3)), [Some(2), None, None, None]);
/// ```
pub fn class_of(target: f64, classes: usize) -> Option<usize> {
    // The cast saturates and takes NaN to 0; the comparison refuses both, and fractions.
    let class = target as usize;
    (class < classes && class as f64 == target).then_some(class)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{N, covariance, kernel, same_in_parts, summed, wave};
    use super::super::{BLOCK, StreamError};
    use super::*;

    /// Two inputs, one of three classes, and a column that a filter looks at.
    fn columns() -> Vec<Vec<f64>> {
        let classes = (0..N).map(|i| (i * i % 7 % 3) as f64).collect();
        vec![wave(0.37), wave(0.011), classes, wave(0.41)]
    }

    fn summand() -> ClassSummand {
        let filters = vec![(Comparison::Greater, -2.5)];
        ClassSummand { kernel: kernel(), classes: 3, filters, inputs: 2 }
    }

    /// Against plain sums over the rows of each class that pass.
    #[test]
    fn each_class_has_the_sums_of_its_rows() {
        let columns = columns();
        let total = same_in_parts(&summand(), &columns);
        for (class, sums) in total.0.iter().enumerate() {
            let rows: Vec<usize> =
                (0..N).filter(|i| columns[2][*i] == class as f64 && columns[3][*i] > -2.5).collect();
            assert_eq!((sums.rows, sums.clipped), (rows.len() as u64, 0));
            let k: Vec<f64> = rows.iter().map(|row| covariance(&columns, *row)).collect();
            let (a, b) = (k.iter().sum::<f64>(), k.iter().map(|k| k * k).sum::<f64>());
            assert!((sums.a[0] / a - 1.0).abs() < 1e-12 && (sums.b[(0, 0)] / b - 1.0).abs() < 1e-12);
        }
    }

    /// The first of them is named, whichever thread comes first; rows that do not pass may be of any class.
    #[test]
    fn unknown_classes_are_named_by_their_rows() {
        let mut columns = columns();
        let rows = [2 * BLOCK + 5, 2 * BLOCK + 77, 4 * BLOCK + 3];
        rows.iter().for_each(|row| (columns[2][*row], columns[3][*row]) = (3.0, 0.0));
        (columns[2][7], columns[3][7]) = (0.5, -3.0);
        for threads in [1, 2, 5] {
            let Err(StreamError::Misfit(found)) = summed(&summand(), &columns, 0..u64::MAX, threads) else {
                panic!("summed")
            };
            let problem = CellProblem::NoClass("3".to_owned(), 2);
            assert_eq!(found, Misfit { row: rows[0] as u64, problem });
        }
    }

    #[test]
    fn classes_are_whole_numbers() {
        let found = [0.0, 2.0, 3.0, 0.5, -1.0, f64::NAN].map(|target| class_of(target, 3));
        assert_eq!(found, [Some(0), Some(2), None, None, None, None]);
    }
}
