//! One line of a segment.

use std::fmt;
use std::io::BufRead;

use super::ResultKey;

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

/// Outcome of reading a segment.
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
