//! One system call.

use std::io::Result;
use std::path::Path;

/// A call that changes a file or a folder, or waits for a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskStep<'p> {
    /// A file without a name is made.
    Create,
    /// Something is written to it.
    Write(&'p Path),
    /// What was written is on the disk.
    Sync(&'p Path),
    /// A file gets a name.
    Name {
        /// Its temporary name.
        from: &'p Path,
        /// The new one.
        to: &'p Path,
    },
    /// A folder is made.
    MakeFolder(&'p Path),
    /// The names in a folder are on the disk.
    SyncFolder(&'p Path),
    /// A lock is tried, once more if `again`.
    Lock {
        /// Whether another process had it when it was tried before.
        again: bool,
    },
}

impl DiskStep<'_> {
    /// Goes on to the call; in tests the process may die before it.
    ///
    /// # Errors
    /// None in the program.
    #[cfg(not(any(test, feature = "faults")))]
    pub fn check_fault_plan(self) -> Result<()> {
        Ok(())
    }

    /// The same by the plan of a test.
    ///
    /// # Errors
    /// The process is dead.
    #[cfg(any(test, feature = "faults"))]
    pub fn check_fault_plan(self) -> Result<()> {
        super::faults::take_simulated_step(self)
    }
}
