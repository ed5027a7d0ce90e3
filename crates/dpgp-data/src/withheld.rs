//! Files of which no error shows what stands in them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static WITHHELD: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// From here on no error of this process shows what stands in a file; whether that is new.
pub(super) fn withhold(file: &Path) -> bool {
    WITHHELD.lock().unwrap_or_else(PoisonError::into_inner).insert(file.to_path_buf())
}

/// Whether what stands in a file is not shown.
pub(super) fn is_withheld(file: &Path) -> bool {
    WITHHELD.lock().unwrap_or_else(PoisonError::into_inner).contains(file)
}
