//! The whole store: its contents and how they are read.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::record::DigestMap;
use super::segment::{
    IndexEntry, JSON_AT, LineKind, SegmentLine, SegmentStamp, delete_index, read_index, read_lines, write_index,
};
use super::session::{ENDING, OpenSegment};
use super::{ResultKey, RunHeader, StoreError, StoredResult, WriteSession};
use dpgp_spec::TextDigest;

/// A folder of segments and an index of their results.
///
/// ```
/// use dpgp_run::store::ResultStore;
///
/// let folder = tempfile::tempdir()?;
/// let store = ResultStore::open(&folder.path().join("none-yet"))?;
/// assert!(store.warnings().is_empty() && store.latest_run_per_experiment().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ResultStore {
    directory: PathBuf,
    segments: Vec<PathBuf>,
    runs: Vec<StoredRun>,
    results: DigestMap<LineLocation>,
    texts: DigestMap<LineLocation>,
    /// Segments that were read from end to end without a fault.
    read: Vec<SegmentLines>,
    warnings: Vec<String>,
    segment: Option<OpenSegment>,
}

/// A run and the segment that it is in.
#[derive(Debug)]
struct StoredRun {
    segment: usize,
    header: RunHeader,
}

/// The lines of a segment as it was when they were read.
#[derive(Debug)]
struct SegmentLines {
    path: PathBuf,
    stamp: SegmentStamp,
    lines: Vec<IndexEntry>,
}

/// Where a line stands.
#[derive(Debug, Clone, Copy)]
struct LineLocation {
    segment: u32,
    run: u32,
    offset: u64,
    length: u32,
}

/// A result that the store holds, with the run that it came from.
#[derive(Debug, Clone)]
pub struct ResultWithRun {
    /// The run.
    pub run: RunHeader,
    /// The result.
    pub record: StoredResult,
}

impl ResultStore {
    /// Reads what a folder holds; a folder that is not there holds nothing. Results that are in it twice are compared. What had to be
    /// read from end to end gets an index, so that it is found at once the next time.
    ///
    /// # Errors
    /// [`StoreError::Io`], or [`StoreError::Disagree`].
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let mut store = Self::from_segments(directory, segments(directory)?)?;
        for SegmentLines { path, stamp, lines } in store.read.drain(..) {
            write_index(&path, stamp, &lines);
        }
        Ok(store)
    }

    /// The same without an index: nothing is written.
    ///
    /// # Errors
    /// As [`ResultStore::open`].
    pub fn open_read_only(directory: &Path) -> Result<Self, StoreError> {
        Self::from_segments(directory, segments(directory)?)
    }

    /// Reads these segments, wherever they stand, and writes nothing.
    pub(super) fn from_segments(directory: &Path, segments: Vec<PathBuf>) -> Result<Self, StoreError> {
        let mut store = Self {
            directory: directory.to_path_buf(),
            segments: Vec::new(),
            runs: Vec::new(),
            results: DigestMap::default(),
            texts: DigestMap::default(),
            read: Vec::new(),
            warnings: Vec::new(),
            segment: None,
        };
        segments.into_iter().try_for_each(|path| store.read_segment(path))?;
        Ok(store)
    }

    /// The folder.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Lines left out because a segment ends in the middle of a line.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether a result is here.
    pub fn has_result(&self, key: &ResultKey) -> bool {
        self.results.contains_key(key)
    }

    /// The results of these keys, in their order.
    ///
    /// # Errors
    /// [`StoreError`]; a key that is not here is [`StoreError::Gone`].
    pub fn results(&self, keys: &[ResultKey]) -> Result<Vec<StoredResult>, StoreError> {
        let places: Option<Vec<LineLocation>> = keys.iter().map(|key| self.results.get(key).copied()).collect();
        self.read_values_at(&places.ok_or_else(|| StoreError::Gone { path: self.directory.clone() })?)
    }

    /// Every result of an experiment, the latest last.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn experiment_results(&self, name: &str) -> Result<Vec<ResultWithRun>, StoreError> {
        let mut places: Vec<LineLocation> = self.results.values().copied().collect();
        places.retain(|place| self.header(*place).experiment == name);
        places.sort_by_key(|place| (place.segment, place.offset));
        let records: Vec<StoredResult> = self.read_values_at(&places)?;
        let stored = records.into_iter().zip(places);
        Ok(stored.map(|(record, place)| ResultWithRun { run: self.header(place).clone(), record }).collect())
    }

    /// The canonical text of a section, if any segment holds it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn section_text(&self, id: &TextDigest) -> Result<Option<String>, StoreError> {
        let Some(place) = self.texts.get(id) else { return Ok(None) };
        Ok(self.read_values_at(&[*place])?.pop())
    }

    /// The last run of each experiment, quick and full ones apart.
    pub fn latest_run_per_experiment(&self) -> Vec<&RunHeader> {
        let mut last: BTreeMap<(&str, bool), &RunHeader> = BTreeMap::new();
        for StoredRun { header, .. } in &self.runs {
            last.insert((&header.experiment, header.quick), header);
        }
        last.into_values().collect()
    }

    /// Starts writing for a run. At most one session writes at a time; see [`ResultStore::end_session`].
    pub fn begin_session(&mut self, header: RunHeader) -> WriteSession {
        WriteSession::new(&self.directory, header, self.segment.take())
    }

    /// Ends a session: what it wrote can be read from here on.
    ///
    /// # Errors
    /// [`StoreError::Disagree`], if another session of this process stored the same results.
    pub fn end_session(&mut self, session: WriteSession) -> Result<(), StoreError> {
        let (header, state) = session.into_parts();
        let Some(segment) = state.segment else { return Ok(()) };
        let number = match self.segments.iter().position(|path| path == segment.path()) {
            Some(number) => number,
            None => {
                self.segments.push(segment.path().to_path_buf());
                self.segments.len() - 1
            }
        };
        self.segment = Some(segment);
        self.runs.push(StoredRun { segment: number, header });
        for (kind, key, offset, length) in state.written {
            self.add_to_index(kind, key, self.location_in_latest_run(number, offset, length))?;
        }
        Ok(())
    }

    fn read_segment(&mut self, path: PathBuf) -> Result<(), StoreError> {
        let io = StoreError::io(&path);
        let mut file = File::open(&path).map_err(&io)?;
        let found = file.metadata().map_err(&io)?;
        let stamp = SegmentStamp::from_metadata(&found);
        let known = stamp.and_then(|stamp| read_index(&path, stamp));
        let number = self.segments.len();
        self.segments.push(path.clone());
        if let Some(lines) = known {
            let mut reader = BufReader::new(file);
            self.results.reserve(lines.len());
            return lines.iter().try_for_each(|line| self.insert_line(*line, number, &mut reader));
        }
        let mut lines = Vec::new();
        let read = read_lines(BufReader::with_capacity(1 << 16, &file), |line, offset| {
            let length = (JSON_AT + line.json.len() + 1) as u32;
            lines.push(IndexEntry { kind: line.kind, key: line.key, offset, length });
        });
        let read = read.map_err(&io)?;
        file.rewind().map_err(&io)?;
        let mut reader = BufReader::new(file);
        lines.iter().try_for_each(|line| self.insert_line(*line, number, &mut reader))?;
        let size = found.len();
        if read.damaged > 0 {
            self.warnings.push(format!(
                "{}: {} lines are damaged and were ignored; their results will be computed again",
                path.display(),
                read.damaged
            ));
        }
        if read.whole < size {
            self.warnings.push(format!(
                "{}: the last {} of {size} bytes are an incomplete record (a run was killed, or is still running) and are ignored",
                path.display(),
                size - read.whole
            ));
        }
        if let (Some(stamp), 0, true) = (stamp, read.damaged, read.whole == size) {
            self.read.push(SegmentLines { path: path.clone(), stamp, lines });
        }
        Ok(())
    }

    /// Enters a line of a segment that is open.
    fn insert_line(
        &mut self,
        line: IndexEntry,
        segment: usize,
        reader: &mut BufReader<File>,
    ) -> Result<(), StoreError> {
        let IndexEntry { kind, key, offset, length } = line;
        if kind == LineKind::Run {
            // The run is not used.
            let place = LineLocation { segment: segment as u32, run: 0, offset, length };
            if let Ok(header) = read_value(reader, place, &self.segments[segment]) {
                self.runs.push(StoredRun { segment, header });
            }
            return Ok(());
        }
        self.add_to_index(kind, key, self.location_in_latest_run(segment, offset, length as usize))
    }

    /// Where a line of the latest run stands; none if the run is not of that segment.
    fn location_in_latest_run(&self, segment: usize, offset: u64, length: usize) -> Option<LineLocation> {
        let run = self.runs.len().checked_sub(1).filter(|&run| self.runs[run].segment == segment)?;
        Some(LineLocation { segment: segment as u32, run: run as u32, offset, length: length as u32 })
    }

    fn header(&self, place: LineLocation) -> &RunHeader {
        &self.runs[place.run as usize].header
    }

    /// Enters a line into the index; the first of several results of one key stays.
    fn add_to_index(&mut self, kind: LineKind, key: ResultKey, place: Option<LineLocation>) -> Result<(), StoreError> {
        let Some(place) = place else { return Ok(()) };
        match kind {
            LineKind::Run => {}
            LineKind::Text => {
                self.texts.insert(key, place);
            }
            LineKind::Done => match self.results.get(&key).copied() {
                None => {
                    self.results.insert(key, place);
                }
                Some(first) => self.check_results_agree(first, place)?,
            },
        }
        Ok(())
    }

    fn check_results_agree(&self, first: LineLocation, second: LineLocation) -> Result<(), StoreError> {
        let records: Vec<StoredResult> = self.read_values_at(&[first, second])?;
        if records[0].agrees(&records[1]) {
            return Ok(());
        }
        let about = &records[1].about;
        Err(StoreError::Disagree {
            experiment: self.header(second).experiment.clone(),
            place: format!("cell {:?}, replicate {}", about.labels.join(", "), about.replicate),
            first: self.segments[first.segment as usize].clone(),
            second: self.segments[second.segment as usize].clone(),
        })
    }

    /// The values of the lines at these places, in their order; each segment is opened once for neighbours.
    fn read_values_at<T: DeserializeOwned>(&self, places: &[LineLocation]) -> Result<Vec<T>, StoreError> {
        let mut open: Option<(u32, BufReader<File>)> = None;
        let mut values = Vec::with_capacity(places.len());
        for place in places {
            let path = &self.segments[place.segment as usize];
            let mut reader = match open.take() {
                Some((segment, reader)) if segment == place.segment => reader,
                _ => BufReader::new(File::open(path).map_err(StoreError::io(path))?),
            };
            values.push(read_value(&mut reader, *place, path)?);
            open = Some((place.segment, reader));
        }
        Ok(values)
    }
}

fn read_value<T: DeserializeOwned>(
    reader: &mut BufReader<File>,
    place: LineLocation,
    path: &Path,
) -> Result<T, StoreError> {
    let io = StoreError::io(path);
    let mut bytes = vec![0; place.length as usize];
    let at = reader.stream_position().map_err(&io)?;
    match i64::try_from(place.offset).ok().zip(i64::try_from(at).ok()) {
        Some((to, at)) => reader.seek_relative(to - at).map_err(&io)?,
        None => reader.seek(SeekFrom::Start(place.offset)).map(|_| ()).map_err(&io)?,
    }
    reader.read_exact(&mut bytes).map_err(&io)?;
    let line = SegmentLine::parse(&bytes);
    line.and_then(|line| serde_json::from_str(line.json).ok()).ok_or_else(|| {
        // The next one who opens the store reads all of the segment, and leaves out what is damaged.
        delete_index(path);
        StoreError::Gone { path: path.to_path_buf() }
    })
}

/// The segments of a folder, by name and so by time; none if the folder is not there.
pub(super) fn segments(directory: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let io = StoreError::io(directory);
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(&io)?,
    };
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| Ok(entry.map_err(&io)?.path())).collect();
    let mut paths = paths?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == ENDING) && path.is_file());
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn header() -> RunHeader {
        RunHeader {
            experiment: "e".to_owned(),
            quick: false,
            spec: "e.toml".to_owned(),
            spec_sha256: TextDigest::of_text("spec"),
            axes: Vec::new(),
            seed: 1,
            numerics: 1,
            data: Vec::new(),
        }
    }

    fn text(i: usize) -> String {
        format!("text {i} {}", "x".repeat(100))
    }

    /// A store of one segment, of a run and 1000 texts of 120 bytes.
    fn store() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("1.segment");
        let mut lines = SegmentLine {
            kind: LineKind::Run,
            key: ResultKey::of_text("run"),
            json: &serde_json::to_string(&header()).unwrap(),
        }
        .to_string();
        for i in 0..1000 {
            let json = format!("{:?}", text(i));
            lines.push_str(
                &SegmentLine { kind: LineKind::Text, key: ResultKey::of_text(&text(i)), json: &json }.to_string(),
            );
        }
        fs::write(&path, lines).unwrap();
        (folder, path)
    }

    fn assert_holds_all(store: &ResultStore) {
        assert_eq!(store.latest_run_per_experiment(), [&header()]);
        for i in [0, 1, 500, 999] {
            assert_eq!(store.section_text(&ResultKey::of_text(&text(i))).unwrap(), Some(text(i)));
        }
        assert_eq!(store.section_text(&ResultKey::of_text("none")).unwrap(), None);
        assert!(store.warnings().is_empty());
    }

    /// Changes a byte of text 500, and gives the file this time.
    fn damage(path: &Path, modified: std::time::SystemTime) {
        let bytes = fs::read(path).unwrap();
        let at = bytes.windows(9).position(|bytes| bytes == b"text 500 ").unwrap();
        let mut changed = bytes;
        changed[at] = b'T';
        fs::write(path, changed).unwrap();
        File::options().append(true).open(path).unwrap().set_modified(modified).unwrap();
    }

    /// The second store is read by the index of the first: damage that left size and time alone is told of when the line is looked up, and
    /// left out from then on.
    #[test]
    fn a_segment_is_read_once() {
        let (folder, path) = store();
        let index = folder.path().join("1.segment.index");
        assert_holds_all(&ResultStore::from_segments(folder.path(), vec![path.clone()]).unwrap());
        assert!(!index.exists());
        assert_holds_all(&ResultStore::open(folder.path()).unwrap());
        assert!(index.exists());
        assert_holds_all(&ResultStore::open(folder.path()).unwrap());
        damage(&path, fs::metadata(&path).unwrap().modified().unwrap());
        let store = ResultStore::open(folder.path()).unwrap();
        assert!(store.warnings().is_empty());
        assert_eq!(store.section_text(&ResultKey::of_text(&text(499))).unwrap(), Some(text(499)));
        assert!(matches!(store.section_text(&ResultKey::of_text(&text(500))), Err(StoreError::Gone { .. })));
        let store = ResultStore::open(folder.path()).unwrap();
        assert!(store.warnings()[0].contains("1 lines are damaged"), "{:?}", store.warnings());
        assert_eq!(store.section_text(&ResultKey::of_text(&text(500))).unwrap(), None);
        assert!(!index.exists(), "a damaged segment has no index");
    }

    /// Reads again each segment that has changed since, in time or in size, or whose index is damaged.
    #[test]
    fn an_index_of_another_segment_is_not_believed() {
        let (folder, path) = store();
        let index = folder.path().join("1.segment.index");
        ResultStore::open(folder.path()).unwrap();
        let before = fs::read(&index).unwrap();
        fs::write(&index, &before[1..]).unwrap();
        assert_holds_all(&ResultStore::open(folder.path()).unwrap());
        assert_eq!(fs::read(&index).unwrap(), before);
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        damage(&path, modified + std::time::Duration::from_secs(1));
        assert_eq!(ResultStore::open(folder.path()).unwrap().warnings().len(), 1);
    }
}
