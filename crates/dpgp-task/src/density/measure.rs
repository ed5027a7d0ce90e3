//! The error of densities.

use nalgebra::{DMatrix, DVector};

use super::estimate::DensityCurve;
use super::function::PrivateDensity;
use super::setting::bins;
use crate::grid::grid;
use crate::{DensityEstimate, DensityTask, ProcessSetting};
use crate::{Frame, Job, Measured, Sample, Sampled, Task, TaskError};
use dpgp_gp::kernel::{Bins, Interval};
use dpgp_mechanisms::{HistogramModel, HistogramSetting, MechanismSetting, PrivacySetting};

/// The metrics `rmse` (against the densities of the test bins at their centres, one value a draw of the noise), and for a
/// private function `sensitivity` (that its noise is scaled by, at change 1) and `sensitivity-exact`. Frames: `histogram`
/// and `curve` of the first draw, and `data`, in one dimension.
impl Task for DensityTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        let (bins, test) = (bins(&self.bins), bins(&self.test));
        let counts = counts(&bins, job.sample, most_per_row(&job.setting.privacy.mechanism));
        // The truth is not clipped, so that the error shows what the clip costs.
        let tested = self::counts(&test, job.sample, None);
        let truth = DVector::from_fn(test.len(), |i, _| tested[i] / test.volume(i));
        let block = DensityBlock { task: self, job, bins, counts, points: test.centres(), truth };
        match &self.estimate {
            DensityEstimate::Function { centred } => {
                let density = PrivateDensity::new(&block, *centred)?;
                job.cells.iter().map(|cell| density.cell(cell)).collect()
            }
            DensityEstimate::Histogram {} => {
                job.cells.iter().map(|cell| block.histogram(None, cell)).collect()
            }
            DensityEstimate::Process(process) => {
                job.cells.iter().map(|cell| block.histogram(Some(process), cell)).collect()
            }
        }
    }
}

/// The records of each bin; a row's target says how many it stands for. Records outside all bins are not counted.
fn counts(bins: &Bins, sample: &Sample, most: Option<f64>) -> Vec<f64> {
    let mut counts = vec![0.0; bins.len()];
    for (row, weight) in sample.inputs.row_iter().zip(&sample.targets) {
        let point: Vec<f64> = row.iter().copied().collect();
        if let Some(bin) = bins.holding(&point) {
            counts[bin] += most.map_or(*weight, |most| weight.clamp(0.0, most));
        }
    }
    counts
}

/// The most records that a row stands for.
fn most_per_row(mechanism: &MechanismSetting) -> Option<f64> {
    mechanism.of::<HistogramSetting>()?.most_per_row.map(|most| most.get() as f64)
}

/// What all cells of a block share.
pub(super) struct DensityBlock<'a> {
    pub task: &'a DensityTask,
    pub job: &'a Job<'a>,
    pub bins: Bins,
    pub counts: Vec<f64>,
    /// The centres of the test bins, and the densities there.
    pub points: DMatrix<f64>,
    truth: DVector<f64>,
}

impl DensityBlock<'_> {
    /// The densities of the bins.
    pub fn densities(&self, counts: &[f64]) -> DVector<f64> {
        DVector::from_fn(counts.len(), |i, _| counts[i] / self.bins.volume(i))
    }

    pub fn rmse(&self, predicted: &DVector<f64>) -> f64 {
        ((predicted - &self.truth).norm_squared() / self.truth.len() as f64).sqrt()
    }

    pub fn smallest_volume(&self) -> f64 {
        (0..self.bins.len()).map(|i| self.bins.volume(i)).fold(f64::INFINITY, f64::min)
    }

    /// Estimates from a noisy histogram.
    fn histogram(
        &self,
        process: Option<&ProcessSetting>,
        cell: &PrivacySetting,
    ) -> Result<Measured, TaskError> {
        let histogram = cell.mechanism.of::<HistogramSetting>();
        let histogram = histogram.ok_or(TaskError::Missing { needed: "mechanism.histogram" })?;
        let model = HistogramModel::new(self.bins.clone(), histogram, &self.job.setting.data);
        let guarantee = model.guarantee(cell);
        let known = cell
            .mechanism
            .denoises_experiments()
            .then(|| self.densities(&vec![guarantee.sd; self.counts.len()]));
        let draws = if guarantee.sd == 0.0 { 1 } else { self.task.draws.get() };
        let (mut values, mut frames) = (Vec::new(), Vec::new());
        for draw in 0..draws {
            let purpose = self.task.purpose(&format!("histogram {draw}"), cell.epsilon.get());
            let mut stream = self.job.streams.of_block(&purpose);
            let noisy = self.densities(&guarantee.simulated(&self.counts, &mut stream));
            let curve = DensityCurve::new(process, &self.bins, &noisy, known.clone())?;
            values.push(self.rmse(&curve.at(&self.points)?));
            if draw == 0 && self.bins.dimensions() == 1 {
                frames = self.frames(&noisy, &curve)?;
            }
        }
        let certified = self.job.certify(guarantee.certificate, || {
            vec![Sampled::Counts {
                sd: guarantee.sd,
                bins: model.bins().len(),
                relation: model.relation(),
                records: model.records(),
            }]
        })?;
        Ok(certified.measured_often(0.0, [("rmse", values)]).with_frames(frames))
    }

    fn frames(&self, noisy: &DVector<f64>, density: &DensityCurve<'_>) -> Result<Vec<Frame>, TaskError> {
        let intervals: Vec<Interval> = (0..self.bins.len()).map(|i| self.bins.interval(i, 0)).collect();
        let histogram = Frame::new("histogram")
            .with("left", intervals.iter().map(|interval| interval.low))
            .with("right", intervals.iter().map(|interval| interval.high))
            .with("value", self.densities(&self.counts).iter().copied())
            .with("noisy", noisy.iter().copied());
        let mut frames = vec![histogram, self.data()];
        if let Some(range) = self.task.curve {
            let points = grid(&[range]);
            let curve = Frame::new("curve").with_points(&points);
            let curve = curve.with("mean", density.at(&points)?.iter().copied());
            frames.push(curve.with("gp-sd", density.sd(&points)?));
        }
        Ok(frames)
    }

    /// The densities of the test bins.
    pub fn data(&self) -> Frame {
        Frame::new("data").with_points(&self.points).with("y", self.truth.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Experiment, TaskSetting};
    use dpgp_data::Manifest;
    use dpgp_data::rows::InMemory;
    use dpgp_stream::collect_here;

    const SPEC: &str = r#"
experiment.title = "a histogram"
data = { source.csv.path = "rows.csv", inputs = ["x", "y"], target = "trips" }
[task.density]
bins = [{ from = -0.9, to = 1.0, bins = 7 }, { from = -1.0, to = 0.8, bins = 5 }]
test = [{ from = -1.0, to = 1.0, bins = 2 }, { from = -1.0, to = 1.0, bins = 2 }]
draws = 1
estimate.histogram = {}
[privacy]
epsilon = 1.0
delta = 1e-5
mechanism.histogram.relation = "add-remove"
"#;

    /// The counts of the stream are those of the task.
    #[test]
    fn rows_in_memory_and_streamed_have_the_same_counts() {
        let manifest = Manifest::shipped().unwrap();
        let spec = Experiment::parse("s", "s.toml".as_ref(), SPEC.to_owned(), &manifest).unwrap();
        let setting = spec.cells[0].setting();
        let TaskSetting::Density(task) = &*setting.task else { panic!("another task") };
        let column = |step: f64| (0..40_000).map(|i| (i as f64 * step).sin()).collect::<Vec<f64>>();
        let (inputs, trips) = ([column(0.37), column(0.011)], (0..40_000).map(|i| (i % 5) as f64));
        let sample = Sample::new(&inputs, trips.collect());
        let summand = DensityTask::histogram(setting).unwrap().summand(&setting.data);
        let mut rows = InMemory::new(vec![&inputs[0], &inputs[1], &sample.targets]);
        let total = collect_here(&mut rows, &summand).unwrap().sums;
        let streamed: Vec<f64> = total.bins.iter().map(|count| *count as f64).collect();
        assert_eq!(streamed, counts(&bins(&task.bins), &sample, None));
        assert_eq!(streamed.iter().sum::<f64>() + total.outside as f64, 80_000.0);
    }
}
