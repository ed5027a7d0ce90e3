//! Densities of records, from noisy histograms and as private functions.

use nalgebra::{DMatrix, DVector};
use rand_distr::{Distribution, StandardNormal};

use super::grid::grid;
use super::histogram_model::{HistogramModel, bins};
use super::measure::Measured;
use super::noise::{Noise, representer};
use super::witness::record;
use super::{Frame, Measurement, Sample, Streams, TaskError, model};
use crate::gp::{BinnedFamily, fit};
use crate::kernel::Bins;
use crate::privacy::accounting::Relation;
use crate::privacy::{Caveat, Certificate, Mechanism, Neighbours, Release};
use crate::spec::{
    DensityEstimate, DensityTask, MechanismSetting, ModelSetting, PrivacySetting, ProcessSetting, Setting,
};

/// The metrics `rmse` (against the densities of the test bins at their centres, one value a draw of the noise), and for a
/// private function `sensitivity` (that its noise is scaled by, at change 1) and `sensitivity-exact`. Frames: `histogram`
/// and `curve` of the first draw, and `data`, in one dimension.
pub(super) fn density(
    block: &Setting,
    task: &DensityTask,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Measured>, TaskError> {
    let (bins, test) = (bins(&task.bins), bins(&task.test));
    let counts = counts(&bins, sample);
    let of_test = self::counts(&test, sample);
    let truth = DVector::from_fn(test.len(), |i, _| of_test[i] / test.volume(i));
    let bench = Bench { block, task, bins, counts, points: test.centres(), truth, streams };
    match (&task.estimate, block.model.as_deref()) {
        (DensityEstimate::Function { centred }, Some(model)) => bench.function(*centred, model, cells),
        (DensityEstimate::Function { .. }, None) => Ok(vec![Measured::default(); cells.len()]),
        (DensityEstimate::Histogram {}, _) => cells.iter().map(|cell| bench.histogram(None, cell)).collect(),
        (DensityEstimate::Process(process), _) => {
            cells.iter().map(|cell| bench.histogram(Some(process), cell)).collect()
        }
    }
}

/// The records of each bin; a row's target says how many it stands for. Records outside all bins are not counted.
fn counts(bins: &Bins, sample: &Sample) -> Vec<f64> {
    let mut counts = vec![0.0; bins.len()];
    for (row, weight) in sample.inputs.row_iter().zip(&sample.targets) {
        let point: Vec<f64> = row.iter().copied().collect();
        if let Some(bin) = bins.holding(&point) {
            counts[bin] += weight;
        }
    }
    counts
}

struct Bench<'a> {
    block: &'a Setting,
    task: &'a DensityTask,
    bins: Bins,
    counts: Vec<f64>,
    /// The centres of the test bins, and the densities there.
    points: DMatrix<f64>,
    truth: DVector<f64>,
    streams: &'a Streams,
}

impl Bench<'_> {
    /// The densities of the bins.
    fn densities(&self, counts: &[f64]) -> DVector<f64> {
        DVector::from_fn(counts.len(), |i, _| counts[i] / self.bins.volume(i))
    }

    fn rmse(&self, predicted: &DVector<f64>) -> f64 {
        ((predicted - &self.truth).norm_squared() / self.truth.len() as f64).sqrt()
    }

    /// The points of the curve, in one dimension.
    fn curve(&self) -> Option<DMatrix<f64>> {
        self.task.curve.map(|range| grid(&[range]))
    }

    /// Estimates from a noisy histogram: post-processing, whatever is fitted to it.
    fn histogram(
        &self,
        process: Option<&ProcessSetting>,
        cell: &PrivacySetting,
    ) -> Result<Measured, TaskError> {
        let Some(model) = HistogramModel::new(self.bins.clone(), &cell.mechanism) else {
            return Err(TaskError::WrongMechanism { needed: "histogram" });
        };
        let guarantee = model.guarantee(cell);
        let draws = if guarantee.sd == 0.0 { 1 } else { self.task.draws };
        let (mut values, mut frames) = (Vec::new(), Vec::new());
        for draw in 0..draws {
            let mut stream = self.streams.of_block(&format!("histogram {draw}"));
            let noisy = self.densities(&guarantee.release(&self.counts, &mut stream));
            let estimate = self.estimate(process, &noisy)?;
            values.push(self.rmse(&estimate.at(&self.points)?));
            if draw == 0 && self.bins.dimensions() == 1 {
                frames = self.frames(&noisy, &estimate)?;
            }
        }
        Ok(Measured { metrics: vec![measurement("rmse", values, &guarantee.certificate)], frames })
    }

    fn estimate(
        &self,
        process: Option<&ProcessSetting>,
        noisy: &DVector<f64>,
    ) -> Result<Estimate<'_>, TaskError> {
        match process {
            None => Ok(Estimate::Bins { bins: &self.bins, densities: noisy.clone() }),
            Some(process) => Estimate::fitted(process, &self.bins, noisy),
        }
    }

    fn frames(&self, noisy: &DVector<f64>, estimate: &Estimate<'_>) -> Result<Vec<Frame>, TaskError> {
        let edges = |at: fn(crate::kernel::Interval) -> f64| {
            (0..self.bins.len()).map(|i| at(self.bins.interval(i, 0))).collect::<Vec<f64>>()
        };
        let histogram = Frame::new("histogram")
            .with("left", edges(|interval| interval.low))
            .with("right", edges(|interval| interval.high))
            .with("value", self.densities(&self.counts).iter().copied())
            .with("noisy", noisy.iter().copied());
        let mut frames = vec![histogram, self.data()];
        if let Some(points) = self.curve() {
            let curve =
                Frame::new("curve").with_points(&points).with("mean", estimate.at(&points)?.iter().copied());
            frames.push(curve.with("gp-sd", estimate.sd(&points)?));
        }
        Ok(frames)
    }

    /// The densities of the test bins.
    fn data(&self) -> Frame {
        Frame::new("data").with_points(&self.points).with("y", self.truth.iter().copied())
    }

    /// The mean of the model on all bins, with a sample of its process as noise.
    fn function(
        &self,
        centred: bool,
        setting: &ModelSetting,
        cells: &[&PrivacySetting],
    ) -> Result<Vec<Measured>, TaskError> {
        let MechanismSetting::Function(function) = &self.block.privacy.mechanism else {
            return Err(TaskError::WrongMechanism { needed: "function" });
        };
        let centres = self.bins.centres();
        let kernel = model::kernel(&setting.kernel, &centres);
        let mean = representer(setting, kernel.as_ref(), &centres, (self.streams, "density"))?;
        let mut targets = self.densities(&self.counts);
        let centre = if centred { targets.mean() } else { 0.0 };
        targets.add_scalar_mut(-centre);
        let plain = mean.predict(kernel.as_ref(), &targets, &self.points).add_scalar(centre);
        let noise = Noise::of_function(function.sensitivity, &mean, kernel.as_ref(), &self.points)?;
        let mut stream = self.streams.of_block("function");
        let draws =
            DMatrix::from_fn(noise.map.ncols(), self.task.draws, |_, _| StandardNormal.sample(&mut stream));
        let draws = &noise.map * draws;
        let sensitivity = noise.bound.unwrap_or(0.0);
        let answer = |cell: &&PrivacySetting| {
            let scale = cell.change() * cell.calibration.sigma(cell.epsilon, cell.delta);
            let values = match scale == 0.0 {
                true => vec![self.rmse(&plain)],
                false => draws.column_iter().map(|z| self.rmse(&(&plain + z * scale))).collect(),
            };
            if scale > 0.0 {
                record(cell, || noise.sampled(scale, 1.0 / self.smallest_volume()));
            }
            let private = (Caveat::PrivateNormalisation, centred && cell.epsilon.is_finite());
            let certificate = self.certificate(cell, &noise).with_caveats(&[private]);
            let metrics = vec![
                measurement("rmse", values, &certificate),
                measurement("sensitivity", vec![sensitivity], &certificate),
                measurement("sensitivity-exact", vec![sensitivity * noise.ratio], &certificate),
            ];
            Measured { metrics, frames: vec![self.data()] }
        };
        Ok(cells.iter().map(answer).collect())
    }

    fn smallest_volume(&self) -> f64 {
        (0..self.bins.len()).map(|i| self.bins.volume(i)).fold(f64::INFINITY, f64::min)
    }

    /// One record added or removed changes one density by one over the volume of its bin, whatever `change` says.
    fn certificate(&self, cell: &PrivacySetting, noise: &Noise) -> Certificate {
        if cell.epsilon.is_infinite() {
            return Certificate::none();
        }
        let ratio = noise.ratio / (self.smallest_volume() * cell.change());
        Certificate::gaussian(
            (Release::Function, Neighbours::OneRecord(Relation::AddRemove)),
            cell.calibration,
            (cell.epsilon, cell.delta),
            ratio,
            None,
        )
        .by(Mechanism::Function(cell.calibration))
        .with_caveats(&[(Caveat::InvalidSensitivity, ratio > 1.0 + 1e-9)])
    }
}

fn measurement(metric: &str, values: Vec<f64>, certificate: &Certificate) -> Measurement {
    Measurement { metric: metric.to_owned(), values, certificate: certificate.clone(), jitter: 0.0 }
}

/// An estimate of the density that can be asked for any point.
enum Estimate<'a> {
    /// The densities of bins; zero outside all of them.
    Bins { bins: &'a Bins, densities: DVector<f64> },
    /// A process with parameters fitted by maximum likelihood.
    Process { family: BinnedFamily, logs: Vec<f64>, scaled: DVector<f64>, centre: f64, scale: f64 },
}

impl<'a> Estimate<'a> {
    fn fitted(setting: &ProcessSetting, bins: &'a Bins, noisy: &DVector<f64>) -> Result<Self, TaskError> {
        let (centre, scale) = match setting.standardise {
            true => (noisy.mean(), noisy.variance().sqrt()),
            false => (0.0, 1.0),
        };
        let scaled = noisy.map(|y| (y - centre) / scale);
        let family = BinnedFamily::new(bins.clone(), setting.observed, setting.lengthscales.clone());
        let fit = fit(&family, &scaled, &starts(setting, bins, &scaled))?;
        Ok(Self::Process { family, logs: fit.logs, scaled, centre, scale })
    }

    fn at(&self, points: &DMatrix<f64>) -> Result<DVector<f64>, TaskError> {
        match self {
            Self::Bins { bins, densities } => Ok(DVector::from_fn(points.nrows(), |i, _| {
                let point: Vec<f64> = points.row(i).iter().copied().collect();
                bins.holding(&point).map_or(0.0, |bin| densities[bin])
            })),
            Self::Process { family, logs, scaled, centre, scale } => {
                Ok(family.predict(logs, scaled, points)?.map(|mean| mean * scale + centre))
            }
        }
    }

    /// The standard deviation of the latent function; zero for bins.
    fn sd(&self, points: &DMatrix<f64>) -> Result<Vec<f64>, TaskError> {
        match self {
            Self::Bins { .. } => Ok(vec![0.0; points.nrows()]),
            Self::Process { family, logs, scale, .. } => {
                Ok(family.variance(logs, points)?.iter().map(|v| v.sqrt() * scale).collect())
            }
        }
    }
}

/// Where the searches for parameters begin: the mean square of the observations as the kernel's variance, a hundredth or a
/// half of it as noise, and lengthscales of some widths of a bin unless they are fixed.
fn starts(setting: &ProcessSetting, bins: &Bins, scaled: &DVector<f64>) -> Vec<Vec<f64>> {
    let power = (scaled.norm_squared() / scaled.len() as f64).max(f64::MIN_POSITIVE);
    let widths = if setting.lengthscales.is_some() { &[1.0] } else { setting.widths.as_slice() };
    let mut starts = Vec::new();
    for width in widths {
        for share in [0.01, 0.5] {
            let mut start = vec![power.ln(), (share * power).ln()];
            if setting.lengthscales.is_none() {
                start.extend((0..bins.dimensions()).map(|d| (width * bins.interval(0, d).width()).ln()));
            }
            starts.push(start);
        }
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Manifest;
    use crate::data::rows::InMemory;
    use crate::spec::{Experiment, TaskSetting};
    use crate::stream::{SumRows, collect_here};

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
        let summand = HistogramModel::of(setting).unwrap().summand(&setting.data);
        let mut rows = InMemory::new(vec![&inputs[0], &inputs[1], &sample.targets]);
        let total = collect_here(&mut rows, &summand).unwrap().total(summand.zero());
        let streamed: Vec<f64> = total.bins.iter().map(|count| *count as f64).collect();
        assert_eq!(streamed, counts(&bins(&task.bins), &sample));
        assert_eq!(streamed.iter().sum::<f64>() + total.outside as f64, 80_000.0);
    }
}
