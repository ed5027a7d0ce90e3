//! What a spec may say of a task, apart from how it is measured.

use super::FittedRows;
use dpgp_mechanisms::{MechanismSetting, Sections};
use dpgp_spec::setting::Checked;

/// The setting of a task: what it needs of the other sections, and which metrics it has.
pub trait Described {
    /// Checks the values of the section and what the task needs of the others, which have been checked.
    ///
    /// # Errors
    /// [`dpgp_spec::setting::Fault`] of the first value that is wrong.
    fn check(&self, setting: &Sections) -> Checked;

    /// The metrics that it measures, in the order of the table; with several replicates also their spread between
    /// replicates.
    fn metrics(&self, replicates: u32) -> Vec<String>;

    /// The name of the erratum that it computes, for a task that computes one.
    fn erratum(&self) -> Option<&str> {
        None
    }

    /// Whether its certificates and its noise are about all rows of one person where `data.person` says whose they are. A task
    /// that does not say so is refused with that key.
    fn protects_persons(&self, _mechanism: &MechanismSetting) -> bool {
        false
    }

    /// Checks what depends on the number of rows that a replicate works on.
    ///
    /// # Errors
    /// [`dpgp_spec::setting::Fault`] where there are too few.
    fn check_rows(&self, _rows: usize) -> Checked {
        Ok(())
    }

    /// How many of the rows a Gaussian process with matrices of all of them is fitted to at once; none for a task without one.
    fn fitted_rows(&self, _rows: usize) -> Option<FittedRows> {
        None
    }
}
