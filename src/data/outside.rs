//! Files outside of the folder of the spec that names them: a spec may be somebody else's, and what stands in them is not for messages.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

static OUTSIDE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// From here on no error of this process shows what stands in a file, only what is wrong and where; whether that is new.
pub fn withhold(file: &Path) -> bool {
    OUTSIDE.lock().unwrap_or_else(PoisonError::into_inner).insert(file.to_path_buf())
}

/// Whether what stands in a file is not shown.
pub(super) fn is_withheld(file: &Path) -> bool {
    OUTSIDE.lock().unwrap_or_else(PoisonError::into_inner).contains(file)
}
