//! Means over the cells of one grid: the noisy sum over the noisy count of each, for comparison with processes.

use nalgebra::{DMatrix, DVector};

use super::{CellTree, NoisyCellSums};
use crate::sites::FunctionAndTargetPredictions;
use crate::{PredictiveMixture, WeightedNormals};

/// The mean target in each cell of one grid, and its variance.
///
/// A cell with the noisy sum S and the noisy count N has the mean `S / max(N, c)`, clipped to the bound, where c is the standard deviation of
/// the noise on N. Its variance is `(s^2 + m^2 c^2) / N^2 + t^2 / N`, at most that of any mean within the bound: noise on the sum, noise on the
/// count, and the scatter t of targets. Changes of the function within a cell are not in it.
#[derive(Debug, Clone)]
pub struct GridMeans {
    tree: CellTree,
    means: DVector<f64>,
    variances: DVector<f64>,
    /// What the scatter of targets alone would leave.
    without_noise: DVector<f64>,
    /// `t^2`.
    scatter: f64,
}

/// The least variance of targets, as part of the squared bound.
const LEAST_SCATTER: f64 = 1.0 / 225.0;

impl GridMeans {
    /// From the sums of a tree of one level, for targets within a bound. `None` for sums without a level.
    pub fn new(tree: &CellTree, sums: &NoisyCellSums, bound: f64) -> Option<Self> {
        let level = sums.levels.first()?;
        let rows = sums.rows.max(1.0);
        let centre = (level.sums.sum() / rows).clamp(-bound, bound);
        let scatter = (sums.squares / rows - centre * centre).max(LEAST_SCATTER * bound * bound);
        let counts = level.counts.map(|count| count.max(level.counts_sd).max(1.0));
        let means = level.sums.zip_map(&counts, |sum, count| (sum / count).clamp(-bound, bound));
        let without_noise = counts.map(|count| scatter / count);
        let noise = means.zip_map(&counts, |mean, count| {
            (level.sums_sd.powi(2) + (mean * level.counts_sd).powi(2)) / (count * count)
        });
        let variances = (&noise + &without_noise).map(|variance| variance.min(bound * bound));
        Some(Self { tree: tree.clone(), means, variances, without_noise, scatter })
    }

    /// Predicts the function and targets at inputs (t x d), in units of the box.
    pub fn predict(&self, inputs: &DMatrix<f64>) -> FunctionAndTargetPredictions {
        let (mean, variance) = (self.means(inputs), self.cell_values_at_inputs(&self.variances, inputs));
        let part = |variance| {
            PredictiveMixture::from_parts(vec![WeightedNormals { weight: 1.0, mean: mean.clone(), variance }])
        };
        let of_targets = variance.add_scalar(self.scatter);
        FunctionAndTargetPredictions { function: part(variance), targets: part(of_targets) }
    }

    /// The means at inputs alone.
    pub fn means(&self, inputs: &DMatrix<f64>) -> DVector<f64> {
        self.cell_values_at_inputs(&self.means, inputs)
    }

    /// The variances at inputs if sums and counts were known without noise.
    pub fn variance_without_privacy_noise(&self, inputs: &DMatrix<f64>) -> DVector<f64> {
        self.cell_values_at_inputs(&self.without_noise, inputs)
    }

    fn cell_values_at_inputs(&self, numbers: &DVector<f64>, inputs: &DMatrix<f64>) -> DVector<f64> {
        let lattice = self.tree.lattice();
        let number =
            |input: Vec<f64>| numbers[self.tree.cell_index(0, &lattice.coordinates(lattice.cell_index(&input)))];
        DVector::from_iterator(inputs.nrows(), inputs.row_iter().map(|input| number(input.iter().copied().collect())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::NoisyCellLevel;
    use crate::sites::Lattice;

    /// Two cells: 100 rows with the sum 300, and none but noise.
    #[test]
    fn means_are_sums_over_counts() {
        let tree = CellTree::from_halvings(Lattice::new(64, 1), vec![vec![1]]).unwrap();
        let level = NoisyCellLevel {
            sums: DVector::from_vec(vec![300.0, -900.0]),
            counts: DVector::from_vec(vec![100.0, -7.0]),
            sums_sd: 50.0,
            counts_sd: 5.0,
        };
        let sums = NoisyCellSums { rows: 100.0, squares: 5000.0, levels: vec![level] };
        let found = GridMeans::new(&tree, &sums, 10.0).unwrap();
        let at = DMatrix::from_row_slice(2, 1, &[0.2, 0.9]);
        assert_eq!(found.means(&at).as_slice(), [3.0, -10.0]);
        // The centre is -6, and the scatter 50 - 36.
        let prediction = found.predict(&at);
        let variance = (2500.0 + 9.0 * 25.0) / 1e4 + 14.0 / 100.0;
        assert!((prediction.function.variance()[0] - variance).abs() < 1e-12);
        assert!((prediction.targets.variance()[0] - variance - 14.0).abs() < 1e-12);
        assert_eq!(prediction.function.variance()[1], 100.0);
        assert_eq!(found.variance_without_privacy_noise(&at)[0], 0.14);
    }
}
