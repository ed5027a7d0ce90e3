//! All sections of a cell.

use std::sync::Arc;

use super::rules::{Checked, Fault};
use super::{DataSetting, ModelSetting, NormaliseSetting, PrivacySetting, Problem};
use crate::data::Manifest;

/// Everything that determines a cell's numbers, seeds aside; `T` is what the rooms above measure. Cells share the sections
/// that no axis changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting<T> {
    /// Where the rows come from.
    pub data: Arc<DataSetting>,
    /// How targets are brought to the scale of the model.
    pub normalise: Arc<NormaliseSetting>,
    /// The Gaussian process; not used by every task.
    pub model: Option<Arc<ModelSetting>>,
    /// What is measured.
    pub task: Arc<T>,
    /// The guarantee and the mechanism.
    pub privacy: Arc<PrivacySetting>,
}

impl<T> Setting<T> {
    /// Checks every section but the task.
    ///
    /// # Errors
    /// [`Fault`] of the first value that is wrong.
    pub fn check(&self, manifest: &Manifest) -> Checked {
        self.data.check(manifest)?;
        self.normalise.check()?;
        self.model.as_ref().map_or(Ok(()), |model| model.check(self.data.inputs.len()))?;
        self.privacy.check()
    }

    /// The model, which the task at `path` needs.
    ///
    /// # Errors
    /// [`Problem::MissingSection`].
    pub fn model(&self, path: &str) -> Result<&ModelSetting, Fault> {
        let missing = Problem::MissingSection { section: "model" };
        self.model.as_deref().ok_or_else(|| Fault::new(path, missing))
    }

    /// The model of a regression, which the task at `path` needs.
    ///
    /// # Errors
    /// [`Problem::MissingSection`], [`Problem::MissingKey`], [`Problem::Shape`].
    pub fn regression_model(&self, path: &str) -> Result<&ModelSetting, Fault> {
        let model = self.model(path)?;
        model.regresses()?;
        Ok(model)
    }
}
