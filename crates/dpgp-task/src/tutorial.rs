//! A Gaussian process at two places, before and after the observations: settings and joint distribution.

use nalgebra::{DMatrix, DVector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::measurement::{Metric, metric_names};
use crate::model::noise_variance;
use crate::sample::product_grid;
use crate::summary::standard_normal_vector;
use crate::{
    AuditableCertificate, CellMeasurements, FigureTable, MeasurableTask, RandomStreams, ReplicateJob, Sample,
    TaskError, TaskRequirements,
};
use dpgp_gp::kernel::Kernel;
use dpgp_linalg::{Cholesky, thin_svd};
use dpgp_mechanisms::{CellSections, require_cloaking_setting};
use dpgp_number::{Count, normal_pdf};
use dpgp_spec::setting::rules::{check_dimension, check_grid};
use dpgp_spec::setting::{CheckResult, RangeSetting};

/// Standard deviations on either side of the mean that the density is shown for.
const REACH: f64 = 4.0;
/// Points of the density.
const POINTS: usize = 161;

/// The function at the second place.
pub(super) struct SecondPointScores {
    mean: f64,
    sd: f64,
    correlation: f64,
}

/// The metrics of the second place.
pub(super) const METRICS: [Metric<SecondPointScores>; 3] = [
    Metric::new("mean", |place| place.mean),
    Metric::new("sd", |place| place.sd),
    Metric::new("correlation", |place| place.correlation),
];

/// The metrics `mean` and `sd` of the function at the second place, and its `correlation` with that at the first. Frames:
/// `draws` of the function, `pair` (the two places, their means, standard deviations and correlation), `marginal` (the density at
/// the second place), `data`.
impl MeasurableTask for TutorialTask {
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        let (model, sample) = (job.model()?, job.sample);
        let kernel = model.kernel.build_kernel(&sample.inputs);
        let seen = if self.observed { sample.clone() } else { sample.select(&[]) };
        let process = ConditionedProcess { kernel: kernel.as_ref(), noise: noise_variance(model)?, seen: &seen };
        let (mean, covariance) = process.posterior_at(&DMatrix::from_row_slice(2, 1, &self.pair))?;
        let sd = [covariance[(0, 0)].sqrt(), covariance[(1, 1)].sqrt()];
        let correlation = covariance[(0, 1)] / (sd[0] * sd[1]);
        let [first, second] = self.pair;
        let pair = [
            ("x1", first),
            ("x2", second),
            ("mean1", mean[0]),
            ("mean2", mean[1]),
            ("sd1", sd[0]),
            ("sd2", sd[1]),
            ("correlation", correlation),
        ];
        let pair =
            pair.into_iter().fold(FigureTable::new("pair"), |frame, (name, value)| frame.with_column(name, [value]));
        let data = FigureTable::new("data").with_points(&seen.inputs).with_column("y", seen.targets.iter().copied());
        let frames =
            vec![function_draws_frame(self, &process, job.streams)?, pair, marginal_frame(mean[1], sd[1]), data];
        let second = SecondPointScores { mean: mean[1], sd: sd[1], correlation };
        let measured =
            AuditableCertificate::without_claim().evaluate_metrics(0.0, &METRICS, &second).with_frames(frames);
        Ok(vec![measured; job.cells.len()])
    }
}

/// The density of a Gaussian variable.
fn marginal_frame(mean: f64, sd: f64) -> FigureTable {
    let steps = (0..POINTS).map(|i| 2.0 * i as f64 / (POINTS - 1) as f64 - 1.0);
    let values: Vec<f64> = steps.map(|step| mean + sd * REACH * step).collect();
    let density: Vec<f64> = values.iter().map(|f| normal_pdf((f - mean) / sd) / sd).collect();
    FigureTable::new("marginal").with_column("value", values).with_column("density", density)
}

/// A prior and what is known of it.
struct ConditionedProcess<'a> {
    kernel: &'a dyn Kernel,
    noise: f64,
    seen: &'a Sample,
}

impl ConditionedProcess<'_> {
    /// Mean and covariance of the function at some inputs (Rasmussen and Williams 2006, Eq. 2.22 to 2.24).
    fn posterior_at(&self, inputs: &DMatrix<f64>) -> Result<(DVector<f64>, DMatrix<f64>), TaskError> {
        let prior = self.kernel.matrix(inputs, inputs);
        if self.seen.row_count() == 0 {
            return Ok((DVector::zeros(inputs.nrows()), prior));
        }
        let mut k = self.kernel.matrix(&self.seen.inputs, &self.seen.inputs);
        (0..k.nrows()).for_each(|i| k[(i, i)] += self.noise);
        let factor = Cholesky::new("K + sigma^2 I", &k)?;
        let across = factor.lower_solve(&self.kernel.matrix(&self.seen.inputs, inputs));
        let targets = DMatrix::from_column_slice(self.seen.row_count(), 1, &self.seen.targets);
        let mean = across.tr_mul(&factor.lower_solve(&targets)).column(0).into_owned();
        Ok((mean, prior - across.tr_mul(&across)))
    }
}

/// Functions drawn on the grid, by the singular value decomposition of their covariance: on a fine grid it is singular to
/// rounding, which a Cholesky factorisation does not stand.
fn function_draws_frame(
    task: &TutorialTask,
    process: &ConditionedProcess<'_>,
    streams: &RandomStreams,
) -> Result<FigureTable, TaskError> {
    let grid = product_grid(&[task.grid]);
    let (mean, covariance) = process.posterior_at(&grid)?;
    let svd = thin_svd("the covariance on the grid", &covariance)?;
    let root = &svd.u * DMatrix::from_diagonal(&svd.s.map(f64::sqrt));
    let mut stream = streams.block_stream("draws");
    let mut frame = FigureTable::new("draws").with_points(&grid);
    for number in 1..=task.draws.get() {
        let unit = standard_normal_vector(root.ncols(), &mut stream);
        frame = frame.with_column(format!("draw{number}"), (&mean + &root * unit).iter().copied());
    }
    Ok(frame)
}

/// A Gaussian process at two points, before or after it is conditioned on the observations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TutorialTask {
    /// Whether the process is conditioned on the observations.
    pub observed: bool,
    /// The two places.
    pub pair: [f64; 2],
    /// The points at which sampled functions are evaluated.
    pub grid: RangeSetting,
    /// The number of functions sampled.
    pub draws: Count<1000, 0>,
}

impl TaskRequirements for TutorialTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        setting.regression_model("task.tutorial")?;
        check_dimension("data.inputs", 1, setting.data.dimensions())?;
        check_grid("task.tutorial.grid", &[self.grid], 1)?;
        require_cloaking_setting(&setting.privacy).map(drop)
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        metric_names(&METRICS)
    }
}
