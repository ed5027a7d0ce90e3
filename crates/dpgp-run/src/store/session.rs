//! Writes to the store, and merges several stores into one.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::folder::segments;
use super::segment::{LineKind, SegmentLine, read_lines};
use super::{ResultKey, ResultStore, RunHeader, StoreError, StoredResult};
use dpgp_fs::temporary_file;
use dpgp_spec::TextDigest;
use dpgp_task::Cell;

/// The segment that this process appends to.
#[derive(Debug)]
pub(super) struct OpenSegment {
    path: PathBuf,
    file: File,
    length: u64,
    /// The section texts that stand in it.
    texts: BTreeSet<TextDigest>,
}

/// A line that was written: its key, its offset and its length.
pub(super) type WrittenLine = (LineKind, ResultKey, u64, usize);

/// Appends the results of one run to the store. When [`WriteSession::append`] returns, a result survives the death of the process.
/// A power cut can lose it, because the file is written but not synced.
#[derive(Debug)]
pub struct WriteSession {
    directory: PathBuf,
    pub(super) header: RunHeader,
    state: Mutex<SessionState>,
}

#[derive(Debug, Default)]
pub(super) struct SessionState {
    pub segment: Option<OpenSegment>,
    begun: bool,
    pub written: Vec<WrittenLine>,
}

impl WriteSession {
    pub(super) fn new(directory: &Path, header: RunHeader, segment: Option<OpenSegment>) -> Self {
        let state = Mutex::new(SessionState { segment, ..SessionState::default() });
        Self { directory: directory.to_path_buf(), header, state }
    }

    pub(super) fn into_parts(self) -> (RunHeader, SessionState) {
        (self.header, self.state.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// Writes the header of this run to the store, even if nothing is left to compute.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn write_run_header(&self) -> Result<(), StoreError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.ensure_run_header_written(&mut state)
    }

    /// Appends one replicate of a cell.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub fn append(&self, key: ResultKey, cell: &Cell, record: &StoredResult) -> Result<(), StoreError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.ensure_run_header_written(&mut state)?;
        let mut lines = Vec::new();
        for (_, text) in cell.sections() {
            if state.segment.as_mut().is_some_and(|segment| segment.texts.insert(text.id())) {
                lines.push((LineKind::Text, text.id(), self.json(&text.canonical)?));
            }
        }
        lines.push((LineKind::Done, key, self.json(record)?));
        self.write(&mut state, &lines)
    }

    fn ensure_run_header_written(&self, state: &mut SessionState) -> Result<(), StoreError> {
        if state.begun {
            return Ok(());
        }
        if state.segment.is_none() {
            state.segment = Some(self.create_segment()?);
        }
        let json = self.json(&self.header)?;
        self.write(state, &[(LineKind::Run, TextDigest::of_text(&json), json)])?;
        state.begun = true;
        Ok(())
    }

    /// Appends all lines with one write call, so that a process that dies leaves at most a cut-off last line.
    fn write(&self, state: &mut SessionState, lines: &[(LineKind, ResultKey, String)]) -> Result<(), StoreError> {
        let SessionState { segment: Some(segment), written, .. } = state else { return Ok(()) };
        let mut text = String::new();
        for (kind, key, json) in lines {
            let line = SegmentLine { kind: *kind, key: *key, json }.to_string();
            written.push((*kind, *key, segment.length + text.len() as u64, line.len()));
            text.push_str(&line);
        }
        segment.file.write_all(text.as_bytes()).map_err(StoreError::io(&segment.path))?;
        segment.length += text.len() as u64;
        Ok(())
    }

    fn json(&self, value: &impl serde::Serialize) -> Result<String, StoreError> {
        serde_json::to_string(value).map_err(|error| StoreError::io(&self.directory)(error.into()))
    }

    /// A new segment under a name that no process has: the time, the process, and a counter for what is left.
    fn create_segment(&self) -> Result<OpenSegment, StoreError> {
        std::fs::create_dir_all(&self.directory).map_err(StoreError::io(&self.directory))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let process = std::process::id();
        for attempt in 0.. {
            let path = self.directory.join(format!("{now:020}-{process}-{attempt}.{ENDING}"));
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            // Results may be those of private rows.
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            match options.open(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(cause) => return Err(StoreError::Io { path, cause }),
                Ok(file) => return Ok(OpenSegment { path, file, length: 0, texts: BTreeSet::new() }),
            }
        }
        Err(StoreError::Gone { path: self.directory.clone() })
    }
}

impl OpenSegment {
    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The ending of segments.
pub(super) const ENDING: &str = "segment";

/// Copies the segments of other stores into `target`, up to their last whole line; returns the last run of each experiment.
/// Segments never change once their process has ended and have unique names, so a segment that is there already is only
/// replaced by a longer one.
///
/// Nothing is written unless all runs of an experiment belong together and all results agree.
///
/// # Errors
/// [`StoreError::RunsDiffer`], [`StoreError::Disagree`], or [`StoreError::Io`].
pub fn merge_stores(target: &Path, sources: &[PathBuf]) -> Result<Vec<RunHeader>, StoreError> {
    let runs = compatible_latest_runs(sources)?;
    let chosen = longest_segments(target, sources)?;
    ResultStore::from_segments(target, chosen.values().map(|copy| copy.path.clone()).collect())?;
    fs::create_dir_all(target).map_err(StoreError::io(target))?;
    for (name, segment) in chosen {
        if segment.path.parent() != Some(target) {
            copy(&segment, &target.join(name))?;
        }
    }
    Ok(runs)
}

/// The last run of each experiment, quick and full ones apart.
fn compatible_latest_runs(sources: &[PathBuf]) -> Result<Vec<RunHeader>, StoreError> {
    let mut runs: BTreeMap<(String, bool), (&Path, RunHeader)> = BTreeMap::new();
    for directory in sources {
        let store = ResultStore::open(directory)?;
        for header in store.latest_run_per_experiment() {
            let known = runs.entry((header.experiment.clone(), header.quick));
            let (first, other) = known.or_insert_with(|| (directory.as_path(), header.clone()));
            if let Some(what) = header.first_difference(other) {
                let (first, second) = (first.to_path_buf(), directory.clone());
                return Err(StoreError::RunsDiffer { experiment: header.experiment.clone(), what, first, second });
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
fn longest_segments(target: &Path, sources: &[PathBuf]) -> Result<BTreeMap<OsString, SegmentCopy>, StoreError> {
    let mut chosen: BTreeMap<OsString, SegmentCopy> = BTreeMap::new();
    for directory in std::iter::once(target).chain(sources.iter().map(PathBuf::as_path)) {
        for path in segments(directory)? {
            let whole = length_of_whole_lines(&path)?;
            let Some(name) = path.file_name().map(OsString::from) else { continue };
            if chosen.get(&name).is_none_or(|known| whole > known.whole) {
                chosen.insert(name, SegmentCopy { path, whole });
            }
        }
    }
    Ok(chosen)
}

fn length_of_whole_lines(path: &Path) -> Result<u64, StoreError> {
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
