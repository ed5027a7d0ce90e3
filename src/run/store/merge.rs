//! Several stores become one.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::folder::segments;
use super::line::read_lines;
use super::{Store, StoreError};

/// Copies the segments of other stores into `target`, up to their last whole line. Segments never change once
/// their process has ended and have unique names, so a segment that is there already is only replaced by a longer one.
///
/// Nothing is written unless all results agree.
///
/// # Errors
/// [`StoreError::Disagree`], or [`StoreError::Io`].
pub fn merge(target: &Path, sources: &[PathBuf]) -> Result<usize, StoreError> {
    let scratch = tempfile::tempdir().map_err(StoreError::io(target))?;
    let mut copies: Vec<(PathBuf, PathBuf, u64)> = Vec::new();
    for directory in std::iter::once(target).chain(sources.iter().map(PathBuf::as_path)) {
        for path in segments(directory)? {
            let whole = whole_length(&path)?;
            let Some(name) = path.file_name() else { continue };
            let copy = scratch.path().join(name);
            match copies.iter_mut().find(|(_, known, _)| *known == copy) {
                Some((source, _, length)) if whole > *length => (*source, *length) = (path, whole),
                Some(_) => {}
                None => copies.push((path, copy, whole)),
            }
        }
    }
    for (source, copy, length) in &copies {
        let bytes = fs::read(source).map_err(StoreError::io(source))?;
        let whole = &bytes[..bytes.len().min(*length as usize)];
        fs::write(copy, whole).map_err(StoreError::io(copy))?;
    }
    Store::open(scratch.path())?;
    fs::create_dir_all(target).map_err(StoreError::io(target))?;
    let mut added = 0;
    for (source, copy, _) in copies.iter().filter(|(source, _, _)| source.parent() != Some(target)) {
        let Some(name) = source.file_name() else { continue };
        move_atomically(copy, &target.join(name))?;
        added += 1;
    }
    Ok(added)
}

/// The bytes up to the end of the last whole line.
fn whole_length(path: &Path) -> Result<u64, StoreError> {
    let io = StoreError::io(path);
    let file = fs::File::open(path).map_err(&io)?;
    let size = file.metadata().map_err(&io)?.len();
    Ok(read_lines(BufReader::new(file), |_, _| {}).map_err(&io)?.unwrap_or(size))
}

/// Copies to a temporary name in the target folder, then renames.
fn move_atomically(from: &Path, to: &Path) -> Result<(), StoreError> {
    let io = StoreError::io(to);
    let folder = to.parent().unwrap_or(Path::new("."));
    let temporary = tempfile::NamedTempFile::new_in(folder).map_err(&io)?;
    fs::copy(from, temporary.path()).map_err(&io)?;
    temporary.persist(to).map_err(|error| io(error.error))?;
    Ok(())
}
