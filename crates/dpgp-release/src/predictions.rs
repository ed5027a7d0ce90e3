//! Private predictions at the points of a grid, the reader of their files, and the warning about points with little
//! information.

use std::io::ErrorKind;
use std::path::Path;

use nalgebra::DMatrix;

use super::draw::{ReleaseGuarantee, UnchargedRelease};
use super::exceptions::{check_magnitudes, public_row_count, refuse_large_delta};
use super::grid::{PointsFile, PublicPoints, ensure_some_point_inside_box, points_from_matrix};
use super::ledger::{LedgerOptions, refuse_protected_columns};
use super::prediction_files::{CERTIFICATE_ENDING, COLUMNS, PredictionRows};
use super::subject::ReleaseSpec;
use super::{CertificateSummary, ReleaseError};
use dpgp_data::{Progress, RowsFingerprint, read_limited_text};
use dpgp_fs::append_suffix;
use dpgp_mechanisms::{LinearMechanism, MomentsModel, MomentsSetting, PrivacySetting};
use dpgp_number::Epsilon;
use dpgp_run::{
    CellFailure, ClippedCounts, FingerprintedSample, Project, RunError, count_clipped_targets, ensure_memory,
    generate_unsaved_key, is_own_file, load_fingerprinted_sample, load_sample, load_sample_from_text, random_streams,
};
use dpgp_spec::setting::PersonRowChoiceBasis;
use dpgp_task::{
    Cell, CellSetting, DensityTask, Experiment, ModelMemory, PredictionPoints, Predictions, PreviewInput,
    ReleasePreview, Sample, TaskError, TaskSetting, UnnoisedRelease, preview_moments, release_refusal_reason,
};

/// The most points if none are named.
const POINTS: usize = 30;
/// The most inputs that a fit predicts at, if it is to predict at other points later.
const FITTED_POINTS: usize = 400;

/// A request for predictions: one cell of a spec, all rows of its data, and the points.
pub struct PredictionRequest<'a> {
    experiment: &'a Experiment,
    cell: &'a Cell,
    points: PredictionPoints,
    sample: Sample,
    fingerprint: Option<RowsFingerprint>,
}

/// Predictions with their noise, and their origin.
pub struct PrivatePredictions<'a> {
    /// The setting of the cell.
    pub(super) setting: &'a CellSetting,
    /// The text of the spec.
    pub(super) spec: &'a str,
    /// The settings that the release has changed, as `path = value`.
    pub(super) changes: &'a [String],
    /// The points (t x d), in the order of the inputs.
    pub(super) points: &'a DMatrix<f64>,
    /// The predictions there.
    pub(super) predictions: Predictions,
}

impl<'a> PredictionRequest<'a> {
    /// Reads the points, one row each with the inputs of the spec, and all rows of the cell's data. With a place for
    /// ledgers, it identifies the rows, and refuses a release that treats a column as public if earlier releases
    /// protect it.
    ///
    /// # Errors
    /// [`ReleaseError`] if a file cannot be read, or there are no points or no rows.
    pub fn read(
        project: &Project,
        experiment: &'a Experiment,
        cell: &'a Cell,
        points: impl Into<PublicPoints<'a>>,
        progress: &dyn Progress,
        place: Option<&LedgerOptions>,
    ) -> Result<Self, ReleaseError> {
        let (setting, points) = (cell.setting(), points.into());
        let weighs = setting.privacy.mechanism.as_linear().is_some_and(LinearMechanism::designs_for_one_noise_scale);
        if points.has_weights() && !weighs {
            return Err(ReleaseError::NotReleasable("point weights need mechanism.cloaking with objective = \"risk\""));
        }
        check_magnitudes(setting, &setting.privacy)?;
        refuse_points_from_private_rows(experiment, setting, points)?;
        let at = points.read(setting)?;
        if let Some(moments) = setting.privacy.mechanism.downcast::<MomentsSetting>() {
            ensure_some_point_inside_box(moments, &at.inputs)?;
        }
        let public = ReleaseSpec { experiment, setting, privacy: &setting.privacy }.public_columns();
        // Without a place for ledgers rows are compared with themselves alone.
        let alone = |rows: &RowsFingerprint| refuse_target_copy(setting, &public, rows);
        let (sample, fingerprint) = match place {
            Some(place) => {
                let allowed = |rows: &RowsFingerprint| {
                    refuse_target_copy(setting, &public, rows)?;
                    refuse_protected_columns(place, rows, &public).map_err(ReleaseError::from)
                };
                let key = place.state.key();
                let FingerprintedSample { sample, fingerprint } =
                    load_fingerprinted_sample(experiment, setting, project, progress, key, allowed)?;
                (sample, Some(fingerprint))
            }
            None => {
                let key = generate_unsaved_key().map_err(RunError::from)?;
                (load_fingerprinted_sample(experiment, setting, project, progress, &key, alone)?.sample, None)
            }
        };
        Self { experiment, cell, points: at, sample, fingerprint }.ensure_rows_and_memory()
    }

    /// As [`PredictionRequest::read`], but for rows in memory, as CSV text. Without points, it predicts at some of the inputs, evenly over
    /// the rows, which is refused if inputs are private. Rows that are chosen by their targets are refused, too.
    ///
    /// # Errors
    /// As [`PredictionRequest::read`].
    pub fn from_csv_text(
        experiment: &'a Experiment,
        cell: &'a Cell,
        text: &str,
        points: Option<&DMatrix<f64>>,
        place: Option<&LedgerOptions>,
    ) -> Result<Self, ReleaseError> {
        let setting = cell.setting();
        check_magnitudes(setting, &setting.privacy)?;
        let inputs_are_public = setting.privacy.mechanism.person_row_choice_basis() == PersonRowChoiceBasis::Inputs;
        if points.is_none() && !inputs_are_public {
            return Err(ReleaseError::NotReleasable("the inputs are private, so name public prediction points"));
        }
        // Whoever holds rows in memory keeps the release, which lists their inputs.
        if setting.data.selects_by_target() {
            return Err(ReleaseError::InputsTell);
        }
        let points = points.map(|points| points_from_matrix(points, &setting.data)).transpose()?;
        let public = ReleaseSpec { experiment, setting, privacy: &setting.privacy }.public_columns();
        // Without a place for ledgers rows are compared with themselves alone.
        let alone = |rows: &RowsFingerprint| refuse_target_copy(setting, &public, rows);
        let (sample, fingerprint) = match place {
            Some(place) => {
                let allowed = |rows: &RowsFingerprint| {
                    refuse_target_copy(setting, &public, rows)?;
                    refuse_protected_columns(place, rows, &public).map_err(ReleaseError::from)
                };
                let FingerprintedSample { sample, fingerprint } =
                    load_sample_from_text(text, setting, place.state.key(), allowed)?;
                (sample, Some(fingerprint))
            }
            None => {
                let key = generate_unsaved_key().map_err(RunError::from)?;
                (load_sample_from_text(text, setting, &key, alone)?.sample, None)
            }
        };
        let points = points.unwrap_or_else(|| inputs_of_evenly_spaced_rows(&sample, FITTED_POINTS));
        Self { experiment, cell, points, sample, fingerprint }.ensure_rows_and_memory()
    }

    /// Fits the model to all rows and designs the noise. Refuses a guarantee with exceptions, or a delta that is too
    /// large, unless it is allowed.
    ///
    /// # Errors
    /// [`ReleaseError`] if the spec describes no release, or a number cannot be computed.
    pub fn design_release(
        &self,
        allow_caveats: bool,
    ) -> Result<UnchargedRelease<'_, PrivatePredictions<'_>>, ReleaseError> {
        let (privacy, rows) = (&self.setting().privacy, self.public_row_count());
        // Checked first, because a model of many rows takes minutes.
        if let Some(rows) = rows.filter(|_| !allow_caveats && !privacy.epsilon.is_unprotected()) {
            refuse_large_delta(privacy.delta.get(), rows)?;
        }
        self.uncharged_release(self.prepare_release(&self.sample)?)?
            .refuse_exceptions_or_large_delta(rows, allow_caveats)
    }

    /// Estimates the error of predictions at each epsilon under the model, from inputs and settings alone. Nothing is
    /// charged.
    ///
    /// # Errors
    /// [`ReleaseError`] if the spec describes no release of predictions, or a number cannot be computed.
    pub fn preview_prediction_errors(&self, epsilons: &[Epsilon]) -> Result<ReleasePreview, ReleaseError> {
        let setting = self.setting();
        if let Some(reason) = release_refusal_reason(setting) {
            return Err(ReleaseError::NotReleasable(reason));
        }
        if matches!(&*setting.task, TaskSetting::Density(_)) {
            return Err(ReleaseError::NoExpectedError);
        }
        if let Some(model) = MomentsModel::new(setting) {
            let rows = self.sample.row_count();
            let preview = preview_moments(&model, rows, epsilons, &setting.privacy);
            return preview.map_err(|cause| self.wrap_task_error(cause));
        }
        if matches!(&*setting.task, TaskSetting::Surface(_)) {
            return Err(ReleaseError::NotReleasable(
                "mechanism.sums has no preview; use cloaking, function or moments",
            ));
        }
        let streams = random_streams(self.cell, self.experiment.meta.seed, 0);
        let foreknown = PreviewInput { setting, inputs: &self.sample.inputs, points: &self.points, streams: &streams };
        foreknown.preview(epsilons).map_err(|cause| self.wrap_task_error(cause))
    }

    /// The standard deviation of the noise of each count at an epsilon, from settings alone; none for other releases.
    pub fn noise_sd_of_counts(&self, epsilon: Epsilon) -> Option<f64> {
        let setting = self.setting();
        let histogram = DensityTask::histogram(setting)?;
        Some(histogram.certified_noise(&PrivacySetting { epsilon, ..(*setting.privacy).clone() }).sd)
    }

    fn wrap_task_error(&self, cause: TaskError) -> ReleaseError {
        let failures =
            vec![CellFailure { cell: self.cell.joined_labels(), cells: Vec::new(), replicate: 0, cause: cause.into() }];
        RunError::Cells { experiment: self.experiment.name.clone(), failures, done: 0, all: 1 }.into()
    }

    /// The release of what was prepared, whatever its exceptions.
    ///
    /// # Errors
    /// As [`PredictionRequest::design_release`].
    pub(super) fn uncharged_release(
        &self,
        prepared: UnnoisedRelease,
    ) -> Result<UnchargedRelease<'_, PrivatePredictions<'_>>, ReleaseError> {
        let guaranteed = ReleaseGuarantee { certificate: prepared.certificate.clone(), noise: prepared.noise };
        UnchargedRelease::new(guaranteed, move |source| {
            let predictions = prepared.draw(source)?;
            let (setting, spec) = (self.setting(), self.experiment.source.text());
            let changes = &self.experiment.changes;
            Ok(PrivatePredictions { setting, spec, changes, points: &self.points.inputs, predictions })
        })
    }

    /// The file of the predictions with zeros in place of its numbers, so that later steps can be tried before anything
    /// is charged.
    ///
    /// # Errors
    /// [`ReleaseError::Csv`] if the rows cannot be written.
    pub fn zero_filled_csv(&self) -> Result<String, ReleaseError> {
        let zeros = vec![0.0; self.points.inputs.nrows()];
        let predictions =
            Predictions { mean: zeros.clone(), gp_sd: zeros.clone(), noise_sd: zeros, least: None, combinations: None };
        let data = &self.setting().data;
        Ok(PredictionRows { data, points: &self.points.inputs, predictions: &predictions }.csv()?)
    }

    /// The subject of the release.
    pub fn release_spec(&self) -> ReleaseSpec<'a> {
        let setting = self.cell.setting();
        ReleaseSpec { experiment: self.experiment, setting, privacy: &setting.privacy }
    }

    /// The identity of the rows for ledgers. None if they were read without a key.
    pub fn fingerprint(&self) -> Option<&RowsFingerprint> {
        self.fingerprint.as_ref()
    }

    /// The number of rows that are used.
    pub fn row_count(&self) -> u64 {
        self.sample.row_count() as u64
    }

    /// The number of rows that a delta is compared with.
    pub(super) fn public_row_count(&self) -> Option<u64> {
        public_row_count(self.setting(), self.row_count())
    }

    /// How many targets were clipped to public bounds, for the holder of the data alone.
    pub fn count_clipped_targets(&self) -> Option<ClippedCounts> {
        count_clipped_targets(self.cell.setting(), &self.sample)
    }

    /// As [`PredictionRequest::read`], at inputs of the data: some rows, evenly over the file.
    ///
    /// # Errors
    /// [`ReleaseError`] if a file cannot be read, or there are no rows.
    pub fn read_at_data_inputs(
        project: &Project,
        experiment: &'a Experiment,
        cell: &'a Cell,
        progress: &dyn Progress,
    ) -> Result<Self, ReleaseError> {
        let sample = load_sample(experiment, cell.setting(), project, progress)?;
        let points = inputs_of_evenly_spaced_rows(&sample, POINTS);
        Self { experiment, cell, points, sample, fingerprint: None }.ensure_rows_and_memory()
    }

    /// The request, if there are rows and enough memory for the matrices of their model. A private number of rows may
    /// be zero.
    fn ensure_rows_and_memory(self) -> Result<Self, ReleaseError> {
        let (rows, points) = (self.sample.row_count(), self.points.inputs.nrows());
        let basis = self.setting().privacy.mechanism.person_row_choice_basis();
        let inputs_are_public = basis == PersonRowChoiceBasis::Inputs;
        if self.public_row_count() == Some(0) || (rows == 0 && inputs_are_public) {
            return Err(ReleaseError::NoRows(self.experiment.source.file().to_path_buf()));
        }
        ensure_memory(self.experiment, ModelMemory::estimate_release(self.setting(), rows, points))?;
        Ok(self)
    }

    pub(super) fn experiment(&self) -> &Experiment {
        self.experiment
    }

    /// The release of a sample, before its noise.
    ///
    /// # Errors
    /// [`ReleaseError`] if the spec describes no release, or a number cannot be computed.
    pub(super) fn prepare_release(&self, sample: &Sample) -> Result<UnnoisedRelease, ReleaseError> {
        let setting = self.cell.setting();
        if let Some(reason) = release_refusal_reason(setting) {
            return Err(ReleaseError::NotReleasable(reason));
        }
        let streams = random_streams(self.cell, self.experiment.meta.seed, 0);
        UnnoisedRelease::new(setting, sample, &self.points, &streams).map_err(|cause| self.wrap_task_error(cause))
    }

    pub(super) fn sample(&self) -> &Sample {
        &self.sample
    }

    pub(super) fn setting(&self) -> &CellSetting {
        self.cell.setting()
    }
}

/// Fails if the file of the points is one of the private rows, and its inputs are private or it names weights: the release lists the
/// points, and its noise follows the weights.
fn refuse_points_from_private_rows(
    experiment: &Experiment,
    setting: &CellSetting,
    points: PublicPoints<'_>,
) -> Result<(), ReleaseError> {
    let PublicPoints::File(PointsFile { path, weights }) = points else { return Ok(()) };
    let inputs_are_public = setting.privacy.mechanism.person_row_choice_basis() == PersonRowChoiceBasis::Inputs;
    if inputs_are_public && weights.is_none() || !is_own_file(experiment, &setting.data, path)? {
        return Ok(());
    }
    Err(ReleaseError::PrivatePoints {
        path: path.to_path_buf(),
        why: match inputs_are_public {
            true => {
                "holds the private rows, and the noise of a release follows the weights; put public points and weights into another file"
            }
            false => {
                "holds the private rows, and a release lists the inputs of its points; name public points with --grid or in another file"
            }
        },
    })
}

/// Some inputs of a sample, evenly over its rows.
fn inputs_of_evenly_spaced_rows(sample: &Sample, most: usize) -> PredictionPoints {
    let step = sample.row_count().div_ceil(most).max(1);
    let rows: Vec<usize> = (0..sample.row_count()).step_by(step).collect();
    PredictionPoints::with_equal_weights(sample.inputs.select_rows(&rows))
}

/// A parsed CSV file of predictions from `dpgp predict`, with the summary of its certificate.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionsFileContents {
    /// The columns of inputs.
    pub inputs: Vec<PredictionsFileInput>,
    /// The numbers at each point.
    pub points: Vec<PredictionsFilePoint>,
    /// The statement about the guarantee.
    pub statement: CertificateSummary,
}

/// One input column of a file of predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionsFileInput {
    /// Its name.
    pub name: String,
    /// A number or a word for each point, as in the file.
    pub cells: Vec<String>,
}

/// The numbers of one row of a file of predictions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictionsFilePoint {
    /// The prediction, with noise.
    pub mean: f64,
    /// Standard deviation of the function under the model.
    pub gp_sd: f64,
    /// Standard deviation that the privacy noise adds.
    pub noise_sd: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl PredictionsFileContents {
    /// Reads a CSV file of predictions, and the certificate beside it if there is one.
    ///
    /// # Errors
    /// [`ReleaseError::Io`], [`ReleaseError::NotPredictions`]; [`ReleaseError::NoCertificate`] if what stands beside it
    /// is none.
    pub fn read(path: &Path) -> Result<Self, ReleaseError> {
        let csv = read_limited_text(path).map_err(ReleaseError::io(path))?;
        let beside = append_suffix(path, CERTIFICATE_ENDING);
        let statement = match read_limited_text(&beside) {
            Ok(text) => CertificateSummary::parse(&beside, &text, Some(&csv))?,
            Err(cause) if cause.kind() == ErrorKind::NotFound => CertificateSummary::without_certificate(),
            Err(cause) => return Err(ReleaseError::Io { path: beside, cause }),
        };
        Self::parse(path, &csv, statement)
    }

    /// Predictions from the text of their file.
    ///
    /// # Errors
    /// [`ReleaseError::NotPredictions`] if it is none.
    pub fn parse(path: &Path, csv: &str, statement: CertificateSummary) -> Result<Self, ReleaseError> {
        parse_predictions(csv, statement)
            .map_err(|cause| ReleaseError::NotPredictions { path: path.to_path_buf(), cause })
    }
}

fn parse_predictions(text: &str, statement: CertificateSummary) -> Result<PredictionsFileContents, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let dimensions = header.len().checked_sub(COLUMNS.len()).filter(|inputs| *inputs > 0);
    let Some(dimensions) = dimensions.filter(|inputs| header.iter().skip(*inputs).eq(COLUMNS)) else {
        return Err(format!("its columns must be the inputs, followed by {}", COLUMNS.join(", ")));
    };
    let names = header.iter().take(dimensions);
    let mut inputs: Vec<PredictionsFileInput> =
        names.map(|name| PredictionsFileInput { name: name.to_owned(), cells: Vec::new() }).collect();
    let mut points = Vec::new();
    for row in reader.records() {
        let row = row.map_err(|error| error.to_string())?;
        inputs.iter_mut().zip(&row).for_each(|(input, cell)| input.cells.push(cell.to_owned()));
        let mut numbers = [0.0; COLUMNS.len()];
        for (number, cell) in numbers.iter_mut().zip(row.iter().skip(dimensions)) {
            let read = cell.parse().ok().filter(|number: &f64| number.is_finite());
            let line = points.len() + 2;
            *number = read.ok_or_else(|| format!("line {line} has {cell:?} instead of a number"))?;
        }
        let [mean, gp_sd, noise_sd, low, high] = numbers;
        points.push(PredictionsFilePoint { mean, gp_sd, noise_sd, low, high });
    }
    if points.is_empty() {
        Err("it has no rows".to_owned())
    } else {
        Ok(PredictionsFileContents { inputs, points, statement })
    }
}

/// The share of the variance over all points that a point should explain.
const EXPLAINED: f64 = 0.5;
/// The fewest points for a variance over a map.
const FEWEST: usize = 10;

impl PredictionsFilePoint {
    fn new(predictions: &Predictions, point: usize) -> Self {
        let (low, high) = predictions.central_95_interval(point);
        let Predictions { mean, gp_sd, noise_sd, .. } = predictions;
        Self { mean: mean[point], gp_sd: gp_sd[point], noise_sd: noise_sd[point], low, high }
    }

    /// `sqrt(gp_sd^2 + noise_sd^2)`.
    pub fn total_sd(&self) -> f64 {
        self.gp_sd.hypot(self.noise_sd)
    }
}

/// Computes the largest uncertainty of an informative point.
///
/// At a place drawn at random from the points the surface has the variance `S^2 = Var(mean) + E[v]`, `v = gp_sd^2 +
/// noise_sd^2`, by the law of total variance. Given the point, v is left: a point explains `1 - v / S^2` of the
/// variance over all points, and less than half of it if `sqrt v > S / sqrt 2`. Both parts of v count, because gp_sd
/// shows that no row is near.
pub fn informative_total_sd_limit(points: &[PredictionsFilePoint]) -> f64 {
    let number = points.len() as f64;
    let mean = points.iter().map(|point| point.mean / number).sum::<f64>();
    let squares = points.iter().map(|point| (point.mean - mean).powi(2) + point.total_sd().powi(2));
    (1.0 - EXPLAINED).sqrt() * (squares.sum::<f64>() / number).sqrt()
}

/// Refuses a public column that is a copy of the private target: its values enter predictions without noise.
///
/// Obligation: this compares digests of whole columns, before anything is parsed or filtered, so that a filter, words or persons hide no copy.
///
/// # Errors
/// [`ReleaseError::PublicTarget`].
fn refuse_target_copy(setting: &CellSetting, public: &[String], rows: &RowsFingerprint) -> Result<(), ReleaseError> {
    let compared = !public.is_empty() && rows.all_rows_digest().rows > 0;
    let Some(target) = setting.data.target.as_ref().filter(|_| compared) else { return Ok(()) };
    let cells = |name: &String| rows.column_by_name(name).map(|column| column.total);
    let Some(protected) = cells(target) else { return Ok(()) };
    match public.iter().find(|name| *name != target && cells(name) == Some(protected)) {
        Some(public) => Err(ReleaseError::PublicTarget { public: public.clone(), target: target.clone() }),
        None => Ok(()),
    }
}

/// Warns if most points of a release about private inputs are uninformative. The warning follows from the release.
pub(super) fn uninformative_points_warning(predictions: &Predictions) -> Option<String> {
    let all = predictions.mean.len();
    let points: Vec<PredictionsFilePoint> =
        (0..all).map(|point| PredictionsFilePoint::new(predictions, point)).collect();
    let most = informative_total_sd_limit(&points);
    let little = points.iter().filter(|point| point.total_sd() > most).count();
    (all >= FEWEST && 2 * little > all).then(|| {
        format!(
            "at {little} of {all} points, too little is known: gp_sd and noise_sd together leave more than \
             half of the variance across the points unexplained. Noise hides the function, no rows lie there, or the model \
             is wrong. Check the ends of the map, the order of the inputs, the lengthscales and the noise \
             variance"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against a certificate that is missing, or cannot be read, and counts as one that holds.
    #[test]
    fn a_certificate_is_read_or_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.csv");
        std::fs::write(&path, format!("x,{}\n1,2,3,4,5,6\n", COLUMNS.join(","))).unwrap();
        let read = PredictionsFileContents::read(&path).unwrap();
        assert_eq!(read.statement, CertificateSummary::without_certificate());
        assert_eq!(read.points, [PredictionsFilePoint { mean: 2.0, gp_sd: 3.0, noise_sd: 4.0, low: 5.0, high: 6.0 }]);
        std::fs::create_dir(append_suffix(&path, CERTIFICATE_ENDING)).unwrap();
        assert!(matches!(PredictionsFileContents::read(&path), Err(ReleaseError::Io { .. })));
    }
}

#[cfg(test)]
mod little_known_tests {
    use super::*;

    fn said(sds: &[f64]) -> Option<String> {
        let mean = (0..sds.len()).map(|point| point as f64).collect();
        uninformative_points_warning(&Predictions {
            mean,
            gp_sd: sds.to_vec(),
            noise_sd: vec![0.0; sds.len()],
            least: None,
            combinations: None,
        })
    }

    /// The means from 0 to 11 have the variance `143 / 12`: with uncertainties of 4 at seven of twelve the whole is
    /// `S^2 = 11.92 + 9.33`, of which 16 is more than half.
    #[test]
    fn most_of_a_map_must_be_known() {
        let mut sds = vec![0.0; 12];
        sds[..7].fill(4.0);
        assert!(said(&sds).unwrap().starts_with("at 7 of 12 points"));
        // Half is not most of them, 2.5 is no large uncertainty here, and nine points are no map.
        assert_eq!(said(&[&[4.0; 6][..], &[0.0; 6]].concat()), None);
        assert_eq!(said(&[&[2.5; 7][..], &[0.0; 5]].concat()), None);
        assert_eq!(said(&[9.0; 9]), None);
        assert!(said(&[9.0; 10]).is_some());
    }
}

#[cfg(test)]
mod of_text_tests {
    use super::*;
    use dpgp_run::DataLocations;

    const SPEC: &str = r#"
experiment.title = "rows in memory"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0 }
model = { noise_variance = 1.0, kernel.eq = { variance = 4.0, lengthscale = 2.0 } }
"#;
    const TARGETS: &str = r#"
task.regression = { split.shuffled = 2, draws = 2 }
privacy = { epsilon = 1.0, delta = 1e-5, change = 10.0, calibration = "analytic", mechanism.cloaking.objective = "risk" }
"#;
    const RECORDS: &str = r#"
task.surface = {}
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.moments = { target_bound = 5.0, domain = [[0.0, 4.0]] } }
"#;

    fn refusal_of(spec: &str) -> Option<String> {
        let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
        let experiment = project.parse("rows", spec).unwrap();
        let request =
            PredictionRequest::from_csv_text(&experiment, &experiment.cells[0], "x,y\n1,2\n3,4\n", None, None);
        request.err().map(|error| error.to_string())
    }

    /// Private inputs are no points to publish, and listed inputs must not show which targets pass a filter.
    #[test]
    fn inputs_that_tell_something_are_refused() {
        assert_eq!(refusal_of(&format!("{SPEC}{TARGETS}")), None);
        let records = refusal_of(&format!("{SPEC}{RECORDS}")).unwrap();
        assert!(records.contains("the inputs are private, so name public prediction points"), "{records}");
        let filtered = SPEC
            .replace("target = \"y\" }", "target = \"y\", filter = [{ column = \"y\", is = \">\", value = 3.0 }] }");
        let chosen = refusal_of(&format!("{filtered}{TARGETS}")).unwrap();
        assert!(chosen.contains("would show which rows pass"), "{chosen}");
    }
}
