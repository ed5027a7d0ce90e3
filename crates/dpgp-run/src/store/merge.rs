//! Several stores become one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::folder::segments;
use super::line::read_lines;
use super::{RunHeader, Store, StoreError};
use dpgp_fs::temporary_file;

/// Copies the segments of other stores into `target`, up to their last whole line; returns the last run of each experiment.
/// Segments never change once their process has ended and have unique names, so a segment that is there already is only
/// replaced by a longer one.
///
/// Nothing is written unless all runs of an experiment belong together and all results agree.
///
/// # Errors
/// [`StoreError::RunsDiffer`], [`StoreError::Disagree`], or [`StoreError::Io`].
pub fn merge(target: &Path, sources: &[PathBuf]) -> Result<Vec<RunHeader>, StoreError> {
    let runs = runs(sources)?;
    let chosen = longest(target, sources)?;
    Store::of_segments(target, chosen.values().map(|copy| copy.path.clone()).collect())?;
    fs::create_dir_all(target).map_err(StoreError::io(target))?;
    for (name, segment) in chosen {
        if segment.path.parent() != Some(target) {
            copy(&segment, &target.join(name))?;
        }
    }
    Ok(runs)
}

/// The last run of each experiment, quick and full ones apart.
fn runs(sources: &[PathBuf]) -> Result<Vec<RunHeader>, StoreError> {
    let mut runs: BTreeMap<(String, bool), (&Path, RunHeader)> = BTreeMap::new();
    for directory in sources {
        let store = Store::open(directory)?;
        for header in store.last_runs() {
            let known = runs.entry((header.experiment.clone(), header.quick));
            let (first, other) = known.or_insert_with(|| (directory.as_path(), header.clone()));
            if let Some(what) = header.difference(other) {
                let (first, second) = (first.to_path_buf(), directory.clone());
                return Err(StoreError::RunsDiffer {
                    experiment: header.experiment.clone(),
                    what,
                    first,
                    second,
                });
            }
        }
    }
    Ok(runs.into_values().map(|(_, header)| header).collect())
}

/// A copy of a segment and the bytes up to the end of its last whole line.
struct SegmentCopy {
    path: PathBuf,
    whole: u64,
}

/// By name the longest copy of each segment. The target's own comes first, and stays where it is as long.
fn longest(target: &Path, sources: &[PathBuf]) -> Result<BTreeMap<OsString, SegmentCopy>, StoreError> {
    let mut chosen: BTreeMap<OsString, SegmentCopy> = BTreeMap::new();
    for directory in std::iter::once(target).chain(sources.iter().map(PathBuf::as_path)) {
        for path in segments(directory)? {
            let whole = whole_length(&path)?;
            let Some(name) = path.file_name().map(OsString::from) else { continue };
            if chosen.get(&name).is_none_or(|known| whole > known.whole) {
                chosen.insert(name, SegmentCopy { path, whole });
            }
        }
    }
    Ok(chosen)
}

fn whole_length(path: &Path) -> Result<u64, StoreError> {
    let io = StoreError::io(path);
    let file = fs::File::open(path).map_err(&io)?;
    Ok(read_lines(BufReader::new(file), |_, _| {}).map_err(&io)?.whole)
}

/// Copies a segment to a temporary name in the target folder, then renames it.
fn copy(from: &SegmentCopy, to: &Path) -> Result<(), StoreError> {
    let io = StoreError::io(to);
    let mut source = fs::File::open(&from.path).map_err(StoreError::io(&from.path))?.take(from.whole);
    let mut temporary = temporary_file(to.parent().unwrap_or(to), 0o600).map_err(&io)?;
    std::io::copy(&mut source, temporary.as_file_mut()).map_err(&io)?;
    temporary.persist(to).map_err(|error| io(error.error))?;
    Ok(())
}
