//! Writes a shipped file to disk if its path is needed.

use std::fs;
use std::io::Write;
use std::path::Path;

use super::shipped_text;
use crate::digest::{FileStamp, compute_file_stamp};
use crate::error::{DataError, FileAction, IoErrorContext};
use crate::manifest::DataFile;
use dpgp_fs::temporary_file;

/// Writes a file of the data folder that comes with the program to a place; none if it does not come with it.
pub(crate) fn write_shipped_file(file: &DataFile, target: &Path) -> Result<Option<FileStamp>, DataError> {
    let Some(text) = shipped_file_text(file) else { return Ok(None) };
    let folder = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_io_context(FileAction::CreateFolder, folder)?;
    let mut temporary = temporary_file(folder, 0o666).with_io_context(FileAction::Write, target)?;
    temporary.write_all(text.as_bytes()).with_io_context(FileAction::Write, target)?;
    temporary.persist(target).map_err(|refused| refused.error).with_io_context(FileAction::Rename, target)?;
    compute_file_stamp(target).map(Some)
}

/// The text of a file of the data folder that comes with the program.
pub(crate) fn shipped_file_text(file: &DataFile) -> Option<&'static str> {
    if file.bundled { shipped_text(&format!("data/{}", file.path)) } else { None }
}
