//! The error of a surface, and its distance from the one without privacy.

use nalgebra::{DMatrix, DVector};

use super::SurfaceModel;
use super::moments::MomentsBlock;
use crate::SurfaceTask;
use crate::against_constant::{NO_VARIANCE, against_constant};
use crate::grid::grid;
use crate::metric::Metric;
use crate::{Frame, Job, Measured, Task, TaskError};
use dpgp_gp::variational::{Inducing, Located, Statistics, WeightPosterior};
use dpgp_mechanisms::{MomentsSetting, PrivacySetting};
use dpgp_stream::Sums;

/// The metrics `rmse` (of the clipped targets about the surface), `r2` (one less its square over the variance of those targets: how much
/// better than their mean, 0 for that itself), `difference` (root mean square over the rows of the
/// distance to the surface without privacy), `noise-sd` (root mean square over the rows of what the privacy noise adds
/// to the standard deviation, as the posterior knows it), all in units of the target; `rows` and `clipped`, a share of
/// them. Rows enter by their sums alone: `sum (y - k'v)^2 = sum y^2 - 2 A'v + v'Bv`, or by their cells, where the mechanism is
/// noise on moments. Frames: `curve` or `map`, and `inducing`, which moments have not.
impl Task for SurfaceTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        if job.setting.privacy.mechanism.of::<MomentsSetting>().is_some() {
            let block = MomentsBlock::new(self, job)?;
            return job.cells.iter().map(|cell| block.cell(cell)).collect();
        }
        let model = SurfaceModel::of_task(self, job.setting);
        let model = model.ok_or(TaskError::Missing { needed: "a model of a surface" })?;
        let sums = model.sums(job.sample)?;
        let inducing = model.inducing()?;
        let statistics = model.statistics(&sums);
        let exact = model.posterior(&inducing, &statistics.exact())?;
        let map = model.map();
        let located = inducing.locate(&map);
        let variance = targets_variance(&model.summand().targets.whole(&job.sample.targets).numbers)
            * model.summand().targets.unit().powi(2);
        let (inducing, model) = (&inducing, &model);
        let block = SurfaceBlock {
            task: self,
            job,
            model,
            inducing,
            sums,
            statistics,
            variance,
            exact,
            map,
            located,
        };
        job.cells.iter().map(|cell| block.cell(cell)).collect()
    }
}

/// What is computed of one surface.
pub(super) struct SurfaceScores {
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
pub(super) const METRICS: [Metric<SurfaceScores>; 6] = [
    Metric::new("rmse", |scores| scores.rmse),
    Metric::undefined("r2", |scores| scores.r2, NO_VARIANCE),
    Metric::new("difference", |scores| scores.difference),
    Metric::new("noise-sd", |scores| scores.noise_sd),
    Metric::new("rows", |scores| scores.rows),
    Metric::new("clipped", |scores| scores.clipped),
];

/// What all cells of a block share.
struct SurfaceBlock<'a> {
    task: &'a SurfaceTask,
    job: &'a Job<'a>,
    model: &'a SurfaceModel,
    inducing: &'a Inducing<'a>,
    sums: Sums,
    statistics: Statistics,
    /// The variance of the clipped targets, in units of the model.
    variance: f64,
    exact: WeightPosterior,
    map: DMatrix<f64>,
    located: Located,
}

impl SurfaceBlock<'_> {
    fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let mut stream = self.job.streams.of_block("noise");
        let (noisy, guarantee) = self.model.simulated(&self.statistics, cell, &mut stream);
        let posterior = self.model.posterior(self.inducing, &noisy)?;
        let added = self.model.added(self.inducing, &noisy, &posterior)?;
        let noise = guarantee.noise;
        let certified = self.job.certify(guarantee.certificate, || vec![self.model.sampled(noise)])?;
        let jitter = posterior.jitter.max(self.inducing.jitter());
        let measured = certified.scored(jitter, &METRICS, &self.scores(&posterior, &added));
        Ok(measured.with_frames(self.frames(&posterior, &added)))
    }

    fn scores(&self, posterior: &WeightPosterior, added: &DMatrix<f64>) -> SurfaceScores {
        let (a, b) = (&self.statistics.a, &self.statistics.b);
        let rows = self.sums.rows.max(1) as f64;
        let v = &posterior.mean;
        let squares = self.sums.squares as f64 * self.model.summand().units().squares;
        let errors = squares - 2.0 * a.dot(v) + form(b, v);
        let apart = form(b, &(v - &self.exact.mean));
        let noise = b.component_mul(added).sum();
        let r2 = against_constant(errors.max(0.0) / rows, self.variance);
        let [rmse, difference, noise_sd] =
            [errors, apart, noise].map(|sum| self.model.scale() * (sum.max(0.0) / rows).sqrt());
        let clipped = self.sums.clipped as f64 / rows;
        SurfaceScores { rmse, r2, difference, noise_sd, rows: self.sums.rows as f64, clipped }
    }

    fn frames(&self, posterior: &WeightPosterior, added: &DMatrix<f64>) -> Vec<Frame> {
        if self.map.nrows() == 0 {
            return Vec::new();
        }
        let shown = self.task.map.len();
        let prediction = posterior.predict(&self.located);
        let scale = self.model.scale();
        let noise = self.located.forms(added);
        let frame = Frame::new(if shown == 1 { "curve" } else { "map" })
            .with_points(&self.map.columns(0, shown).into_owned())
            .with("mean", prediction.mean.iter().map(|m| self.model.in_units(*m)))
            .with("gp-sd", prediction.variance.iter().map(|v| scale * v.sqrt()))
            .with("noise-sd", noise.iter().map(|v| self.model.sd(*v)));
        let points = grid(&self.task.inducing[..shown]);
        vec![frame, Frame::new("inducing").with_points(&points)]
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
fn form(b: &DMatrix<f64>, v: &DVector<f64>) -> f64 {
    (b * v).dot(v)
}
