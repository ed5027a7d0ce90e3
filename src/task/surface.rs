//! A surface over the inputs from the sums over all rows, with and without privacy.

use nalgebra::{DMatrix, DVector};

use super::measure::Measured;
use super::{Frame, Measurement, Sample, Streams, SurfaceModel, TaskError};
use crate::gp::variational::{Inducing, Located, Statistics, WeightPosterior};
use crate::spec::{PrivacySetting, Setting, SurfaceTask};
use crate::stream::Sums;

/// The metrics `rmse` (of the clipped targets about the surface), `difference` (root mean square over the rows of the
/// distance to the surface without privacy), `noise-sd` (root mean square over the rows of what the privacy noise adds
/// to the standard deviation, as the posterior knows it), all in units of the target; `rows` and `clipped`, a share of
/// them. Rows enter by their sums alone: `sum (y - k'v)^2 = sum y^2 - 2 A'v + v'Bv`. Frames: `curve` or `map`, and
/// `inducing`.
pub(super) fn surface(
    block: &Setting,
    task: &SurfaceTask,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Measured>, TaskError> {
    let Some(model) = SurfaceModel::new(block) else { return Ok(vec![Measured::default(); cells.len()]) };
    let sums = model.sums(sample);
    let inducing = model.inducing()?;
    let statistics = sums.statistics();
    let exact = model.posterior(&inducing, &statistics.exact())?;
    let map = model.map();
    let located = inducing.locate(&map);
    let bench = Bench { task, model: &model, inducing: &inducing, sums, statistics, exact, map, located };
    cells.iter().map(|cell| bench.cell(cell, streams)).collect()
}

/// What all cells of a block share.
struct Bench<'a> {
    task: &'a SurfaceTask,
    model: &'a SurfaceModel,
    inducing: &'a Inducing<'a>,
    sums: Sums,
    statistics: Statistics,
    exact: WeightPosterior,
    map: DMatrix<f64>,
    located: Located,
}

impl Bench<'_> {
    fn cell(&self, cell: &PrivacySetting, streams: &Streams) -> Result<Measured, TaskError> {
        let mut stream = streams.of_block("noise");
        let (noisy, guarantee) = self.model.release(&self.statistics, cell, &mut stream)?;
        let posterior = self.model.posterior(self.inducing, &noisy)?;
        let added = self.model.added(self.inducing, &noisy, &posterior)?;
        let measurement = |(metric, value): (&str, f64)| Measurement {
            metric: metric.to_owned(),
            values: vec![value],
            certificate: guarantee.certificate.clone(),
            jitter: posterior.jitter.max(self.inducing.jitter()),
        };
        let values = self.values(&posterior, &added);
        let metrics = SurfaceTask::METRICS.into_iter().zip(values).map(measurement).collect();
        Ok(Measured { metrics, frames: self.frames(&posterior, &added) })
    }

    /// In the order of the task's metrics.
    fn values(&self, posterior: &WeightPosterior, added: &DMatrix<f64>) -> [f64; 5] {
        let (a, b) = (&self.statistics.a, &self.statistics.b);
        let rows = self.sums.rows.max(1) as f64;
        let form = |v: &DVector<f64>| (b * v).dot(v);
        let v = &posterior.mean;
        let errors = self.sums.squares - 2.0 * a.dot(v) + form(v);
        let apart = form(&(v - &self.exact.mean));
        let noise = b.component_mul(added).sum();
        let [rmse, difference, noise] =
            [errors, apart, noise].map(|sum| self.model.scale() * (sum.max(0.0) / rows).sqrt());
        [rmse, difference, noise, self.sums.rows as f64, self.sums.clipped as f64 / rows]
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
            .with("noise-sd", noise.iter().map(|v| scale * v.max(0.0).sqrt()));
        let points = super::grid::grid(&self.task.inducing[..shown]);
        vec![frame, Frame::new("inducing").with_points(&points)]
    }
}
