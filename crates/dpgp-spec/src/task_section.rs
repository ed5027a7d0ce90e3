//! The task section of a spec, which the language itself does not know.

use std::fmt::Debug;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::setting::{Checked, MechanismSection, Setting};

/// What the rooms above measure, as a spec writes it.
pub trait TaskSection: Debug + Clone + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// What adds noise.
    type Mechanism: MechanismSection;

    /// Checks the section of a setting, and what it needs of the other sections.
    ///
    /// # Errors
    /// [`crate::setting::Fault`] of the first value that is wrong.
    fn check(setting: &Setting<Self>) -> Checked;

    /// The metrics that are measured, with so many replicates.
    fn metrics(&self, replicates: u32) -> Vec<String>;

    /// The name of the erratum that is computed, for a task that computes one: an `[[erratum]]` describes it.
    fn erratum(&self) -> Option<&str>;

    /// Checks what depends on the number of rows that a replicate works on.
    ///
    /// # Errors
    /// [`crate::setting::Fault`] where there are too few.
    fn check_rows(&self, rows: usize) -> Checked;
}
