//! Counts of rows in the finest of nested cells.

use nalgebra::{DMatrix, DVector};

use super::CellTree;

/// Steps of the search for counts.
const STEPS: usize = 100;

/// `V = sum_k a_k A_k' A_k` of a tree, never written down.
pub(super) struct CellTreePrecision<'a> {
    tree: &'a CellTree,
    /// `a_k`, which add up to 1.
    weights: Vec<f64>,
    /// `s`.
    pub scale: f64,
    /// The cell of each level that holds a finest cell.
    ancestors: Vec<Vec<usize>>,
}

impl<'a> CellTreePrecision<'a> {
    /// For noise of these standard deviations on the cells of each level.
    pub fn new(tree: &'a CellTree, sds: &[f64]) -> Self {
        let precision: f64 = sds.iter().map(|sd| sd.powi(-2)).sum();
        let finest = tree.levels() - 1;
        let cells = tree.cells(finest);
        let ancestors =
            (0..tree.levels()).map(|level| (0..cells).map(|cell| tree.ancestor(level, finest, cell)).collect());
        Self {
            tree,
            weights: sds.iter().map(|sd| sd.powi(-2) / precision).collect(),
            scale: precision.sqrt().recip(),
            ancestors: ancestors.collect(),
        }
    }

    /// The number of finest cells.
    pub fn cells(&self) -> usize {
        self.tree.cells(self.tree.levels() - 1)
    }

    /// `h = sum_k a_k A_k' b_k` of noisy numbers by level.
    pub fn combine_levels<'b>(&self, levels: impl Iterator<Item = &'b DVector<f64>>) -> DVector<f64> {
        let mut combined = DVector::zeros(self.cells());
        for ((numbers, weight), ancestors) in levels.zip(&self.weights).zip(&self.ancestors) {
            for (entry, ancestor) in combined.iter_mut().zip(ancestors) {
                *entry += weight * numbers[*ancestor];
            }
        }
        combined
    }

    /// `V x`.
    fn times(&self, x: &DVector<f64>) -> DVector<f64> {
        let sums: Vec<DVector<f64>> = (0..self.tree.levels())
            .map(|level| {
                let mut sums = DVector::zeros(self.tree.cells(level));
                for (value, ancestor) in x.iter().zip(&self.ancestors[level]) {
                    sums[*ancestor] += value;
                }
                sums
            })
            .collect();
        self.combine_levels(sums.iter())
    }

    /// The rows and columns of V for some cells.
    pub fn submatrix(&self, cells: &[usize]) -> DMatrix<f64> {
        let mut matrix = DMatrix::zeros(cells.len(), cells.len());
        for (weight, ancestors) in self.weights.iter().zip(&self.ancestors) {
            for (j, other) in cells.iter().enumerate() {
                for (i, cell) in cells.iter().enumerate() {
                    if ancestors[*cell] == ancestors[*other] {
                        matrix[(i, j)] += weight;
                    }
                }
            }
        }
        matrix
    }

    /// The nonnegative x that add up to about `total` with the least `x' V x / 2 - h' x`, by the accelerated proximal gradient of Beck and
    /// Teboulle (2009), started again where it turns back (O'Donoghue and Candes 2015).
    pub fn solve_nonnegative(&self, h: &DVector<f64>, total: f64) -> DVector<f64> {
        let cells = self.cells() as f64;
        // The greatest eigenvalue of V is that of the constant vector; a penalty on the total has the same.
        let largest: f64 =
            (0..self.tree.levels()).map(|level| self.weights[level] * cells / self.tree.cells(level) as f64).sum();
        let (penalty, step) = (largest / cells, 0.5 / largest);
        let mut x = DVector::from_element(self.cells(), total / cells);
        let (mut ahead, mut momentum) = (x.clone(), 1.0f64);
        for _ in 0..STEPS {
            let surplus = penalty * (ahead.sum() - total);
            let gradient = (self.times(&ahead) - h).add_scalar(surplus);
            let next = (&ahead - &gradient * step).map(|value| value.max(0.0));
            if (&ahead - &next).dot(&(&next - &x)) > 0.0 {
                momentum = 1.0;
            }
            let further = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            ahead = &next + (&next - &x) * ((momentum - 1.0) / further);
            (x, momentum) = (next, further);
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sites::Lattice;

    /// Two levels of a line with four cells: `V = a_0 11' + a_1 I`.
    #[test]
    fn the_precision_is_that_of_all_levels() {
        let tree = CellTree::from_halvings(Lattice::new(4, 1), vec![vec![0], vec![2]]).unwrap();
        let precision = CellTreePrecision::new(&tree, &[2.0, 1.0]);
        // 1/4 and 1 of 5/4.
        assert!((precision.scale - 0.8f64.sqrt()).abs() < 1e-15);
        let all = precision.submatrix(&[0, 1, 2, 3]);
        assert!((all - (DMatrix::identity(4, 4) * 0.8).add_scalar(0.2)).amax() < 1e-15);
        let x = DVector::from_column_slice(&[1.0, 2.0, 3.0, 4.0]);
        assert!((precision.times(&x) - (x * 0.8).add_scalar(2.0)).amax() < 1e-14);
        let levels = [DVector::from_element(1, 10.0), DVector::from_column_slice(&[1.0, 2.0, 3.0, 4.0])];
        assert!((precision.combine_levels(levels.iter()) - (&levels[1] * 0.8).add_scalar(2.0)).amax() < 1e-14);
    }

    /// Exact numbers are found again; a negative one becomes zero, and the total stays.
    #[test]
    fn counts_are_nonnegative() {
        let tree = CellTree::from_halvings(Lattice::new(4, 1), vec![vec![0], vec![1], vec![2]]).unwrap();
        let precision = CellTreePrecision::new(&tree, &[1.0, 1.0, 1.0]);
        let x = DVector::from_column_slice(&[5.0, 0.0, 7.0, 1.0]);
        let found = precision.solve_nonnegative(&precision.times(&x), 13.0);
        assert!((&found - &x).amax() < 1e-6, "{found}");
        let odd = DVector::from_column_slice(&[5.0, -4.0, 7.0, 1.0]);
        let found = precision.solve_nonnegative(&precision.times(&odd), 9.0);
        assert!(found.min() == 0.0 && (found.sum() - 9.0).abs() < 1.5, "{found}");
    }
}
