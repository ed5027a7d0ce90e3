//! How rows spread within a bin, by how they spread over neighbouring bins.
//!
//! An area cuts a bin of n rows, and holds a share a of its plane. How many of the rows it holds is not known, but for two
//! neighbouring bins it is: of their N rows the first holds `h_1`. So whatever divides a pair of bins is measured on all
//! pairs, and taken to divide a bin alike, up to one step in scale.
//!
//! *Slope.* Four bins in a row predict `h_1 - h_2` by `b (h_0 - h_3) / 3`. A linear density has `b = 1`, and clusters have `b =
//! 0`. Least squares gives b, for noise of variance `s^2` on each count:
//! `b = sum (h_1 - h_2) (h_0 - h_3) / 3 / sum ((h_0 - h_3)^2 / 9 - 2 s^2 / 9)`.
//!
//! *Clustering.* With correlation rho between any two rows of a pair, `(h_1 - h_2 - b (h_0 - h_3) / 3)^2` has the expectation
//! `N + rho (N^2 - N)`: rho is 0 where rows lie independently and 1 where all of them are in one place. Sums over all pairs, less what
//! noise adds to them, give rho. The same for pairs of pairs gives `rho'`, and `rho rho / rho'` is that of the halves of a bin.
//!
//! The part of a bin in an area then has the variance `n (1 + rho (n - 1)) a (1 - a)`.

/// Counts of the bins of a grid. The last axis varies fastest.
#[derive(Clone, Copy)]
pub(super) struct GridCounts<'a> {
    pub counts: &'a [f64],
    /// Bins along each axis.
    pub lengths: &'a [usize],
    pub noise_variance: f64,
}

/// How rows spread within a bin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WithinBinSpread {
    /// b along both axes of the plane.
    pub slope: [f64; 2],
    /// rho, from 0 to 1.
    pub clustering: f64,
}

/// The step from pairs to halves of a bin changes the clustering by no more than this factor.
const MOST_STEP: f64 = 4.0;

impl WithinBinSpread {
    /// Measures the spread along two axes.
    pub fn measure(grid: GridCounts<'_>, plane: [usize; 2]) -> Self {
        let lines = plane.map(|axis| grid.lines_along_axis(axis));
        let pairs = lines.each_ref().map(|lines| PairSplitStatistics::from_lines(lines, grid.noise_variance));
        let fours = lines.map(|lines| {
            let merged: Vec<Vec<f64>> = lines.iter().map(|line| sum_pairs(line)).collect();
            PairSplitStatistics::from_lines(&merged, 2.0 * grid.noise_variance)
        });
        let slope = pairs.map(|pairs| pairs.slope);
        // Too few rows or bins to tell: all of a bin may be in one place.
        let Some(fine) = clustering_correlation(pairs) else { return Self { slope, clustering: 1.0 } };
        let step = match clustering_correlation(fours) {
            Some(coarse) if coarse > 0.0 => (fine / coarse).clamp(1.0 / MOST_STEP, MOST_STEP),
            _ => 1.0,
        };
        Self { slope, clustering: (fine * step).min(1.0) }
    }
}

/// rho over both axes; none without rows or pairs.
fn clustering_correlation(pairs: [PairSplitStatistics; 2]) -> Option<f64> {
    let excess: f64 = pairs.iter().map(|pairs| pairs.excess).sum();
    let most: f64 = pairs.iter().map(|pairs| pairs.most).sum();
    (most > 0.0).then(|| (excess / most).clamp(0.0, 1.0))
}

impl GridCounts<'_> {
    /// The distance in the list between neighbours along an axis.
    pub fn stride(&self, axis: usize) -> usize {
        self.lengths[axis + 1..].iter().product()
    }

    /// The place of a bin along an axis.
    pub fn index_along_axis(&self, bin: usize, axis: usize) -> usize {
        bin / self.stride(axis) % self.lengths[axis]
    }

    /// How much a part of a bin, with its middle at this offset, has over the mean of the bin by the slopes of the counts. The density
    /// is nowhere below zero.
    pub fn slope_correction(&self, bin: usize, plane: [usize; 2], slope: [f64; 2], offset: [f64; 2]) -> f64 {
        let slopes = [0, 1].map(|d| {
            let (axis, stride) = (plane[d], self.stride(plane[d]));
            let place = self.index_along_axis(bin, axis);
            let before = if place > 0 { self.counts[bin - stride] } else { self.counts[bin] };
            let after = if place + 1 < self.lengths[axis] { self.counts[bin + stride] } else { self.counts[bin] };
            slope[d] * (after - before) / 2.0
        });
        let steepest = slopes[0].abs() + slopes[1].abs();
        let limit = if steepest > 0.0 { (2.0 * self.counts[bin] / steepest).clamp(0.0, 1.0) } else { 0.0 };
        limit * (slopes[0] * offset[0] + slopes[1] * offset[1])
    }

    /// Lists the counts along an axis, one list for each line of bins.
    fn lines_along_axis(&self, axis: usize) -> Vec<Vec<f64>> {
        let (stride, length) = (self.stride(axis), self.lengths[axis]);
        let starts = (0..self.counts.len()).filter(|bin| self.index_along_axis(*bin, axis) == 0);
        starts.map(|start| (0..length).map(|step| self.counts[start + step * stride]).collect()).collect()
    }
}

/// Sums over two bins each.
fn sum_pairs(line: &[f64]) -> Vec<f64> {
    line.chunks_exact(2).map(|pair| pair[0] + pair[1]).collect()
}

/// Sums over the middle pair of all four neighbours in a row.
#[derive(Debug, Clone, Copy)]
struct PairSplitStatistics {
    slope: f64,
    /// The squares of what a slope leaves, less noise and `N`.
    excess: f64,
    /// The excess of pairs with all rows in one bin, `N^2 - N`.
    most: f64,
}

impl PairSplitStatistics {
    fn from_lines(lines: &[Vec<f64>], noise_variance: f64) -> Self {
        let (mut products, mut squares) = (0.0, 0.0);
        for four in lines.iter().flat_map(|line| line.windows(4)) {
            let (difference, outer) = (four[1] - four[2], (four[0] - four[3]) / 3.0);
            products += difference * outer;
            squares += outer * outer - 2.0 * noise_variance / 9.0;
        }
        let slope = if squares > 0.0 { (products / squares).clamp(0.0, 1.0) } else { 0.0 };
        let noise = 2.0 * noise_variance * (1.0 + slope * slope / 9.0);
        let (mut excess, mut most) = (0.0, 0.0);
        for four in lines.iter().flat_map(|line| line.windows(4)) {
            let left = four[1] - four[2] - slope * (four[0] - four[3]) / 3.0;
            let rows = four[1] + four[2];
            excess += left * left - noise - rows;
            most += rows * rows - 2.0 * noise_variance - rows;
        }
        Self { slope, excess, most }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};

    /// Rows in a grid of 24 x 24 bins.
    fn counted(rows: impl Iterator<Item = [f64; 2]>) -> Vec<f64> {
        let mut counts = vec![0.0; 24 * 24];
        rows.for_each(|[x, y]| counts[(24.0 * x) as usize * 24 + (24.0 * y) as usize] += 1.0);
        counts
    }

    fn measured(counts: &[f64]) -> WithinBinSpread {
        WithinBinSpread::measure(GridCounts { counts, lengths: &[24, 24], noise_variance: 0.0 }, [0, 1])
    }

    #[test]
    fn independent_rows_do_not_cluster() {
        let mut random = rand_pcg::Pcg64::seed_from_u64(5);
        let even = measured(&counted((0..60_000).map(|_| [random.random(), random.random()])));
        assert!(even.clustering < 2e-3, "{even:?}");
    }

    /// A density that rises along x has a slope of one there.
    #[test]
    fn a_slope_is_found() {
        let mut random = rand_pcg::Pcg64::seed_from_u64(6);
        let rising = measured(&counted((0..2_000_000).map(|_| [random.random::<f64>().sqrt(), random.random()])));
        assert!((rising.slope[0] - 1.0).abs() < 0.2 && rising.clustering < 1e-3, "{rising:?}");
    }

    /// Stations: 20 places with 2,500 rows each.
    #[test]
    fn rows_in_one_place_cluster() {
        let mut random = rand_pcg::Pcg64::seed_from_u64(7);
        let places: Vec<[f64; 2]> = (0..20).map(|_| [random.random(), random.random()]).collect();
        let stations = measured(&counted((0..50_000).map(|row| places[row % 20])));
        assert!(stations.clustering > 0.9, "{stations:?}");
    }

    /// Noise adds nothing that is not taken off.
    #[test]
    fn noise_is_no_clustering() {
        let mut random = rand_pcg::Pcg64::seed_from_u64(8);
        let mut counts = counted((0..200_000).map(|_| [random.random(), random.random()]));
        // Uniform from -60 to 60: variance 1200.
        counts.iter_mut().for_each(|count| *count += random.random_range(-60.0..60.0));
        let grid = GridCounts { counts: &counts, lengths: &[24, 24], noise_variance: 1200.0 };
        let found = WithinBinSpread::measure(grid, [0, 1]);
        assert!(found.clustering < 5e-3, "{found:?}");
        let blind = WithinBinSpread::measure(GridCounts { noise_variance: 0.0, ..grid }, [0, 1]);
        assert!(blind.clustering > 5e-3, "{blind:?}");
    }

    /// Without four bins in a row, or without rows, all of a bin may be in one place.
    #[test]
    fn nothing_known_is_the_worst_case() {
        for (counts, lengths) in [(vec![5.0; 9], [3, 3]), (vec![0.0; 64], [8, 8])] {
            let grid = GridCounts { counts: &counts, lengths: &lengths, noise_variance: 1.0 };
            assert_eq!(WithinBinSpread::measure(grid, [0, 1]), WithinBinSpread { slope: [0.0; 2], clustering: 1.0 });
        }
    }
}
