//! Layouts of dataset files. Recognises other formats by their first bytes.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;

/// The layout of a file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum DatasetFormat {
    /// Rows of cells as text.
    Csv(CsvFormat),
    /// One array in the IDX format of the MNIST files, compressed with gzip.
    IdxGz,
    /// A zip archive, kept as it is.
    Zip,
}

/// How to read rows of cells. The default is a comma-separated file with a header.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CsvFormat {
    /// The separator between cells.
    #[schemars(with = "String")]
    pub separator: Separator,
    /// Whether the first line names the columns. If not, `columns` must name them.
    pub header: bool,
    /// The names of the columns. They must agree with the header if there is one. An empty list takes them from the header.
    pub columns: Vec<String>,
    /// Lines that start with this text are comments, not data.
    pub comment: Option<String>,
    /// The number of lines to skip before the header or the first row, not counting comments and blank lines.
    pub skip: usize,
    /// What each column measures, as human-readable text.
    pub units: BTreeMap<String, String>,
    /// Whether blank lines of a file with one column are passed over, as those of wider files are. Otherwise they are missing cells.
    #[serde(skip)]
    pub skips_blank_cells: bool,
}

impl Default for CsvFormat {
    fn default() -> Self {
        Self {
            separator: Separator::Byte(b','),
            header: true,
            columns: Vec::new(),
            comment: None,
            skip: 0,
            units: BTreeMap::new(),
            skips_blank_cells: false,
        }
    }
}

/// The separator between cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub enum Separator {
    /// One character, such as `,`, `;` or a tab. A separator inside double quotes is part of the cell.
    Byte(u8),
    /// Any run of blanks and tabs; quotes have no meaning.
    Whitespace,
}

/// The text is no separator.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "separator {0:?} is not allowed: use {one}, or \"whitespace\"", one = Separator::ONE
)]
pub struct SeparatorError(String);

impl Separator {
    /// The characters that can separate cells, in words.
    pub const ONE: &str =
        "a comma, a semicolon, a tab, a space, or another ASCII character that never occurs in a number or word";

    /// Whether a character can separate cells. A separator must not occur inside a number or a word.
    pub fn is_allowed_char(found: char) -> bool {
        let parts = found.is_ascii_punctuation() && !"\".+-_".contains(found);
        // Hive parts columns by the first of the control characters.
        parts || found == ' ' || (found.is_ascii_control() && !"\n\r".contains(found))
    }
}

impl TryFrom<String> for Separator {
    type Error = SeparatorError;

    fn try_from(text: String) -> Result<Self, SeparatorError> {
        match text.as_bytes() {
            b"whitespace" => Ok(Self::Whitespace),
            [byte] if Self::is_allowed_char(char::from(*byte)) => Ok(Self::Byte(*byte)),
            _ => Err(SeparatorError(text)),
        }
    }
}

impl CsvFormat {
    /// The first name that stands twice among the columns.
    #[must_use]
    pub fn repeated_column(&self) -> Option<&str> {
        find_repeated_name(&self.columns)
    }

    /// The first unit whose column is not listed.
    #[must_use]
    pub fn unlisted_column_with_measurement_unit(&self) -> Option<&str> {
        self.units.keys().find(|name| !self.columns.contains(name)).map(String::as_str)
    }
}

/// The first name that an earlier one equals.
pub(super) fn find_repeated_name(names: &[String]) -> Option<&str> {
    let mut seen = BTreeSet::new();
    names.iter().find(|name| !seen.insert(*name)).map(String::as_str)
}

/// Kinds of files that are no text, by how they begin, with what to do.
const KINDS: [(&[u8], &str); 40] = [
    (b"PAR1", "Parquet; rename it to end in .parquet"),
    (b"PK\x03\x04", ZIP),
    (b"PK\x05\x06", ZIP),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old workbook (.xls); save its sheet as CSV"),
    (b"\x1f\x8b", "compressed with gzip; rename it to end in .gz"),
    (b"\x28\xb5\x2f\xfd", "compressed with Zstandard (.zst); decompress it, or use gzip (.csv.gz)"),
    (b"\xfd7zXZ\x00", "compressed with xz; decompress it, or use gzip (.csv.gz)"),
    (b"BZh", "compressed with bzip2; decompress it, or use gzip (.csv.gz)"),
    (b"\x04\x22\x4d\x18", "compressed with LZ4; decompress it, or use gzip (.csv.gz)"),
    (b"\xff\x06\x00\x00sNaPpY", "compressed with Snappy; decompress it, or use gzip (.csv.gz)"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it"),
    (b"Rar!\x1a\x07", "a RAR archive; unpack it"),
    (b"ARROW1", "an Arrow file (Feather); write it as Parquet or CSV"),
    (b"\xff\xff\xff\xff", "an Arrow stream; write it as Parquet or CSV"),
    (b"FEA1", "an Arrow file (Feather); write it as Parquet or CSV"),
    (b"ORC", "an ORC file; write it as Parquet or CSV"),
    (b"Obj\x01", "an Avro file; write it as Parquet or CSV"),
    (b"\x89HDF", "an HDF5 file; export its table as Parquet or CSV"),
    (b"SQLite format 3", "an SQLite database; export its table as CSV"),
    (b"\x93NUMPY", "a NumPy array; write it as CSV"),
    (b"\x80\x02", PICKLE),
    (b"\x80\x03", PICKLE),
    (b"\x80\x04", PICKLE),
    (b"\x80\x05", PICKLE),
    (b"RDX", "an R data file; export its table as CSV"),
    (b"<stata_dta>", "a Stata data file; export its table as CSV"),
    (b"$FL2", "an SPSS data file; export its table as CSV"),
    (b"{\"", JSON),
    (b"[{", JSON),
    (b"[[", JSON),
    (b"{\n", JSON),
    (b"[\n", JSON),
    (b"{ \"", JSON),
    (b"[ {", JSON),
    (b"<?xml", "XML; write its rows as CSV"),
    (b"sep=", "text that begins with a `sep=` line for Excel; remove that line and set the separator"),
    (b"%PDF-", "a PDF; use a CSV file"),
    (b"\xff\xfe", UTF16),
    (b"\xfe\xff", UTF16),
    (b"<!DOCTYPE", "a web page, not a file of rows; download the file itself"),
];

const ZIP: &str = "a zip archive or a workbook (.xlsx, .ods); unpack it, or save its sheet as CSV";
const PICKLE: &str = "a Python pickle; export its table as CSV or Parquet";
const JSON: &str = "JSON; write its rows as CSV or Parquet";
const UTF16: &str = "text in UTF-16; save it as UTF-8";

/// Kind of file by its first bytes, with advice; none if it may be text in UTF-8.
///
/// `BZh` and `ORC` may begin the name of a column: there bytes that no text has must follow.
pub(super) fn detect_non_text_format(bytes: &[u8]) -> Option<&'static str> {
    // Letters of UTF-16 without a mark at its beginning: every other byte is nought.
    if let Some(first) = bytes.first_chunk::<4>()
        && [[false, true, false, true], [true, false, true, false]].contains(&first.map(|byte| byte == 0))
    {
        return Some(UTF16);
    }
    let found = KINDS.iter().find(|(first, _)| bytes.starts_with(first));
    let known = found.filter(|(first, _)| match *first {
        b"BZh" => bytes.get(4..10).is_some_and(|block| block == b"1AY&SY" || block == b"\x17rE8P\x90"),
        b"ORC" => bytes.get(3).is_some_and(u8::is_ascii_control),
        _ => true,
    });
    known.map(|(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_their_first_bytes() {
        for (bytes, says) in [
            (&b"PK\x03\x04\x14\x00"[..], "workbook"),
            (b"PAR1\x15\x04", "Parquet"),
            (b"\x28\xb5\x2f\xfd\x04", "Zstandard"),
            (b"\x1f\x8b\x08", "gzip"),
            (b"BZh91AY&SY\x00", "bzip2"),
            (b"{\"age\":1}", "JSON"),
            (b"[{\"age\":1}]", "JSON"),
            (b"\x80\x04\x95", "pickle"),
            (b"\xff\xff\xff\xff\x78", "Arrow"),
            (b"sep=;", "Excel"),
            (b"\xff\xfea\x00,\x00", "UTF-16"),
            (b"a\x00,\x00b\x00", "UTF-16"),
            (b"\x00a\x00,\x00b", "UTF-16"),
        ] {
            assert!(detect_non_text_format(bytes).is_some_and(|kind| kind.contains(says)), "{says}");
        }
        for text in [
            "age,height",
            "",
            "BZh9,ORC",
            "ORCA,weight",
            "PK,value",
            "PARIS,1",
            "[age],[height]",
            "separate,x",
            "\u{feff}x,y",
            "PAR",
        ] {
            assert_eq!(detect_non_text_format(text.as_bytes()), None, "{text:?}");
        }
    }
}
