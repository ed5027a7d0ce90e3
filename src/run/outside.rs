//! Files that a spec reads outside of its own folder are named before they are read.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::data::rows::{RowFile, is_address};
use crate::data::{leads_out, real, shown_line, withhold};
use crate::task::Experiment;

/// Says on standard error which files a spec reads outside of its folder, each once in a process: a spec may be somebody else's. What
/// stands in them is shown by no error.
pub(super) fn tell_outside(experiment: &Experiment, files: &[RowFile]) {
    for RowFile { path, .. } in files {
        if let Some(place) = outside(&experiment.beside(""), path)
            && withhold(path)
        {
            let place = place.to_string_lossy();
            let place = shown_line(&place);
            let _ = writeln!(std::io::stderr().lock(), "reading {place} (outside of the folder of the spec)");
        }
    }
}

/// Where a file is, if that is outside of a folder. Addresses are told as they stand, without what may be a key of access.
fn outside(folder: &Path, path: &Path) -> Option<PathBuf> {
    if is_address(path) {
        let text = path.to_string_lossy();
        return Some(text.split(['?', '#']).next().unwrap_or_default().into());
    }
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    leads_out(folder, path).then(|| real(path))
}
