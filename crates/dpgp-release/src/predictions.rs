//! Private predictions at the points of a grid.

use nalgebra::DMatrix;

use super::ReleaseError;
use super::draw::{Guaranteed, Offer};
use super::exceptions::refuse_large;
use super::ledger::{LedgerPlace, ensure_protected};
use super::magnitudes::ensure_moderate;
use super::points_file::{PublicPoints, ensure_inside};
use super::prediction_rows::PredictionRows;
use super::public_rows::public_rows;
use super::subject::Subject;
use dpgp_data::{Fingerprint, Progress};
use dpgp_mechanisms::MomentsModel;
use dpgp_mechanisms::{LinearMechanism, MomentsSetting};
use dpgp_number::Epsilon;
use dpgp_run::{
    CellFailure, Clipped, Project, RunError, WitnessedSample, clipped_targets, ensure_memory, load_compared,
    load_sample, load_witnessed, streams,
};
use dpgp_spec::setting::ChosenBy;
use dpgp_task::{
    Cell, Experiment, Foreknown, ModelMemory, Points, Predictions, PreparedRelease, Preview, Sample, Setting,
    TaskError, TaskSetting, preview_moments, refusal,
};

/// The most points where none are named.
const POINTS: usize = 30;

/// What is predicted from, and where: one cell of a spec, all rows of its data, and the points.
pub struct PredictionRequest<'a> {
    experiment: &'a Experiment,
    cell: &'a Cell,
    points: Points,
    sample: Sample,
    fingerprint: Option<Fingerprint>,
}

/// Predictions with their noise, and what they were made from.
pub struct PrivatePredictions<'a> {
    /// The setting of the cell.
    pub(super) setting: &'a Setting,
    /// The text of the spec.
    pub(super) spec: &'a str,
    /// The points (t x d), in the order of the inputs.
    pub(super) points: &'a DMatrix<f64>,
    /// The predictions there.
    pub(super) predictions: Predictions,
}

impl<'a> PredictionRequest<'a> {
    /// Reads the points, a row each with the inputs of the spec, and all rows of the cell's data. With a place of ledgers it
    /// knows which rows they are, and refuses what takes a column as public that earlier releases protect.
    ///
    /// # Errors
    /// [`ReleaseError`] if a file cannot be read, or there are no points or no rows.
    pub fn read(
        project: &Project,
        experiment: &'a Experiment,
        cell: &'a Cell,
        points: impl Into<PublicPoints<'a>>,
        progress: &dyn Progress,
        place: Option<&LedgerPlace>,
    ) -> Result<Self, ReleaseError> {
        let (setting, points) = (cell.setting(), points.into());
        let weighs = setting.privacy.mechanism.linear().is_some_and(LinearMechanism::is_for_one_scale);
        if points.have_weights() && !weighs {
            return Err(ReleaseError::NotReleasable(
                "weights of points are for the objective risk of cloaking",
            ));
        }
        ensure_moderate(setting, &setting.privacy)?;
        let at = points.read(setting)?;
        if let Some(moments) = setting.privacy.mechanism.of::<MomentsSetting>() {
            ensure_inside(moments, &at.inputs)?;
        }
        let (sample, fingerprint) = match place {
            Some(place) => {
                let public = Subject { experiment, setting, privacy: &setting.privacy }.public();
                let allowed =
                    |rows: &Fingerprint| ensure_protected(place, rows, &public).map_err(ReleaseError::from);
                let key = place.state.key();
                let WitnessedSample { sample, fingerprint } =
                    load_witnessed(experiment, setting, project, progress, key, allowed)?;
                (sample, Some(fingerprint))
            }
            None => (load_compared(experiment, setting, project, progress)?, None),
        };
        Self { experiment, cell, points: at, sample, fingerprint }.checked()
    }

    /// Fits the model to all rows and designs the noise: what a release guarantees, and how its noise would be drawn. A guarantee
    /// with exceptions, or a delta that is too large, is refused unless it is allowed.
    ///
    /// # Errors
    /// [`ReleaseError`] if the spec describes no release, or a number cannot be computed.
    pub fn offer(&self, allow_caveats: bool) -> Result<Offer<'_, PrivatePredictions<'_>>, ReleaseError> {
        let (privacy, rows) = (&self.setting().privacy, self.public_rows());
        // Known before the work of minutes that a model of many rows is.
        if let Some(rows) = rows.filter(|_| !allow_caveats && !privacy.epsilon.is_unprotected()) {
            refuse_large(privacy.delta.get(), rows)?;
        }
        self.offer_of(self.releasable(&self.sample)?)?.without_exceptions(rows, allow_caveats)
    }

    /// What predictions would err by at each epsilon under the model: of inputs and settings alone, so that nothing is charged.
    ///
    /// # Errors
    /// [`ReleaseError`] if the spec describes no release of predictions, or a number cannot be computed.
    pub fn preview(&self, epsilons: &[Epsilon]) -> Result<Preview, ReleaseError> {
        let setting = self.setting();
        if let Some(reason) = refusal(setting) {
            return Err(ReleaseError::NotReleasable(reason));
        }
        if let Some(model) = MomentsModel::new(setting) {
            let rows = self.sample.rows();
            let preview = preview_moments(&model, rows, epsilons, &setting.privacy);
            return preview.map_err(|cause| self.failed(cause));
        }
        if matches!(&*setting.task, TaskSetting::Surface(_)) {
            return Err(ReleaseError::NotReleasable(
                "a preview is of cloaking, function or moments, not of sums",
            ));
        }
        let streams = streams(self.cell, self.experiment.meta.seed, 0);
        let foreknown =
            Foreknown { setting, inputs: &self.sample.inputs, points: &self.points, streams: &streams };
        foreknown.preview(epsilons).map_err(|cause| self.failed(cause))
    }

    fn failed(&self, cause: TaskError) -> ReleaseError {
        let failures = vec![CellFailure { cell: self.cell.place(), cells: Vec::new(), replicate: 0, cause }];
        RunError::Cells { experiment: self.experiment.name.clone(), failures, done: 0, all: 1 }.into()
    }

    /// The release of what was prepared, whatever its exceptions.
    ///
    /// # Errors
    /// As [`PredictionRequest::offer`].
    pub(super) fn offer_of(
        &self,
        prepared: PreparedRelease,
    ) -> Result<Offer<'_, PrivatePredictions<'_>>, ReleaseError> {
        let guaranteed = Guaranteed { certificate: prepared.certificate.clone(), noise: prepared.noise };
        Offer::new(guaranteed, move |source| {
            let predictions = prepared.draw(source)?;
            let (setting, spec) = (self.setting(), self.experiment.source.text());
            Ok(PrivatePredictions { setting, spec, points: &self.points.inputs, predictions })
        })
    }

    /// The file of the predictions but for its numbers, which are zeros here: what is made of the file can be tried before
    /// anything is charged.
    ///
    /// # Errors
    /// [`ReleaseError::Csv`] if the rows cannot be written.
    pub fn blank_csv(&self) -> Result<String, ReleaseError> {
        let zeros = vec![0.0; self.points.inputs.nrows()];
        let predictions = Predictions { mean: zeros.clone(), gp_sd: zeros.clone(), noise_sd: zeros };
        let data = &self.setting().data;
        Ok(PredictionRows { data, points: &self.points.inputs, predictions: &predictions }.csv()?)
    }

    /// What the release is about.
    pub fn subject(&self) -> Subject<'a> {
        let setting = self.cell.setting();
        Subject { experiment: self.experiment, setting, privacy: &setting.privacy }
    }

    /// Which rows the data hold, by which a ledger knows them; none where they were read without a key.
    pub fn fingerprint(&self) -> Option<&Fingerprint> {
        self.fingerprint.as_ref()
    }

    /// The number of rows that are used.
    pub fn rows(&self) -> u64 {
        self.sample.rows() as u64
    }

    /// The number of rows that a delta is compared with.
    pub(super) fn public_rows(&self) -> Option<u64> {
        public_rows(self.setting(), self.rows())
    }

    /// How many targets were clipped to public bounds, for the holder of the data alone.
    pub fn clipped(&self) -> Option<Clipped> {
        clipped_targets(self.cell.setting(), &self.sample)
    }

    /// As [`PredictionRequest::read`], at inputs of the data: some rows, evenly over the file.
    ///
    /// # Errors
    /// [`ReleaseError`] if a file cannot be read, or there are no rows.
    pub fn at_inputs(
        project: &Project,
        experiment: &'a Experiment,
        cell: &'a Cell,
        progress: &dyn Progress,
    ) -> Result<Self, ReleaseError> {
        let sample = load_sample(experiment, cell.setting(), project, progress)?;
        let step = sample.rows().div_ceil(POINTS).max(1);
        let rows: Vec<usize> = (0..sample.rows()).step_by(step).collect();
        let points = Points::even(sample.inputs.select_rows(&rows));
        Self { experiment, cell, points, sample, fingerprint: None }.checked()
    }

    /// The request, if there are rows, and memory for the matrices of a model of them. A private number of rows may be none.
    fn checked(self) -> Result<Self, ReleaseError> {
        let (rows, points) = (self.sample.rows(), self.points.inputs.nrows());
        let inputs_are_public = self.setting().privacy.mechanism.chosen_by() == ChosenBy::Inputs;
        if self.public_rows() == Some(0) || (rows == 0 && inputs_are_public) {
            return Err(ReleaseError::NoRows(self.experiment.source.file().to_path_buf()));
        }
        ensure_memory(self.experiment, ModelMemory::of_release(self.setting(), rows, points))?;
        Ok(self)
    }

    pub(super) fn experiment(&self) -> &Experiment {
        self.experiment
    }

    /// The release of a sample, before its noise.
    ///
    /// # Errors
    /// [`ReleaseError`] if the spec describes no release, or a number cannot be computed.
    pub(super) fn releasable(&self, sample: &Sample) -> Result<PreparedRelease, ReleaseError> {
        let setting = self.cell.setting();
        if let Some(reason) = refusal(setting) {
            return Err(ReleaseError::NotReleasable(reason));
        }
        let streams = streams(self.cell, self.experiment.meta.seed, 0);
        PreparedRelease::new(setting, sample, &self.points, &streams).map_err(|cause| self.failed(cause))
    }

    pub(super) fn sample(&self) -> &Sample {
        &self.sample
    }

    pub(super) fn setting(&self) -> &Setting {
        self.cell.setting()
    }
}
