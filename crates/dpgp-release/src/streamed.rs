//! Sums over any number of rows in one pass, and their private release.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::counts::CountsRelease;
use super::draw::Offer;
use super::exceptions::ensure_moderate;
use super::exceptions::public_rows;
use super::moments::MomentsRelease;
use super::subject::Subject;
use super::sum_rows::{RowSource, SummedRows, summed};
use super::sums_model::HeldDescription;
use super::sums_model::SumsFile;
use super::sums_model::{SumsModel, SumsOf};
use super::surface_sums::ClassSumsRelease;
use super::surface_sums::SurfaceSumsRelease;
use super::{ReleaseError, add_sums};
use dpgp_data::{DataKey, FilePart, Fingerprint};
use dpgp_mechanisms::PrivacySetting;
use dpgp_number::Epsilon;
use dpgp_run::{Pool, Shard};
use dpgp_spec::Identity;
use dpgp_stream::{Record, SumRows};
use dpgp_task::{ClassModel, Experiment, Setting};

/// The sums over rows that a spec defines.
#[derive(Debug, Clone)]
pub enum StreamedRelease<'a> {
    /// Covariances with inducing inputs, times the target and squared.
    Surface(Streamed<'a, SurfaceSumsRelease>),
    /// Rows and their targets in the cells of a box, for Fourier moments.
    Moments(Streamed<'a, MomentsRelease>),
    /// The same over the rows of each class.
    Classes(Streamed<'a, ClassSumsRelease>),
    /// Records in each bin.
    Counts(Streamed<'a, CountsRelease>),
}

/// A model whose sums are released, and its spec.
#[derive(Debug, Clone)]
pub struct Streamed<'a, M> {
    experiment: &'a Experiment,
    setting: &'a Setting,
    model: M,
}

/// Exact sums over all rows, which are as private as the rows.
pub struct StreamedTotal<M: SumsModel> {
    pub(super) record: Record<SumsOf<M>>,
    /// Files of sums that have no checksum.
    pub(super) unchecked: Vec<PathBuf>,
    /// The batches that they were added in, if those are more than the tables.
    pub(super) batches: Vec<FilePart>,
}

impl<'a> StreamedRelease<'a> {
    /// The sums of an experiment, which must be the same for all its cells.
    ///
    /// # Errors
    /// [`ReleaseError::NoSums`], [`ReleaseError::WeightedSums`] or [`ReleaseError::SeveralSums`].
    pub fn from_experiment(experiment: &'a Experiment) -> Result<Self, ReleaseError> {
        let Some(first) = experiment.cells.first() else {
            return Err(ReleaseError::NoSums(experiment.name.clone()));
        };
        let streamed = Self::of_setting(experiment, first.setting())?;
        let identity = streamed.identity();
        for cell in &experiment.cells {
            // A cell that sums nothing differs, too.
            let other = Self::of_setting(experiment, cell.setting());
            if !other.is_ok_and(|other| other.identity() == identity) {
                return Err(ReleaseError::SeveralSums(experiment.name.clone()));
            }
        }
        Ok(streamed)
    }

    fn of_setting(experiment: &'a Experiment, setting: &'a Setting) -> Result<Self, ReleaseError> {
        let name = &experiment.name;
        if let Some(model) = SurfaceSumsRelease::from_setting(setting) {
            return Ok(Self::Surface(Streamed { experiment, setting, model }));
        }
        if let Some(model) = MomentsRelease::from_setting(setting) {
            return Ok(Self::Moments(Streamed { experiment, setting, model }));
        }
        if let Some(model) = ClassModel::from_setting(setting) {
            return match ClassSumsRelease::new(model, setting) {
                Some(model) => Ok(Self::Classes(Streamed { experiment, setting, model })),
                None => Err(ReleaseError::WeightedSums(name.clone())),
            };
        }
        match CountsRelease::from_setting(setting) {
            Some(model) => Ok(Self::Counts(Streamed { experiment, setting, model })),
            None => Err(ReleaseError::NoSums(name.clone())),
        }
    }

    fn identity(&self) -> String {
        match self {
            Self::Surface(streamed) => streamed.identity(),
            Self::Moments(streamed) => streamed.identity(),
            Self::Classes(streamed) => streamed.identity(),
            Self::Counts(streamed) => streamed.identity(),
        }
    }
}

impl<'a, M: SumsModel> Streamed<'a, M> {
    /// Sums the rows of CSV or Parquet files in order, or those of one shard. With a key, the sums identify their rows,
    /// which a ledger needs.
    ///
    /// # Errors
    /// [`ReleaseError::Data`] for a row that cannot be read or has no place in the sums; [`ReleaseError::SameRows`].
    pub fn sum(
        &self,
        files: &[PathBuf],
        shard: Option<Shard>,
        pool: &Pool,
        key: Option<&DataKey>,
    ) -> Result<StreamedTotal<M>, ReleaseError> {
        let source = RowSource { files, shard, data: &self.setting.data, key };
        let total = self.total(summed(&source, self.model.rows(), pool)?);
        if shard.is_none() && public_rows(self.setting, total.rows()) == Some(0) {
            return Err(ReleaseError::NoRows(files.first().cloned().unwrap_or_default()));
        }
        Ok(total)
    }

    /// Adds the sums of shards, which must cover all rows.
    ///
    /// # Errors
    /// [`ReleaseError`] if a file holds no such sums, or they do not cover all rows.
    pub fn add(&self, parts: &[PathBuf]) -> Result<StreamedTotal<M>, ReleaseError> {
        Ok(self.total(add_sums::added(parts, &self.identity(), &self.model.rows().zero())?))
    }

    /// The guarantee of a release of the sums, and the way to draw its noise. A guarantee with exceptions, or a delta that is too
    /// large, is refused unless it is allowed.
    ///
    /// # Errors
    /// [`ReleaseError`] if no noise can be designed; [`ReleaseError::Caveats`], [`ReleaseError::LargeDelta`].
    pub fn offer<'t>(
        &'t self,
        total: &'t StreamedTotal<M>,
        privacy: &'t PrivacySetting,
        allow_caveats: bool,
    ) -> Result<Offer<'t, SumsFile>, ReleaseError> {
        let rows = public_rows(self.setting, total.rows());
        if rows == Some(0) {
            return Err(ReleaseError::NoRows(self.experiment.source.file().to_path_buf()));
        }
        self.offer_of(&total.record.part.sums, privacy)?.without_exceptions(rows, allow_caveats)
    }

    /// The same for sums of rows in memory, whatever its exceptions.
    ///
    /// # Errors
    /// As [`Streamed::offer`].
    pub(super) fn offer_of<'t>(
        &'t self,
        sums: &'t SumsOf<M>,
        privacy: &'t PrivacySetting,
    ) -> Result<Offer<'t, SumsFile>, ReleaseError> {
        Offer::new(self.model.guaranteed(privacy, sums)?, move |noise| {
            let value = self.model.noisy(self.setting, privacy, sums, noise)?;
            Ok(SumsFile { value })
        })
    }

    /// As [`SumsModel::bare`].
    pub(super) fn bare(&self) -> Self {
        Self { experiment: self.experiment, setting: self.setting, model: self.model.bare() }
    }

    pub(super) fn model(&self) -> &M {
        &self.model
    }

    pub(super) fn setting(&self) -> &Setting {
        self.setting
    }

    /// A description of the sums, for everybody and for the holder of the rows.
    pub fn described(&self, total: &StreamedTotal<M>) -> HeldDescription {
        self.model.described(&total.record.part.sums)
    }

    /// The subject of a release with this guarantee.
    pub fn subject<'s>(&'s self, privacy: &'s PrivacySetting) -> Subject<'s> {
        Subject { experiment: self.experiment, setting: self.setting, privacy }
    }

    /// The guarantee of a release: that of the cells, if they have one finite epsilon, or with the epsilon that is named. Cells without
    /// privacy serve for comparison.
    ///
    /// # Errors
    /// [`ReleaseError::SeveralEpsilons`], or [`ReleaseError::NoGuarantee`] where it is not finite, or
    /// [`ReleaseError::BadEpsilon`]; [`ReleaseError::Magnitude`] for settings whose numbers could overflow.
    pub fn privacy(&self, epsilon: Option<f64>) -> Result<PrivacySetting, ReleaseError> {
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
        ensure_moderate(self.setting, &privacy)?;
        Ok(privacy)
    }

    /// The identity of the sums: all settings that they depend on.
    pub(super) fn identity(&self) -> String {
        let data = &self.setting.data;
        let mut all = json!({ "inputs": data.inputs, "target": data.target, "filter": data.filter });
        if let Some(limit) = data.person_limit() {
            all["person"] = json!([limit.column, limit.rows]);
        }
        if !data.encode.is_empty() {
            all["encode"] = json!(data.encode);
        }
        if data.drops_missing() {
            all["missing"] = json!(data.missing);
        }
        if let Value::Object(of_model) = self.model.depends_on(self.setting) {
            of_model.into_iter().for_each(|(name, value)| all[name] = value);
        }
        Identity::of_text(&all.to_string()).to_string()
    }

    pub(super) fn total(&self, summed: SummedRows<SumsOf<M>>) -> StreamedTotal<M> {
        let SummedRows { files, identity, part, unchecked } = summed;
        let record = Record::new(self.identity(), files, part).identified(identity);
        StreamedTotal { record, unchecked, batches: Vec::new() }
    }
}

impl<M: SumsModel> StreamedTotal<M> {
    /// The exact sums as text, which is what their file holds.
    ///
    /// # Errors
    /// [`serde_json::Error`] if they cannot be written.
    pub fn text(&self) -> serde_json::Result<String> {
        serde_json::to_string(&self.record.clone().checked()?)
    }

    /// The added files of sums that an earlier version wrote without a checksum.
    pub fn unchecked(&self) -> &[PathBuf] {
        &self.unchecked
    }

    /// The same text without the identity of the rows.
    ///
    /// # Errors
    /// As [`StreamedTotal::text`].
    pub fn unknown_text(&self) -> serde_json::Result<String> {
        serde_json::to_string(&Record { identity: None, ..self.record.clone() }.checked()?)
    }

    /// The identity of their rows for ledgers. None for sums that were made without a key.
    pub fn fingerprint(&self) -> Option<&Fingerprint> {
        self.record.identity.as_ref()
    }

    /// The number of rows that were read, including those that a filter drops.
    pub fn rows(&self) -> u64 {
        self.record.files.iter().map(|file| file.rows).sum()
    }
}

#[cfg(test)]
mod tests {
    use crate::{ReleaseError, StreamedRelease};
    use dpgp_run::{DataPlaces, Project};

    /// What becomes of counts with cells of these epsilons.
    fn privacy(epsilons: &str, named: Option<f64>) -> Result<f64, ReleaseError> {
        let spec = format!(
            "experiment.title = \"counts\"\ndata = {{ source.csv.path = \"rows.csv\", inputs = [\"x\"], target = \"n\" }}\n\
             task.density = {{ bins = [{{ from = 0.0, to = 2.0, bins = 2 }}], test = [{{ from = 0.0, to = 2.0, bins = 2 }}], draws = 1, estimate.histogram = {{}} }}\n\
             privacy = {{ epsilon = 1.0, delta = 1e-6, mechanism.histogram = {{ relation = \"add-remove\" }} }}\n\
             grid.\"privacy.epsilon\" = {epsilons}\n"
        );
        let project = Project::at(std::env::temp_dir(), &DataPlaces::default()).unwrap();
        let experiment = project.parse("counts", &spec).unwrap();
        let StreamedRelease::Counts(streamed) = StreamedRelease::from_experiment(&experiment).unwrap() else {
            panic!("counts")
        };
        streamed.privacy(named).map(|privacy| privacy.epsilon.get())
    }

    /// Cells without privacy are there to compare with; of several with privacy one must be named.
    #[test]
    fn one_epsilon_is_released_with() {
        assert_eq!(privacy("[2.0, inf]", None).unwrap(), 2.0);
        assert_eq!(privacy("[2.0, inf]", Some(0.5)).unwrap(), 0.5);
        assert_eq!(privacy("[inf]", Some(0.5)).unwrap(), 0.5);
        assert!(matches!(privacy("[inf]", None), Err(ReleaseError::NoGuarantee)));
        assert!(matches!(privacy("[2.0]", Some(f64::INFINITY)), Err(ReleaseError::NoGuarantee)));
        assert!(matches!(privacy("[2.0, 1.0]", None), Err(ReleaseError::SeveralEpsilons(_))));
        assert!(matches!(privacy("[2.0]", Some(-1.0)), Err(ReleaseError::BadEpsilon(_))));
    }
}
