//! A Gaussian process on a public box, observed through noisy sums and counts of rows in nested cells.
//!
//! The noise on the cells of level k has the precision `a_k / s^2`. So all that is known of the sums S of the finest cells
//! is `h = V S + s V^(1/2) z` with `V = sum_k a_k A_k' A_k`, where `A_k` adds up finest cells. The same holds for the
//! counts N, with noise of another size.
//!
//! 1. Counts are the nonnegative ones of least squares, which add up to the number of rows. Cells with few rows are left
//!    out, and the sums and counts of the others are refitted: `S = V^-1 h` with noise of covariance `s^2 V^-1`.
//! 2. The mean m of all targets is taken out: `r = S - m N`.
//! 3. A target is the process f, with its cell's own mean, plus noise of variance `t^2`. So for each choice of
//!    hyperparameters
//!
//! ```text
//! r ~ N(0, n (v K + w I + b) n + t^2 n + (s^2 + c^2 (m^2 + v + w')) V^-1),
//! ```
//!
//! where n is the diagonal matrix of counts, K holds covariances of means over cells, w is the variance of a cell's own
//! mean, b that of the mean of the process, and c the noise on counts. Its density weighs a grid of choices, equally
//! likely a priori. Only noisy numbers and public ones enter, so all of this is post-processing.

mod grid_means;
mod posterior;

use nalgebra::{DMatrix, DVector};

use crate::sites::Lattice;

pub use grid_means::GridMeans;
pub use posterior::{CellPosterior, CellPrior, NoisyCellLevel, NoisyCellSums};

/// Boxes that are halved again and again, each time along the input in which they are longest. Level k has `2^k` cells.
/// Every cell is a union of cells of a [`Lattice`].
///
/// ```
/// use dpgp_gp::cells::CellTree;
/// use dpgp_gp::sites::Lattice;
/// // The second input is twice as long, in lengthscales: it is halved first.
/// let tree = CellTree::new(Lattice::new(8, 2), &[0.2, 0.1], 3);
/// assert_eq!((tree.halvings(1), tree.halvings(2), tree.halvings(3)), (&[0, 1][..], &[1, 1][..], &[1, 2][..]));
/// assert_eq!(tree.cell_index(2, &[7, 0]), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellTree {
    lattice: Lattice,
    /// How often each input is halved, by level.
    halvings: Vec<Vec<u32>>,
}

impl CellTree {
    /// Of a lattice whose side is a power of two, with lengthscales in sides of the box, down to a level or to the
    /// cells of the lattice.
    pub fn new(lattice: Lattice, lengthscales: &[f64], depth: usize) -> Self {
        let most = lattice.cells_per_side().ilog2();
        let mut halvings = vec![vec![0; lattice.dimensions()]];
        for level in 0..depth {
            let mut next = halvings[level].clone();
            let mut longest: Option<(usize, f64)> = None;
            for (input, (halved, lengthscale)) in next.iter().zip(lengthscales).enumerate() {
                let length = 0.5f64.powi(*halved as i32) / lengthscale;
                if *halved < most && longest.is_none_or(|(_, known)| length > known) {
                    longest = Some((input, length));
                }
            }
            let Some((input, _)) = longest else { break };
            next[input] += 1;
            halvings.push(next);
        }
        Self { lattice, halvings }
    }

    /// A tree with the given halvings, none if they are not those of nested cells of the lattice.
    pub fn from_halvings(lattice: Lattice, halvings: Vec<Vec<u32>>) -> Option<Self> {
        let (inputs, most) = (lattice.dimensions(), lattice.cells_per_side().ilog2());
        let sound = |level: &Vec<u32>| level.len() == inputs && level.iter().all(|halved| *halved <= most);
        let nested = |pair: &[Vec<u32>]| {
            let less = pair[0].iter().zip(&pair[1]).all(|(coarse, fine)| coarse <= fine);
            less && pair[0] != pair[1]
        };
        let all = !halvings.is_empty() && halvings.iter().all(sound) && halvings.windows(2).all(nested);
        (all && lattice.cells_per_side().is_power_of_two()).then_some(Self { lattice, halvings })
    }

    /// The number of levels, that of the whole box among them.
    pub fn level_count(&self) -> usize {
        self.halvings.len()
    }

    /// How often each input is halved at a level.
    pub fn halvings(&self, level: usize) -> &[u32] {
        &self.halvings[level]
    }

    /// The number of cells at a level.
    pub fn cell_count(&self, level: usize) -> usize {
        1 << self.halvings[level].iter().sum::<u32>()
    }

    /// The cell of a level that holds a cell of the lattice; the last input moves fastest.
    pub fn cell_index(&self, level: usize, coordinates: &[i64]) -> usize {
        let most = self.lattice.cells_per_side().ilog2();
        let along = self.halvings[level].iter().zip(coordinates);
        along.fold(0, |cell, (halved, place)| (cell << halved) | (*place as usize >> (most - halved)))
    }

    /// The cell of a level that holds a cell of a finer level.
    pub fn ancestor(&self, level: usize, fine: usize, cell: usize) -> usize {
        let (mut rest, mut ancestor, mut shift) = (cell, 0, 0);
        let pairs = self.halvings[level].iter().zip(&self.halvings[fine]);
        for (coarse, fine) in pairs.rev() {
            let along = rest & ((1 << fine) - 1);
            ancestor |= (along >> (fine - coarse)) << shift;
            rest >>= fine;
            shift += coarse;
        }
        ancestor
    }

    /// Where a cell of a level begins, and its lengths, in sides of the box.
    pub fn corner_and_lengths(&self, level: usize, cell: usize) -> (Vec<f64>, Vec<f64>) {
        let (mut rest, mut corner) = (cell, vec![0.0; self.lattice.dimensions()]);
        let lengths: Vec<f64> = self.halvings[level].iter().map(|halved| 0.5f64.powi(*halved as i32)).collect();
        for (input, halved) in self.halvings[level].iter().enumerate().rev() {
            corner[input] = (rest & ((1 << halved) - 1)) as f64 * lengths[input];
            rest >>= halved;
        }
        (corner, lengths)
    }

    /// The lattice.
    pub fn lattice(&self) -> Lattice {
        self.lattice
    }
}

/// Steps of the search for counts.
const STEPS: usize = 100;

/// `V = sum_k a_k A_k' A_k` of a tree, never written down.
struct CellTreePrecision<'a> {
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
        let finest = tree.level_count() - 1;
        let cells = tree.cell_count(finest);
        let ancestors =
            (0..tree.level_count()).map(|level| (0..cells).map(|cell| tree.ancestor(level, finest, cell)).collect());
        Self {
            tree,
            weights: sds.iter().map(|sd| sd.powi(-2) / precision).collect(),
            scale: precision.sqrt().recip(),
            ancestors: ancestors.collect(),
        }
    }

    /// The number of finest cells.
    pub fn finest_cell_count(&self) -> usize {
        self.tree.cell_count(self.tree.level_count() - 1)
    }

    /// `h = sum_k a_k A_k' b_k` of noisy numbers by level.
    pub fn combine_levels<'b>(&self, levels: impl Iterator<Item = &'b DVector<f64>>) -> DVector<f64> {
        let mut combined = DVector::zeros(self.finest_cell_count());
        for ((numbers, weight), ancestors) in levels.zip(&self.weights).zip(&self.ancestors) {
            for (entry, ancestor) in combined.iter_mut().zip(ancestors) {
                *entry += weight * numbers[*ancestor];
            }
        }
        combined
    }

    /// `V x`.
    fn times(&self, x: &DVector<f64>) -> DVector<f64> {
        let sums: Vec<DVector<f64>> = (0..self.tree.level_count())
            .map(|level| {
                let mut sums = DVector::zeros(self.tree.cell_count(level));
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
        let cells = self.finest_cell_count() as f64;
        // The greatest eigenvalue of V is that of the constant vector; a penalty on the total has the same.
        let largest: f64 = (0..self.tree.level_count())
            .map(|level| self.weights[level] * cells / self.tree.cell_count(level) as f64)
            .sum();
        let (penalty, step) = (largest / cells, 0.5 / largest);
        let mut x = DVector::from_element(self.finest_cell_count(), total / cells);
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

    /// Cells are unions of lattice cells, and nested: the ancestor of a cell holds whatever it holds.
    #[test]
    fn cells_are_nested() {
        let lattice = Lattice::new(8, 2);
        let tree = CellTree::new(lattice, &[0.3, 0.2], 6);
        assert_eq!((tree.level_count(), tree.cell_count(6)), (7, 64));
        for place in 0..lattice.len() {
            let coordinates = lattice.coordinates(place);
            for fine in 0..tree.level_count() {
                let cell = tree.cell_index(fine, &coordinates);
                let (corner, lengths) = tree.corner_and_lengths(fine, cell);
                for (x, (low, length)) in lattice.midpoint(place).iter().zip(corner.iter().zip(&lengths)) {
                    assert!(low < x && *x < low + length);
                }
                for level in 0..=fine {
                    assert_eq!(tree.ancestor(level, fine, cell), tree.cell_index(level, &coordinates));
                }
            }
        }
        assert_eq!(CellTree::new(lattice, &[0.3, 0.2], 20).level_count(), 7);
    }

    #[test]
    fn halvings_must_be_nested() {
        let lattice = Lattice::new(8, 2);
        let of = |halvings: Vec<Vec<u32>>| CellTree::from_halvings(lattice, halvings);
        assert!(of(vec![vec![0, 1], vec![2, 1]]).is_some());
        assert!(of(vec![vec![1, 0], vec![0, 2]]).is_none());
        assert!(of(vec![vec![1, 0], vec![1, 0]]).is_none());
        assert!(of(vec![vec![4, 0]]).is_none() && of(vec![vec![1]]).is_none() && of(Vec::new()).is_none());
    }
}

#[cfg(test)]
mod counts_tests {
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
