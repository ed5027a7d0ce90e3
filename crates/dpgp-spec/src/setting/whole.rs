//! All sections of a cell.

use std::ops::Deref;
use std::sync::Arc;

use super::rules::{Checked, Fault};
use super::{DataSetting, MechanismSection, ModelSetting, NormaliseSetting, PrivacySetting, Problem};
use crate::TaskSection;
use dpgp_data::Manifest;

/// The sections of a cell but its task; `M` is what the crates above know as mechanisms. Cells share the sections that no axis changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Sections<M> {
    /// Where the rows come from.
    pub data: Arc<DataSetting>,
    /// How targets are brought to the scale of the model.
    pub normalise: Arc<NormaliseSetting>,
    /// The Gaussian process; not used by every task.
    pub model: Option<Arc<ModelSetting>>,
    /// The guarantee and the mechanism.
    pub privacy: Arc<PrivacySetting<M>>,
}

/// Everything that determines a cell's numbers, seeds aside; `T` is what the rooms above measure. A task that asks for the
/// other sections takes [`Sections`], so that it need not know all tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting<T: TaskSection> {
    /// What is measured.
    pub task: Arc<T>,
    /// On what, with which model and guarantee.
    pub sections: Sections<T::Mechanism>,
}

impl<T: TaskSection> Deref for Setting<T> {
    type Target = Sections<T::Mechanism>;

    fn deref(&self) -> &Self::Target {
        &self.sections
    }
}

impl<M: MechanismSection> Sections<M> {
    /// Checks every section.
    ///
    /// # Errors
    /// [`Fault`] of the first value that is wrong.
    pub fn check(&self, manifest: &Manifest) -> Checked {
        self.data.check(manifest)?;
        self.data.check_missing(&self.privacy.mechanism)?;
        self.normalise.check()?;
        self.privacy.covers(&self.normalise)?;
        self.model.as_ref().map_or(Ok(()), |model| model.check(self.data.dimensions()))
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
