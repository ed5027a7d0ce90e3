//! The lines of a segment, and their positions, stored next to it, so that a lookup does not read the whole segment.
//! An index is valid while its segment keeps the size and modification time of its last full read. Each
//! looked-up line is still compared with its own checksum. Without a valid index, the segment is read.

use std::ffi::OsString;
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use std::{fmt, fs};

use super::ResultKey;
use dpgp_fs::{parent_or_current_folder, temporary_file};

/// Content of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineKind {
    /// The run that the lines after it belong to; its key is not used.
    Run,
    /// The canonical text of a section, by its digest.
    Text,
    /// A result, by its key.
    Done,
}

impl LineKind {
    /// In the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Run, Self::Text, Self::Done];

    fn name(self) -> &'static str {
        match self {
            Self::Run => "run ",
            Self::Text => "text",
            Self::Done => "done",
        }
    }
}

/// `KIND KEY CHECKSUM JSON`, and a line end. The checksum is the CRC-32 of the rest, so that a line that was cut
/// off or overwritten is known as such.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SegmentLine<'a> {
    pub kind: LineKind,
    pub key: ResultKey,
    pub json: &'a str,
}

/// Where the JSON of a line starts: after kind, key and checksum, each with a space.
pub(super) const JSON_AT: usize = 4 + 1 + 64 + 1 + 8 + 1;

impl fmt::Display for SegmentLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, key, json } = self;
        let key = key.to_string();
        writeln!(f, "{} {key} {:08x} {json}", kind.name(), checksum(kind.name(), &key, json))
    }
}

impl<'a> SegmentLine<'a> {
    /// Reads a line; none unless it is whole.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        let (kind, key, check) = (text.get(0..4)?, text.get(5..69)?, text.get(70..78)?);
        let json = text.get(JSON_AT..)?;
        let whole = u32::from_str_radix(check, 16).ok()? == checksum(kind, key, json);
        let kind = LineKind::ALL.into_iter().find(|known| known.name() == kind)?;
        whole.then_some(Self { kind, key: key.parse().ok()?, json })
    }
}

fn checksum(kind: &str, key: &str, json: &str) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    [kind, key, json].iter().for_each(|part| hasher.update(part.as_bytes()));
    hasher.finalize()
}

/// How far a segment could be read, and how many damaged lines were skipped.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentReadOutcome {
    /// Bytes up to the end of the last line that ends.
    pub whole: u64,
    /// Lines before that which are not as they were written.
    pub damaged: usize,
}

/// Gives each whole line and its offset to `each`. Damaged lines and a last one that was cut off are left out.
pub(super) fn read_lines(
    mut reader: impl BufRead,
    mut each: impl FnMut(SegmentLine<'_>, u64),
) -> std::io::Result<SegmentReadOutcome> {
    let (mut read, mut bytes) = (SegmentReadOutcome::default(), Vec::new());
    loop {
        bytes.clear();
        let length = reader.read_until(b'\n', &mut bytes)?;
        if bytes.last() != Some(&b'\n') {
            return Ok(read);
        }
        match SegmentLine::parse(&bytes) {
            Some(line) => each(line, read.whole),
            None => read.damaged += 1,
        }
        read.whole += length as u64;
    }
}

/// Segments of fewer bytes are read as fast as an index of theirs.
const LEAST: u64 = 1 << 16;
/// How an index begins.
const BEGINNING: &[u8; 8] = b"dpgp-ix1";
/// Bytes of size and time.
const STAMP: usize = 8 + 8 + 4;
/// Bytes of a line: its kind, its key, its offset and its length.
const LINE: usize = 1 + 32 + 8 + 4;
/// Bytes of the checksum at the end.
const CHECK: usize = 4;

/// A line, and where it stands in its segment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct IndexEntry {
    pub kind: LineKind,
    pub key: ResultKey,
    pub offset: u64,
    pub length: u32,
}

/// Identity of the segment of an index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SegmentStamp {
    size: u64,
    seconds: u64,
    nanoseconds: u32,
}

impl SegmentStamp {
    /// Takes size and modification time from metadata; none if the system does not report the time.
    pub fn from_metadata(found: &fs::Metadata) -> Option<Self> {
        let modified = found.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let (seconds, nanoseconds) = (modified.as_secs(), modified.subsec_nanos());
        Some(Self { size: found.len(), seconds, nanoseconds })
    }

    fn bytes(self) -> [u8; STAMP] {
        let mut bytes = [0; STAMP];
        bytes[..8].copy_from_slice(&self.size.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.seconds.to_le_bytes());
        bytes[16..].copy_from_slice(&self.nanoseconds.to_le_bytes());
        bytes
    }
}

/// The lines of a segment of this stamp, by its index.
pub(super) fn read_index(segment: &Path, stamp: SegmentStamp) -> Option<Vec<IndexEntry>> {
    if stamp.size < LEAST {
        return None;
    }
    decode_index(&fs::read(index_path(segment)).ok()?, stamp)
}

/// Writes the index of a segment. Where that fails, the segment is read again the next time, and nothing is lost.
pub(super) fn write_index(segment: &Path, stamp: SegmentStamp, lines: &[IndexEntry]) {
    if stamp.size < LEAST {
        return;
    }
    let Ok(mut file) = temporary_file(parent_or_current_folder(segment), 0o600) else { return };
    if file.write_all(&encode_index(stamp, lines)).is_ok() {
        let _ = file.persist(index_path(segment));
    }
}

/// Deletes the index of a segment, because it does not match the segment.
pub(super) fn delete_index(segment: &Path) {
    let _ = fs::remove_file(index_path(segment));
}

fn index_path(segment: &Path) -> PathBuf {
    let mut name: OsString = segment.as_os_str().to_owned();
    name.push(".index");
    PathBuf::from(name)
}

fn encode_index(stamp: SegmentStamp, lines: &[IndexEntry]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(BEGINNING.len() + STAMP + LINE * lines.len() + CHECK);
    bytes.extend(BEGINNING);
    bytes.extend(stamp.bytes());
    for line in lines {
        bytes.push(line.kind as u8);
        bytes.extend(line.key.bytes());
        bytes.extend(line.offset.to_le_bytes());
        bytes.extend(line.length.to_le_bytes());
    }
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

fn decode_index(bytes: &[u8], stamp: SegmentStamp) -> Option<Vec<IndexEntry>> {
    let (content, check) = bytes.split_last_chunk::<CHECK>()?;
    let lines = content.strip_prefix(BEGINNING)?.strip_prefix(&stamp.bytes())?;
    let whole = crc32fast::hash(content) == u32::from_le_bytes(*check) && lines.len() % LINE == 0;
    whole.then(|| lines.chunks_exact(LINE).map(decode_index_entry).collect())?
}

fn decode_index_entry(bytes: &[u8]) -> Option<IndexEntry> {
    let (kind, rest) = bytes.split_first()?;
    let (key, rest) = rest.split_first_chunk::<32>()?;
    let (offset, length) = rest.split_first_chunk::<8>()?;
    Some(IndexEntry {
        kind: *LineKind::ALL.get(usize::from(*kind))?,
        key: ResultKey::from(*key),
        offset: u64::from_le_bytes(*offset),
        length: u32::from_le_bytes(length.try_into().ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> String {
        let line = |kind, key, json| SegmentLine { kind, key: ResultKey::of_text(key), json }.to_string();
        format!(
            "{}{}{}",
            line(LineKind::Run, "", "{\"ä\":1}"),
            line(LineKind::Text, "t", "\"{}\""),
            line(LineKind::Done, "d", "[0.1]")
        )
    }

    #[test]
    fn a_text_cut_anywhere_is_read_up_to_its_last_whole_line() {
        let text = text();
        for cut in 0..=text.len() {
            let bytes = &text.as_bytes()[..cut];
            let whole = bytes.iter().filter(|&&byte| byte == b'\n').count();
            let mut read = 0;
            let outcome = read_lines(bytes, |_, _| read += 1).unwrap();
            assert_eq!((read, outcome.damaged), (whole, 0), "cut at {cut}");
            let ended = cut == 0 || bytes[cut - 1] == b'\n';
            assert_eq!(outcome.whole == cut as u64, ended, "cut at {cut}");
        }
    }

    #[test]
    fn a_damaged_line_costs_only_itself() {
        let text = text().replacen("{}", "{!", 1);
        let mut kinds = Vec::new();
        let read = read_lines(text.as_bytes(), |line, _| kinds.push(line.kind)).unwrap();
        assert_eq!(
            (kinds, read),
            (vec![LineKind::Run, LineKind::Done], SegmentReadOutcome { whole: text.len() as u64, damaged: 1 })
        );
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let text = SegmentLine { kind: LineKind::Done, key: ResultKey::of_text("k"), json: "[0.25]" }.to_string();
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let parsed = SegmentLine::parse(&bytes);
            let separator = [4, 69, 78].contains(&at);
            assert!(separator || parsed.is_none(), "byte {at}");
        }
    }
}

#[cfg(test)]
mod index_tests {
    use super::*;

    const AT: SegmentStamp = SegmentStamp { size: LEAST, seconds: 7, nanoseconds: 9 };

    fn lines() -> [IndexEntry; 3] {
        [
            IndexEntry { kind: LineKind::Run, key: ResultKey::of_text(""), offset: 0, length: 90 },
            IndexEntry { kind: LineKind::Text, key: ResultKey::of_text("t"), offset: 90, length: u32::MAX },
            IndexEntry { kind: LineKind::Done, key: ResultKey::of_text("d"), offset: u64::MAX, length: 0 },
        ]
    }

    #[test]
    fn an_index_is_that_of_one_segment_at_one_time() {
        let bytes = encode_index(AT, &lines());
        assert_eq!(decode_index(&bytes, AT).as_deref(), Some(&lines()[..]));
        for other in [
            SegmentStamp { size: LEAST + 1, ..AT },
            SegmentStamp { seconds: 8, ..AT },
            SegmentStamp { nanoseconds: 8, ..AT },
        ] {
            assert_eq!(decode_index(&bytes, other), None);
        }
    }

    /// A checksum of 32 bits notices every burst of errors that is no longer.
    #[test]
    fn any_changed_byte_and_any_cut_is_noticed() {
        let bytes = encode_index(AT, &lines());
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x41;
            assert_eq!(decode_index(&changed, AT), None, "{at}");
            assert_eq!(decode_index(&bytes[..at], AT), None, "cut at {at}");
        }
    }
}
