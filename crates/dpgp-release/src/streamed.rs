//! Sums over any number of rows in one pass, and their private release.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::counts::HistogramReleaseMethod;
use super::draw::UnchargedRelease;
use super::exceptions::check_magnitudes;
use super::exceptions::public_row_count;
use super::moments::MomentsReleaseMethod;
use super::subject::{ReleaseSpec, refuse_epsilon_of_unchosen_axis};
use super::sum_rows::{IdentifiedSums, RowSource, sum_row_files};
use super::sums_model::DataHolderDescription;
use super::sums_model::ReleasedSums;
use super::sums_model::{SumsOf, SumsReleaseMethod};
use super::surface_sums::ClassReleaseMethod;
use super::surface_sums::SparseGpReleaseMethod;
use super::{ReleaseError, add_sums};
use dpgp_data::{HmacKey, RowSetDigest, RowsFingerprint};
use dpgp_mechanisms::PrivacySetting;
use dpgp_number::Epsilon;
use dpgp_run::{Shard, WorkerPool};
use dpgp_spec::TextDigest;
use dpgp_stream::{RowSummand, StoredPartialSums};
use dpgp_task::{CellSetting, DirichletModel, Experiment, drawn_rows_refusal_reason};

/// The sums over rows that a spec releases, by kind: computes exact sums, designs their noise and describes them. Holds no rows.
#[derive(Debug, Clone)]
pub enum AnyPlannedSumsRelease<'a> {
    /// Covariances with inducing inputs, times the target and squared.
    Surface(PlannedSumsRelease<'a, SparseGpReleaseMethod>),
    /// Rows and their targets in the cells of a box, for Fourier moments.
    Moments(PlannedSumsRelease<'a, MomentsReleaseMethod>),
    /// The same over the rows of each class.
    Classes(PlannedSumsRelease<'a, ClassReleaseMethod>),
    /// Records in each bin.
    Counts(PlannedSumsRelease<'a, HistogramReleaseMethod>),
}

/// One cell of a spec and the model whose sums it releases.
#[derive(Debug, Clone)]
pub struct PlannedSumsRelease<'a, M> {
    experiment: &'a Experiment,
    setting: &'a CellSetting,
    model: M,
}

/// Exact sums over all rows, which are as private as the rows.
pub struct ExactSums<M: SumsReleaseMethod> {
    pub(super) record: StoredPartialSums<SumsOf<M>>,
    /// Files of sums that have no checksum.
    pub(super) unchecked: Vec<PathBuf>,
    /// The batches that they were added in, if those are more than the tables.
    pub(super) batches: Vec<RowSetDigest>,
}

impl<'a> AnyPlannedSumsRelease<'a> {
    /// The sums of an experiment, which must be the same for all its cells.
    ///
    /// # Errors
    /// [`ReleaseError::NoSums`], [`ReleaseError::WeightedSums`] or [`ReleaseError::SeveralSums`].
    pub fn from_experiment(experiment: &'a Experiment) -> Result<Self, ReleaseError> {
        let Some(first) = experiment.cells.first() else {
            return Err(ReleaseError::NoSums(experiment.name.clone()));
        };
        let streamed = Self::from_setting(experiment, first.setting())?;
        let identity = streamed.settings_identity();
        for cell in &experiment.cells {
            // A cell that sums nothing differs, too.
            let other = Self::from_setting(experiment, cell.setting());
            if !other.is_ok_and(|other| other.settings_identity() == identity) {
                return Err(ReleaseError::SeveralSums(experiment.name.clone()));
            }
        }
        Ok(streamed)
    }

    fn from_setting(experiment: &'a Experiment, setting: &'a CellSetting) -> Result<Self, ReleaseError> {
        let name = &experiment.name;
        if let Some(model) = SparseGpReleaseMethod::from_setting(setting) {
            return Ok(Self::Surface(PlannedSumsRelease { experiment, setting, model }));
        }
        if let Some(model) = MomentsReleaseMethod::from_setting(setting) {
            return Ok(Self::Moments(PlannedSumsRelease { experiment, setting, model }));
        }
        if let Some(model) = DirichletModel::from_setting(setting) {
            return match ClassReleaseMethod::new(model, setting) {
                Some(model) => Ok(Self::Classes(PlannedSumsRelease { experiment, setting, model })),
                None => Err(ReleaseError::WeightedSums(name.clone())),
            };
        }
        match HistogramReleaseMethod::from_setting(setting) {
            Some(model) => Ok(Self::Counts(PlannedSumsRelease { experiment, setting, model })),
            None => Err(ReleaseError::NoSums(name.clone())),
        }
    }

    fn settings_identity(&self) -> String {
        match self {
            Self::Surface(streamed) => streamed.settings_identity(),
            Self::Moments(streamed) => streamed.settings_identity(),
            Self::Classes(streamed) => streamed.settings_identity(),
            Self::Counts(streamed) => streamed.settings_identity(),
        }
    }
}

impl<'a, M: SumsReleaseMethod> PlannedSumsRelease<'a, M> {
    /// Sums the rows of CSV or Parquet files in order, or those of one shard. With a key, the sums identify their rows,
    /// which a ledger needs.
    ///
    /// # Errors
    /// [`ReleaseError::Data`] for a row that cannot be read or has no place in the sums; [`ReleaseError::SameRows`].
    pub fn sum(
        &self,
        files: &[PathBuf],
        shard: Option<Shard>,
        pool: &WorkerPool,
        key: Option<&HmacKey>,
    ) -> Result<ExactSums<M>, ReleaseError> {
        let source = RowSource { files, shard, data: &self.setting.data, key };
        let total = self.build_exact_sums(sum_row_files(&source, self.model.summand(), pool)?);
        if shard.is_none() && public_row_count(self.setting, total.read_row_count()) == Some(0) {
            return Err(ReleaseError::NoRows(files.first().cloned().unwrap_or_default()));
        }
        Ok(total)
    }

    /// Adds the sums of shards, which must cover all rows.
    ///
    /// # Errors
    /// [`ReleaseError`] if a file holds no such sums, or they do not cover all rows.
    pub fn combine_shard_sums(&self, parts: &[PathBuf]) -> Result<ExactSums<M>, ReleaseError> {
        Ok(self.build_exact_sums(add_sums::add_shard_sums(
            parts,
            &self.settings_identity(),
            &self.model.summand().zero(),
        )?))
    }

    /// The guarantee of a release of the sums, and the way to draw its noise. A guarantee with exceptions, or a delta that is too
    /// large, is refused unless it is allowed.
    ///
    /// # Errors
    /// [`ReleaseError`] if no noise can be designed; [`ReleaseError::Caveats`], [`ReleaseError::LargeDelta`].
    pub fn design_release<'t>(
        &'t self,
        total: &'t ExactSums<M>,
        privacy: &'t PrivacySetting,
        allow_caveats: bool,
    ) -> Result<UnchargedRelease<'t, ReleasedSums>, ReleaseError> {
        let rows = public_row_count(self.setting, total.read_row_count());
        if rows == Some(0) {
            return Err(ReleaseError::NoRows(self.experiment.source.file().to_path_buf()));
        }
        self.uncharged_release(&total.record.part.sums, privacy)?.refuse_exceptions_or_large_delta(rows, allow_caveats)
    }

    /// The same for sums of rows in memory, whatever its exceptions.
    ///
    /// # Errors
    /// As [`PlannedSumsRelease::design_release`].
    pub(super) fn uncharged_release<'t>(
        &'t self,
        sums: &'t SumsOf<M>,
        privacy: &'t PrivacySetting,
    ) -> Result<UnchargedRelease<'t, ReleasedSums>, ReleaseError> {
        UnchargedRelease::new(self.model.release_guarantee(privacy, sums)?, move |noise| {
            let value = self.model.draw_release(self.setting, privacy, sums, noise)?;
            Ok(ReleasedSums { value })
        })
    }

    /// As [`SumsReleaseMethod::without_postprocessing`].
    pub(super) fn without_postprocessing(&self) -> Self {
        Self { experiment: self.experiment, setting: self.setting, model: self.model.without_postprocessing() }
    }

    pub(super) fn method(&self) -> &M {
        &self.model
    }

    pub(super) fn setting(&self) -> &CellSetting {
        self.setting
    }

    /// A description of the sums, for everybody and for the holder of the rows.
    pub fn describe_sums(&self, total: &ExactSums<M>) -> DataHolderDescription {
        self.model.describe_sums(&total.record.part.sums)
    }

    /// The subject of a release with this guarantee.
    pub fn release_spec<'s>(&'s self, privacy: &'s PrivacySetting) -> ReleaseSpec<'s> {
        ReleaseSpec { experiment: self.experiment, setting: self.setting, privacy }
    }

    /// The guarantee of a release: that of the cells, if they have one finite epsilon, or with the epsilon that is named. Cells without
    /// privacy serve for comparison.
    ///
    /// # Errors
    /// [`ReleaseError::SeveralEpsilons`], or [`ReleaseError::NoGuarantee`] where it is not finite, or
    /// [`ReleaseError::BadEpsilon`]; [`ReleaseError::Magnitude`] for settings whose numbers could overflow.
    pub fn resolve_privacy_setting(&self, epsilon: Option<f64>) -> Result<PrivacySetting, ReleaseError> {
        if let Some(reason) = drawn_rows_refusal_reason(&self.setting.data) {
            return Err(ReleaseError::NotReleasable(reason));
        }
        let cells = self.experiment.cells.iter();
        let mut found: Vec<PrivacySetting> = cells.map(|cell| (*cell.setting().privacy).clone()).collect();
        if found.iter().any(|privacy| !privacy.epsilon.is_unprotected()) {
            found.retain(|privacy| !privacy.epsilon.is_unprotected());
        }
        found.dedup_by_key(|privacy| privacy.epsilon);
        let epsilons: Vec<f64> = found.iter().map(|privacy| privacy.epsilon.get()).collect();
        let privacy = match (epsilon, found.pop()) {
            (Some(epsilon), Some(privacy)) => {
                let epsilon = Epsilon::new(epsilon).map_err(|_| ReleaseError::BadEpsilon(epsilon))?;
                PrivacySetting { epsilon, ..privacy }
            }
            (None, Some(privacy)) if found.is_empty() => privacy,
            _ => return Err(ReleaseError::SeveralEpsilons(format!("{epsilons:?}"))),
        };
        if privacy.epsilon.is_unprotected() {
            return Err(ReleaseError::NoGuarantee);
        }
        if epsilon.is_none() {
            refuse_epsilon_of_unchosen_axis(self.experiment, &[], &epsilons)?;
        }
        check_magnitudes(self.setting, &privacy)?;
        Ok(privacy)
    }

    /// The identity of the sums: all settings that they depend on.
    pub(super) fn settings_identity(&self) -> String {
        let data = &self.setting.data;
        let mut all = json!({ "inputs": data.inputs, "target": data.target, "filter": data.filter });
        if let Some(limit) = data.rows_per_person_limit() {
            all["person"] = json!([limit.column, limit.rows]);
        }
        if !data.encode.is_empty() {
            all["encode"] = json!(data.encode);
        }
        if data.drops_missing() {
            all["missing"] = json!(data.missing);
        }
        if let Value::Object(of_model) = self.model.settings_of_sums(self.setting) {
            of_model.into_iter().for_each(|(name, value)| all[name] = value);
        }
        TextDigest::of_text(&all.to_string()).to_string()
    }

    pub(super) fn build_exact_sums(&self, summed: IdentifiedSums<SumsOf<M>>) -> ExactSums<M> {
        let IdentifiedSums { files, identity, part, unchecked } = summed;
        let record = StoredPartialSums::new(self.settings_identity(), files, part).with_fingerprint(identity);
        ExactSums { record, unchecked, batches: Vec::new() }
    }
}

impl<M: SumsReleaseMethod> ExactSums<M> {
    /// Serialises the exact sums as JSON, the contents of a file of exact sums. As private as the rows.
    ///
    /// # Errors
    /// [`serde_json::Error`] if they cannot be written.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&self.record.clone().with_checksum()?)
    }

    /// The added files of sums that an earlier version wrote without a checksum.
    pub fn files_without_checksum(&self) -> &[PathBuf] {
        &self.unchecked
    }

    /// The same text without the identity of the rows.
    ///
    /// # Errors
    /// As [`ExactSums::to_json`].
    pub fn to_json_without_identity(&self) -> serde_json::Result<String> {
        serde_json::to_string(&StoredPartialSums { identity: None, ..self.record.clone() }.with_checksum()?)
    }

    /// The identity of their rows for ledgers. None for sums that were made without a key.
    pub fn fingerprint(&self) -> Option<&RowsFingerprint> {
        self.record.identity.as_ref()
    }

    /// The number of rows that were read, including those that a filter drops.
    pub fn read_row_count(&self) -> u64 {
        self.record.files.iter().map(|file| file.rows).sum()
    }
}

#[cfg(test)]
mod tests {
    use crate::sums_model::SumsReleaseMethod;
    use crate::{AnyPlannedSumsRelease, ReleaseError};
    use dpgp_data::DatasetManifest;
    use dpgp_run::{DataLocations, Project};
    use dpgp_task::Experiment;

    /// What becomes of counts with cells of these epsilons.
    fn privacy(epsilons: &str, named: Option<f64>) -> Result<f64, ReleaseError> {
        let spec = format!(
            "experiment.title = \"counts\"\ndata = {{ source.csv.path = \"rows.csv\", inputs = [\"x\"], target = \"n\" }}\n\
             task.density = {{ bins = [{{ from = 0.0, to = 2.0, bins = 2 }}], test = [{{ from = 0.0, to = 2.0, bins = 2 }}], draws = 1, estimate.histogram = {{}} }}\n\
             privacy = {{ epsilon = 2.0, delta = 1e-6, mechanism.histogram = {{ relation = \"add-remove\" }} }}\n\
             grid.\"privacy.epsilon\" = {epsilons}\n"
        );
        let project = Project::open_at(std::env::temp_dir(), &DataLocations::default()).unwrap();
        let experiment = project.parse("counts", &spec).unwrap();
        let AnyPlannedSumsRelease::Counts(streamed) = AnyPlannedSumsRelease::from_experiment(&experiment).unwrap()
        else {
            panic!("counts")
        };
        streamed.resolve_privacy_setting(named).map(|privacy| privacy.epsilon.get())
    }

    /// Cells without privacy are there to compare with; of several with privacy one must be named.
    #[test]
    fn one_epsilon_is_released_with() {
        assert_eq!(privacy("[2.0, inf]", None).unwrap(), 2.0);
        assert_eq!(privacy("[2.0, inf]", Some(0.5)).unwrap(), 0.5);
        assert_eq!(privacy("[inf]", Some(0.5)).unwrap(), 0.5);
        assert!(matches!(privacy("[inf]", None), Err(ReleaseError::NoGuarantee)));
        assert!(matches!(privacy("[3.0, inf]", None), Err(ReleaseError::ReplacedEpsilon { .. })));
        assert!(matches!(privacy("[2.0]", Some(f64::INFINITY)), Err(ReleaseError::NoGuarantee)));
        assert!(matches!(privacy("[2.0, 1.0]", None), Err(ReleaseError::SeveralEpsilons(_))));
        assert!(matches!(privacy("[2.0]", Some(-1.0)), Err(ReleaseError::BadEpsilon(_))));
    }

    // The extreme records with which an attack replaces another, chosen by hand for each kind of sums.

    const MOMENTS: &str = r#"experiment.title = "moments"
data = { source.csv.path = "rows.csv", inputs = ["x", "z"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.05, kernel.eq-ard = { variance = 0.3, lengthscales = [1.5, 30.0] } }
task.surface = { map = [{ from = 0.5, to = 3.5, points = 4 }], at = [50.0] }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.moments = { target_bound = 1.0, domain = [[0.0, 4.0], [-10.0, 90.0]] } }
"#;

    const SURFACE: &str = r#"experiment.title = "sums"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.05, kernel.eq = { variance = 0.3, lengthscale = 1.5 } }
task.surface = { inducing = [{ from = 0.0, to = 4.0, points = 4 }], posterior = { regularisation = "tight", correction = "first-order" } }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.sums = { target_bound = 1.0, features = { supremum = [[0.0, 4.0]] }, sensitivity = "exact", split = 0.3 } }
"#;

    const CLASSES: &str = r#"experiment.title = "classes"
data = { source.csv.path = "rows.csv", inputs = ["x", "z"], target = "class" }
model.kernel.eq = { variance = 1.0, lengthscale = 0.7 }
task.dirichlet = { train = 50, classes = 3, inducing = [{ from = -1.0, to = 1.0, points = 3 }, { from = -1.0, to = 1.0, points = 3 }], alpha = 0.01, posterior = { regularisation = "tight", correction = "first-order" }, release = "class-sums" }
privacy = { epsilon = 1.0, delta = 1e-6, calibration = "analytic", mechanism.sums = { features = { supremum = [[-1.0, 1.0], [-1.0, 1.0]] }, sensitivity = "exact", split = 0.3 } }
"#;

    const COUNTS: &str = r#"experiment.title = "bins"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "n" }
task.density = { bins = [{ from = 0.0, to = 4.0, bins = 4 }], test = [{ from = 0.0, to = 4.0, bins = 2 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.histogram = { relation = "add-remove", most_per_row = 2 } }
"#;

    fn experiment(spec: &str) -> Experiment {
        Experiment::parse("s", "s.toml".as_ref(), spec.to_owned(), &DatasetManifest::load_shipped().unwrap()).unwrap()
    }

    /// What stands in the place of a record in the sums of a spec.
    fn replaced(spec: &str, record: &[f64]) -> Vec<Vec<f64>> {
        match AnyPlannedSumsRelease::from_experiment(&experiment(spec)).unwrap() {
            AnyPlannedSumsRelease::Surface(streamed) => streamed.method().extreme_replacements(record),
            AnyPlannedSumsRelease::Moments(streamed) => streamed.method().extreme_replacements(record),
            AnyPlannedSumsRelease::Classes(streamed) => streamed.method().extreme_replacements(record),
            AnyPlannedSumsRelease::Counts(streamed) => streamed.method().extreme_replacements(record),
        }
    }

    /// Both extreme targets, at the same place and a quarter, a half and a whole box away: 4 wide and 100 wide.
    #[test]
    fn moments_move_by_parts_of_the_box() {
        let mut expected = Vec::new();
        for (x, z) in [(1.0, 20.0), (2.0, 45.0), (3.0, 70.0), (5.0, 120.0)] {
            expected.extend([-f64::MAX, f64::MAX].map(|target| vec![x, z, target]));
        }
        assert_eq!(replaced(MOMENTS, &[1.0, 20.0, 3.0]), expected);
    }

    /// Both extreme targets, at the same place, far away and where nothing correlates.
    #[test]
    fn sums_of_a_surface_move_far_away() {
        let mut expected = Vec::new();
        for x in [2.0, 1002.0, 1e300] {
            expected.extend([-f64::MAX, f64::MAX].map(|target| vec![x, target]));
        }
        assert_eq!(replaced(SURFACE, &[2.0, 5.0]), expected);
    }

    /// Every class, at the same place and where nothing correlates.
    #[test]
    fn sums_of_classes_change_the_class() {
        let mut expected = Vec::new();
        for (x, z) in [(0.5, -0.5), (1e300, 1e300)] {
            expected.extend([0.0, 1.0, 2.0].map(|class| vec![x, z, class]));
        }
        assert_eq!(replaced(CLASSES, &[0.5, -0.5, 1.0]), expected);
    }

    /// A row that stands for several records holds none or as many as a number can say; where one of its records is protected, it holds
    /// one more, and no row is protected whole.
    #[test]
    fn counts_hold_no_record_or_many_or_one_more() {
        assert_eq!(replaced(COUNTS, &[1.5, 2.0]), [[1.5, 0.0], [1.5, f64::from(u32::MAX)]]);
        let single = COUNTS.replace(", most_per_row = 2", "");
        assert_eq!(replaced(&single, &[1.5, 2.0]), [[1.5, 3.0]]);
        // A row that is one record moves out of all bins, and to the first and the last where one record takes the place of another.
        let rows = single.replace(", target = \"n\"", "");
        assert_eq!(replaced(&rows, &[1.5, 1.5]), [[8.0, 8.0]]);
        let moved = rows.replace("add-remove", "replace-one");
        assert_eq!(replaced(&moved, &[1.5, 1.5]), [[8.0, 8.0], [0.0, 0.0], [3.5, 3.5]]);
        for (spec, protects) in [(COUNTS, true), (&single, false), (&rows, true)] {
            let spec = experiment(spec);
            let AnyPlannedSumsRelease::Counts(streamed) = AnyPlannedSumsRelease::from_experiment(&spec).unwrap() else {
                panic!("these are counts");
            };
            assert_eq!(streamed.method().neighbour_may_lack_whole_row(), protects);
        }
    }
}
