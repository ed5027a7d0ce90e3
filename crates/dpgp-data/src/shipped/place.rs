//! Writes a shipped file to disk if its path is needed.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::shipped_text;
use crate::digest::{Stamp, stamp};
use crate::error::{Action, DataError, Doing};
use crate::manifest::DataFile;
use dpgp_fs::temporary_file;

/// Writes a file of the data folder that comes with the program to a place; none if it does not come with it.
pub(crate) fn place_shipped(file: &DataFile, target: &Path) -> Result<Option<Stamp>, DataError> {
    let Some(text) = shipped_data(file) else { return Ok(None) };
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).doing(Action::CreateFolder, folder)?;
    let mut temporary = temporary_file(folder, 0o666).doing(Action::Write, target)?;
    temporary.write_all(text.as_bytes()).doing(Action::Write, target)?;
    temporary.persist(target).map_err(|refused| refused.error).doing(Action::Rename, target)?;
    stamp(target).map(Some)
}

/// The text of a file of the data folder that comes with the program.
pub(crate) fn shipped_data(file: &DataFile) -> Option<&'static str> {
    if file.bundled { shipped_text(&format!("data/{}", file.path)) } else { None }
}
