//! Several stores become one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{BufReader, Read};
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
    // By name: the longest copy of each segment. The target's own comes first, and stays where it is as long.
    let mut chosen: BTreeMap<OsString, (PathBuf, u64)> = BTreeMap::new();
    for directory in std::iter::once(target).chain(sources.iter().map(PathBuf::as_path)) {
        for path in segments(directory)? {
            let whole = whole_length(&path)?;
            let Some(name) = path.file_name().map(OsString::from) else { continue };
            match chosen.get(&name) {
                Some((_, known)) if whole <= *known => {}
                _ => {
                    chosen.insert(name, (path, whole));
                }
            }
        }
    }
    Store::of_segments(target, chosen.values().map(|(path, _)| path.clone()).collect())?;
    fs::create_dir_all(target).map_err(StoreError::io(target))?;
    let elsewhere = chosen.iter().filter(|(_, (path, _))| path.parent() != Some(target));
    let mut added = 0;
    for (name, (source, length)) in elsewhere {
        copy(source, *length, &target.join(name))?;
        added += 1;
    }
    Ok(added)
}

/// The bytes up to the end of the last whole line.
fn whole_length(path: &Path) -> Result<u64, StoreError> {
    let io = StoreError::io(path);
    let file = fs::File::open(path).map_err(&io)?;
    Ok(read_lines(BufReader::new(file), |_, _| {}).map_err(&io)?.whole)
}

/// Copies the first bytes of a file to a temporary name in the target folder, then renames it.
fn copy(from: &Path, length: u64, to: &Path) -> Result<(), StoreError> {
    let io = StoreError::io(to);
    let mut source = fs::File::open(from).map_err(StoreError::io(from))?.take(length);
    let mut temporary = tempfile::NamedTempFile::new_in(to.parent().unwrap_or(to)).map_err(&io)?;
    std::io::copy(&mut source, temporary.as_file_mut()).map_err(&io)?;
    temporary.persist(to).map_err(|error| io(error.error))?;
    Ok(())
}
