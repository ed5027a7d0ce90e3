//! Density estimates from noisy histograms or as private functions, and their errors.

use std::borrow::Cow;

use nalgebra::{DMatrix, DVector};

use crate::model::GpOnTrainingInputs;
use crate::noise::PredictionNoise;
use crate::sample::product_grid;
use crate::summary::standard_normal_matrix;
use crate::{
    AuditableCertificate, AuditedMechanism, CellMeasurements, CountEstimates, DensityEstimate, DensityProcessSetting,
    DensityTask, FigureTable, MeasurableTask, Predictions, ReplicateJob, Sample, TargetChangeGuarantee, TaskError,
    build_count_axes,
};
use dpgp_accounting::{
    CalibratedGaussianRelease, CertifiedMechanism, GuaranteeCaveat, NeighbourRelation, Neighbours, ReleaseKind,
};
use dpgp_gp::kernel::{Bins, Interval};
use dpgp_gp::{BinnedCovarianceFamily, GridAxis, maximise_marginal_likelihood};
use dpgp_mechanisms::{
    FunctionNoiseSetting, HistogramReleaseDesign, HistogramSetting, MeanFunctionNoise, MechanismSetting, PrivacySetting,
};
use dpgp_number::Positive;

/// The metric `rmse` has one value for each draw of the noise: the error of the densities at the centres of the test bins.
///
/// For estimates of counts, it is the error of the counts. `noisy-rmse` is that of the noisy counts, clipped at zero, and
/// `ratio` is the first over the second. `coverage-90` is the share of exact counts within their 90 % intervals.
///
/// A private function has `sensitivity`, which scales its noise (at change 1), and `sensitivity-exact`.
///
/// Frames, in one dimension: `histogram` and `curve` of the first draw, and `data`.
impl MeasurableTask for DensityTask {
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        let (bins, test) = (self.histogram_bins(), self.test_bins());
        let counts = count_records(&bins, job.sample, max_records_per_row(&job.setting.privacy.mechanism));
        // The truth is not clipped, so that the error shows what the clip costs.
        let tested = self::count_records(&test, job.sample, None);
        let truth = DVector::from_fn(test.len(), |i, _| tested[i] / test.volume(i));
        let block = DensityReplicateState { task: self, job, bins, counts, points: test.centres(), truth };
        match &self.estimate {
            DensityEstimate::Function { centred } => {
                let density = PrivateDensity::new(&block, *centred)?;
                job.measure_each_cell(|cell| density.measure_cell(cell))
            }
            DensityEstimate::Histogram {} => {
                job.measure_each_cell(|cell| block.measure_histogram(HistogramEstimationMethod::Bins, cell))
            }
            DensityEstimate::Denoised {} => {
                let axes = build_count_axes(&job.setting.data.inputs, &job.setting.data.encode, &self.bins);
                let axes = axes.map_err(|reason| TaskError::NotReleasable { reason })?;
                job.cells
                    .iter()
                    .map(|cell| block.measure_histogram(HistogramEstimationMethod::Estimates(&axes), cell))
                    .collect()
            }
            DensityEstimate::Process(process) => job
                .cells
                .iter()
                .map(|cell| block.measure_histogram(HistogramEstimationMethod::Process(process), cell))
                .collect(),
        }
    }
}

/// The records of each bin; a row's target says how many it stands for. Records outside all bins are not counted.
fn count_records(bins: &Bins, sample: &Sample, most: Option<f64>) -> Vec<f64> {
    let mut counts = vec![0.0; bins.len()];
    for (row, weight) in sample.inputs.row_iter().zip(&sample.targets) {
        let point: Vec<f64> = row.iter().copied().collect();
        if let Some(bin) = bins.find_bin(&point) {
            counts[bin] += most.map_or(*weight, |most| weight.clamp(0.0, most));
        }
    }
    counts
}

/// The most records that a row stands for.
fn max_records_per_row(mechanism: &MechanismSetting) -> Option<f64> {
    mechanism.downcast::<HistogramSetting>()?.most_per_row.map(|most| most.get() as f64)
}

/// State shared by all cells of a block.
pub(super) struct DensityReplicateState<'a> {
    pub task: &'a DensityTask,
    pub job: &'a ReplicateJob<'a>,
    pub bins: Bins,
    pub counts: Vec<f64>,
    /// The centres of the test bins, and the densities there.
    pub points: DMatrix<f64>,
    truth: DVector<f64>,
}

impl DensityReplicateState<'_> {
    /// The densities of the bins.
    pub fn densities(&self, counts: &[f64]) -> DVector<f64> {
        DVector::from_fn(counts.len(), |i, _| counts[i] / self.bins.volume(i))
    }

    pub fn rmse(&self, predicted: &DVector<f64>) -> f64 {
        ((predicted - &self.truth).norm_squared() / self.truth.len() as f64).sqrt()
    }

    pub fn smallest_bin_volume(&self) -> f64 {
        (0..self.bins.len()).map(|i| self.bins.volume(i)).fold(f64::INFINITY, f64::min)
    }

    /// Estimates from a noisy histogram.
    fn measure_histogram(
        &self,
        of: HistogramEstimationMethod<'_>,
        cell: &PrivacySetting,
    ) -> Result<CellMeasurements, TaskError> {
        let histogram = cell.mechanism.downcast::<HistogramSetting>();
        let histogram = histogram.ok_or(TaskError::Missing { needed: "mechanism.histogram" })?;
        let model = HistogramReleaseDesign::new(self.bins.clone(), histogram, &self.job.setting.data);
        let guarantee = model.certified_noise(cell);
        let known =
            cell.mechanism.denoises_in_experiments().then(|| self.densities(&vec![guarantee.sd; self.counts.len()]));
        let draws = if guarantee.sd == 0.0 { 1 } else { self.task.draws.get() };
        let (mut metrics, mut frames) = (Vec::<(&str, Vec<f64>)>::new(), Vec::new());
        for draw in 0..draws {
            let purpose = self.task.stream_purpose(&format!("histogram {draw}"), cell.epsilon.get());
            let mut stream = self.job.streams.block_stream(&purpose);
            let noisy_counts = guarantee.simulate_release(&self.counts, &mut stream);
            let (curve, errors) = self.estimate(of, &noisy_counts, guarantee.sd, known.as_ref())?;
            for (metric, error) in errors {
                match metrics.iter_mut().find(|(known, _)| *known == metric) {
                    Some((_, values)) => values.push(error),
                    None => metrics.push((metric, vec![error])),
                }
            }
            if draw == 0 && self.bins.dimensions() == 1 {
                frames = self.figure_frames(&self.densities(&noisy_counts), &curve)?;
            }
        }
        let certified = self.job.auditable_certificate(guarantee.certificate, || {
            vec![AuditedMechanism::Counts {
                sd: guarantee.sd,
                bins: model.bins().len(),
                relation: model.relation(),
                records: model.max_records_per_unit(),
            }]
        })?;
        Ok(certified.into_repeated_measurements(0.0, metrics).with_frames(frames))
    }

    /// The estimate from the noisy counts of one draw, and its errors by metric.
    fn estimate(
        &self,
        of: HistogramEstimationMethod<'_>,
        noisy_counts: &[f64],
        sd: f64,
        known: Option<&DVector<f64>>,
    ) -> Result<(DensityCurve<'_>, DrawMetrics), TaskError> {
        let of_bins = |counts: &[f64]| DensityCurve::Bins { bins: &self.bins, densities: self.densities(counts) };
        let curve = match of {
            HistogramEstimationMethod::Estimates(_) if sd == 0.0 => {
                return Ok((of_bins(noisy_counts), vec![("rmse", 0.0)]));
            }
            HistogramEstimationMethod::Estimates(axes) => {
                let found = CountEstimates::new(axes, noisy_counts.to_vec(), sd.powi(2))?.estimate_bins();
                let clipped: Vec<f64> = noisy_counts.iter().map(|count| count.max(0.0)).collect();
                let own = rmse_of_counts(&found.mean, &self.counts);
                let noisy = rmse_of_counts(&clipped, &self.counts);
                let coverage = interval_coverage(&found, &self.counts);
                let errors =
                    vec![("rmse", own), ("noisy-rmse", noisy), ("ratio", own / noisy), ("coverage-90", coverage)];
                return Ok((of_bins(&found.mean), errors));
            }
            HistogramEstimationMethod::Bins => of_bins(noisy_counts),
            HistogramEstimationMethod::Process(process) => {
                DensityCurve::fit_process(process, &self.bins, &self.densities(noisy_counts), known.cloned())?
            }
        };
        let rmse = self.rmse(&curve.evaluate_at(&self.points)?);
        Ok((curve, vec![("rmse", rmse)]))
    }

    fn figure_frames(&self, noisy: &DVector<f64>, density: &DensityCurve<'_>) -> Result<Vec<FigureTable>, TaskError> {
        let intervals: Vec<Interval> = (0..self.bins.len()).map(|i| self.bins.interval(i, 0)).collect();
        let histogram = FigureTable::new("histogram")
            .with_column("left", intervals.iter().map(|interval| interval.low))
            .with_column("right", intervals.iter().map(|interval| interval.high))
            .with_column("value", self.densities(&self.counts).iter().copied())
            .with_column("noisy", noisy.iter().copied());
        let mut frames = vec![histogram, self.test_density_frame()];
        if let Some(range) = self.task.curve {
            let points = product_grid(&[range]);
            let curve = FigureTable::new("curve").with_points(&points);
            let curve = curve.with_column("mean", density.evaluate_at(&points)?.iter().copied());
            frames.push(curve.with_column("gp-sd", density.latent_sds(&points)?));
        }
        Ok(frames)
    }

    /// The densities of the test bins.
    pub fn test_density_frame(&self) -> FigureTable {
        FigureTable::new("data").with_points(&self.points).with_column("y", self.truth.iter().copied())
    }
}

/// The errors of one draw, by metric.
type DrawMetrics = Vec<(&'static str, f64)>;

/// What a noisy histogram is made into.
#[derive(Clone, Copy)]
enum HistogramEstimationMethod<'a> {
    /// Densities of its bins.
    Bins,
    /// A process that is fitted to them.
    Process(&'a DensityProcessSetting),
    /// Estimates of the exact counts on these axes.
    Estimates(&'a [GridAxis]),
}

/// Half the width of a central 90 % interval, in standard deviations.
const CENTRAL_90: f64 = 1.644_853_626_951_472_7;

/// The share of exact counts within their 90 % intervals, which are cut off below zero.
fn interval_coverage(found: &Predictions, counts: &[f64]) -> f64 {
    let inside = counts.iter().enumerate().filter(|(bin, count)| {
        let half = CENTRAL_90 * found.gp_sd[*bin].hypot(found.noise_sd[*bin]);
        (**count - found.mean[*bin]).abs() <= half
    });
    inside.count() as f64 / counts.len() as f64
}

/// The root mean square error of estimated counts over the bins.
fn rmse_of_counts(estimates: &[f64], counts: &[f64]) -> f64 {
    let squares = estimates.iter().zip(counts).map(|(estimate, count)| (estimate - count).powi(2));
    (squares.sum::<f64>() / counts.len() as f64).sqrt()
}

/// An estimate of the density that can be asked for any point.
pub(super) enum DensityCurve<'a> {
    /// The densities of bins; zero outside all of them.
    Bins { bins: &'a Bins, densities: DVector<f64> },
    /// A process with parameters fitted by maximum likelihood.
    Process { family: BinnedCovarianceFamily, logs: Vec<f64>, scaled: DVector<f64>, centre: f64, scale: f64 },
}

impl<'a> DensityCurve<'a> {
    /// Fits a process to noisy densities: they are all that is known, so that whatever is fitted to them costs nothing more. `known` are the
    /// standard deviations of their noise, if the process is to know them; at the fitted parameters its mean is then the best linear
    /// prediction given the noisy densities, and its variance counts the noise. Otherwise noise of one size is fitted to all of them.
    pub fn fit_process(
        setting: &DensityProcessSetting,
        bins: &'a Bins,
        noisy: &DVector<f64>,
        known: Option<DVector<f64>>,
    ) -> Result<Self, TaskError> {
        let (centre, scale) = match setting.standardise {
            true => (noisy.mean(), noisy.variance().sqrt()),
            false => (0.0, 1.0),
        };
        let scaled = noisy.map(|y| (y - centre) / scale);
        let fixed = setting.lengthscales.as_ref().map(|all| all.iter().map(|l| l.get()).collect());
        let mut family = BinnedCovarianceFamily::new(bins.clone(), setting.observed, fixed);
        if let Some(sds) = known {
            family = family.with_known_noise(sds.iter().map(|sd| (sd / scale).powi(2)).collect());
        }
        let fit = maximise_marginal_likelihood(&family, &scaled, &log_hyperparameter_starts(setting, bins, &scaled))?;
        Ok(Self::Process { family, logs: fit.logs, scaled, centre, scale })
    }

    pub fn evaluate_at(&self, points: &DMatrix<f64>) -> Result<DVector<f64>, TaskError> {
        match self {
            Self::Bins { bins, densities } => Ok(DVector::from_fn(points.nrows(), |i, _| {
                let point: Vec<f64> = points.row(i).iter().copied().collect();
                bins.find_bin(&point).map_or(0.0, |bin| densities[bin])
            })),
            Self::Process { family, logs, scaled, centre, scale } => {
                Ok(family.predict(logs, scaled, points)?.map(|mean| mean * scale + centre))
            }
        }
    }

    /// The standard deviation of the latent function; zero for bins.
    pub fn latent_sds(&self, points: &DMatrix<f64>) -> Result<Vec<f64>, TaskError> {
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
fn log_hyperparameter_starts(setting: &DensityProcessSetting, bins: &Bins, scaled: &DVector<f64>) -> Vec<Vec<f64>> {
    let power = (scaled.norm_squared() / scaled.len() as f64).max(f64::MIN_POSITIVE);
    let widths = if setting.lengthscales.is_some() { &[Positive::ONE] } else { setting.widths.as_slice() };
    let mut starts = Vec::new();
    for width in widths {
        for share in [0.01, 0.5] {
            let mut start = vec![power.ln(), (share * power).ln()];
            if setting.lengthscales.is_none() {
                start.extend((0..bins.dimensions()).map(|d| (width.get() * bins.interval(0, d).width()).ln()));
            }
            starts.push(start);
        }
    }
    starts
}

/// The mean of the model on all bins, with a sample of its process as noise.
pub(super) struct PrivateDensity<'a> {
    block: &'a DensityReplicateState<'a>,
    /// The mean at the test bins.
    plain: DVector<f64>,
    noise: PredictionNoise,
    /// The sensitivity at change 1 that the noise is scaled by.
    sensitivity: f64,
    /// Unit noise at the test bins (t x draws) that all epsilons share; none if each has its own.
    shared: Option<DMatrix<f64>>,
    /// Whether the mean of the densities was subtracted, which is private.
    centred: bool,
}

impl<'a> PrivateDensity<'a> {
    pub fn new(block: &'a DensityReplicateState<'a>, centred: bool) -> Result<Self, TaskError> {
        let job = block.job;
        let model = job.model()?;
        let function = job.setting.privacy.mechanism.downcast::<FunctionNoiseSetting>();
        let function = function.ok_or(TaskError::Missing { needed: "mechanism.function" })?;
        let centres = block.bins.centres();
        let kernel = model.kernel.build_kernel(&centres);
        let mean = GpOnTrainingInputs::new(model, kernel.as_ref(), &centres, job.inducing_placement("density"))
            .with_observation_noise()?
            .mean_representer()?;
        let mut targets = block.densities(&block.counts);
        let centre = if centred { targets.mean() } else { 0.0 };
        targets.add_scalar_mut(-centre);
        let plain = mean.predict(kernel.as_ref(), &targets, &block.points).add_scalar(centre);
        let noise = MeanFunctionNoise::new(function.sensitivity, &mean, kernel.as_ref(), &block.points)?;
        let noise = PredictionNoise::new(Box::new(noise));
        let sensitivity = function.sensitivity.sensitivity(&mean.weights, &mean.norms);
        let density = Self { block, plain, noise, sensitivity, shared: None, centred };
        let shared = (!block.task.own_draws).then(|| density.draw_unit_noise("function"));
        Ok(Self { shared, ..density })
    }

    /// Unit noise at the test bins (t x draws).
    fn draw_unit_noise(&self, purpose: &str) -> DMatrix<f64> {
        let DensityReplicateState { task, job, .. } = self.block;
        let mut stream = job.streams.block_stream(purpose);
        &self.noise.map * standard_normal_matrix(self.noise.map.ncols(), task.draws.get(), &mut stream)
    }

    pub fn measure_cell(&self, cell: &PrivacySetting) -> Result<CellMeasurements, TaskError> {
        let target = TargetChangeGuarantee::for_one_row(cell)?;
        let block = self.block;
        let rmse = match target.is_private() {
            false => vec![block.rmse(&self.plain)],
            true => {
                let own = || self.draw_unit_noise(&block.task.stream_purpose("function", target.epsilon));
                let draws = self.shared.as_ref().map_or_else(|| Cow::Owned(own()), Cow::Borrowed);
                let noisy = draws.column_iter().map(|z| &self.plain + z * target.noise_scale_in_target_units());
                noisy.map(|density| block.rmse(&density)).collect()
            }
        };
        let certified =
            if target.is_private() { self.certify_release(target)? } else { AuditableCertificate::without_claim() };
        let exact = self.sensitivity * self.noise.ratio;
        let metrics = [("rmse", rmse), ("sensitivity", vec![self.sensitivity]), ("sensitivity-exact", vec![exact])];
        Ok(certified.into_repeated_measurements(0.0, metrics).with_frames(vec![block.test_density_frame()]))
    }

    /// One record added or removed changes one density by one over the volume of its bin, whatever `change` says.
    fn certify_release(&self, target: TargetChangeGuarantee) -> Result<AuditableCertificate, TaskError> {
        let moved = 1.0 / self.block.smallest_bin_volume();
        let ratio = self.noise.ratio / (self.block.smallest_bin_volume() * target.change);
        let event = CalibratedGaussianRelease {
            neighbours: Neighbours::OneRecord(NeighbourRelation::AddRemove),
            ..target.calibrated_gaussian_release(ReleaseKind::Function, CertifiedMechanism::Function, ratio)
        };
        let certificate = event.certificate().with_caveats(&[
            (GuaranteeCaveat::InvalidSensitivity, ratio > 1.0 + 1e-9),
            (GuaranteeCaveat::PrivateNormalisation, self.centred),
        ]);
        self.block.job.auditable_certificate(certificate, || {
            vec![self.noise.audited_mechanism(target.noise_scale_in_target_units(), moved)]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Experiment, TaskSetting};
    use dpgp_data::DatasetManifest;
    use dpgp_data::rows::InMemoryRows;
    use dpgp_stream::sum_rows_serially;

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
        let manifest = DatasetManifest::load_shipped().unwrap();
        let spec = Experiment::parse("s", "s.toml".as_ref(), SPEC.to_owned(), &manifest).unwrap();
        let setting = spec.cells[0].setting();
        let TaskSetting::Density(task) = &*setting.task else { panic!("another task") };
        let column = |step: f64| (0..40_000).map(|i| (i as f64 * step).sin()).collect::<Vec<f64>>();
        let (inputs, trips) = ([column(0.37), column(0.011)], (0..40_000).map(|i| (i % 5) as f64));
        let sample = Sample::new(&inputs, trips.collect());
        let summand = DensityTask::histogram(setting).unwrap().build_summand(&setting.data);
        let mut rows = InMemoryRows::new(vec![&inputs[0], &inputs[1], &sample.targets]);
        let total = sum_rows_serially(&mut rows, &summand).unwrap().sums;
        let streamed: Vec<f64> = total.bins.iter().map(|count| *count as f64).collect();
        assert_eq!(streamed, count_records(&task.histogram_bins(), &sample, None));
        assert_eq!(streamed.iter().sum::<f64>() + total.outside as f64, 80_000.0);
    }
}

#[cfg(test)]
mod estimate_tests {
    use super::*;
    use crate::summary::standard_normal_vector;
    use dpgp_gp::kernel::BinObservation;
    use dpgp_linalg::Cholesky;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    fn bins() -> Bins {
        Bins::grid(&[(0.0, 30.0, 30)])
    }

    fn setting(standardise: bool) -> DensityProcessSetting {
        let lengthscales = Some(vec![Positive::new(6.0).unwrap()]);
        DensityProcessSetting {
            observed: BinObservation::Average,
            lengthscales,
            widths: vec![Positive::ONE],
            standardise,
        }
    }

    fn truth() -> DVector<f64> {
        DVector::from_fn(30, |i, _| 4.0 + 3.0 * ((i as f64 + 0.5) / 6.0).sin())
    }

    /// Little noise in the odd bins and much in the even ones.
    fn sds() -> DVector<f64> {
        DVector::from_fn(30, |i, _| if i % 2 == 0 { 4.0 } else { 0.2 })
    }

    fn noisy(seed: u64) -> DVector<f64> {
        truth() + standard_normal_vector(30, &mut Pcg64::seed_from_u64(seed)).component_mul(&sds())
    }

    /// At the fitted parameters: `K_* (K + noise I + diag(sd^2))^-1 y`, and the variance that this leaves.
    #[test]
    fn a_curve_that_knows_the_noise_is_the_best_linear_prediction() {
        let (bins, y, points) = (bins(), noisy(7), DMatrix::from_column_slice(3, 1, &[0.3, 14.0, 33.0]));
        let setting = setting(true);
        let curve = DensityCurve::fit_process(&setting, &bins, &y, Some(sds())).unwrap();
        let DensityCurve::Process { family, logs, .. } = &curve else { panic!("bins alone") };
        let (centre, scale) = (y.mean(), y.variance().sqrt());
        let mut covariance = family.kernel(logs).matrix(&bins) * (scale * scale);
        (0..30).for_each(|i| covariance[(i, i)] += scale * scale * logs[1].exp() + sds()[i].powi(2));
        let common = family.kernel(logs).cross_covariance(&points, &bins).transpose() * (scale * scale);
        let weights = Cholesky::new("S", &covariance).unwrap().solve(&common);
        let expected = weights.tr_mul(&y.add_scalar(-centre)).add_scalar(centre);
        assert!((curve.evaluate_at(&points).unwrap() - expected).amax() < 1e-9);
        let prior = logs[0].exp() * scale * scale;
        for (i, sd) in curve.latent_sds(&points).unwrap().into_iter().enumerate() {
            let left = prior - weights.column(i).dot(&common.column(i));
            assert!((sd * sd - left).abs() < 1e-8 * prior, "{sd} {left}");
        }
    }

    /// Bins with much noise no longer spoil the others, and intervals hold the truth as often as they say.
    #[test]
    fn knowing_the_noise_errs_less() {
        let (bins, points) = (bins(), bins().centres());
        let (mut squares, mut held) = ([0.0; 2], 0);
        for seed in 0..10 {
            for (known, total) in [None, Some(sds())].into_iter().zip(&mut squares) {
                let setting = setting(false);
                let knows = known.is_some();
                let curve = DensityCurve::fit_process(&setting, &bins, &noisy(seed), known).unwrap();
                let missed = curve.evaluate_at(&points).unwrap() - truth();
                *total += missed.norm_squared();
                let sd = curve.latent_sds(&points).unwrap();
                let inside = missed.iter().zip(&sd).filter(|(missed, sd)| missed.abs() <= 1.645 * *sd);
                held += if knows { inside.count() } else { 0 };
            }
        }
        assert!(squares[1] < 0.25 * squares[0], "{squares:?}");
        let coverage = held as f64 / 300.0;
        assert!((0.8..=0.99).contains(&coverage), "{coverage}");
    }

    #[test]
    fn noise_of_nothing_is_as_good_as_unknown() {
        let (bins, y, setting) = (bins(), truth(), setting(false));
        let curves = [None, Some(DVector::zeros(30))].map(|known| {
            DensityCurve::fit_process(&setting, &bins, &y, known).unwrap().evaluate_at(&bins.centres()).unwrap()
        });
        assert_eq!(curves[0], curves[1]);
    }
}
