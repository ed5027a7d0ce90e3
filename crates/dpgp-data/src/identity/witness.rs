//! Digests of rows while they are read, and a sample of digests that finds shared rows.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::column::{CellHashKey, ColumnAccumulator};
use super::{ColumnSubsetRowSketch, HmacKey, RowDigestSum, RowSetDigest, RowsFingerprint, ValueCountSample};

/// The most distinct cells of a column that are remembered, and of all columns together; but a few of each.
const CELLS: usize = 256;
const ALL_CELLS: usize = 1 << 15;

/// The most distinct rows of a file that are remembered, and of all files together; but a few of each.
const ROWS: usize = 512;
const ALL_ROWS: usize = 1 << 14;

/// The fewest of each.
const FEW: usize = 32;

/// A cell without text.
const MISSING: u8 = 0;

/// A number that 32 bits hold.
const NUMBER: u8 = 1;

/// A number beyond them.
const WIDE: u8 = 2;

/// Text.
const TEXT: u8 = 3;

/// Stand-in for a number in a cell that holds none.
const NOT_FINITE: u8 = 4;

/// A line of text.
const LINE: u8 = 5;

/// Sees the cells of every row once, in any order of the columns.
///
/// Numbers count by their value to 24 bits: `1`, `1.0` and `1e0` are one, and so are a number in `FLOAT` and the same in
/// `DOUBLE` or in text. Cells that are of equal form are told apart by nothing else, so that rows whose cells are the same in
/// another order, or under other names of columns, are the same.
#[derive(Debug)]
pub struct RowFingerprinter {
    key: HmacKey,
    name: String,
    columns: Vec<String>,
    /// The columns that a spec reads; none for all.
    read: Vec<String>,
    /// Whether they are all columns of the first file.
    reads_first_file_whole: bool,
    parts: Vec<RowSetDigest>,
    samples: Vec<ValueCountSample>,
    /// Samples by the cells that the spec reads.
    read_samples: Vec<ValueCountSample>,
    /// How many distinct rows of each file are remembered.
    most_rows: usize,
    all: RowSketch,
    some: RowSketch,
    /// Rows without the cells that the path of their file names, and their columns.
    own: RowSketch,
    own_columns: Vec<String>,
    cell_key: CellHashKey,
    seen: Vec<ColumnAccumulator>,
    lines: Option<ColumnAccumulator>,
    /// The letters and digits of the line of the row, if it stands in a text; otherwise it is empty.
    line: Vec<u8>,
    /// The columns of the cells of a row, in their order.
    order: Vec<usize>,
    /// The cells of the row, one after the other, and where each of them stands.
    bytes: Vec<u8>,
    cells: Vec<CellSpan>,
    /// The first of them, which all rows of a file share.
    shared: Vec<CellSpan>,
}

/// Where a cell stands among the bytes of its row.
#[derive(Debug, Clone, Copy)]
struct CellSpan {
    from: usize,
    to: usize,
    /// Whether the spec reads its column.
    read: bool,
    /// Whether the path of the file names it, so that all rows of the file have it.
    of_path: bool,
    /// The digest of the cell alone.
    digest: u128,
}

impl RowFingerprinter {
    /// For files with these columns; a spec reads some of them. `key` is that of the holder.
    pub fn new(key: &HmacKey, columns: &[String], read: &[&str]) -> Self {
        let (columns, read) = (sorted_unique_names(columns), sorted_unique_names(read));
        Self {
            reads_first_file_whole: read.is_empty() || read == columns,
            key: key.for_purpose("dpgp rows"),
            name: key.name(),
            columns,
            read,
            parts: Vec::new(),
            samples: Vec::new(),
            read_samples: Vec::new(),
            most_rows: ROWS,
            all: RowSketch::default(),
            some: RowSketch::default(),
            own: RowSketch::default(),
            own_columns: Vec::new(),
            cell_key: CellHashKey::new(key),
            seen: Vec::new(),
            lines: None,
            line: Vec::new(),
            order: Vec::new(),
            bytes: Vec::new(),
            cells: Vec::new(),
            shared: Vec::new(),
        }
    }

    /// The same under a key that was made from this one for another purpose.
    #[must_use]
    pub fn with_key_name(self, key: &HmacKey) -> Self {
        Self { name: key.name(), ..self }
    }

    /// Whether the spec reads a column.
    pub fn is_spec_column(&self, column: &str) -> bool {
        self.read.is_empty() || self.read.iter().any(|read| read == column)
    }

    /// The same for so many files, of each of which fewer rows are remembered if they are many.
    #[must_use]
    pub fn with_row_limit_for_files(self, files: usize) -> Self {
        Self { most_rows: (ALL_ROWS / files.max(1)).clamp(FEW, ROWS), ..self }
    }

    /// The rows that follow are of this file, with these columns in the order in which cells are shown; files before it may have
    /// been passed over.
    pub fn begin_file(&mut self, number: usize, columns: &[String]) {
        self.make_room_for_files(self.parts.len().max(number + 1));
        let most = (ALL_CELLS / columns.len().max(1)).clamp(FEW, CELLS);
        self.order.clear();
        for name in columns {
            let known = self.seen.iter().position(|column| column.name == *name);
            self.order.push(known.unwrap_or(self.seen.len()));
            if known.is_none() {
                self.seen.push(ColumnAccumulator::new(name, most));
            }
        }
        self.shared.clear();
        self.begin_row();
    }

    /// The cells that were seen since the last row stand in every row that follows, up to the next file.
    ///
    /// ```
    /// use dpgp_data::{HmacKey, RowFingerprinter};
    /// let key = HmacKey::new(b"k");
    /// let (mut path, mut file) = (RowFingerprinter::new(&key, &[], &[]), RowFingerprinter::new(&key, &[], &[]));
    /// path.begin_file(0, &["month".to_owned(), "who".to_owned()]);
    /// path.add_text(b"06", false);
    /// path.repeat_cells_in_file();
    /// file.begin_file(0, &["who".to_owned(), "month".to_owned()]);
    /// for row in ["a", "b"] {
    ///     path.add_text(row.as_bytes(), false);
    ///     path.end_row();
    ///     file.add_text(row.as_bytes(), false);
    ///     file.add_number(6.0, false);
    ///     file.end_row();
    /// }
    /// let (path, file) = (path.into_fingerprint(1), file.into_fingerprint(1));
    /// assert_eq!((path.all_rows_digest(), path.column_by_name("month")), (file.all_rows_digest(), file.column_by_name("month")));
    /// ```
    pub fn repeat_cells_in_file(&mut self) {
        self.cells.iter_mut().for_each(|cell| cell.of_path = true);
        self.shared.clone_from(&self.cells);
    }

    /// The cell that was seen last is one that the path of its file names.
    pub fn mark_last_cell_from_path(&mut self) {
        self.cells.last_mut().into_iter().for_each(|cell| cell.of_path = true);
    }

    /// Some cells of the row as they stand in its line, in their order. Of a line its letters and digits count, which no separator is
    /// ([`Separator`](crate::Separator)), so that it is the same however it is cut.
    pub fn add_line_text(&mut self, cells: &[u8]) {
        if self.line.is_empty() {
            self.line.push(LINE);
        }
        let mut end = self.line.len();
        self.line.resize(end + cells.len(), 0);
        // Every byte is written, and the next one over it if it does not count: no branch depends on what stands in a cell.
        for byte in cells {
            self.line[end] = *byte;
            end += usize::from(byte.is_ascii_alphanumeric() || !byte.is_ascii());
        }
        self.line.truncate(end);
    }

    /// The next cell holds a number.
    pub fn add_number(&mut self, value: f64, read: bool) {
        let narrow = value as f32;
        self.pass_number_to_column(value.is_finite().then_some(value));
        // Nought without its sign.
        let bits = if narrow == 0.0 { 0 } else { narrow.to_bits() };
        match (value.is_finite(), narrow.is_finite()) {
            (true, true) => self.add_cell(NUMBER, &bits.to_be_bytes(), read),
            (true, false) => self.add_cell(WIDE, &value.to_bits().to_be_bytes(), read),
            (false, _) => self.add_cell(NOT_FINITE, &[u8::from(value > 0.0), u8::from(value < 0.0)], read),
        }
    }

    /// The next cell holds text, which may say a number; blanks around it do not count.
    pub fn add_text(&mut self, bytes: &[u8], read: bool) {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return self.add_plain_text(bytes.trim_ascii(), read);
        };
        let text = text.trim();
        match text.parse::<f64>() {
            Ok(value) => self.add_number(value, read),
            Err(_) => self.add_plain_text(text.as_bytes(), read),
        }
    }

    /// The next cell is missing.
    pub fn add_missing_cell(&mut self, read: bool) {
        self.add_cell(MISSING, &[], read);
    }

    /// All cells of the row have been seen.
    pub fn end_row(&mut self) {
        for (cell, column) in self.cells.iter().zip(&self.order) {
            self.seen[*column].insert(cell.digest);
        }
        if self.own_columns.is_empty() && self.cells.iter().any(|cell| cell.of_path) {
            let own = self.cells.iter().zip(&self.order).filter(|(cell, _)| !cell.of_path);
            self.own_columns =
                sorted_unique_names(&own.map(|(_, column)| &self.seen[*column].name).collect::<Vec<_>>());
        }
        if !self.line.is_empty() {
            let digest = self.cell_key.digest(&self.line);
            self.lines.get_or_insert_with(|| ColumnAccumulator::with_text_cells("", CELLS)).insert(digest);
            self.line.clear();
        }
        let (bytes, cells) = (&self.bytes, &mut self.cells);
        cells.sort_unstable_by(|one, other| bytes[one.from..one.to].cmp(&bytes[other.from..other.to]));
        let whole = self.digest_cells(|_| true);
        self.all.insert(whole.high_bits());
        // Without a spec, no cell is marked as read, and all of them count.
        let reads_all = self.cells.iter().all(|cell| cell.read) || !self.cells.iter().any(|cell| cell.read);
        let read = if reads_all { whole } else { self.digest_cells(|cell| cell.read) };
        if !self.reads_first_file_whole {
            self.some.insert(read.high_bits());
        }
        if self.cells.iter().any(|cell| cell.of_path) {
            self.own.insert(self.digest_cells(|cell| !cell.of_path).high_bits());
        }
        if let Some(sample) = self.read_samples.last_mut() {
            let others = self.cells.iter().filter(|cell| !reads_all && !cell.read);
            sample.insert_with_sum(read.high_bits(), || {
                others.fold(0, |sum: u64, cell| sum.wrapping_add(cell.digest as u64))
            });
        }
        if let (Some(part), Some(sample)) = (self.parts.last_mut(), self.samples.last_mut()) {
            part.add(&RowSetDigest { rows: 1, total: whole });
            sample.insert(whole.high_bits());
        }
        self.begin_row();
    }

    /// The digest of the cells of the row that pass `some`. The cells must be sorted.
    fn digest_cells(&self, some: impl Fn(&CellSpan) -> bool) -> RowDigestSum {
        let cells = self.cells.iter().filter(|cell| some(cell));
        RowDigestSum::from_digest(&self.key.tag_pieces(cells.map(|cell| &self.bytes[cell.from..cell.to])))
    }

    /// Begins a row, with the cells that it shares with others.
    fn begin_row(&mut self) {
        self.bytes.truncate(self.shared.iter().map(|cell| cell.to).max().unwrap_or_default());
        self.cells.clone_from(&self.shared);
    }

    /// The fingerprint of all rows seen, for this number of files.
    pub fn into_fingerprint(mut self, files: usize) -> RowsFingerprint {
        self.make_room_for_files(files);
        let mut sketches = vec![ColumnSubsetRowSketch { columns: self.columns, sketch: self.all }];
        if !self.reads_first_file_whole {
            sketches.push(ColumnSubsetRowSketch { columns: self.read, sketch: self.some });
        }
        if self.own != RowSketch::default() {
            sketches.push(ColumnSubsetRowSketch { columns: self.own_columns, sketch: self.own });
        }
        let mut columns: Vec<_> = self.seen.into_iter().map(ColumnAccumulator::into_fingerprint).collect();
        columns.sort_by(|one, other| one.name.cmp(&other.name));
        let lines = self.lines.map(ColumnAccumulator::into_fingerprint);
        let Self { name: key, parts, samples, read_samples, .. } = self;
        RowsFingerprint { key, parts, sketches, columns, lines, samples, read_samples }
    }

    fn make_room_for_files(&mut self, files: usize) {
        self.parts.resize(files, RowSetDigest::default());
        for samples in [&mut self.samples, &mut self.read_samples] {
            samples.resize(files, ValueCountSample::new(self.most_rows));
        }
    }

    fn add_plain_text(&mut self, text: &[u8], read: bool) {
        if text.is_empty() {
            return self.add_missing_cell(read);
        }
        let length = (text.len() as u64).to_be_bytes();
        let from = self.bytes.len();
        self.bytes.push(TEXT);
        self.bytes.extend_from_slice(&length);
        self.bytes.extend_from_slice(text);
        self.pass_number_to_column(None);
        self.push_cell_span(from, read);
    }

    fn add_cell(&mut self, kind: u8, value: &[u8], read: bool) {
        let from = self.bytes.len();
        self.bytes.push(kind);
        self.bytes.extend_from_slice(value);
        self.push_cell_span(from, read);
    }

    fn push_cell_span(&mut self, from: usize, read: bool) {
        let to = self.bytes.len();
        let digest = self.cell_key.digest(&self.bytes[from..to]);
        self.cells.push(CellSpan { from, to, read, of_path: false, digest });
    }

    /// Tells the column of the next cell of its number.
    fn pass_number_to_column(&mut self, number: Option<f64>) {
        if let Some(column) = self.order.get(self.cells.len()) {
            self.seen[*column].observe_number(number);
        }
    }
}

/// The names, each once.
fn sorted_unique_names(names: &[impl AsRef<str>]) -> Vec<String> {
    let mut sorted: Vec<String> = names.iter().map(|name| name.as_ref().to_owned()).collect();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
}

/// The most digests that are kept.
const MOST: usize = 512;

/// Hexadecimal digits of a digest.
const DIGITS: usize = 16;

/// The least digests of distinct rows, 64 bits each.
///
/// Obligation: rows with equal digests are equal (but once in 2^64), so that two sketches with a digest in common are of
/// files with a row in common. Of two files without more than 512 distinct rows each, every common row is found. Of larger
/// ones a share `f` of common rows is found with probability `1 - (1 - f)^MOST` at least, where `f` is taken of the distinct
/// rows of both together: the least digests of both together are a sample of them (Bar-Yossef et al. 2002), and each that is
/// common stands in both sketches.
///
/// ```
/// use dpgp_data::RowSketch;
/// let (mut one, mut other) = (RowSketch::default(), RowSketch::default());
/// (0..100_000).for_each(|row: u64| one.insert(row.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
/// (99_000..199_000).for_each(|row: u64| other.insert(row.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
/// assert!(one.shares_rows(&other)); // a thousand of them
/// assert!(!one.shares_rows(&RowSketch::default()));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RowSketch {
    least: BTreeSet<u64>,
}

impl RowSketch {
    /// Takes the digest of a row.
    pub fn insert(&mut self, digest: u64) {
        if self.least.len() < MOST {
            self.least.insert(digest);
            return;
        }
        let kept = self.least.last().is_some_and(|greatest| digest < *greatest);
        if kept && self.least.insert(digest) {
            self.least.pop_last();
        }
    }

    /// Takes those of more rows.
    pub fn merge(&mut self, other: &Self) {
        other.least.iter().for_each(|digest| self.insert(*digest));
    }

    /// Whether some row is known to stand in both.
    pub fn shares_rows(&self, other: &Self) -> bool {
        self.least.intersection(&other.least).next().is_some()
    }
}

impl TryFrom<String> for RowSketch {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let mut sketch = Self::default();
        if !text.is_ascii() || !text.len().is_multiple_of(DIGITS) {
            return Err("a row sketch must have 16 hexadecimal digits per row");
        }
        for at in (0..text.len()).step_by(DIGITS) {
            let digest = u64::from_str_radix(&text[at..at + DIGITS], 16);
            sketch.insert(digest.map_err(|_| "a row sketch must contain only hexadecimal digits")?);
        }
        Ok(sketch)
    }
}

impl From<RowSketch> for String {
    fn from(sketch: RowSketch) -> Self {
        sketch.least.iter().map(|digest| format!("{digest:016x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    /// The digests of rows of text.
    fn seen(rows: &[&[&str]]) -> RowsFingerprint {
        let mut witness = RowFingerprinter::new(&HmacKey::new(b"k"), &[] as &[String], &[]);
        witness.begin_file(0, &[]);
        for row in rows {
            row.iter().for_each(|cell| witness.add_text(cell.as_bytes(), false));
            witness.end_row();
        }
        witness.into_fingerprint(1)
    }

    #[test]
    fn cells_count_by_their_value() {
        for (one, other, same) in [
            ("1", "1.0", true),
            ("1", " 1e0 ", true),
            ("+1.50", "1.5", true),
            ("-0.0", "0", true),
            ("0.1", "0.100000001490116", true), // as FLOAT and written out
            ("0.1", "0.1001", false),
            ("nan", "NaN", true),
            ("inf", "-inf", false),
            ("inf", "1e39", false),
            ("1e39", "1e40", false),
            ("", "  ", true),
            ("", "0", false),
            ("a", " a ", true),
            ("a", "A", false),
            ("ab", "a", false),
        ] {
            assert_eq!(seen(&[&[one]]) == seen(&[&[other]]), same, "{one:?} {other:?}");
        }
    }

    /// Cells do not run into each other, and a row is not another with the same cells elsewhere.
    #[test]
    fn rows_are_told_apart() {
        let rows: [&[&[&str]]; 7] = [
            &[&["a", "b"]],
            &[&["ab", ""]],
            &[&["ab"]],
            &[&["a"], &["b"]],
            &[&["a", "b"], &["a", "b"]],
            &[&["a", "b", "b"]],
            &[&["1", "2"], &["3", "4"]],
        ];
        for (place, one) in rows.iter().enumerate() {
            let others = rows[..place].iter();
            assert!(
                others.map(|other| seen(other).all_rows_digest()).all(|other| other != seen(one).all_rows_digest()),
                "{one:?}"
            );
        }
        assert_eq!(seen(&[&["a", "b"], &["c", "1"]]), seen(&[&["1.0", "c"], &["b", "a"]]));
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let rows: Vec<String> = (0..1000).map(|row| format!("{}", row * row % 317)).collect();
        let cells: Vec<[&str; 1]> = rows.iter().map(|row| [row.as_str()]).collect();
        let cells: Vec<&[&str]> = cells.iter().map(|row| row.as_slice()).collect();
        let whole = seen(&cells);
        for cut in [0, 1, 500, 999, 1000] {
            let mut sum = seen(&cells[..cut]);
            sum.add_rows(&seen(&cells[cut..]));
            assert_eq!(sum, whole, "cut at {cut}");
            assert_eq!(whole.overlaps(&seen(&cells[cut..])), cut < 1000);
        }
        assert_eq!(whole.all_rows_digest().rows, 1000);
        assert!(!whole.overlaps(&seen(&[&["0.5"]])));
    }

    /// A file of a single row among many rows is known, also where no sample of all rows holds it.
    #[test]
    fn a_file_of_many_is_known() {
        let key = HmacKey::new(b"k");
        let mut witness = RowFingerprinter::new(&key, &[] as &[String], &[]);
        let files: Vec<Vec<String>> = (0..30)
            .map(|file| (0..if file == 0 { 3000 } else { 1 }).map(|row| format!("{file}.{row}")).collect())
            .collect();
        for (number, rows) in files.iter().enumerate() {
            witness.begin_file(number, &[]);
            for row in rows {
                witness.add_text(row.as_bytes(), false);
                witness.end_row();
            }
        }
        let all = witness.into_fingerprint(files.len()).to_ledger_form();
        let single = |row: &str| seen(&[&[row]]);
        assert!(files[1..].iter().all(|rows| all.overlaps(&single(&rows[0]))));
        assert!(!all.overlaps(&single("77.0")));
    }

    /// Files of 200 hours, each with its value, and whether they are known as copies of each other.
    fn files(read: &[&str], cells: &[fn(u32) -> [u32; 3]]) -> RowsFingerprint {
        let names = ["hour", "value", "export"].map(str::to_owned);
        let mut witness =
            RowFingerprinter::new(&HmacKey::new(b"k"), &names, read).with_row_limit_for_files(cells.len());
        for (file, cells) in cells.iter().enumerate() {
            witness.begin_file(file, &names);
            for hour in 0..200 {
                for (name, number) in names.iter().zip(cells(hour)) {
                    let read = witness.is_spec_column(name);
                    witness.add_number(f64::from(number), read);
                }
                witness.end_row();
            }
        }
        witness.into_fingerprint(cells.len())
    }

    const EXPORT: fn(u32) -> [u32; 3] = |hour| [hour, hour * hour, 1];
    const EXPORTED_AGAIN: fn(u32) -> [u32; 3] = |hour| [hour, hour * hour, 2];
    const NEXT_YEAR: fn(u32) -> [u32; 3] = |hour| [hour, hour * hour + 100_003 + 7 * (hour % 11), 2];

    /// A copy may differ in a column of which each file has one cell. Rows that agree in what is read alone are no copies: the hours of two
    /// years.
    #[test]
    fn copies_may_differ_in_constant_columns() {
        for (read, second, found) in [
            (&["hour", "value"][..], EXPORTED_AGAIN, Some((0, 1))),
            (&["hour"], EXPORTED_AGAIN, Some((0, 1))),
            (&["hour"], NEXT_YEAR, None),
            (&["hour", "value"], NEXT_YEAR, None),
            // To a spec that reads it, the rows are others.
            (&["hour", "value", "export"], EXPORTED_AGAIN, None),
        ] {
            let both = files(read, &[EXPORT, second]);
            assert_eq!(both.find_repeated_files(), found, "{read:?}");
            assert_eq!(both.clone().compared_by_whole_rows().find_repeated_files(), None);
            // As of two calls, by way of their texts.
            let text = |file| serde_json::to_string(&files(read, &[file])).unwrap();
            let [mut one, other] =
                [EXPORT, second].map(|file| serde_json::from_str::<RowsFingerprint>(&text(file)).unwrap());
            one.add_files(&other);
            assert_eq!(one.find_repeated_files(), found, "{read:?}, two calls");
        }
    }

    /// A later export has a few rows more, of ages that others have, too.
    #[test]
    fn a_copy_with_new_rows_is_known() {
        let names = ["age", "value", "export"].map(str::to_owned);
        let repeated = |rows: [Range<u32>; 2], read: &[&str]| {
            let mut witness = RowFingerprinter::new(&HmacKey::new(b"k"), &names, read);
            for (file, rows) in rows.into_iter().enumerate() {
                witness.begin_file(file, &names);
                for row in rows {
                    for (name, number) in names.iter().zip([row * 7 % 61, row * row, file as u32]) {
                        let read = witness.is_spec_column(name);
                        witness.add_number(f64::from(number), read);
                    }
                    witness.end_row();
                }
            }
            witness.into_fingerprint(2).find_repeated_files()
        };
        assert_eq!(repeated([0..2000, 0..2005], &["age"]), Some((0, 1)));
        assert_eq!(repeated([0..2000, 0..2020], &["age"]), Some((0, 1)));
        assert_eq!(repeated([0..2000, 2000..4000], &["age"]), None);
    }

    /// Values that stand two or four times in each file: no sum for one of them follows, but their multiples do.
    #[test]
    fn copies_of_even_counts_are_known() {
        let first: fn(u32) -> [u32; 3] = |hour| [hour % 50, (hour % 50).pow(2), 1];
        let second: fn(u32) -> [u32; 3] = |hour| [hour % 50, (hour % 50).pow(2), 2];
        let uneven: fn(u32) -> [u32; 3] = |hour| [hour % 50 % 33, (hour % 50 % 33).pow(2), 2];
        assert_eq!(files(&["hour"], &[first, second]).find_repeated_files(), Some((0, 1)));
        assert_eq!(files(&["hour"], &[first, uneven]).find_repeated_files(), None);
    }

    /// Every hour stands equally often in each month, whatever was measured in it.
    #[test]
    fn a_design_that_is_laid_out_is_no_copy() {
        let january: fn(u32) -> [u32; 3] = |hour| [hour % 24, hour * hour, 1];
        let march: fn(u32) -> [u32; 3] = |hour| [hour % 24, hour * hour + 50_021 + 3 * (hour % 7), 3];
        assert_eq!(files(&["hour"], &[january, march]).find_repeated_files(), None);
        assert_eq!(files(&["hour"], &[january, january]).find_repeated_files(), Some((0, 1)));
    }

    /// Whichever file has the further column is first.
    #[test]
    fn a_copy_with_a_further_column_is_known() {
        let (short, long) = (["x", "y"].map(str::to_owned), ["export", "x", "y"].map(str::to_owned));
        for (first, second) in [(&short[..], &long[..]), (&long[..], &short[..])] {
            let mut witness = RowFingerprinter::new(&HmacKey::new(b"k"), first, &["x", "y"]);
            for (file, names) in [first, second].iter().enumerate() {
                witness.begin_file(file, names);
                for row in 0..50 {
                    for name in *names {
                        let number = if name == "export" { 3 } else { row * (row + name.len() as u32) };
                        let read = witness.is_spec_column(name);
                        witness.add_number(f64::from(number), read);
                    }
                    witness.end_row();
                }
            }
            assert_eq!(witness.into_fingerprint(2).find_repeated_files(), Some((0, 1)));
        }
    }

    /// Lines are the same however they are cut; their cells are not.
    #[test]
    fn lines_are_known_however_they_are_cut() {
        let key = HmacKey::new(b"k");
        let cut = |rows: Range<u32>, separator: char| {
            let mut witness = RowFingerprinter::new(&key, &[] as &[String], &[]);
            witness.begin_file(0, &[]);
            for row in rows {
                let line = format!("{}.5;{},{}", row * row, row, row + 7);
                line.split(separator).for_each(|cell| witness.add_text(cell.as_bytes(), false));
                witness.add_line_text(line.as_bytes());
                witness.end_row();
            }
            witness.into_fingerprint(1)
        };
        let (one, other) = (cut(0..50, ';'), cut(0..50, ','));
        assert!(one.overlaps(&other) && one.is_split_differently(&other));
        assert!(one.is_split_differently(&cut(5..60, ',')) && !one.is_split_differently(&cut(5..60, ';')));
        assert!(!one.overlaps(&cut(60..110, ',')) && !one.is_split_differently(&cut(60..110, ';')));
        let mut parts = cut(0..20, ';');
        parts.add_rows(&cut(20..50, ';'));
        assert_eq!(parts, one);
    }

    /// Another key gives other digests; the name of a key distinguishes them.
    #[test]
    fn digests_need_the_key() {
        let mut witness = RowFingerprinter::new(&HmacKey::new(b"other"), &[] as &[String], &[]);
        witness.begin_file(0, &[]);
        witness.add_text(b"a", false);
        witness.end_row();
        let (one, other) = (seen(&[&["a"]]), witness.into_fingerprint(1));
        assert!(
            one.all_rows_digest().total != other.all_rows_digest().total
                && one.key != other.key
                && !one.overlaps(&other)
        );
    }
}
