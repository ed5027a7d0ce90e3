//! One private release of predictions from all rows, and the reasons to refuse a setting.

mod combinations;
mod counts;
mod means;
mod moments;
mod preview;
mod spread;

use rand::Rng;

use super::{RandomStreams, Sample, TaskError};
use crate::{CellSetting, TaskSetting};
use counts::{UnnoisedCounts, histogram_axes};
use dpgp_accounting::Certificate;
use dpgp_mechanisms::{HistogramSetting, MomentsSetting};
use dpgp_noise::RoundedNoiseParameters;
use dpgp_spec::setting::{DataSetting, NormaliseSetting, RowDrawSetting, SourceSetting};
use means::UnnoisedPredictions;
use moments::{UnnoisedMoments, UnnoisedSums};

pub use combinations::ReleasedTargetCombinations;
pub use counts::{BinAreaOverlap, CountEstimates, build_count_axes};
pub use means::PredictionPoints;
pub use moments::preview_moments;
pub use preview::{ErrorAveragingDomain, ExpectedErrors, PreviewInput, ReleasePreview};

/// The random stream of the inducing inputs, which depend on public inputs alone.
const PURPOSE: &str = "release";

/// Half the width of a central 95 % interval, in standard deviations.
const CENTRAL_95: f64 = 1.959_963_984_540_054;

/// Predictions before their noise, and the noise to add. Never show the former.
#[derive(Debug, Clone)]
pub struct UnnoisedRelease {
    form: UnnoisedValues,
    /// What is guaranteed.
    pub certificate: Certificate,
    /// The noise that it gets.
    pub noise: RoundedNoiseParameters,
}

/// The numbers that get the noise.
#[derive(Debug, Clone)]
enum UnnoisedValues {
    /// The predictions themselves.
    Means(Box<UnnoisedPredictions>),
    /// The sums behind the predictions.
    Sums(Box<UnnoisedSums>),
    /// The rows behind the moments of the predictions.
    Moments(Box<UnnoisedMoments>),
    /// The counts that the predictions estimate.
    Counts(Box<UnnoisedCounts>),
}

/// Predictions with their noise, in units of the target, a value for each point.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// The mean with its noise.
    pub mean: Vec<f64>,
    /// Standard deviation of the latent function under the model.
    pub gp_sd: Vec<f64>,
    /// Standard deviation of the noise.
    pub noise_sd: Vec<f64>,
    /// The least value that a prediction can have: zero for counts.
    pub least: Option<f64>,
    /// The noisy combinations that predictions at other points follow from. None unless the model is averaged over hyperparameters.
    pub combinations: Option<Box<ReleasedTargetCombinations>>,
}

impl Predictions {
    /// Of no points.
    pub(super) fn empty() -> Self {
        Self { mean: Vec::new(), gp_sd: Vec::new(), noise_sd: Vec::new(), least: None, combinations: None }
    }

    /// The central interval of 95 % of the latent function at a point, the variances of model and noise added, cut off
    /// below the least possible value.
    pub fn central_95_interval(&self, point: usize) -> (f64, f64) {
        let half = CENTRAL_95 * self.gp_sd[point].hypot(self.noise_sd[point]);
        let low = self.mean[point] - half;
        (self.least.map_or(low, |least| low.max(least)), self.mean[point] + half)
    }
}

impl UnnoisedRelease {
    /// Fits the model to all rows of the sample and designs the noise at the points.
    ///
    /// # Errors
    /// [`TaskError`] if a factorisation fails, a release is refused or a number overflows.
    pub fn new(
        setting: &CellSetting,
        sample: &Sample,
        points: &PredictionPoints,
        streams: &RandomStreams,
    ) -> Result<Self, TaskError> {
        if let Some(reason) = release_refusal_reason(setting) {
            return Err(TaskError::NotReleasable { reason });
        }
        let release = match &*setting.task {
            TaskSetting::Surface(_) => match setting.privacy.mechanism.downcast::<MomentsSetting>() {
                Some(_) => UnnoisedMoments::prepare_release(setting, sample, &points.inputs)?,
                None => UnnoisedSums::prepare_release(setting, sample, &points.inputs)?,
            },
            TaskSetting::Density(_) => UnnoisedCounts::prepare_release(setting, sample)?,
            _ => UnnoisedPredictions::prepare_release(setting, sample, points, streams)?,
        };
        let finite = match &release.form {
            UnnoisedValues::Means(means) => means.is_finite(),
            UnnoisedValues::Sums(sums) => sums.is_finite(),
            // The check of the record below covers it.
            UnnoisedValues::Moments(_) | UnnoisedValues::Counts(_) => true,
        };
        if finite && release.certificate.is_finite() && release.noise.is_valid_for_release() {
            return Ok(release);
        }
        Err(TaskError::NotFinite { metric: "a prediction".to_owned() })
    }

    /// Draws the noise. A release needs the randomness of the operating system: anyone who knows the state of `random`
    /// can subtract the noise.
    ///
    /// # Errors
    /// [`TaskError::Linalg`] if the matrix of the noisy sums cannot be inverted.
    pub fn draw(&self, random: &mut impl Rng) -> Result<Predictions, TaskError> {
        match &self.form {
            UnnoisedValues::Means(means) => means.draw(random),
            UnnoisedValues::Sums(sums) => sums.draw(random),
            UnnoisedValues::Moments(moments) => moments.draw(random),
            UnnoisedValues::Counts(counts) => counts.draw(random),
        }
    }
}

impl UnnoisedRelease {
    /// Returns the predictions without noise, if the noise is added to predictions and not to sums. Never show them.
    /// They are for attacks, which know the data.
    pub fn noiseless_predictions(&self) -> Option<Vec<f64>> {
        match &self.form {
            UnnoisedValues::Means(means) if means.is_linear() => {
                Some(means.noiseless_predictions().as_slice().to_vec())
            }
            UnnoisedValues::Means(_) => None,
            UnnoisedValues::Sums(_) | UnnoisedValues::Moments(_) | UnnoisedValues::Counts(_) => None,
        }
    }
}

impl UnnoisedRelease {
    /// The released numbers without noise, in standard deviations of it, if the noise is added to combinations of targets. Never show
    /// them.
    pub fn noiseless_release_in_noise_sds(&self) -> Option<Vec<f64>> {
        match &self.form {
            UnnoisedValues::Means(means) => Some(means.noiseless_release_in_noise_sds().as_slice().to_vec()),
            UnnoisedValues::Sums(_) | UnnoisedValues::Moments(_) | UnnoisedValues::Counts(_) => None,
        }
    }
}

/// The reason to refuse targets without public bounds.
const NO_BOUNDS: &str = "its targets have no public bounds; set normalise.bounds to clip them";

/// Returns the reason why a setting describes no release of predictions, if there is one.
pub fn release_refusal_reason(setting: &CellSetting) -> Option<&'static str> {
    match &*setting.task {
        TaskSetting::Surface(_) => {}
        TaskSetting::Regression(_) | TaskSetting::Prediction(_) => {
            if setting.privacy.mechanism.as_linear().is_none() {
                return Some(
                    "its mechanism is for experiments only; use mechanism.cloaking, mechanism.gaussian or \
                     mechanism.function",
                );
            }
            if !matches!(*setting.normalise, NormaliseSetting::Bounds { .. }) {
                return Some(NO_BOUNDS);
            }
        }
        TaskSetting::Density(task) => {
            if setting.privacy.mechanism.downcast::<HistogramSetting>().is_none() {
                return Some("its mechanism is for experiments only; use mechanism.histogram");
            }
            if let Err(reason) = histogram_axes(task, &setting.data) {
                return Some(reason);
            }
        }
        TaskSetting::Dirichlet(_) => {
            return Some("its task releases sums, not predictions; use `dpgp sum SPEC FILE --release OUT`");
        }
        _ => {
            return Some(
                "its task is for experiments only; use task.regression, task.prediction or task.surface \
                 (`dpgp new --data FILE` writes one), or task.dirichlet with `dpgp sum` for classes",
            );
        }
    }
    if setting.privacy.epsilon.get().is_infinite() {
        return Some("its epsilon is infinite, so nothing would be private");
    }
    if matches!(setting.data.source, SourceSetting::Synthetic(_) | SourceSetting::Images(_)) {
        return Some("its data are images or generated data; use a table of rows");
    }
    drawn_rows_refusal_reason(&setting.data)
}

/// Returns the reason to refuse a release of drawn rows, if rows are drawn.
pub fn drawn_rows_refusal_reason(data: &DataSetting) -> Option<&'static str> {
    matches!(data.draw, Some(RowDrawSetting::Rows(_) | RowDrawSetting::Quotas(_)))
        .then_some("data.draw drops rows at random, but a release uses all rows; remove data.draw")
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::Experiment;
    use dpgp_data::DatasetManifest;
    use dpgp_gp::exact_prediction_map;
    use dpgp_gp::kernel::ExponentiatedQuadratic;

    const SPEC: &str = r#"experiment.title = "release"
data = { source.inline = { x = [0, 1, 2, 3, 4, 5, 6, 7], y = [1, 9, 2, 5, 4, 6, 12, -3] }, inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 2.0 }
model = { noise_variance = 0.2, kernel.eq = { variance = 3.0, lengthscale = 2.0 } }
task.prediction = { grid = [{ from = 0.0, to = 7.0, points = 8 }] }
privacy = { epsilon = 1.0, delta = 0.01, change = 10.0, calibration = "analytic", mechanism.MECHANISM }
"#;

    fn prepared(mechanism: &str, targets: Vec<f64>) -> UnnoisedRelease {
        prepared_of(&SPEC.replace("MECHANISM", mechanism), targets)
    }

    fn prepared_of(spec: &str, targets: Vec<f64>) -> UnnoisedRelease {
        let spec = spec.to_owned();
        let manifest = DatasetManifest::load_shipped().unwrap();
        let experiment = Experiment::parse("release", "release.toml".as_ref(), spec, &manifest).unwrap();
        let inputs: Vec<f64> = (0..8).map(f64::from).collect();
        let points = points();
        let streams = RandomStreams { seed: 1, data: "d".into(), block: "b".into(), replicate: 0 };
        let sample = Sample::new(&[inputs], targets);
        UnnoisedRelease::new(
            experiment.cells[0].setting(),
            &sample,
            &PredictionPoints::with_equal_weights(points),
            &streams,
        )
        .unwrap()
    }

    fn points() -> DMatrix<f64> {
        DMatrix::from_fn(5, 1, |i, _| 1.7 * i as f64)
    }

    fn means(release: &UnnoisedRelease) -> &UnnoisedPredictions {
        let UnnoisedValues::Means(means) = &release.form else { panic!("noise on sums") };
        means
    }

    /// Guards against too little noise: between neighbours, also with targets outside the bounds, the release moves by
    /// at most mu standard deviations of its noise, and one pair reaches mu. A coarse rank rule ensures that directions
    /// are dropped.
    #[test]
    fn the_noise_covers_all_neighbours() {
        let targets = vec![1.0, 9.0, 2.0, 5.0, 4.0, 6.0, 12.0, -3.0];
        for mechanism in [
            "cloaking = { objective = \"trace\", rank_tolerance = 0.05 }",
            "cloaking = { objective = \"log-det\", rank_tolerance = 0.05, release = \"jitter\" }",
            "function.sensitivity = \"exact\"",
            "cloaking.objective = \"risk\"",
            "gaussian = {}",
        ] {
            let release = prepared(mechanism, targets.clone());
            let mut largest = 0.0f64;
            for row in 0..targets.len() {
                let moved = |y: f64| {
                    let mut targets = targets.clone();
                    targets[row] = y;
                    means(&prepared(mechanism, targets)).noiseless_release_in_noise_sds()
                };
                largest = largest.max((moved(-50.0) - moved(60.0)).norm());
            }
            assert!(largest <= release.noise.gdp_mu() * (1.0 + 1e-12), "{mechanism}: {largest}");
            // A function has its sensitivity at all inputs; five of them see a part.
            let reached = if mechanism.starts_with("function") { 0.5 } else { 0.999_999 };
            assert!(largest >= reached * release.noise.gdp_mu(), "{mechanism}: {largest}");
            assert!(release.certificate.caveats.is_empty());
        }
    }

    /// Guards against noise for one row where a person has several: all targets of a person move together, in all
    /// directions.
    #[test]
    fn the_noise_covers_all_rows_of_a_person() {
        let targets = vec![1.0, 9.0, 2.0, 5.0, 4.0, 6.0, 12.0, -3.0];
        let persons: [&[usize]; 3] = [&[0, 1, 2], &[3, 7], &[4, 5, 6]];
        for mechanism in [
            "cloaking = { objective = \"trace\", rank_tolerance = 0.05 }",
            "cloaking = { objective = \"log-det\", rank_tolerance = 0.05, release = \"jitter\" }",
            "function.sensitivity = \"exact\"",
            "gaussian = {}",
        ] {
            let of_persons = SPEC.replace("MECHANISM", mechanism).replace(
                "12, -3] }, inputs",
                "12, -3], id = [5, 5, 5, 6, 7, 7, 7, 6] }, person = \"id\", rows_per_person = 3, inputs",
            );
            let release = prepared_of(&of_persons, targets.clone());
            let mut largest = 0.0f64;
            for rows in persons {
                for signs in 0..1 << rows.len() {
                    let moved = |up: bool| {
                        let mut targets = targets.clone();
                        for (place, row) in rows.iter().enumerate() {
                            targets[*row] = if (signs >> place & 1 == 1) == up { 60.0 } else { -50.0 };
                        }
                        means(&prepared_of(&of_persons, targets)).noiseless_release_in_noise_sds()
                    };
                    largest = largest.max((moved(true) - moved(false)).norm());
                }
            }
            let mu = release.noise.gdp_mu();
            assert!(largest <= mu * (1.0 + 1e-12), "{mechanism}: {largest} {mu}");
            assert!(largest > 1.2 * mu / 3.0, "{mechanism}: {largest} {mu}");
            assert!((mu / prepared(mechanism, targets.clone()).noise.gdp_mu() - 1.0).abs() < 1e-9);
            let text = release.certificate.to_string();
            assert!(
                text.ends_with("the targets of one person (\"id\", at most 3 rows each) change by <= 10.0 each"),
                "{text}"
            );
        }
    }

    /// Guards against a wrong scale or offset: apart from the noise, predictions are those of the model in floating
    /// point, with the middle of the bounds and with another value as the mean of the prior.
    #[test]
    fn predictions_are_those_of_the_model() {
        let targets = vec![1.0, 9.0, 2.0, 5.0, 4.0, 6.0, 12.0, -3.0];
        let kernel = ExponentiatedQuadratic::isotropic(3.0, 2.0);
        let inputs = DMatrix::from_fn(8, 1, |i, _| i as f64);
        let map = exact_prediction_map(&kernel, 0.2, &inputs, &points()).unwrap();
        for (bounds, centre) in [("high = 10", 5.0), ("high = 10, centre = 3", 3.0)] {
            let clipped = targets.iter().map(|y: &f64| (y.clamp(0.0, 10.0) - centre) / 2.0);
            let expected = (map.predict(&clipped.collect::<Vec<f64>>()) * 2.0).add_scalar(centre);
            for mechanism in [
                "cloaking = { objective = \"trace\", rank_tolerance = 1e-14, denoise = false }",
                "cloaking = { objective = \"log-det\", rank_tolerance = 1e-14, release = \"jitter\", denoise = false }",
                "function = { sensitivity = \"exact\", denoise = false }",
                "gaussian = { denoise = false }",
            ] {
                let spec = SPEC.replace("MECHANISM", mechanism).replace("high = 10", bounds);
                let release = prepared_of(&spec, targets.clone());
                let (found, noise_sd) = (means(&release).noiseless_predictions(), &means(&release).noise_sd);
                for (i, sd) in noise_sd.iter().enumerate() {
                    let error = (found[i] - expected[i]).abs();
                    assert!(error < 1e-6 * sd, "{mechanism}: {} {}", found[i], expected[i]);
                }
            }
        }
    }

    #[test]
    fn settings_that_release_nothing_are_refused() {
        let none =
            SPEC.replace("MECHANISM", "function.sensitivity = \"exact\"").replace("epsilon = 1.0", "epsilon = inf");
        let experiment =
            Experiment::parse("release", "release.toml".as_ref(), none, &DatasetManifest::load_shipped().unwrap())
                .unwrap();
        assert!(release_refusal_reason(experiment.cells[0].setting()).is_some_and(|why| why.contains("infinite")));
    }
}

#[cfg(test)]
mod refusal_tests {
    use super::*;
    use crate::Experiment;
    use dpgp_data::DatasetManifest;

    /// Guards against a refusal without a way out.
    #[test]
    fn a_refusal_names_a_way() {
        let manifest = DatasetManifest::load_shipped().unwrap();
        let cloaking = SPEC.replace("MECHANISM", "cloaking = { objective = \"trace\", rank_tolerance = 1e-9 }");
        let density = cloaking
            .replace("model = { noise_variance = 0.2, kernel.eq = { variance = 3.0, lengthscale = 2.0 } }\n", "")
            .replace(
                "task.prediction = { grid = [{ from = 0.0, to = 7.0, points = 8 }] }",
                "task.density = { bins = [{ from = 0.0, to = 8.0, bins = 4 }], test = [{ from = 0.0, to = 8.0, bins = 4 }], \
                 estimate.histogram = {}, draws = 1 }",
            )
            .replace("change = 10.0, calibration = \"analytic\", ", "")
            .replace("cloaking = { objective = \"trace\", rank_tolerance = 1e-9 }", "histogram = { relation = \"add-remove\" }");
        let bins = SPEC
            .replace(
                "task.prediction = { grid = [{ from = 0.0, to = 7.0, points = 8 }] }",
                "task.regression = { split.tail = 2, draws = 1 }",
            )
            .replace("MECHANISM", "binning = { bins = 2, statistic = \"mean\", estimate = { bin = {} } }");
        let words = density.replace("data = {", "data = { encode = { x = [\"a\", \"b\"] },");
        for (spec, way) in [(words, "each bin of a categorical input must hold one"), (bins, "mechanism.cloaking")] {
            let spec = Experiment::parse("s", "s.toml".as_ref(), spec, &manifest).unwrap();
            let said = release_refusal_reason(spec.cells[0].setting()).unwrap();
            assert!(said.contains(way), "{said}");
        }
        for spec in [cloaking, density] {
            let spec = Experiment::parse("s", "s.toml".as_ref(), spec, &manifest).unwrap();
            assert_eq!(release_refusal_reason(spec.cells[0].setting()), None);
        }
    }

    const SPEC: &str = r#"experiment.title = "release"
data = { source.inline = { x = [0, 1, 2, 3, 4, 5, 6, 7], y = [1, 9, 2, 5, 4, 6, 12, -3] }, inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0 }
model = { noise_variance = 0.2, kernel.eq = { variance = 3.0, lengthscale = 2.0 } }
task.prediction = { grid = [{ from = 0.0, to = 7.0, points = 8 }] }
privacy = { epsilon = 1.0, delta = 0.01, change = 10.0, calibration = "analytic", mechanism.MECHANISM }
"#;
}
