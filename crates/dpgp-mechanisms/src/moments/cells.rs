//! Sums and counts of records in nested cells of the box: the design, its sensitivity, and the noise.

use nalgebra::DVector;
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use super::whole::add_rounded_noise;
use dpgp_gp::cells::{CellTree, NoisyCellLevel, NoisyCellSums};
use dpgp_gp::kernel::Kernel;
use dpgp_gp::sites::{Lattice, LatticeCountsAndSums, PublicReferenceModel};
use dpgp_noise::PrivacyError;
use dpgp_number::{OutOfRangeError, Positive};

/// Levels of the tree at most: `2^13` cells are as many as a posterior works with.
const DEPTH: usize = 13;
/// Levels with less weight than this are left out.
const LEAST_WEIGHT: f64 = 0.01;
/// Lengthscales of the prior that a release is designed for, from that of the longest side on, each half of the one before.
const LENGTHSCALES: i32 = 6;
/// The standard deviations of that prior, over the bound on targets: of the process, of the mean, and of a target about the process.
const PROCESS_SD: f64 = 1.0 / 6.0;
const MEAN_SD: f64 = 0.5;
const TARGET_SD: f64 = 1.0 / 3.0;
/// The variance of what each cell of the finest level has of its own, over that of the process, for one input and for more. In the plane,
/// rows stand at places with means of their own, such as stations. Along one input they seldom do, and a design for such means gives most
/// of its weight to 8192 cells: on smooth functions, its errors are up to three times as large.
const OWN: [f64; 2] = [0.0, 0.5];
/// Points along each input in a cell, by the number of inputs, for mean covariances.
const POINTS: [i32; 4] = [64, 32, 16, 8];
/// Relative excess of the noise, which covers a dozen roundings.
const EXCESS: f64 = 1e-14;

/// Which nested cells are released, with which weights. Everything in it is public.
///
/// Released are, for each level k of a tree of cells with weight `a_k` (`sum a_k = 1`) and each of its cells c, the sum of the targets
/// `b_kc` and the number of rows `N_kc`, and `q = sum y^2`.
///
/// Obligation: one record (x, y) is replaced by any other, `|y| <= R`, inputs anywhere. The vector
/// `(sqrt(a_k) b_kc, R sqrt(a_k) N_kc, q / R)` moves by at most `D = 2 R`.
///
/// *Proof.* Cells are nested, so the records (x, y) and (x', y') share their cells at all levels up to one, and at none below. Let W
/// be the weight of the levels at which they share one, in [0, 1]. The squared distance is
///
/// ```text
/// (y^2 + y'^2) - 2 y y' W + 2 R^2 (1 - W) + (y^2 - y'^2)^2 / R^2,
/// ```
///
/// which is linear in W, so that its maximum is at an endpoint. At `W = 0` it is convex in `y^2` and in `y'^2`, and at the corners
/// `2 R^2`, `4 R^2` and `4 R^2`. At `W = 1`, let `|y - y'| = R (2 - h)` with `0 <= h <= 2`, so that `|y + y'| <= R h`: it is at most
/// `R^2 (2 - h)^2 (1 + h^2) = R^2 (4 - h (4 - h - h (2 - h)^2))`, and `h (2 - h)^2 <= 32 / 27 < 2 <= 4 - h`. QED
///
/// Removing or adding a record moves them by at most `R^2 + R^2 + R^2`, squared, so that the number of rows, with the weight
/// `R^2`, can be released with them. It does not move where a record is replaced.
#[derive(Debug, Clone)]
pub struct NestedCellsDesign {
    /// The cells.
    pub tree: CellTree,
    /// `a_k`, one for each level of the tree.
    pub weights: Vec<f64>,
    /// R.
    pub bound: f64,
    /// The expected mean squared error under the prior of the model, which the design does not use.
    pub risk: f64,
    /// Whether the number of rows is released with them, because it is private.
    pub counted: bool,
}

impl NestedCellsDesign {
    /// The weights of least expected error for noise of `sigma` sensitivities.
    ///
    /// The design is for rows that are spread evenly and a stationary prior whose lengthscales are those of a grid from the longest side on.
    /// Then means over cells are known by their differences from the cell above (Haar coefficients). Those of level k have the variance
    /// `l_k`, and the noise `s^2 / u_k` on sums, where u is the sum of the weights from k on, over the number of cells:
    ///
    /// ```text
    /// risk(u) = sum_k m_k l_k / (1 + l_k n^2 u_k / (s^2 + n t^2 u_k)),   sum_k m_k u_k = 1,
    /// ```
    ///
    /// with `m_k` differences at level k and the variance `t^2` of a target. It is convex, and least where
    /// `s^2 + u_k (n t^2 + l_k n^2) = l_k n s / mu` for a mu that a bisection finds, or `u_k` is zero.
    ///
    /// # Errors
    /// [`PrivacyError`] without noise, or if the bound on targets is not positive.
    pub fn with_least_risk(
        reference: &PublicReferenceModel,
        lattice: Lattice,
        sigma: f64,
    ) -> Result<Self, PrivacyError> {
        let bound = Positive::new(reference.bound)?.get();
        let s = Positive::new(sigma)?.get() * 2.0 * bound;
        let dimensions = lattice.dimensions();
        let lengthscales = reference.kernel.shortest_lengthscale_per_input();
        let tree = CellTree::new(lattice, &lengthscales, DEPTH);
        let differences = CellContrastVariances::new(&tree, &StationaryPrior::vague_for_design(reference));
        let shares = differences.least_risk_weights(reference.rows as f64, s / bound);
        // A weight of its own for each level: the share of a difference less that of the next, for each cell.
        let mut weights: Vec<f64> = (0..tree.level_count())
            .map(|level| {
                let next = shares.get(level + 1).copied().unwrap_or(0.0);
                (shares[level] - next) * tree.cell_count(level) as f64
            })
            .collect();
        weights.iter_mut().filter(|weight| **weight < LEAST_WEIGHT).for_each(|weight| *weight = 0.0);
        let total: f64 = weights.iter().sum();
        let kept: Vec<usize> = (0..weights.len()).filter(|level| weights[*level] > 0.0).collect();
        let expected = CellContrastVariances::new(&tree, &StationaryPrior::from_reference(reference));
        let risk = expected.risk(&weights, total, reference.rows as f64, s / bound) * bound * bound;
        let halvings = kept.iter().map(|level| tree.halvings(*level).to_vec()).collect();
        let tree = CellTree::from_halvings(lattice, halvings)
            .ok_or(OutOfRangeError::new("a number of inputs that nested cells support", dimensions as f64))?;
        let weights = kept.iter().map(|level| weights[*level] / total).collect();
        Ok(Self { tree, weights, bound, risk, counted: false })
    }

    /// One grid whose inputs are halved so often, for comparison. Its risk is not computed: it is at most the squared bound.
    ///
    /// # Errors
    /// [`PrivacyError`] if the lattice has no such cells.
    pub fn with_one_grid(bound: f64, lattice: Lattice, halvings: u32) -> Result<Self, PrivacyError> {
        let tree = CellTree::from_halvings(lattice, vec![vec![halvings; lattice.dimensions()]])
            .ok_or(OutOfRangeError::new("a number of halvings that the lattice allows", f64::from(halvings)))?;
        Ok(Self { tree, weights: vec![1.0], bound, risk: bound * bound, counted: false })
    }

    /// D.
    pub fn sensitivity(&self) -> f64 {
        2.0 * self.bound
    }

    /// How many numbers are released.
    pub fn released_number_count(&self) -> usize {
        let cells: usize = (0..self.tree.level_count()).map(|level| self.tree.cell_count(level)).sum();
        2 * cells + 1 + usize::from(self.counted)
    }

    /// The noise of `sigma` sensitivities.
    pub fn noise(&self, sigma: f64) -> NestedCellsNoise {
        let scale = sigma * self.sensitivity() * (1.0 + EXCESS);
        let sums: Vec<f64> = self.weights.iter().map(|weight| scale / weight.sqrt()).collect();
        NestedCellsNoise {
            counts: sums.iter().map(|sd| sd / self.bound).collect(),
            sums,
            squares: scale * self.bound,
            rows: self.counted.then_some(scale / self.bound),
            scale,
        }
    }
}

/// A stationary prior of the function, in units of the bound on targets.
struct StationaryPrior {
    /// Correlations of the process; its covariance is their mean times the variance.
    correlations: Vec<Box<dyn Kernel>>,
    /// The variance of the process about its mean.
    variance: f64,
    /// The variance of what each cell of the finest level has of its own.
    own: f64,
    /// The variance of the mean of the process.
    mean: f64,
    /// The variance of a target about the process.
    target: f64,
}

impl StationaryPrior {
    /// The prior of a design: vague, so that it suits what the evidence of the release will choose.
    fn vague_for_design(reference: &PublicReferenceModel) -> Self {
        let shortest = reference.kernel.shortest_lengthscale();
        let stretches = (0..LENGTHSCALES).map(|halved| 0.5f64.powi(halved) / shortest);
        let variance = PROCESS_SD * PROCESS_SD;
        Self {
            correlations: stretches.map(|stretch| reference.kernel.correlation_kernel(stretch)).collect(),
            variance,
            own: OWN[usize::from(reference.kernel.shortest_lengthscale_per_input().len() > 1)] * variance,
            mean: MEAN_SD * MEAN_SD,
            target: TARGET_SD * TARGET_SD,
        }
    }

    /// The prior of the model.
    fn from_reference(reference: &PublicReferenceModel) -> Self {
        let square = reference.bound * reference.bound;
        Self {
            correlations: vec![reference.kernel.correlation_kernel(1.0)],
            variance: reference.kernel.variance() / square,
            own: 0.0,
            mean: reference.bias / square,
            target: reference.noise_variance / square,
        }
    }
}

/// Prior variances of the contrasts of a cell tree: the mean of the function over a cell less that over its parent.
struct CellContrastVariances {
    /// How many there are at each level.
    counts: Vec<f64>,
    /// Their variances a priori, which do not rise.
    variances: Vec<f64>,
    /// The variance that the finest level leaves inside its cells.
    within: f64,
    /// The variance of a target about the process.
    target: f64,
}

impl CellContrastVariances {
    fn new(tree: &CellTree, prior: &StationaryPrior) -> Self {
        let finest = tree.cell_count(tree.level_count() - 1) as f64;
        let (mut counts, mut variances, mut before) = (Vec::new(), Vec::new(), (0.0, 0.0));
        for level in 0..tree.level_count() {
            let (_, lengths) = tree.corner_and_lengths(level, 0);
            let within = prior.correlations.iter().map(|kernel| mean_cell_covariance(kernel.as_ref(), &lengths));
            let alike = within.sum::<f64>() / prior.correlations.len() as f64;
            let cells = tree.cell_count(level) as f64;
            let of_mean = prior.variance * alike + prior.own * cells / finest + prior.mean;
            counts.push(cells - before.0);
            let least = variances.last().copied().unwrap_or(f64::INFINITY);
            variances.push(((of_mean - before.1) / (cells - before.0)).clamp(0.0, least));
            before = (cells, of_mean);
        }
        let within = prior.variance + prior.own + prior.mean - before.1;
        Self { counts, variances, within, target: prior.target }
    }

    /// `u_k` of least risk, for noise `s` in units of the bound.
    fn least_risk_weights(&self, rows: f64, s: f64) -> Vec<f64> {
        let (mut low, mut high) = (1e-60, 1e60);
        for _ in 0..400 {
            let middle = f64::sqrt(low * high);
            let total: f64 =
                self.counts.iter().zip(self.weights_for_multiplier(middle, rows, s)).map(|(m, u)| m * u).sum();
            if total > 1.0 { low = middle } else { high = middle }
        }
        self.weights_for_multiplier(high, rows, s)
    }

    /// `u_k` that minimise the risk for a Lagrange multiplier of the total weight.
    fn weights_for_multiplier(&self, multiplier: f64, rows: f64, s: f64) -> Vec<f64> {
        let target = rows * self.target;
        let own = self.variances.iter();
        own.map(|l| (l * rows * s / multiplier - s * s).max(0.0) / (target + l * rows * rows)).collect()
    }

    /// The risk for weights of the levels, which add up to `total`.
    fn risk(&self, weights: &[f64], total: f64, rows: f64, s: f64) -> f64 {
        let target = rows * self.target;
        let mut cells = vec![0.0; weights.len()];
        let mut all = 0.0;
        for (level, count) in self.counts.iter().enumerate() {
            all += count;
            cells[level] = all;
        }
        let (mut share, mut risk) = (0.0, self.within);
        for level in (0..weights.len()).rev() {
            share += weights[level] / total / cells[level];
            let seen = rows * rows * share / (s * s + target * share);
            risk += self.counts[level] * self.variances[level] / (1.0 + self.variances[level] * seen);
        }
        risk
    }
}

/// The mean covariance of two points spread evenly in a cell.
fn mean_cell_covariance(kernel: &dyn Kernel, lengths: &[f64]) -> f64 {
    let points = POINTS[lengths.len().clamp(1, POINTS.len()) - 1];
    let (mut total, mut all) = (0.0, 0.0);
    let side = (2 * points - 1) as usize;
    let zero = vec![0.0; lengths.len()];
    for place in 0..side.pow(lengths.len() as u32) {
        let (mut rest, mut weight, mut apart) = (place, 1.0, Vec::with_capacity(lengths.len()));
        for length in lengths {
            let step = (rest % side) as i32 - points + 1;
            weight *= f64::from(points - step.abs());
            // Half a step apart, so that no point is paired with itself.
            apart.push((f64::from(step) - 0.5) / f64::from(points) * length);
            rest /= side;
        }
        total += weight * kernel.value(&apart, &zero);
        all += weight;
    }
    total / all
}

/// Standard deviations of independent noise on sums and counts of cells.
///
/// Obligation: with `s = sigma D` a number of weight w gets at least `s / sqrt(w)`, so that in units of the noise the release moves by
/// at most `1 / sigma` ([`NestedCellsDesign`]).
#[derive(Debug, Clone, PartialEq)]
pub struct NestedCellsNoise {
    /// On the sums of each level.
    pub sums: Vec<f64>,
    /// On the counts of each level.
    pub counts: Vec<f64>,
    /// On the sum of squared targets.
    pub squares: f64,
    /// On the number of rows; none if it is public.
    pub rows: Option<f64>,
    /// On a number of weight 1: `s`.
    pub scale: f64,
}

/// Sums and counts of rows in whole numbers: exact, in any order of the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntegerCellSums {
    rows: u64,
    /// The sums of targets, by level and cell, in units of the targets.
    sums: Vec<Vec<i128>>,
    counts: Vec<Vec<i128>>,
    squares: i128,
}

impl IntegerCellSums {
    /// Of rows.
    pub fn new(design: &NestedCellsDesign, rows: &LatticeCountsAndSums) -> Self {
        let tree = &design.tree;
        let empty: Vec<Vec<i128>> = (0..tree.level_count()).map(|level| vec![0; tree.cell_count(level)]).collect();
        let (mut sums, mut counts) = (empty.clone(), empty);
        for cell in &rows.cells {
            let coordinates = rows.lattice.coordinates(cell.place);
            for level in 0..tree.level_count() {
                let place = tree.cell_index(level, &coordinates);
                sums[level][place] += i128::from(cell.targets);
                counts[level][place] += i128::from(cell.rows);
            }
        }
        Self { rows: rows.rows, sums, counts, squares: rows.squares }
    }

    /// All numbers in the order of a file, for this unit of targets; never to be shown.
    pub fn to_real_units(&self, unit: f64) -> Vec<f64> {
        let mut numbers = Vec::new();
        for (sums, counts) in self.sums.iter().zip(&self.counts) {
            numbers.extend(sums.iter().map(|sum| *sum as f64 * unit));
            numbers.extend(counts.iter().map(|count| *count as f64));
        }
        numbers.push(self.squares as f64 * unit * unit);
        numbers
    }

    /// With exactly rounded noise on each number, for this unit of targets.
    ///
    /// Obligation: the noise is that of the design, and sums of whole numbers have no rounding, so that this is a function of a Gaussian
    /// mechanism with `mu = 1 / sigma`. The number of rows gets noise if the noise has an entry for it; otherwise it is public.
    ///
    /// # Errors
    /// [`OutOfRangeError`] for noise beyond 128 bits, or of zero.
    pub fn release(
        &self,
        design: &NestedCellsDesign,
        noise: &NestedCellsNoise,
        unit: f64,
        source: &mut impl Rng,
    ) -> Result<ReleasedCellSums, OutOfRangeError> {
        let (rows, rows_sd) = match noise.rows {
            Some(sd) => (add_rounded_noise(&[i128::from(self.rows)], &[sd], 1.0, source)?[0].max(1), sd),
            None => (i128::from(self.rows), 0.0),
        };
        let mut levels = Vec::with_capacity(self.sums.len());
        for level in 0..self.sums.len() {
            let (sums_sd, counts_sd) = (noise.sums[level], noise.counts[level]);
            let cells = self.sums[level].len();
            let sums = add_rounded_noise(&self.sums[level], &vec![sums_sd; cells], unit, source)?;
            let counts = add_rounded_noise(&self.counts[level], &vec![counts_sd; cells], 1.0, source)?;
            levels.push(ReleasedCellLevel {
                halvings: design.tree.halvings(level).to_vec(),
                sums: sums.into_iter().map(|sum| sum as f64 * unit).collect(),
                sums_sd,
                counts: counts.into_iter().map(|count| count as f64).collect(),
                counts_sd,
            });
        }
        let squares = add_rounded_noise(&[self.squares], &[noise.squares], unit * unit, source)?[0];
        Ok(ReleasedCellSums {
            rows: u64::try_from(rows).unwrap_or(u64::MAX),
            rows_sd,
            levels,
            squares: squares as f64 * unit * unit,
            squares_sd: noise.squares,
        })
    }

    /// A simulation of a release, with floating-point noise of a seeded stream times `times` (0 for none).
    pub fn simulate_release(
        &self,
        design: &NestedCellsDesign,
        noise: &NestedCellsNoise,
        unit: f64,
        times: f64,
        stream: &mut impl Rng,
    ) -> ReleasedCellSums {
        let mut draw = |sd: f64| -> f64 {
            let normal: f64 = StandardNormal.sample(stream);
            times * sd * normal
        };
        let rows_sd = noise.rows.unwrap_or(0.0);
        let rows = (self.rows as f64 + draw(rows_sd)).round().max(1.0) as u64;
        let mut levels = Vec::with_capacity(self.sums.len());
        for level in 0..self.sums.len() {
            let (sums_sd, counts_sd) = (noise.sums[level], noise.counts[level]);
            let sums = self.sums[level].iter().map(|sum| *sum as f64 * unit + draw(sums_sd)).collect();
            let counts = self.counts[level].iter().map(|count| *count as f64 + draw(counts_sd)).collect();
            let halvings = design.tree.halvings(level).to_vec();
            levels.push(ReleasedCellLevel { halvings, sums, sums_sd, counts, counts_sd });
        }
        let squares = self.squares as f64 * unit * unit + draw(noise.squares);
        ReleasedCellSums { rows, rows_sd, levels, squares, squares_sd: noise.squares }
    }
}

/// Released sums and counts of nested cells, as a file holds them; in units of the model's targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasedCellSums {
    /// The number of rows.
    pub rows: u64,
    /// The standard deviation of its noise; zero where it is public.
    pub rows_sd: f64,
    /// The levels, from coarse to fine.
    pub levels: Vec<ReleasedCellLevel>,
    /// The sum of squared targets.
    pub squares: f64,
    /// The standard deviation of its noise.
    pub squares_sd: f64,
}

/// The cells of one level; the last input moves fastest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasedCellLevel {
    /// How often each input is halved.
    pub halvings: Vec<u32>,
    /// The sums of targets.
    pub sums: Vec<f64>,
    /// The standard deviation of the noise on each.
    pub sums_sd: f64,
    /// The numbers of rows.
    pub counts: Vec<f64>,
    /// The standard deviation of the noise on each.
    pub counts_sd: f64,
}

/// Files with more cells were not written by this program.
const MOST_CELLS: usize = 1 << 16;

impl ReleasedCellSums {
    /// The tree of a lattice, if these are sums and counts of nested cells of it: every number is finite and noise is positive.
    pub fn matching_tree(&self, lattice: Lattice) -> Option<CellTree> {
        let halvings = self.levels.iter().map(|level| level.halvings.clone()).collect();
        let tree = CellTree::from_halvings(lattice, halvings)?;
        let sound = self.levels.iter().enumerate().all(|(place, level)| {
            let cells = tree.cell_count(place);
            let numbers = level.sums.iter().chain(&level.counts);
            cells <= MOST_CELLS
                && (level.sums.len(), level.counts.len()) == (cells, cells)
                && numbers.clone().all(|number| number.is_finite())
                && Positive::new(level.sums_sd).is_ok()
                && Positive::new(level.counts_sd).is_ok()
        });
        let others = (1..=1 << 48).contains(&self.rows)
            && (0.0..f64::INFINITY).contains(&self.rows_sd)
            && self.squares.is_finite()
            && Positive::new(self.squares_sd).is_ok();
        (sound && others).then_some(tree)
    }

    /// What a posterior needs.
    pub fn to_cell_sums(&self) -> NoisyCellSums {
        let levels = self.levels.iter().map(|level| NoisyCellLevel {
            sums: DVector::from_column_slice(&level.sums),
            counts: DVector::from_column_slice(&level.counts),
            sums_sd: level.sums_sd,
            counts_sd: level.counts_sd,
        });
        NoisyCellSums { rows: self.rows as f64, squares: self.squares, levels: levels.collect() }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;
    use dpgp_gp::kernel::BoxKernel;
    use dpgp_gp::sites::LatticeCellCountAndSum;

    fn reference(rows: usize, dimensions: usize) -> PublicReferenceModel {
        let kernel = toml::from_str("matern = { smoothness = \"3/2\", variance = 1.0, lengthscales = [0.2] }").unwrap();
        PublicReferenceModel {
            rows,
            bound: 30.0,
            bias: 1.0,
            kernel: BoxKernel::new(&kernel, vec![1.0; dimensions]).unwrap(),
            noise_variance: 1.0,
            concentration: 10.0,
        }
    }

    fn design(rows: usize) -> NestedCellsDesign {
        NestedCellsDesign::with_least_risk(&reference(rows, 2), Lattice::for_inputs(2), 4.68).unwrap()
    }

    /// More rows are worth more cells and less error; weights add up to 1.
    #[test]
    fn cells_grow_with_the_rows() {
        let designs = [5_000, 20_000, 100_000, 500_000].map(design);
        for pair in designs.windows(2) {
            let finest = |design: &NestedCellsDesign| design.tree.cell_count(design.tree.level_count() - 1);
            assert!(finest(&pair[0]) < finest(&pair[1]) && pair[0].risk > pair[1].risk);
        }
        for design in &designs {
            assert!((design.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(design.weights.iter().all(|weight| *weight >= LEAST_WEIGHT));
        }
        // Some 2^5 and some 2^13 cells, as a search over single grids finds.
        assert!((5..=6).contains(&designs[0].tree.cell_count(designs[0].tree.level_count() - 1).ilog2()));
        assert!((12..=13).contains(&designs[3].tree.cell_count(designs[3].tree.level_count() - 1).ilog2()));
    }

    /// Predicting the prior mean errs by the variances of the process and of its mean, 1 + 1, and no release is expected to be worse. The
    /// weights do not depend on these variances.
    #[test]
    fn the_risk_is_that_of_the_model() {
        for rows in [5_000, 500_000] {
            let vague = PublicReferenceModel { bias: 100.0, noise_variance: 100.0, ..reference(rows, 2) };
            let vague = NestedCellsDesign::with_least_risk(&vague, Lattice::for_inputs(2), 4.68).unwrap();
            let design = design(rows);
            assert!(design.risk < 2.0 && design.risk < vague.risk, "{} {}", design.risk, vague.risk);
            assert_eq!(design.weights, vague.weights);
        }
    }

    /// No other weights of the same levels have less risk: the derivative along the simplex is zero, by differences.
    #[test]
    fn the_weights_are_those_of_least_risk() {
        let (reference, rows, s) = (reference(20_000, 2), 20_000.0, 4.68 * 60.0);
        let tree = CellTree::new(Lattice::for_inputs(2), &reference.kernel.shortest_lengthscale_per_input(), DEPTH);
        let differences = CellContrastVariances::new(&tree, &StationaryPrior::vague_for_design(&reference));
        let shares = differences.least_risk_weights(rows, s / 30.0);
        let total: f64 = differences.counts.iter().zip(&shares).map(|(count, share)| count * share).sum();
        assert!((total - 1.0).abs() < 1e-9);
        let risk = |shares: &[f64]| -> f64 {
            let (target, s) = (rows * differences.target, s / 30.0);
            let each = differences.counts.iter().zip(&differences.variances).zip(shares);
            each.map(|((count, l), u)| count * l / (1.0 + l * rows * rows * u / (s * s + target * u))).sum()
        };
        let best = risk(&shares);
        for (from, to) in (0..shares.len()).flat_map(|i| (0..shares.len()).map(move |j| (i, j))) {
            let step = 1e-4 / differences.counts[from];
            if from == to || shares[from] < step {
                continue;
            }
            let mut other = shares.clone();
            other[from] -= step;
            other[to] += step * differences.counts[from] / differences.counts[to];
            assert!(risk(&other) >= best - 1e-12, "{from} {to}");
        }
    }

    /// The mean of `exp(-r)` for two points of the unit interval is `2 / e`.
    #[test]
    fn covariances_are_averaged_over_a_cell() {
        let kernel = toml::from_str("matern = { smoothness = \"1/2\", variance = 1.0, lengthscales = [1.0] }").unwrap();
        let kernel = BoxKernel::new(&kernel, vec![1.0]).unwrap().correlation_kernel(1.0);
        let found = mean_cell_covariance(kernel.as_ref(), &[1.0]);
        assert!((found - 2.0 * (-1.0f64).exp()).abs() < 1e-3, "{found}");
    }

    fn counted(rows: &[(usize, i64)], lattice: Lattice) -> LatticeCountsAndSums {
        let cells =
            rows.iter().map(|(place, target)| LatticeCellCountAndSum { place: *place, rows: 1, targets: *target });
        let squares = rows.iter().map(|(_, target)| i128::from(*target).pow(2)).sum();
        LatticeCountsAndSums { lattice, rows: rows.len() as u64, cells: cells.collect(), squares }
    }

    /// Whatever replaces a record, the release moves by at most D, and records that reach it exist.
    #[test]
    fn a_replaced_record_moves_by_at_most_twice_the_bound() {
        let lattice = Lattice::new(16, 2);
        let halvings = vec![vec![0, 1], vec![1, 1], vec![2, 4]];
        let tree = CellTree::from_halvings(lattice, halvings).unwrap();
        let design = NestedCellsDesign { tree, weights: vec![0.2, 0.3, 0.5], bound: 8.0, risk: 0.0, counted: false };
        let weighed = |row: (usize, i64)| -> DVector<f64> {
            let whole = IntegerCellSums::new(&design, &counted(&[row], lattice));
            let mut all = Vec::new();
            for (level, weight) in design.weights.iter().enumerate() {
                all.extend(whole.sums[level].iter().map(|sum| *sum as f64 * weight.sqrt()));
                all.extend(whole.counts[level].iter().map(|count| *count as f64 * 8.0 * weight.sqrt()));
            }
            all.push(whole.squares as f64 / 8.0);
            DVector::from_vec(all)
        };
        let mut most = 0.0f64;
        for place in [0, 1, 16, 37, 128, 255] {
            for (y, z) in (-8..=8).flat_map(|y| (-8..=8).map(move |z| (y, z))) {
                most = most.max((weighed((0, y)) - weighed((place, z))).norm());
            }
            for y in -8..=8 {
                // One that is left out, with the number of rows.
                assert!((weighed((place, y)).norm_squared() + 64.0).sqrt() <= design.sensitivity());
            }
        }
        assert!(most <= design.sensitivity() * (1.0 + 1e-12) && most > 0.999 * design.sensitivity(), "{most}");
    }

    /// Noise has the size that a level's weight asks for, on each number, and exact sums are those of rows.
    #[test]
    fn the_release_has_the_noise_that_it_states() {
        let lattice = Lattice::new(16, 2);
        let tree = CellTree::from_halvings(lattice, vec![vec![1, 0], vec![4, 4]]).unwrap();
        let design = NestedCellsDesign { tree, weights: vec![0.25, 0.75], bound: 2.0, risk: 0.0, counted: true };
        let noise = design.noise(3.0);
        // s = 12: 12 / sqrt(1/4), over R = 2; s R; s / R.
        assert!((noise.sums[0] - 24.0).abs() < 1e-9 && (noise.counts[0] - 12.0).abs() < 1e-9);
        assert!((noise.squares - 24.0).abs() < 1e-9 && noise.rows.is_some_and(|sd| (sd - 6.0).abs() < 1e-9));
        let whole = IntegerCellSums::new(&design, &counted(&[(0, 5), (255, -3), (255, 1)], lattice));
        let mut stream = Pcg64::seed_from_u64(5);
        let none = whole.simulate_release(&design, &noise, 0.5, 0.0, &mut stream);
        assert_eq!((&none.levels[0].sums, &none.levels[0].counts), (&vec![2.5, -1.0], &vec![1.0, 2.0]));
        assert_eq!((none.squares, none.rows), (35.0 * 0.25, 3));
        let released = whole.release(&design, &noise, 0.5, &mut stream).unwrap();
        let fine = &released.levels[1];
        let spread = |numbers: &[f64]| (numbers.iter().map(|x| x * x).sum::<f64>() / 256.0).sqrt();
        // Within five standard errors of 256 draws.
        assert!((spread(&fine.sums) / noise.sums[1] - 1.0).abs() < 0.22);
        assert!((spread(&fine.counts) / noise.counts[1] - 1.0).abs() < 0.22);
        // Level by level, as a file holds them.
        let real = whole.to_real_units(0.5);
        assert_eq!((&real[..4], real.len()), (&[2.5, -1.0, 1.0, 2.0][..], 2 * (2 + 256) + 1));
        assert!(released.matching_tree(lattice).is_some() && released.matching_tree(Lattice::new(8, 2)).is_none());
        let mut odd = released.clone();
        odd.levels[1].counts_sd = 0.0;
        assert!(odd.matching_tree(lattice).is_none());
        odd = released.clone();
        odd.levels[0].sums.pop();
        assert!(odd.matching_tree(lattice).is_none());
    }
}
