//! Where results are looked for.

use std::path::Path;

use super::committed::Committed;
use crate::PublishError;
use dpgp_task::Experiment;

/// A folder of results, and whether those that come with the program stand in for what it has not.
#[derive(Debug, Clone, Copy)]
pub struct Shelf<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// Whether its experiments are those that come with the program.
    pub is_shipped: bool,
}

impl Shelf<'_> {
    /// The results of an experiment; none where there are none.
    ///
    /// # Errors
    /// [`PublishError`] if a table there cannot be read.
    pub fn of(&self, experiment: &Experiment) -> Result<Option<Committed>, PublishError> {
        let found = Committed::read(&self.folder.join(experiment.folder()))?;
        match found {
            None if self.is_shipped => Committed::shipped(experiment),
            found => Ok(found),
        }
    }
}
