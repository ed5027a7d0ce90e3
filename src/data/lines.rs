//! The text of a table cut into records that remember their line.

use std::borrow::Cow;

use super::format::{CsvFormat, Separator};
use super::table_error::TableError;

/// One row of a table, or its header, as text.
pub(super) struct Record<'a> {
    /// The line that it begins in, counted from 1.
    pub(super) line: usize,
    /// Its cells, with the separator of [`byte`] between them and no line end.
    pub(super) text: Cow<'a, str>,
}

/// The byte between the cells of a record.
pub(super) fn byte(separator: Separator) -> u8 {
    match separator {
        Separator::Byte(byte) => byte,
        Separator::Whitespace => b'\t',
    }
}

/// Cuts `text` into records. Comments, blank lines and the lines to skip are left out; a record whose quotes span
/// several lines stays whole.
pub(super) fn records<'a>(text: &'a str, format: &CsvFormat) -> Result<Vec<Record<'a>>, TableError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1..).zip(text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)));
    let mut found = Vec::new();
    while let Some((line, first)) = lines.next() {
        if is_aside(first, format) {
            continue;
        }
        let text = match format.separator {
            Separator::Byte(_) => whole(first, line, &mut lines)?,
            Separator::Whitespace => first.split_whitespace().collect::<Vec<_>>().join("\t").into(),
        };
        found.push(Record { line, text });
    }
    found.drain(..format.skip.min(found.len()));
    Ok(found)
}

/// Whether a line is blank or a comment.
fn is_aside(line: &str, format: &CsvFormat) -> bool {
    let blank = match format.separator {
        Separator::Byte(b' ' | b'\t') => line.trim_matches('\r').is_empty(),
        _ => line.trim().is_empty(),
    };
    blank || format.comment.as_ref().is_some_and(|mark| !mark.is_empty() && line.starts_with(mark))
}

/// The record that begins with `first`: further lines belong to it as long as a quote is open.
fn whole<'a>(
    first: &'a str,
    line: usize,
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
) -> Result<Cow<'a, str>, TableError> {
    let mut record = Cow::Borrowed(first);
    while record.matches('"').count() % 2 == 1 {
        let (_, next) = lines.next().ok_or(TableError::OpenQuote { line })?;
        let joined = record.to_mut();
        joined.push('\n');
        joined.push_str(next);
    }
    Ok(record)
}

/// How many cells a record has: separators inside quotes do not count.
pub(super) fn cells(record: &str, format: &CsvFormat) -> usize {
    let separator = byte(format.separator);
    let quotes = format.separator != Separator::Whitespace;
    let mut quoted = false;
    let mut count = 1;
    for byte in record.bytes() {
        if byte == b'"' && quotes {
            quoted = !quoted;
        } else if byte == separator && !quoted {
            count += 1;
        }
    }
    count
}

/// Whether a quote stands elsewhere than around a whole cell or doubled inside one.
pub(super) fn stray_quote(record: &str, format: &CsvFormat) -> bool {
    let separator = byte(format.separator);
    let (mut quoted, mut before) = (false, separator);
    for byte in record.bytes() {
        let opens = before == separator || before == b'"';
        match byte {
            b'"' if quoted => quoted = false,
            b'"' if opens => quoted = true,
            b'"' => return true,
            _ if !quoted && before == b'"' && byte != separator => return true,
            _ => {}
        }
        before = byte;
    }
    false
}

/// The cells of a header, without blanks around them.
pub(super) fn names(record: &str, format: &CsvFormat) -> Result<Vec<String>, csv::Error> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(byte(format.separator))
        .quoting(format.separator != Separator::Whitespace)
        .from_reader(record.as_bytes());
    let mut cells = csv::StringRecord::new();
    reader.read_record(&mut cells)?;
    Ok(cells.iter().map(|cell| cell.trim().to_owned()).collect())
}
