//! A surface over the inputs from the sums over all rows, with and without privacy.

mod model;

use nalgebra::{DMatrix, DVector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cross_validation::{NO_VARIANCE, r_squared};
use crate::measurement::{Metric, metric_names};
use crate::sample::product_grid;
use crate::{
    AuditedMechanism, CellMeasurements, FigureTable, MeasurableTask, ReplicateJob, TaskError, TaskRequirements,
    noisy_sums,
};
use dpgp_gp::sites::{Lattice, LatticeCountsAndSums, site_points};
use dpgp_gp::variational::{
    CovariancesWithConditionalVariances, InducingInputs, SufficientStatistics, WeightPosterior,
};
use dpgp_mechanisms::{
    CellSections, MechanismSetting, MomentsModel, MomentsPosterior, MomentsSetting, PrivacySetting, SimulatedMoments,
    SummedValueKind, SumsSetting, check_spec_for_moments,
};
use dpgp_number::{Epsilon, Finite};
use dpgp_spec::setting::rules::{check_dimension, check_grid, fail};
use dpgp_spec::setting::{CheckResult, NoiseAwareInverseSetting, RangeSetting, SpecProblem};
use dpgp_stream::{KernelSums, LatticeSums};

pub use model::{CertifiedSumsNoise, SurfaceModel};

const PATH: &str = "task.surface";

/// A surface over the inputs, computed from sums over all rows, and how privacy changes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurfaceTask {
    /// The public inducing inputs of noisy sums, a product grid with a range for each input; noisy moments have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inducing: Vec<RangeSetting>,
    /// How the posterior follows from noisy sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posterior: Option<NoiseAwareInverseSetting>,
    /// The grid of the figure: one table per input, starting with the first. Without a grid, there is no figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub map: Vec<RangeSetting>,
    /// The fixed values, on the grid of `map`, of the inputs that are not in `map`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Finite>,
}

impl SurfaceTask {
    fn check_map(&self, inputs: usize) -> CheckResult {
        let path = PATH;
        if self.map.is_empty() {
            return check_dimension(&format!("{path}.at"), 0, self.at.len());
        }
        check_dimension(&format!("{path}.at"), inputs.saturating_sub(self.map.len()), self.at.len())?;
        check_grid(&format!("{path}.map"), &self.map, inputs - self.at.len())
    }

    /// The points of the figure (t x d); no rows if there is no figure.
    pub fn figure_points(&self) -> DMatrix<f64> {
        let map = product_grid(&self.map);
        let (rows, inner) = (if self.map.is_empty() { 0 } else { map.nrows() }, map.ncols());
        DMatrix::from_fn(
            rows,
            inner + self.at.len(),
            |i, d| {
                if d < inner { map[(i, d)] } else { self.at[d - inner].get() }
            },
        )
    }

    fn check_sums(&self, setting: &CellSections) -> CheckResult {
        noisy_sums::check_eq_or_ard_kernel(PATH, setting)?;
        noisy_sums::check_inducing_inputs(PATH, &self.inducing, setting)?;
        let Some(posterior) = self.posterior else {
            return fail(PATH, SpecProblem::MissingKey { key: "posterior", by: "noisy sums" });
        };
        posterior.check(&format!("{PATH}.posterior"))?;
        noisy_sums::require_sums_mechanism(setting, SummedValueKind::Targets)?
            .check_domain_holds_inducing_inputs(&self.inducing)
    }
}

impl TaskRequirements for SurfaceTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        setting.model(PATH)?.check_noise_variance("surface")?;
        if setting.normalise.uses_private_statistics() {
            let why = "uses statistics of the private targets; use `bounds` or `constants`, which are public";
            return fail("normalise", SpecProblem::Shape(why.to_owned()));
        }
        self.check_map(setting.data.dimensions())?;
        let Some(moments) = setting.privacy.mechanism.downcast::<MomentsSetting>() else {
            return self.check_sums(setting);
        };
        if moments.cells_per_input.is_some() {
            let why = "is for comparisons in task.leaderboard and task.calibration; a release finds its own cells";
            return fail("privacy.mechanism.moments.cells_per_input", SpecProblem::Shape(why.to_owned()));
        }
        let without = self.inducing.is_empty() && self.posterior.is_none();
        check_spec_for_moments(PATH, moments, without, setting)
    }

    fn protects_persons(&self, mechanism: &MechanismSetting) -> bool {
        mechanism.downcast::<SumsSetting>().is_some() || mechanism.downcast::<MomentsSetting>().is_some()
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        metric_names(&METRICS)
    }
}

/// The metrics `rmse` (of the clipped targets about the surface), `r2` (1 minus its square over the variance of those targets:
/// how much better than their mean, for which it is 0), `difference` (root mean square over the rows of the
/// distance to the surface without privacy), `noise-sd` (root mean square over the rows of what the privacy noise adds
/// to the standard deviation, as the posterior knows it), all in units of the target; `rows` and `clipped`, a share of
/// them. Rows enter by their sums alone: `sum (y - k'v)^2 = sum y^2 - 2 A'v + v'Bv`, or by their cells, where the mechanism is
/// noise on moments. Frames: `curve` or `map`, and `inducing`, which moments have not.
impl MeasurableTask for SurfaceTask {
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        if job.setting.privacy.mechanism.downcast::<MomentsSetting>().is_some() {
            let block = MomentsSurfaceReplicateState::new(self, job)?;
            return job.measure_each_cell(|cell| block.measure_cell(cell));
        }
        let model = SurfaceModel::from_task(self, job.setting);
        let model = model.ok_or(TaskError::Missing { needed: "a surface model" })?;
        let sums = model.sums(job.sample)?;
        let inducing = model.factorise_inducing()?;
        let statistics = model.sufficient_statistics(&sums);
        let exact = model.posterior(&inducing, &statistics.with_zero_noise())?;
        let map = model.figure_points();
        let located = inducing.covariances_with_conditional_variances(&map);
        let variance = targets_variance(&model.summand().targets.quantize_targets(&job.sample.targets).numbers)
            * model.summand().targets.unit_value().powi(2);
        let (inducing, model) = (&inducing, &model);
        let block =
            SurfaceReplicateState { task: self, job, model, inducing, sums, statistics, variance, exact, map, located };
        job.measure_each_cell(|cell| block.measure_cell(cell))
    }
}

/// Values computed for one surface.
struct SurfaceScores {
    /// Root mean squared error over all rows, in units of the target.
    pub rmse: f64,
    /// `1 - MSE / variance of the targets`.
    pub r2: f64,
    /// Root mean squared difference from the surface without privacy, over all rows.
    pub difference: f64,
    /// Root mean square of what the noise adds, over all rows.
    pub noise_sd: f64,
    /// The number of rows.
    pub rows: f64,
    /// The share of the targets that were clipped.
    pub clipped: f64,
}

/// The metrics of a surface.
const METRICS: [Metric<SurfaceScores>; 6] = [
    Metric::new("rmse", |scores| scores.rmse),
    Metric::with_undefined_reason("r2", |scores| scores.r2, NO_VARIANCE),
    Metric::new("difference", |scores| scores.difference),
    Metric::new("noise-sd", |scores| scores.noise_sd),
    Metric::new("rows", |scores| scores.rows),
    Metric::new("clipped", |scores| scores.clipped),
];

struct SurfaceReplicateState<'a> {
    task: &'a SurfaceTask,
    job: &'a ReplicateJob<'a>,
    model: &'a SurfaceModel,
    inducing: &'a InducingInputs<'a>,
    sums: KernelSums,
    statistics: SufficientStatistics,
    /// The variance of the clipped targets, in units of the model.
    variance: f64,
    exact: WeightPosterior,
    map: DMatrix<f64>,
    located: CovariancesWithConditionalVariances,
}

impl SurfaceReplicateState<'_> {
    fn measure_cell(&self, cell: &PrivacySetting) -> Result<CellMeasurements, TaskError> {
        let mut stream = self.job.streams.block_stream("noise");
        let (noisy, guarantee) = self.model.simulate_release(&self.statistics, cell, &mut stream);
        let posterior = self.model.posterior(self.inducing, &noisy)?;
        let added = self.model.weight_noise_covariance(self.inducing, &noisy, &posterior)?;
        let noise = guarantee.noise;
        let certified =
            self.job.auditable_certificate(guarantee.certificate, || vec![self.model.audited_mechanism(noise)])?;
        let jitter = posterior.jitter.max(self.inducing.jitter());
        let measured = certified.evaluate_metrics(jitter, &METRICS, &self.scores(&posterior, &added));
        Ok(measured.with_frames(self.figure_frames(&posterior, &added)))
    }

    fn scores(&self, posterior: &WeightPosterior, added: &DMatrix<f64>) -> SurfaceScores {
        let (a, b) = (&self.statistics.a, &self.statistics.b);
        let rows = self.sums.rows.max(1) as f64;
        let v = &posterior.mean;
        let squares = self.sums.squares as f64 * self.model.summand().units().squares;
        let errors = squares - 2.0 * a.dot(v) + quadratic_form(b, v);
        let apart = quadratic_form(b, &(v - &self.exact.mean));
        let noise = b.component_mul(added).sum();
        let r2 = r_squared(errors.max(0.0) / rows, self.variance);
        let [rmse, difference, noise_sd] =
            [errors, apart, noise].map(|sum| self.model.target_scale() * (sum.max(0.0) / rows).sqrt());
        let clipped = self.sums.clipped as f64 / rows;
        SurfaceScores { rmse, r2, difference, noise_sd, rows: self.sums.rows as f64, clipped }
    }

    fn figure_frames(&self, posterior: &WeightPosterior, added: &DMatrix<f64>) -> Vec<FigureTable> {
        if self.map.nrows() == 0 {
            return Vec::new();
        }
        let shown = self.task.map.len();
        let prediction = posterior.predict(&self.located);
        let scale = self.model.target_scale();
        let noise = self.located.quadratic_forms(added);
        let frame = FigureTable::new(if shown == 1 { "curve" } else { "map" })
            .with_points(&self.map.columns(0, shown).into_owned())
            .with_column("mean", prediction.mean.iter().map(|m| self.model.to_target_units(*m)))
            .with_column("gp-sd", prediction.variance.iter().map(|v| scale * v.sqrt()))
            .with_column("noise-sd", noise.iter().map(|v| self.model.sd_in_target_units(*v)));
        let points = product_grid(&self.task.inducing[..shown]);
        vec![frame, FigureTable::new("inducing").with_points(&points)]
    }
}

/// The variance of targets on a lattice (population), in its units: sums of integers lose nothing.
fn targets_variance(targets: &[i64]) -> f64 {
    let rows = targets.len().max(1) as f64;
    let sum: i128 = targets.iter().map(|target| i128::from(*target)).sum();
    if targets.iter().all(|target| *target == targets[0]) {
        return 0.0;
    }
    let mean = sum as f64 / rows;
    targets.iter().map(|target| (*target as f64 - mean).powi(2)).sum::<f64>() / rows
}

/// `v' b v`.
fn quadratic_form(b: &DMatrix<f64>, v: &DVector<f64>) -> f64 {
    (b * v).dot(v)
}

struct MomentsSurfaceReplicateState<'a> {
    task: &'a SurfaceTask,
    job: &'a ReplicateJob<'a>,
    model: MomentsModel,
    sums: LatticeSums,
    rows: LatticeCountsAndSums,
    /// The middle of each cell that holds rows (c x d), in units of the inputs.
    places: DMatrix<f64>,
    /// The surface without privacy there, in units of the target.
    exact: Vec<f64>,
    /// Where the size of the noise is looked at.
    spots: RepresentativePoints,
}

/// Points that stand for rows.
struct RepresentativePoints {
    /// The points (k x d), in units of the inputs.
    points: DMatrix<f64>,
    /// The rows near each.
    rows: Vec<f64>,
}

/// The most cells at which the noise on an additive surface is looked at.
const SPOTS: usize = 2048;

impl<'a> MomentsSurfaceReplicateState<'a> {
    pub fn new(task: &'a SurfaceTask, job: &'a ReplicateJob<'a>) -> Result<Self, TaskError> {
        let model = MomentsModel::new(job.setting).ok_or(TaskError::Missing { needed: "a moments model" })?;
        let sums = model.sum_rows_on_lattice(job.sample.columns())?;
        let rows = sums.to_row_sums();
        let (domain, middles) = (&model.summand().domain, rows.cells.iter());
        let middles = middles.flat_map(|cell| rows.lattice.midpoint(cell.place)).collect::<Vec<f64>>();
        let middles = DMatrix::from_row_slice(rows.cells.len(), domain.len(), &middles);
        let places = scale_from_unit_box(&middles, domain);
        let spots = match model.is_sum_over_inputs_or_pairs() {
            true => RepresentativePoints::from_cells(&rows, &places),
            false => RepresentativePoints::from_sites(&rows, domain),
        };
        let mut block = Self { task, job, model, sums, rows, places, exact: Vec::new(), spots };
        let free = PrivacySetting { epsilon: Epsilon::NONE, ..job.setting.privacy.as_ref().clone() };
        let SimulatedMoments { released, .. } =
            block.model.simulate_release(&block.sums, &free, &mut job.streams.block_stream("noise"))?;
        block.exact = block.surface_means_at_row_cells(&block.model.posterior(&released)?);
        Ok(block)
    }

    pub fn measure_cell(&self, cell: &PrivacySetting) -> Result<CellMeasurements, TaskError> {
        let mut stream = self.job.streams.block_stream("noise");
        let SimulatedMoments { released, guarantee, sampled } =
            self.model.simulate_release(&self.sums, cell, &mut stream)?;
        let posterior = self.model.posterior(&released)?;
        let noise = if cell.epsilon.is_unprotected() { 0.0 } else { self.noise_rms(&posterior)? };
        let scores = self.scores(&posterior, noise);
        let certified =
            self.job.auditable_certificate(guarantee.certificate, || vec![AuditedMechanism::Moments(sampled)])?;
        Ok(certified.evaluate_metrics(0.0, &METRICS, &scores).with_frames(self.figure_frames(&posterior)?))
    }

    /// Means at the places of rows.
    fn surface_means_at_row_cells(&self, posterior: &MomentsPosterior) -> Vec<f64> {
        self.model.means(posterior, &self.places)
    }

    /// Rows enter by their cells alone: with the sum s of the targets of a cell and the surface f there, its rows add
    /// `sum y^2 - 2 s f + n f^2` to the squared error.
    fn scores(&self, posterior: &MomentsPosterior, noise_sd: f64) -> SurfaceScores {
        let surface = self.surface_means_at_row_cells(posterior);
        let (targets, rows) = (&self.model.summand().targets, self.sums.rows.max(1) as f64);
        let unit = self.model.summand().target_unit_value();
        let squares = self.sums.squares as f64 * unit * unit;
        let (mut errors, mut apart, mut sum) = (squares, 0.0, 0.0);
        for ((cell, mean), exact) in self.rows.cells.iter().zip(&surface).zip(&self.exact) {
            let (count, value) = (cell.rows as f64, (mean - targets.centre) / targets.scale);
            errors += value * (count * value - 2.0 * cell.targets as f64 * unit);
            apart += count * (mean - exact).powi(2);
            sum += cell.targets as f64 * unit;
        }
        // The difference of two numbers that rounding leaves of equal ones is none.
        let around = squares - sum * sum / rows;
        let rounding = (self.rows.cells.len() as f64 + 4.0) * f64::EPSILON * squares;
        let r2 = r_squared(errors.max(0.0), if around <= rounding { 0.0 } else { around });
        let rmse = targets.scale * (errors.max(0.0) / rows).sqrt();
        let (difference, clipped) = ((apart / rows).sqrt(), self.sums.clipped as f64 / rows);
        SurfaceScores { rmse, r2, difference, noise_sd, rows: self.sums.rows as f64, clipped }
    }

    /// The root mean square of what the noise adds, at points that stand for rows.
    fn noise_rms(&self, posterior: &MomentsPosterior) -> Result<f64, TaskError> {
        let sds = self.model.predict(posterior, &self.spots.points)?.noise_sd;
        let squares: f64 = self.spots.rows.iter().zip(sds).map(|(count, sd)| count * sd * sd).sum();
        Ok((squares / self.spots.rows.iter().sum::<f64>().max(1.0)).sqrt())
    }

    fn figure_frames(&self, posterior: &MomentsPosterior) -> Result<Vec<FigureTable>, TaskError> {
        let map = self.task.figure_points();
        if map.nrows() == 0 {
            return Ok(Vec::new());
        }
        let shown = self.task.map.len();
        let prediction = self.model.predict(posterior, &map)?;
        let sds = prediction.model_sd.iter().zip(&prediction.noise_sd).map(|(model, noise)| model.hypot(*noise));
        let frame = FigureTable::new(if shown == 1 { "curve" } else { "map" })
            .with_points(&map.columns(0, shown).into_owned())
            .with_column("mean", prediction.mean.iter().copied())
            .with_column("gp-sd", sds)
            .with_column("noise-sd", prediction.noise_sd.iter().copied());
        Ok(vec![frame])
    }
}

/// Points of the unit box in units of the inputs.
fn scale_from_unit_box(points: &DMatrix<f64>, domain: &[[f64; 2]]) -> DMatrix<f64> {
    DMatrix::from_fn(points.nrows(), points.ncols(), |row, column| {
        let [low, high] = domain[column];
        low + (high - low) * points[(row, column)]
    })
}

impl RepresentativePoints {
    /// The sites, each for the rows of all cells in its part of the box.
    fn from_sites(rows: &LatticeCountsAndSums, domain: &[[f64; 2]]) -> Self {
        let sites = site_points(domain.len());
        let side = (sites.nrows() as f64).powf(1.0 / domain.len() as f64).round();
        let lattice = Lattice::new(side as usize, domain.len());
        let mut near = vec![0.0; lattice.len()];
        for cell in &rows.cells {
            near[lattice.cell_index(&rows.lattice.midpoint(cell.place))] += cell.rows as f64;
        }
        Self { points: scale_from_unit_box(&sites, domain), rows: near }
    }

    /// A sample of the cells themselves: scattered sites have no parts of the box.
    fn from_cells(rows: &LatticeCountsAndSums, places: &DMatrix<f64>) -> Self {
        let each = rows.cells.len().div_ceil(SPOTS).max(1);
        let chosen: Vec<usize> = (0..rows.cells.len()).step_by(each).collect();
        let near = chosen.iter().map(|cell| rows.cells[*cell].rows as f64).collect();
        Self { points: places.select_rows(&chosen), rows: near }
    }
}
