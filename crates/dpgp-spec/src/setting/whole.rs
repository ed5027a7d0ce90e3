//! All sections of a cell, with the guarantee, and with a mechanism that the language itself does not know.

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::rules::{CheckResult, SettingError, check_range, fail};
use super::{DataSetting, ModelSetting, NormaliseSetting, SpecProblem};
use crate::TaskSection;
use dpgp_accounting::{Calibration, Guarantee};
use dpgp_data::DatasetManifest;
use dpgp_number::{Delta, Epsilon, Positive};

/// The sections of a cell but its task; `M` is what the crates above know as mechanisms. Cells share the sections that no axis changes.
#[derive(Debug, Clone, PartialEq)]
pub struct CellSections<M> {
    /// Where the rows come from.
    pub data: Arc<DataSetting>,
    /// How targets are normalised to the scale of the model.
    pub normalise: Arc<NormaliseSetting>,
    /// The Gaussian process; not used by every task.
    pub model: Option<Arc<ModelSetting>>,
    /// The guarantee and the mechanism.
    pub privacy: Arc<PrivacySetting<M>>,
}

/// Everything that determines a cell's numbers, seeds aside; `T` is what the rooms above measure. A task that asks for the
/// other sections takes [`CellSections`], so that it need not know all tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct SpecCellSetting<T: TaskSection> {
    /// What is measured.
    pub task: Arc<T>,
    /// The data, the model and the guarantee.
    pub sections: CellSections<T::Mechanism>,
}

impl<T: TaskSection> Deref for SpecCellSetting<T> {
    type Target = CellSections<T::Mechanism>;

    fn deref(&self) -> &Self::Target {
        &self.sections
    }
}

impl<M: MechanismSection> CellSections<M> {
    /// Checks every section.
    ///
    /// # Errors
    /// [`SettingError`] for the first value that is wrong.
    pub fn check(&self, manifest: &DatasetManifest) -> CheckResult {
        self.data.check(manifest)?;
        self.data.check_may_drop_rows(&self.privacy.mechanism)?;
        self.normalise.check()?;
        self.privacy.check_change_covers_target_width(&self.normalise)?;
        self.model.as_ref().map_or(Ok(()), |model| model.check(self.data.dimensions()))
    }

    /// The model, which the task at `path` needs.
    ///
    /// # Errors
    /// [`SpecProblem::MissingSection`].
    pub fn model(&self, path: &str) -> Result<&ModelSetting, SettingError> {
        let missing = SpecProblem::MissingSection { section: "model" };
        self.model.as_deref().ok_or_else(|| SettingError::new(path, missing))
    }

    /// The model of a regression, which the task at `path` needs.
    ///
    /// # Errors
    /// [`SpecProblem::MissingSection`], [`SpecProblem::MissingKey`], [`SpecProblem::Shape`].
    pub fn regression_model(&self, path: &str) -> Result<&ModelSetting, SettingError> {
        let model = self.model(path)?;
        model.check_regression()?;
        Ok(model)
    }
}

/// The mechanism that adds the noise, as specs state it under `privacy.mechanism`.
pub trait MechanismSection: Debug + Clone + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// Its word in specs.
    fn spec_keyword(&self) -> &'static str;

    /// Whether the number of rows that are used must be public.
    fn needs_public_row_count(&self) -> bool;
}

/// The guarantee and the mechanism.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PrivacySetting")]
pub struct PrivacySetting<M> {
    /// Epsilon; `inf` for no privacy.
    pub epsilon: Epsilon,
    /// Delta.
    pub delta: Delta,
    /// The largest change of one target, in units of the target; for mechanisms that protect targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Positive>,
    /// Which values of one target the guarantee makes indistinguishable. Must be `"metric"` if the bounds on targets are
    /// wider than `change`.
    #[serde(default, skip_serializing_if = "TargetChangeRelation::is_full")]
    pub relation: TargetChangeRelation,
    /// How the noise is calibrated to epsilon and delta.
    #[serde(default = "analytic")]
    pub calibration: Calibration,
    /// The mechanism.
    pub mechanism: M,
}

/// Which values of one target a guarantee makes indistinguishable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TargetChangeRelation {
    /// Any two values within the bounds.
    #[default]
    Full,
    /// Only two values that differ by at most `change`, as in metric privacy. For two values that differ by k times `change`,
    /// the guarantee's `mu` is k times as large. Certificates then also state the guarantee for the full width of the bounds.
    Metric,
}

impl TargetChangeRelation {
    fn is_full(&self) -> bool {
        *self == Self::Full
    }
}

impl<M> PrivacySetting<M> {
    /// Fails if targets may differ by more than is protected, and the spec does not say so.
    ///
    /// # Errors
    /// [`SpecProblem::NarrowChange`].
    fn check_change_covers_target_width(&self, normalise: &NormaliseSetting) -> CheckResult {
        let Some(change) = self.change.map(Positive::get) else { return Ok(()) };
        match normalise.written_target_width_if_above(change) {
            Some(width) if self.relation == TargetChangeRelation::Full => {
                fail("privacy.change", SpecProblem::NarrowChange { change, width })
            }
            _ => Ok(()),
        }
    }

    /// The guarantee that the mechanism is set for.
    pub fn guarantee(&self) -> Guarantee {
        Guarantee { epsilon: self.epsilon.get(), delta: self.delta.get() }
    }

    /// The standard deviation of the noise divided by the sensitivity; zero without privacy.
    pub fn noise_multiplier(&self) -> f64 {
        self.calibration.sigma(self.epsilon.get(), self.delta.get())
    }

    /// Fails unless epsilon says that nothing is protected; `why` names what is computed without privacy.
    ///
    /// # Errors
    /// [`SpecProblem::OutOfRange`].
    pub fn check_unprotected(&self, why: &'static str) -> CheckResult {
        check_range("privacy.epsilon", self.epsilon.is_unprotected(), why, self.epsilon.get())
    }

    /// Fails unless the most that a target can change is given, which `by` needs.
    ///
    /// # Errors
    /// [`SpecProblem::MissingKey`].
    pub fn check_target_change(&self, by: &'static str) -> CheckResult {
        let missing = SpecProblem::MissingKey { key: "change", by };
        if self.change.is_some() { Ok(()) } else { fail("privacy", missing) }
    }

    /// The error for a mechanism that the task does not support.
    pub fn wrong_mechanism_error(&self, needed: &'static str) -> SettingError {
        SettingError::new("privacy.mechanism", SpecProblem::WrongMechanism { needed })
    }
}

/// The classic calibration is not proved for epsilon above 1, and adds more noise than necessary below.
fn analytic() -> Calibration {
    Calibration::Analytic
}
