//! What stands in folders of files of rows.

use std::fs;
use std::path::{Path, PathBuf};

use super::unpacked::is_gzip;
use crate::error::{Action, DataError, Doing};
use crate::own::is_parquet;
use crate::table_error::TableError;

/// The endings of files of rows, by which they are found in folders.
const ENDINGS: [&str; 3] = ["parquet", "csv", "tsv"];

/// The endings of compressed files.
const PACKED: [&str; 6] = ["gz", "bz2", "xz", "zst", "lz4", "zip"];

/// All files of rows in a folder and below, and those that would be some if they were not compressed.
pub(super) fn files_below(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let mut files = Vec::new();
    for folder in folders_from(folder, &mut Vec::new())? {
        for path in entries(&folder)? {
            let aside = path.file_name().is_none_or(|name| is_aside(&name.to_string_lossy()));
            if !aside && holds_rows(&path) && !path.is_dir() {
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// Whether a file holds rows by its ending, compressed or not.
pub(super) fn holds_rows(path: &Path) -> bool {
    let inner = path.file_stem().filter(|_| is_packed(path));
    has_ending(path, &ENDINGS) || inner.is_some_and(|inner| has_ending(Path::new(inner), &ENDINGS))
}

/// A folder and all below it. One that leads back to a folder `above` it is passed over.
pub(super) fn folders_from(folder: &Path, above: &mut Vec<PathBuf>) -> Result<Vec<PathBuf>, DataError> {
    let own = fs::canonicalize(here(folder)).doing(Action::Read, folder)?;
    let parent = folder.parent().and_then(|parent| fs::canonicalize(here(parent)).ok());
    let leads_back = parent.is_some_and(|parent| folder.is_symlink() && parent.starts_with(&own));
    if leads_back || above.contains(&own) {
        return Ok(Vec::new());
    }
    above.push(own);
    let mut folders = vec![folder.to_path_buf()];
    for path in entries(folder)? {
        let aside = path.file_name().is_none_or(|name| is_aside(&name.to_string_lossy()));
        if !aside && path.is_dir() {
            folders.extend(folders_from(&path, above)?);
        }
    }
    above.pop();
    Ok(folders)
}

/// Hidden, or not data: `_SUCCESS`, `_temporary`.
pub(super) fn is_aside(name: &str) -> bool {
    name.starts_with(['.', '_'])
}

/// Whether a file is compressed.
fn is_packed(path: &Path) -> bool {
    has_ending(path, &PACKED)
}

/// Fails for the first file that is compressed in another way than text by gzip.
///
/// # Errors
/// [`TableError::Packed`].
pub(super) fn ensure_readable<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<(), DataError> {
    for path in paths {
        let text = is_gzip(path) && !path.file_stem().is_some_and(|inner| is_parquet(inner.as_ref()));
        if is_packed(path) && !text {
            return Err(DataError::table(path, TableError::Packed));
        }
    }
    Ok(())
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|end| endings.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

/// What stands in a folder; nothing if there is none.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    if !here(folder).is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(here(folder)).doing(Action::Read, folder)? {
        paths.push(folder.join(entry.doing(Action::Read, folder)?.file_name()));
    }
    Ok(paths)
}

/// A folder by a name that the system knows; the working directory has none.
pub(super) fn here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}
