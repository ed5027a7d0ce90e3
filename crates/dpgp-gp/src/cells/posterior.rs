//! The posterior of a process given noisy sums and counts of nested cells.

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use super::{CellTree, CellTreePrecision};
use crate::kernel::{BoxKernel, Kernel};
use crate::sites::FunctionAndTargetPredictions;
use crate::{PredictiveMixture, WeightedNormals};
use dpgp_linalg::{Cholesky, LinalgError, transposed_product};

/// Noisy sums and counts of nested cells, from coarse to fine.
#[derive(Debug, Clone, PartialEq)]
pub struct NoisyCellSums {
    /// The number of rows, which may have noise.
    pub rows: f64,
    /// The sum of squared targets, which has noise.
    pub squares: f64,
    /// One for each level of the tree.
    pub levels: Vec<NoisyCellLevel>,
}

/// Noisy sums and counts of the cells of one level.
#[derive(Debug, Clone, PartialEq)]
pub struct NoisyCellLevel {
    /// The sums of the targets.
    pub sums: DVector<f64>,
    /// The numbers of rows.
    pub counts: DVector<f64>,
    /// The standard deviation of the noise on each sum.
    pub sums_sd: f64,
    /// The same on each count.
    pub counts_sd: f64,
}

impl NoisyCellSums {
    /// Joins the finest cells in pairs; `None` if the box is one cell. A joined cell has the noise variance of both, and two noisy
    /// numbers of the same cell are averaged by their precision.
    fn merge_finest_cells(&self, tree: &CellTree) -> Option<(CellTree, Self)> {
        let finest = tree.level_count() - 1;
        let (fine, before) = (tree.halvings(finest), finest.checked_sub(1).map(|level| tree.halvings(level)));
        let joinable = |input: &usize| fine[*input] > before.map_or(0, |before| before[*input]);
        let input = (0..fine.len()).filter(joinable).max_by_key(|input| fine[*input])?;
        let mut target = fine.to_vec();
        target[input] -= 1;
        let pair = CellTree::from_halvings(tree.lattice(), vec![target.clone(), fine.to_vec()])?;
        let joined = self.levels.last()?.merge_cell_pairs(&pair);
        let mut halvings: Vec<Vec<u32>> = (0..finest).map(|level| tree.halvings(level).to_vec()).collect();
        let mut levels = self.levels[..finest].to_vec();
        if halvings.last() == Some(&target) {
            let own = levels.pop()?;
            levels.push(own.average_by_precision(&joined));
        } else {
            halvings.push(target);
            levels.push(joined);
        }
        let tree = CellTree::from_halvings(tree.lattice(), halvings)?;
        Some((tree, Self { levels, ..self.clone() }))
    }
}

impl NoisyCellLevel {
    /// Sums over the coarser cells of `pair`, a tree of two levels of which the finer is this one.
    fn merge_cell_pairs(&self, pair: &CellTree) -> Self {
        let mut joined = Self {
            sums: DVector::zeros(pair.cell_count(0)),
            counts: DVector::zeros(pair.cell_count(0)),
            sums_sd: self.sums_sd * std::f64::consts::SQRT_2,
            counts_sd: self.counts_sd * std::f64::consts::SQRT_2,
        };
        for cell in 0..self.sums.len() {
            let into = pair.ancestor(0, 1, cell);
            joined.sums[into] += self.sums[cell];
            joined.counts[into] += self.counts[cell];
        }
        joined
    }

    /// The average with other noisy numbers of the same cells, weighted by precision. The noise on sums and on counts is in one proportion.
    fn average_by_precision(&self, other: &Self) -> Self {
        let [own, others] = [self, other].map(|level| level.sums_sd.powi(-2));
        let share = own / (own + others);
        let narrower = share.sqrt();
        Self {
            sums: &self.sums * share + &other.sums * (1.0 - share),
            counts: &self.counts * share + &other.counts * (1.0 - share),
            sums_sd: self.sums_sd * narrower,
            counts_sd: self.counts_sd * narrower,
        }
    }
}

/// What is public: the kernel, which is used for its form alone, and the bound on targets.
#[derive(Debug, Clone, PartialEq)]
pub struct CellPrior {
    /// The kernel, in units of the box.
    pub kernel: BoxKernel,
    /// R.
    pub bound: f64,
}

/// Lengthscales, from that of the longest side on, each half of the one before.
const LENGTHSCALES: i32 = 6;
/// Standard deviations of the process, as parts of the bound.
const DEVIATIONS: [f64; 5] = [0.5, 0.25, 0.125, 0.0625, 0.03125];
/// Standard deviations of what places have of their own, besides none, as parts of the bound.
const OWN_DEVIATIONS: [f64; 6] = [0.25, 0.125, 0.0625, 0.044, 0.03125, 0.022];
/// The most of the variance of the process that cells have of their own.
const MOST_OWN: f64 = 0.25;
/// The standard deviation of the mean of the process, as part of the bound.
const MEAN: f64 = 0.25;
/// The least standard deviation of a target about the mean, as part of the bound.
const LEAST_TARGET: f64 = 1.0 / 15.0;
/// Cells with fewer rows than this many standard deviations of the noise on counts are left out.
const FEWEST: f64 = 1.0;
/// The most cells of a posterior: it factorises matrices with as many rows.
const MOST: usize = 1500;
/// From this shared fraction on, all own variances are equally likely. It is that of eleven places in a cell.
const SURELY_SHARED: f64 = 1.0 / 12.0;
/// Choices with less weight are left out.
const LEAST_WEIGHT: f64 = 3e-3;
/// Evaluations of a kernel for covariances of cells.
const EVALUATIONS: usize = 1 << 18;

/// A mixture of posteriors, one for each choice of hyperparameters that the sums leave likely.
#[derive(Debug, Clone)]
pub struct CellPosterior {
    tree: CellTree,
    kernels: Vec<CellKernel>,
    kept: NonemptyCells,
    members: Vec<CellMixtureMember>,
    /// The mean of all targets.
    centre: f64,
    /// The variance of the mean of the process.
    bias: f64,
    prior: CellPrior,
}

/// Cells that hold rows, and what is known of them.
#[derive(Debug, Clone)]
struct NonemptyCells {
    /// Their places at the finest level.
    cells: Vec<usize>,
    /// Their counts.
    counts: DVector<f64>,
    /// `r = S - m N`.
    rest: DVector<f64>,
    /// `V^-1`.
    inverse: DMatrix<f64>,
    /// `s^2` and `c^2`.
    noise: [f64; 2],
}

/// A kernel by the differences of cells.
#[derive(Clone)]
struct CellKernel {
    stretch: f64,
    /// Mean correlations of two cells, by their distance along each input.
    table: Vec<f64>,
}

impl std::fmt::Debug for CellKernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CellKernel").field("stretch", &self.stretch).finish_non_exhaustive()
    }
}

/// Hyperparameters, in squared units of the targets.
#[derive(Debug, Clone, Copy)]
struct CellHyperparameters {
    kernel: usize,
    /// Of the process.
    variance: f64,
    /// That of a place's own mean.
    own: f64,
    /// That of a cell's own mean about the mean of the process over the cell: its places have means of their own, and are too few for
    /// a mean over the cell.
    of_cell: f64,
    /// What a place and its cell's own mean have in common: of the two parts the first. The second is taken as independent of the
    /// process at the place, so that all covariances are those of one normal distribution.
    of_place: f64,
    /// Of a target about both.
    target: f64,
    /// The logarithm of the prior probability of `own`, given the process.
    log_prior: f64,
}

#[derive(Debug, Clone)]
struct CellMixtureMember {
    choice: CellHyperparameters,
    weight: f64,
    factor: Cholesky,
    weights: DVector<f64>,
}

impl CellPosterior {
    /// Given sums and counts of the levels of a tree.
    ///
    /// # Errors
    /// [`LinalgError`] if a covariance cannot be factorised.
    pub fn new(tree: &CellTree, sums: &NoisyCellSums, prior: &CellPrior) -> Result<Self, LinalgError> {
        // Cells are joined in pairs until few enough of them hold rows.
        let (mut tree, mut sums) = (tree.clone(), sums.clone());
        loop {
            let counted = estimate_cell_counts(&tree, &sums);
            if counted.cells.len() <= MOST {
                return Self::from_cell_counts(tree, &sums, prior, counted);
            }
            let Some(coarser) = sums.merge_finest_cells(&tree) else {
                return Self::from_cell_counts(tree, &sums, prior, counted);
            };
            (tree, sums) = coarser;
        }
    }

    fn from_cell_counts(
        tree: CellTree,
        sums: &NoisyCellSums,
        prior: &CellPrior,
        counted: FinestCellCounts,
    ) -> Result<Self, LinalgError> {
        let bound = prior.bound;
        let levels = &sums.levels[..tree.level_count()];
        let sds: Vec<f64> = levels.iter().map(|level| level.sums_sd).collect();
        let precision = CellTreePrecision::new(&tree, &sds);
        let among = precision.submatrix(&counted.cells);
        let factor = Cholesky::new("the precision of nested cells", &among)?;
        let kept = counted.cells.len();
        let inverse = factor.solve(&DMatrix::identity(kept, kept));
        let all = precision.combine_levels(levels.iter().map(|level| &level.sums));
        let at = |h: &DVector<f64>| DVector::from_iterator(kept, counted.cells.iter().map(|cell| h[*cell]));
        let (of_sums, of_counts) = (&inverse * at(&all), &inverse * at(&counted.combined));
        let rows = sums.rows.max(1.0);
        let centre = (of_sums.sum() / rows).clamp(-bound, bound);
        let least = 0.5 * FEWEST * counted.noise;
        let cells = NonemptyCells {
            rest: &of_sums - &of_counts * centre,
            counts: of_counts.map(|count| count.max(least)),
            cells: counted.cells,
            inverse,
            noise: [precision.scale * precision.scale, counted.noise * counted.noise],
        };
        let spread = (sums.squares / rows - centre * centre).max((LEAST_TARGET * bound).powi(2));
        let grid: Vec<usize> = finest_grid_shape(&tree);
        let kernels: Vec<CellKernel> = (0..LENGTHSCALES)
            .into_par_iter()
            .map(|halved| CellKernel::new(&prior.kernel, 0.5f64.powi(halved), &tree, &grid))
            .collect();
        let mut posterior = Self {
            kernels,
            kept: cells,
            members: Vec::new(),
            centre,
            bias: (MEAN * bound).powi(2),
            prior: prior.clone(),
            tree,
        };
        let choices = posterior.hyperparameter_choices(spread, counted.shared);
        posterior.members = posterior.weigh_hyperparameters(&choices, spread)?;
        Ok(posterior)
    }

    /// All choices: the variance of a cell's own mean is the part of what its places have of their own that they share.
    ///
    /// Where rows are spread evenly, no two share a place. The sums then say nothing about means of single places, and the prior alone
    /// would set the width of intervals. So the prior probability of an own mean grows with `(shared / SURELY_SHARED)^2`. At 1, each own
    /// variance, and none, has the same probability.
    fn hyperparameter_choices(&self, spread: f64, shared: f64) -> Vec<CellHyperparameters> {
        let bound = self.prior.bound;
        let at_places = (shared / SURELY_SHARED).powi(2).min(1.0);
        let least_deviation = self.least_detectable_process_sd();
        let mut choices = Vec::new();
        for (place, kernel) in self.kernels.iter().enumerate() {
            for deviation in DEVIATIONS.into_iter().filter(|deviation| deviation * bound >= least_deviation) {
                let variance = (deviation * bound).powi(2);
                let owns = OWN_DEVIATIONS.map(|own| (own * bound).powi(2));
                let owns: Vec<f64> = owns.into_iter().filter(|own| *own <= MOST_OWN * variance).collect();
                let each = at_places / (owns.len() + 1) as f64;
                let none = 1.0 - each * owns.len() as f64;
                let likely = owns.into_iter().map(|own| (own, each)).filter(|(_, prior)| *prior > LEAST_WEIGHT);
                for (own, prior) in likely.chain([(0.0, none)]) {
                    let of_place = shared * own;
                    let of_cell = of_place + shared * variance * (1.0 - kernel.table[0]);
                    let target = (spread - variance - own).max(0.25 * spread);
                    let log_prior = prior.ln();
                    choices.push(CellHyperparameters {
                        kernel: place,
                        variance,
                        own,
                        of_cell,
                        of_place,
                        target,
                        log_prior,
                    });
                }
            }
        }
        choices
    }

    /// Half of the standard deviation that noise has on the mean of a typical cell, at most that of the widest process.
    ///
    /// Noise hides a process that deviates less. Many rows often stand where the function hardly changes (a city's centre), and the sums
    /// then seem to say that it changes nowhere: with such processes 95 % intervals of commuting times held 30 % of the places of a city,
    /// without them 97 % (`beyond/more-rows` has the effect on processes that are alike everywhere).
    fn least_detectable_process_sd(&self) -> f64 {
        let NonemptyCells { counts, inverse, noise: [of_sums, of_counts], .. } = &self.kept;
        let variance_of_rest = of_sums + of_counts * self.centre * self.centre;
        let mut sds: Vec<f64> =
            (inverse.diagonal() * variance_of_rest).map(f64::sqrt).component_div(counts).data.into();
        sds.sort_by(f64::total_cmp);
        (0.5 * sds[sds.len() / 2]).min(DEVIATIONS[0] * self.prior.bound)
    }

    fn weigh_hyperparameters(
        &self,
        choices: &[CellHyperparameters],
        spread: f64,
    ) -> Result<Vec<CellMixtureMember>, LinalgError> {
        let tables: Vec<DMatrix<f64>> =
            self.kernels.par_iter().map(|kernel| kernel.correlation_matrix(&self.tree, &self.kept.cells)).collect();
        let member = |choice: &CellHyperparameters| -> Result<(f64, CellMixtureMember), LinalgError> {
            let covariance = self.covariance(*choice, &tables[choice.kernel], true);
            let factor = Cholesky::new("the covariance of the sums of cells", &covariance)?;
            let rest = DMatrix::from_column_slice(self.kept.rest.len(), 1, self.kept.rest.as_slice());
            let logs: f64 = factor.factor().diagonal().iter().map(|pivot| pivot.ln()).sum();
            let evidence = choice.log_prior - logs - 0.5 * factor.lower_solve(&rest).norm_squared();
            let weights = factor.solve(&rest).column(0).into_owned();
            let target = self.residual_target_variance(*choice, &tables[choice.kernel], &weights, spread);
            Ok((
                evidence,
                CellMixtureMember { choice: CellHyperparameters { target, ..*choice }, weight: 0.0, factor, weights },
            ))
        };
        // One choice after the other, so that few factors are in memory at once; those that cannot count are dropped.
        let mut members: Vec<(f64, CellMixtureMember)> = Vec::new();
        let mut most = f64::NEG_INFINITY;
        for choice in choices {
            let (evidence, found) = member(choice)?;
            most = most.max(evidence);
            members.push((evidence, found));
            members.retain(|(evidence, _)| *evidence > most + LEAST_WEIGHT.ln());
        }
        let total: f64 = members.iter().map(|(evidence, _)| (evidence - most).exp()).sum();
        let weighed = members
            .into_iter()
            .map(|(evidence, member)| CellMixtureMember { weight: (evidence - most).exp() / total, ..member });
        Ok(weighed.collect())
    }

    /// The variance of a target about the function and about what its place has of its own: that of all targets, less what is explained
    /// by the means of the process over cells, weighed by rows. The noise shrinks these means, so that intervals of targets err to the
    /// wide side.
    fn residual_target_variance(
        &self,
        choice: CellHyperparameters,
        correlations: &DMatrix<f64>,
        weights: &DVector<f64>,
        spread: f64,
    ) -> f64 {
        let counts = &self.kept.counts;
        let weighed = weights.component_mul(counts);
        let means = (correlations * &weighed * choice.variance + &weighed * choice.of_cell)
            .add_scalar(self.bias * weighed.sum());
        let explained = means.component_mul(&means).dot(counts) / counts.sum();
        (spread - explained - choice.own).max(0.25 * spread)
    }

    /// The covariance of r, with the noise of the release or without it.
    fn covariance(&self, choice: CellHyperparameters, correlations: &DMatrix<f64>, noisy: bool) -> DMatrix<f64> {
        let NonemptyCells { counts, inverse, noise: [of_sums, of_counts], .. } = &self.kept;
        let mut covariance = (correlations * choice.variance).add_scalar(self.bias);
        for cell in 0..counts.len() {
            covariance[(cell, cell)] += choice.of_cell;
        }
        for (mut column, count) in covariance.column_iter_mut().zip(counts.iter()) {
            column.component_mul_assign(counts);
            column *= *count;
        }
        for (cell, count) in counts.iter().enumerate() {
            covariance[(cell, cell)] += choice.target * count;
        }
        if noisy {
            let second = self.centre * self.centre + choice.variance + choice.own;
            covariance += inverse * (of_sums + of_counts * second);
        }
        covariance
    }

    /// The weight of each choice that counts.
    pub fn hyperparameter_weights(&self) -> Vec<f64> {
        self.members.iter().map(|member| member.weight).collect()
    }

    /// Predicts the function and targets at inputs (t x d), in units of the box.
    pub fn predict(&self, inputs: &DMatrix<f64>) -> FunctionAndTargetPredictions {
        let crosses = self.kernel_cross_correlations(inputs);
        let (mut function, mut targets) = (Vec::new(), Vec::new());
        for member in &self.members {
            let choice = member.choice;
            let cross = self.cross_covariance(choice, &crosses, inputs);
            let half = member.factor.lower_solve(&cross);
            let prior = choice.variance + choice.own + self.bias;
            let left = half.column_iter().map(|column| (prior - column.norm_squared()).max(1e-9 * prior));
            let variance = DVector::from_iterator(inputs.nrows(), left);
            let mean = transposed_product(
                &cross,
                &DMatrix::from_column_slice(member.weights.len(), 1, member.weights.as_slice()),
            );
            let mean = mean.column(0).add_scalar(self.centre);
            let of_targets = variance.add_scalar(choice.target);
            function.push(WeightedNormals { weight: member.weight, mean: mean.clone(), variance });
            targets.push(WeightedNormals { weight: member.weight, mean, variance: of_targets });
        }
        FunctionAndTargetPredictions {
            function: PredictiveMixture::from_parts(function),
            targets: PredictiveMixture::from_parts(targets),
        }
    }

    /// The variances of f at the inputs if sums and counts were known without noise, averaged over hyperparameters.
    ///
    /// # Errors
    /// [`LinalgError`] if a covariance cannot be factorised.
    pub fn variance_without_privacy_noise(&self, inputs: &DMatrix<f64>) -> Result<DVector<f64>, LinalgError> {
        let crosses = self.kernel_cross_correlations(inputs);
        let mut variances = DVector::zeros(inputs.nrows());
        for member in &self.members {
            let choice = member.choice;
            let correlations = self.kernels[choice.kernel].correlation_matrix(&self.tree, &self.kept.cells);
            let covariance = self.covariance(choice, &correlations, false);
            let factor = Cholesky::new("the covariance of cells without noise", &covariance)?;
            let half = factor.lower_solve(&self.cross_covariance(choice, &crosses, inputs));
            let prior = choice.variance + choice.own + self.bias;
            for (variance, column) in variances.iter_mut().zip(half.column_iter()) {
                *variance += member.weight * (prior - column.norm_squared()).max(1e-9 * prior);
            }
        }
        Ok(variances)
    }

    /// The means of [`CellPosterior::predict`] alone.
    pub fn means(&self, inputs: &DMatrix<f64>) -> DVector<f64> {
        let crosses = self.kernel_cross_correlations(inputs);
        let mut means = DVector::from_element(inputs.nrows(), self.centre);
        for member in &self.members {
            means.gemv_tr(member.weight, &self.cross_covariance(member.choice, &crosses, inputs), &member.weights, 1.0);
        }
        means
    }

    /// Correlations of the process with the means of cells (k x t), of each kernel that counts.
    fn kernel_cross_correlations(&self, inputs: &DMatrix<f64>) -> Vec<Option<DMatrix<f64>>> {
        let counts = |kernel: usize| self.members.iter().any(|member| member.choice.kernel == kernel);
        let kernels: Vec<usize> = (0..self.kernels.len()).collect();
        let of = |kernel: &usize| {
            let stretch = self.kernels[*kernel].stretch;
            counts(*kernel).then(|| {
                mean_cell_point_correlations(&self.prior.kernel, stretch, &self.tree, &self.kept.cells, inputs)
            })
        };
        kernels.par_iter().map(of).collect()
    }

    /// The covariance of r with f at inputs (k x t).
    fn cross_covariance(
        &self,
        choice: CellHyperparameters,
        crosses: &[Option<DMatrix<f64>>],
        inputs: &DMatrix<f64>,
    ) -> DMatrix<f64> {
        let NonemptyCells { cells, counts, .. } = &self.kept;
        let Some(of_kernel) = &crosses[choice.kernel] else {
            return DMatrix::zeros(cells.len(), inputs.nrows());
        };
        let mut cross = (of_kernel * choice.variance).add_scalar(self.bias);
        let (lattice, finest) = (self.tree.lattice(), self.tree.level_count() - 1);
        for (point, mut column) in cross.column_iter_mut().enumerate() {
            let input: Vec<f64> = inputs.row(point).iter().copied().collect();
            let own = self.tree.cell_index(finest, &lattice.coordinates(lattice.cell_index(&input)));
            if let Ok(place) = cells.binary_search(&own) {
                column[place] += choice.of_place;
            }
            column.component_mul_assign(counts);
        }
        cross
    }
}

/// Counts of the finest cells.
struct FinestCellCounts {
    /// Cells with rows, in rising order.
    cells: Vec<usize>,
    /// h of the counts.
    combined: DVector<f64>,
    /// The noise c.
    noise: f64,
    /// How much of what places have of their own the rows of a cell share.
    shared: f64,
}

fn estimate_cell_counts(tree: &CellTree, sums: &NoisyCellSums) -> FinestCellCounts {
    let levels = &sums.levels[..tree.level_count()];
    let sds: Vec<f64> = levels.iter().map(|level| level.counts_sd).collect();
    let precision = CellTreePrecision::new(tree, &sds);
    let combined = precision.combine_levels(levels.iter().map(|level| &level.counts));
    let counts = precision.solve_nonnegative(&combined, sums.rows.max(1.0));
    let noise = precision.scale;
    let mut cells: Vec<usize> = (0..counts.len()).filter(|cell| counts[*cell] > FEWEST * noise).collect();
    if cells.is_empty() {
        cells.push(counts.imax());
    }
    FinestCellCounts {
        // Without a level nothing is known, and intervals are widest.
        shared: levels.last().map_or(1.0, |finest| estimate_within_cell_clustering(tree, finest)),
        cells,
        combined,
        noise,
    }
}

/// How far rows cluster in cells, by their noisy counts N: `1 - 2 sum N_a N_b / sum N^2` over pairs (a, b) of neighbours. It is 0
/// where rows are spread evenly, and `1 / (m + 1)` where they stand at m places in a cell, scattered at random: each place has its own mean.
/// The noise on counts adds its variance to each square.
fn estimate_within_cell_clustering(tree: &CellTree, finest: &NoisyCellLevel) -> f64 {
    let halvings = tree.halvings(tree.level_count() - 1);
    let Some(input) = (0..halvings.len()).max_by_key(|input| halvings[*input]).filter(|i| halvings[*i] > 0) else {
        return 1.0;
    };
    let mut fewer = halvings.to_vec();
    fewer[input] -= 1;
    let Some(pair) = CellTree::from_halvings(tree.lattice(), vec![fewer, halvings.to_vec()]) else { return 1.0 };
    let pairs = finest.merge_cell_pairs(&pair).counts.norm_squared();
    let (squares, noise) = (finest.counts.norm_squared(), finest.counts.len() as f64 * finest.counts_sd.powi(2));
    if squares > noise { (1.0 - (pairs - squares) / (squares - noise)).clamp(0.0, 1.0) } else { 1.0 }
}

/// The cells along each input at the finest level.
fn finest_grid_shape(tree: &CellTree) -> Vec<usize> {
    tree.halvings(tree.level_count() - 1).iter().map(|halved| 1 << halved).collect()
}

/// Points along each input of a cell whose pairs stand for it, so that no more than [`EVALUATIONS`] are needed.
fn quadrature_points_per_axis(cells: usize, dimensions: usize) -> usize {
    let needed = |points: usize| points.pow(2 * dimensions as u32).saturating_mul(cells);
    [4, 2].into_iter().find(|points| needed(*points) <= EVALUATIONS).unwrap_or(1)
}

impl CellKernel {
    /// With the shortest lengthscale at a part of the longest side.
    fn new(kernel: &BoxKernel, part: f64, tree: &CellTree, grid: &[usize]) -> Self {
        let stretch = part / kernel.shortest_lengthscale();
        let correlations = kernel.correlation_kernel(stretch);
        let (_, lengths) = tree.corner_and_lengths(tree.level_count() - 1, 0);
        let cells = grid.iter().product();
        let points = quadrature_points_per_axis(cells, grid.len());
        let differences = (2 * points - 1).pow(grid.len() as u32);
        let zero = vec![0.0; grid.len()];
        let table = (0..cells)
            .into_par_iter()
            .map(|cell| {
                let (mut rest, mut apart) = (cell, vec![0.0; grid.len()]);
                for input in (0..grid.len()).rev() {
                    apart[input] = (rest % grid[input]) as f64;
                    rest /= grid[input];
                }
                mean_cell_pair_correlation(correlations.as_ref(), &apart, &lengths, points, differences, &zero)
            })
            .collect();
        Self { stretch, table }
    }

    /// Between cells (k x k).
    fn correlation_matrix(&self, tree: &CellTree, cells: &[usize]) -> DMatrix<f64> {
        let grid = finest_grid_shape(tree);
        let places: Vec<Vec<usize>> = cells.iter().map(|cell| cell_coordinates(*cell, &grid)).collect();
        DMatrix::from_fn(cells.len(), cells.len(), |i, j| {
            let pairs = places[i].iter().zip(&places[j]).zip(&grid);
            self.table[pairs.fold(0, |cell, ((a, b), side)| cell * side + a.abs_diff(*b))]
        })
    }
}

/// The place of a cell along each input.
fn cell_coordinates(cell: usize, grid: &[usize]) -> Vec<usize> {
    let (mut rest, mut along) = (cell, vec![0; grid.len()]);
    for input in (0..grid.len()).rev() {
        along[input] = rest % grid[input];
        rest /= grid[input];
    }
    along
}

/// The mean of correlations over pairs of points of two cells that are `apart` cells from each other.
fn mean_cell_pair_correlation(
    kernel: &dyn Kernel,
    apart: &[f64],
    lengths: &[f64],
    points: usize,
    differences: usize,
    zero: &[f64],
) -> f64 {
    let side = 2 * points - 1;
    let (mut total, mut all) = (0.0, 0.0);
    for place in 0..differences {
        let (mut rest, mut weight, mut displacement) = (place, 1.0, Vec::with_capacity(lengths.len()));
        for (apart, length) in apart.iter().zip(lengths) {
            let step = (rest % side) as f64 - (points - 1) as f64;
            weight *= points as f64 - step.abs();
            displacement.push((apart + step / points as f64) * length);
            rest /= side;
        }
        total += weight * kernel.value(&displacement, zero);
        all += weight;
    }
    total / all
}

/// The mean correlations of cells with points (k x t).
fn mean_cell_point_correlations(
    kernel: &BoxKernel,
    stretch: f64,
    tree: &CellTree,
    cells: &[usize],
    inputs: &DMatrix<f64>,
) -> DMatrix<f64> {
    let correlations = kernel.correlation_kernel(stretch);
    let dimensions = inputs.ncols();
    let finest = tree.level_count() - 1;
    let points = quadrature_points_per_axis(tree.cell_count(finest), dimensions);
    let each = points.pow(dimensions as u32);
    let mut means = DMatrix::zeros(cells.len(), inputs.nrows());
    for place in 0..each {
        let mut middles = DMatrix::zeros(cells.len(), dimensions);
        for (row, cell) in cells.iter().enumerate() {
            let (corner, lengths) = tree.corner_and_lengths(finest, *cell);
            let mut rest = place;
            for input in 0..dimensions {
                let part = ((rest % points) as f64 + 0.5) / points as f64;
                middles[(row, input)] = corner[input] + part * lengths[input];
                rest /= points;
            }
        }
        means += correlations.matrix(&middles, inputs);
    }
    means / each as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sites::Lattice;

    fn prior() -> CellPrior {
        let kernel = toml::from_str("matern = { smoothness = \"3/2\", variance = 1.0, lengthscales = [0.2] }").unwrap();
        CellPrior { kernel: BoxKernel::new(&kernel, vec![1.0]).unwrap(), bound: 10.0 }
    }

    /// Rows on a line of 64 cells: 50 in each, with the mean `5 sin(6 x)`, exact sums, and little noise.
    fn sums(tree: &CellTree, sd: f64) -> NoisyCellSums {
        let finest = tree.level_count() - 1;
        let (mut levels, mut squares) = (Vec::new(), 0.0);
        for level in 0..=finest {
            let cells = tree.cell_count(level);
            let (mut sums, mut counts) = (DVector::zeros(cells), DVector::zeros(cells));
            for cell in 0..tree.cell_count(finest) {
                let into = tree.ancestor(level, finest, cell);
                sums[into] += 50.0 * mean_of(cell, tree.cell_count(finest));
                counts[into] += 50.0;
            }
            levels.push(NoisyCellLevel { sums, counts, sums_sd: 10.0 * sd, counts_sd: sd });
        }
        for cell in 0..tree.cell_count(finest) {
            squares += 50.0 * (mean_of(cell, tree.cell_count(finest)).powi(2) + 1.0);
        }
        NoisyCellSums { rows: 50.0 * tree.cell_count(finest) as f64, squares, levels }
    }

    fn mean_of(cell: usize, cells: usize) -> f64 {
        5.0 * (6.0 * (cell as f64 + 0.5) / cells as f64).sin()
    }

    #[test]
    fn the_function_is_found_where_noise_is_little() {
        let tree = CellTree::from_halvings(Lattice::new(64, 1), vec![vec![2], vec![6]]).unwrap();
        let posterior = CellPosterior::new(&tree, &sums(&tree, 0.01), &prior()).unwrap();
        assert!((posterior.hyperparameter_weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let inputs = DMatrix::from_fn(9, 1, |i, _| (0.5 + 7.0 * i as f64) / 64.0);
        let found = posterior.predict(&inputs);
        let (mean, variance) = (found.function.mean(), found.function.variance());
        let without = posterior.variance_without_privacy_noise(&inputs).unwrap();
        let means = posterior.means(&inputs);
        for point in 0..9 {
            let expected = mean_of(7 * point, 64);
            assert!((mean[point] - expected).abs() < 0.5, "{} {expected}", mean[point]);
            assert!((means[point] - mean[point]).abs() < 1e-9);
            assert!(without[point] <= variance[point] * (1.0 + 1e-9));
            assert!(found.targets.variance()[point] > variance[point]);
        }
    }

    /// Rows that are spread evenly share no places, and rows at few places do; noise does not change that.
    #[test]
    fn rows_at_few_places_share_them() {
        let tree = CellTree::from_halvings(Lattice::new(1024, 1), vec![vec![10]]).unwrap();
        let level = |counts: DVector<f64>, sd: f64| NoisyCellLevel {
            sums: DVector::zeros(1024),
            counts: DVector::from_fn(1024, |cell, _| {
                counts[cell] + sd * (cell as f64 * 2.399963 * cell as f64).sin() * 2f64.sqrt()
            }),
            sums_sd: 1.0,
            counts_sd: sd,
        };
        for sd in [0.0, 20.0] {
            let even = estimate_within_cell_clustering(&tree, &level(DVector::from_element(1024, 100.0), sd));
            assert!(even < 0.01, "{even}");
            // Every fourth cell holds one place with all rows.
            let apart = DVector::from_fn(1024, |cell, _| if cell % 4 == 0 { 400.0 } else { 0.0 });
            let apart = estimate_within_cell_clustering(&tree, &level(apart, sd));
            assert!(apart > 0.97, "{apart}");
            // Four of eight cells hold a place, and two of the four are a pair: 1 - 2 / 4.
            let some = DVector::from_fn(1024, |cell, _| {
                f64::from(u8::from([true, true, true, false, true, false, false, false][cell % 8]))
            });
            let some = estimate_within_cell_clustering(&tree, &level(some * 100.0, sd));
            assert!((some - 0.5).abs() < 0.02, "{some}");
        }
    }

    /// Where rows are spread evenly, no choice has means of single places, whose least variance would widen every interval.
    #[test]
    fn evenly_spread_rows_have_narrow_intervals() {
        let tree = CellTree::from_halvings(Lattice::new(64, 1), vec![vec![2], vec![6]]).unwrap();
        let posterior = CellPosterior::new(&tree, &sums(&tree, 0.01), &prior()).unwrap();
        assert!(posterior.members.iter().all(|member| member.choice.own == 0.0));
        let variance = posterior.predict(&DMatrix::from_element(1, 1, 0.3)).function.variance()[0];
        // The targets have variance 1 about the function, and there are 50 in each cell: far below the least own variance, .22^2.
        assert!(variance < 0.044, "{variance}");
    }

    /// The covariances of the function at a few points and of the sums are those of one normal distribution: with any choice of
    /// hyperparameters no variance is explained twice, however little noise there is.
    #[test]
    fn no_variance_is_explained_twice() {
        let tree = CellTree::from_halvings(Lattice::new(64, 1), vec![vec![2], vec![6]]).unwrap();
        let mut posterior = CellPosterior::new(&tree, &sums(&tree, 1e-3), &prior()).unwrap();
        let inputs = DMatrix::from_fn(7, 1, |i, _| 0.011 + 0.137 * i as f64);
        let choices = posterior.hyperparameter_choices(30.0, 0.9);
        for mut choice in choices {
            choice.target = 1e-6;
            let kept = posterior.kept.cells.clone();
            let correlations = posterior.kernels[choice.kernel].correlation_matrix(&tree, &kept);
            let covariance = posterior.covariance(choice, &correlations, false);
            posterior.members = vec![CellMixtureMember {
                choice,
                weight: 1.0,
                factor: Cholesky::new("t", &covariance).unwrap(),
                weights: DVector::zeros(kept.len()),
            }];
            let cross = posterior.cross_covariance(choice, &posterior.kernel_cross_correlations(&inputs), &inputs);
            let half = posterior.members[0].factor.lower_solve(&cross);
            let prior = choice.variance + choice.own + posterior.bias;
            for column in half.column_iter() {
                assert!(column.norm_squared() <= prior * (1.0 + 1e-6), "{choice:?}");
            }
        }
    }

    /// With noise that hides everything the mean of all rows is left, and intervals are those of the prior.
    #[test]
    fn much_noise_leaves_the_prior() {
        let tree = CellTree::from_halvings(Lattice::new(64, 1), vec![vec![2], vec![6]]).unwrap();
        let posterior = CellPosterior::new(&tree, &sums(&tree, 1e6), &prior()).unwrap();
        let inputs = DMatrix::from_element(1, 1, 0.3);
        let found = posterior.predict(&inputs).function;
        assert!(found.mean()[0].abs() < 10.0 && found.variance()[0] > 1.0, "{found:?}");
    }

    /// A city: 1,600 rows in each of four cells in the middle, whose means are equal, and 100 in each of twelve outside, whose means are
    /// farther off. The noise on a mean is 1 in the middle and 16 outside. Intervals outside must be as wide as the noise demands.
    #[test]
    fn equal_means_in_the_middle_say_nothing_of_the_outskirts() {
        let tree = CellTree::from_halvings(Lattice::new(64, 1), vec![vec![4]]).unwrap();
        let is_middle = |cell: usize| (6..10).contains(&cell);
        let counts = DVector::from_fn(16, |cell, _| if is_middle(cell) { 1600.0 } else { 100.0 });
        let means = DVector::from_fn(16, |cell, _| if is_middle(cell) { -16.0 } else { 0.0 });
        let (rows, sums) = (counts.sum(), counts.component_mul(&means));
        let level = NoisyCellLevel { sums, counts, sums_sd: 1600.0, counts_sd: 35.0 };
        let sums = NoisyCellSums { rows, squares: 290.0 * rows, levels: vec![level] };
        let found = CellPosterior::new(&tree, &sums, &CellPrior { bound: 45.0, ..prior() }).unwrap();
        let found = found.predict(&DMatrix::from_row_slice(2, 1, &[0.1, 0.9])).function;
        for (mean, variance) in found.mean().iter().zip(found.variance().iter()) {
            assert!(mean.abs() < 1.96 * variance.sqrt(), "{mean} has the standard deviation {}", variance.sqrt());
        }
    }

    /// The variance of a target is what the means of cells leave of that of all targets, whatever process was assumed.
    #[test]
    fn targets_vary_by_what_cells_do_not_explain() {
        let tree = CellTree::from_halvings(Lattice::new(64, 1), vec![vec![2], vec![6]]).unwrap();
        let exact = sums(&tree, 0.01);
        let scattered = NoisyCellSums { squares: exact.squares + 24.0 * exact.rows, ..exact };
        let found = CellPosterior::new(&tree, &scattered, &prior()).unwrap();
        let found = found.predict(&DMatrix::from_element(1, 1, 0.3));
        let of_targets = found.targets.variance()[0] - found.function.variance()[0];
        assert!((of_targets / 25.0 - 1.0).abs() < 0.1, "{of_targets}");
    }

    /// Cells that are joined have the numbers of both: the sums of the coarser level, averaged with those that are there.
    #[test]
    fn cells_are_joined_in_pairs() {
        let tree = CellTree::from_halvings(Lattice::new(64, 1), vec![vec![2], vec![4]]).unwrap();
        let exact = sums(&tree, 1.0);
        let (once, joined) = exact.merge_finest_cells(&tree).unwrap();
        assert_eq!((once.level_count(), once.halvings(1)), (2, &[3][..]));
        let level = &joined.levels[1];
        assert!((level.counts_sd - 2f64.sqrt()).abs() < 1e-15 && level.counts.iter().all(|n| *n == 100.0));
        // Four cells into one, beside a number of the same cell: precisions 1/4 and 1.
        let (twice, joined) = joined.merge_finest_cells(&once).unwrap();
        assert_eq!((twice.level_count(), twice.halvings(0)), (1, &[2][..]));
        let level = &joined.levels[0];
        assert!((level.counts_sd - 0.8f64.sqrt()).abs() < 1e-12 && (level.counts[0] - 200.0).abs() < 1e-9);
        let whole = CellTree::from_halvings(Lattice::new(64, 1), vec![vec![0]]).unwrap();
        assert!(sums(&whole, 1.0).merge_finest_cells(&whole).is_none());
    }
}
