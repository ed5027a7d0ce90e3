//! Reads the user's own tables: Parquet by file name, else CSV with a detected separator.

use std::collections::BTreeSet;
use std::io::{BufRead, Read};
use std::path::Path;

use polars::prelude::DataType;

use super::error::DataError;
use super::format::{CsvFormat, find_repeated_name};
use super::missing::is_missing_word;
use super::no_number::NumberError;
use super::parquet::ParquetFile;
use super::parquet_schema::ParquetField;
use super::rows::DecompressingReader;
use super::table::Table;
use super::table_error::TableError;
use super::text::{CsvLayout, CsvRowReader, LONGEST, text_read_error};

/// Whether a file is Parquet, by the end of its name.
pub fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet"))
}

/// Reads the columns named from a Parquet file, or all columns of a CSV file with a header whose separator is guessed.
///
/// # Errors
/// As [`Table::read`] and [`Table::read_parquet`].
pub fn read_user_table(path: &Path, columns: &[&str]) -> Result<Table, DataError> {
    read_table(path, columns, false)
}

/// The same for public points: blank lines are passed over also in a file of one column, because editors end a file with them.
///
/// # Errors
/// As [`read_user_table`].
pub fn read_points_table(path: &Path, columns: &[&str]) -> Result<Table, DataError> {
    read_table(path, columns, true)
}

fn read_table(path: &Path, columns: &[&str], skips_blank_cells: bool) -> Result<Table, DataError> {
    if is_parquet(path) {
        return Table::read_parquet(path, columns);
    }
    let format = detect_csv_layout(path, &ColumnNameSource::Header)?.to_csv_format();
    Table::read(path, &CsvFormat { skips_blank_cells, ..format })
}

/// Where the names of the columns of a CSV file come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnNameSource {
    /// Its first line has them.
    Header,
    /// It has none; these names are used.
    Listed(Vec<String>),
    /// It has none; they are called `column1`, `column2` and so on.
    Numbered,
}

/// The layout of a CSV file. The separator is detected from its first rows; nothing else of them is shown.
///
/// # Errors
/// [`DataError::Io`]; [`DataError::Table`] for a file that is damaged, or empty where columns are to be counted.
pub fn detect_csv_layout(path: &Path, names: &ColumnNameSource) -> Result<CsvLayout, DataError> {
    build_csv_layout(path, names, guess_separator(path)?)
}

/// The same with a separator that the user names.
///
/// # Errors
/// As [`detect_csv_layout`].
pub fn build_csv_layout(path: &Path, names: &ColumnNameSource, separator: u8) -> Result<CsvLayout, DataError> {
    let columns = match names {
        ColumnNameSource::Header => None,
        ColumnNameSource::Listed(names) => Some(names.clone()),
        ColumnNameSource::Numbered => Some(numbered_column_names(path, separator)?),
    };
    Ok(CsvLayout { separator, columns })
}

/// A name for each cell of the first row.
fn numbered_column_names(path: &Path, separator: u8) -> Result<Vec<String>, DataError> {
    let headed = CsvLayout { separator, columns: None };
    let cells = CsvRowReader::open(path, &headed.to_csv_format())?.cells_per_row();
    Ok((1..=cells).map(|number| format!("column{number}")).collect())
}

/// A column of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDescription {
    /// Its name.
    pub name: String,
    /// Its content.
    pub kind: ColumnKind,
    /// Its first cell that is there and no number, of a CSV file: the line, and what it looks like.
    pub no_number: Option<(usize, NumberError)>,
}

/// Content of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers.
    Numbers,
    /// Numbers of the rows themselves, which pandas or R wrote beside them.
    Index,
    /// Numbers in more than half of the cells that are not missing, and something else in the others: mistakes, as a rule.
    MostlyNumbers,
    /// Text.
    Text,
    /// Nothing.
    Nothing,
    /// Dates, times or spans of time.
    Times,
    /// Content that no table can hold.
    Other,
}

/// Public description of a file: no cell, no range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDescription {
    /// Its columns.
    pub columns: Vec<ColumnDescription>,
    /// How many rows it has.
    pub rows: usize,
    /// The line of the first row, if it has no number where rows below have some: a second header.
    pub words_first: Option<usize>,
}

/// The columns of a file with a header.
///
/// # Errors
/// As [`read_user_table`].
pub fn describe_columns(path: &Path) -> Result<Vec<ColumnDescription>, DataError> {
    let layout =
        if is_parquet(path) { CsvLayout::default() } else { detect_csv_layout(path, &ColumnNameSource::Header)? };
    Ok(describe_table(path, &layout)?.columns)
}

/// The columns and the number of rows of a Parquet file, or of a CSV file in this layout. A column of a CSV file holds numbers if
/// all its cells are numbers or missing, some number among them. One without a name that holds nothing is passed over.
///
/// # Errors
/// As [`read_user_table`].
pub fn describe_table(path: &Path, layout: &CsvLayout) -> Result<TableDescription, DataError> {
    if is_parquet(path) {
        let file = ParquetFile::open(path)?;
        let index = file.index_columns();
        let columns = file.fields().into_iter().map(|field| describe_parquet_column(field, &index)).collect();
        return Ok(TableDescription { columns, rows: file.rows(), words_first: None });
    }
    let mut reader = CsvRowReader::open(path, &layout.to_csv_format())?;
    if let Some(column) = find_repeated_name(reader.column_names()) {
        return Err(reader.wrap_table_error(TableError::RepeatedColumn(column.to_owned())));
    }
    let mut seen = vec![CellTypeObserver::default(); reader.column_names().len()];
    let (mut rows, mut first, mut words_first) = (0, 0, false);
    while reader.advance_row()? {
        for (place, seen) in seen.iter_mut().enumerate() {
            seen.observe_cell(reader.cell_text(place)?, reader.line_number());
        }
        if rows == 0 {
            first = reader.line_number();
            words_first = seen.iter().all(|seen| seen.numbers == 0);
        }
        rows += 1;
    }
    let above = seen.iter().any(|seen| seen.numbers > 0 && seen.no_number.is_some_and(|(line, _)| line == first));
    let names = reader.column_names().iter().cloned().zip(seen);
    let columns = names.map(|(name, seen)| seen.into_column_description(name));
    let columns = columns.filter(|column| !column.name.is_empty() || column.kind != ColumnKind::Nothing);
    Ok(TableDescription { columns: columns.collect(), rows, words_first: (words_first && above).then_some(first) })
}

/// Observations of a column.
#[derive(Debug, Clone, Default)]
struct CellTypeObserver {
    /// How many cells are numbers.
    numbers: usize,
    /// How many are there and no numbers, and the first of them.
    others: usize,
    no_number: Option<(usize, NumberError)>,
}

impl CellTypeObserver {
    fn observe_cell(&mut self, cell: &str, line: usize) {
        match NumberError::from_cell(cell) {
            Some(what) => {
                self.others += 1;
                self.no_number = self.no_number.or(Some((line, what)));
            }
            None => self.numbers += usize::from(!(cell.trim().is_empty() || is_missing_word(cell))),
        }
    }

    fn into_column_description(self, name: String) -> ColumnDescription {
        let kind = match (self.others, self.numbers) {
            (0, 0) => ColumnKind::Nothing,
            (0, _) if is_index_name(&name) => ColumnKind::Index,
            (0, _) => ColumnKind::Numbers,
            (others, numbers) if numbers > others => ColumnKind::MostlyNumbers,
            (_, 0) if self.no_number.is_some_and(|(_, what)| what == NumberError::Time) => ColumnKind::Times,
            _ => ColumnKind::Text,
        };
        ColumnDescription { name, kind, no_number: self.no_number }
    }
}

/// Whether a column of numbers is one of rows by its name: R and pandas write them without one, and readers give a name to what has none.
fn is_index_name(name: &str) -> bool {
    let number =
        ["Unnamed: ", "level_", "...", "X.", "__index_level_"].iter().find_map(|before| name.strip_prefix(before));
    // A second time, pandas calls `Unnamed: 0` so with `.1` behind it.
    let number = number.map(|number| number.trim_end_matches("__"));
    let number = number.map(|number| number.split_once('.').map_or(number, |(first, _)| first));
    ["", "index", "rownames", "row.names", "rowname", "rn"].contains(&name)
        || number.is_some_and(|number| number.parse::<u32>().is_ok())
}

fn describe_parquet_column(field: ParquetField, index: &BTreeSet<String>) -> ColumnDescription {
    let kind = match &field.holds {
        None if field.is_temporal() => ColumnKind::Times,
        None => ColumnKind::Other,
        Some(DataType::String) => ColumnKind::Text,
        Some(_) if index.contains(&field.name) || is_index_name(&field.name) => ColumnKind::Index,
        Some(_) => ColumnKind::Numbers,
    };
    ColumnDescription { name: field.name, kind, no_number: None }
}

/// The separators that are known without being named, in the order in which they are taken where several fit: a comma may stand before decimals,
/// and a semicolon in a text.
const KNOWN: [u8; 3] = [b'\t', b';', b','];

/// The rows that are looked at, and the bytes that are enough of them.
const ROWS: usize = 100;
const BYTES: usize = 1 << 18;

/// The separator that parts all of the first rows into equally many cells, two at the least; if none does, the one that does so with the most
/// rows, then the one that the first row holds most often. What stands in quotes does not count.
fn guess_separator(path: &Path) -> Result<u8, DataError> {
    Ok(choose_separator(&count_separators(&first_rows(path)?)))
}

/// How often each known separator stands in a row.
type SeparatorCounts = [usize; KNOWN.len()];

/// The first rows of a file as bytes; of a long row as much as a reader takes.
fn first_rows(path: &Path) -> Result<Vec<u8>, DataError> {
    let (mut from, mut bytes) = (DecompressingReader::open(path)?, Vec::new());
    for row in 0.. {
        // The header and one row at least.
        if row >= ROWS || row >= 2 && bytes.len() >= BYTES {
            break;
        }
        let read = from.by_ref().take(LONGEST).read_until(b'\n', &mut bytes);
        if read.map_err(|cause| text_read_error(path, cause))? == 0 {
            break;
        }
    }
    Ok(bytes)
}

/// The counts of each row that is not blank; a quoted cell may hold ends of lines.
fn count_separators(bytes: &[u8]) -> Vec<SeparatorCounts> {
    let (mut rows, mut row, mut blank, mut quoted) = (Vec::new(), SeparatorCounts::default(), true, false);
    for byte in bytes {
        match (byte, KNOWN.iter().position(|known| known == byte)) {
            (b'"', _) => (quoted, blank) = (!quoted, false),
            _ if quoted => {}
            (b'\n', _) => {
                rows.extend((!blank).then_some(row));
                (row, blank) = (SeparatorCounts::default(), true);
            }
            (_, Some(place)) => (row[place], blank) = (row[place] + 1, false),
            _ => blank &= byte.is_ascii_whitespace(),
        }
    }
    rows.extend((!blank && !quoted).then_some(row));
    rows
}

fn choose_separator(rows: &[SeparatorCounts]) -> u8 {
    let Some((header, below)) = rows.split_first() else { return b',' };
    let fits = |place: &usize| header[*place] > 0 && below.iter().all(|row| row[*place] == header[*place]);
    if let Some(place) = (0..KNOWN.len()).find(fits).filter(|_| !below.is_empty()) {
        return KNOWN[place];
    }
    // The last of equals is taken: the comma.
    let best = (0..KNOWN.len()).max_by_key(|place| (count_most_equal_rows(rows, *place), header[*place]));
    best.map_or(b',', |place| KNOWN[place])
}

/// The most rows that hold a separator equally often.
fn count_most_equal_rows(rows: &[SeparatorCounts], place: usize) -> usize {
    let mut held: Vec<usize> = rows.iter().map(|row| row[place]).filter(|count| *count > 0).collect();
    held.sort_unstable();
    held.chunk_by(|one, other| one == other).map(<[usize]>::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_separator_is_what_all_rows_share() {
        for (text, separator) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1;2\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            // Commas in the names, in one row, and before decimals in all.
            ("Age, years;Height, cm\n24;155\n25;156\n", b';'),
            ("Age, y, z;Height\n24;155,1\n25;156\n", b';'),
            ("a,b;c,d\n1,5;2,5\n3,5;4,5\n", b';'),
            ("24,92;155,1\n25,1;156,2\n", b';'),
            ("Age, years\tHeight, cm\n24,9\t155,1\n", b'\t'),
            // Semicolons in the names, and in cells.
            ("x;y;z,b\n1,2\n", b','),
            ("a,words\n1,x;y\n2,z\n", b','),
            // What stands in quotes parts nothing.
            ("\"a;b;c\",d\n\"1;2\n;;\",5\n", b','),
            ("\"Age, in years, whole\";h\n1;2\n", b';'),
            // A title, a total, and rows of another length.
            ("made by hand, in 2020, at home\na;b\n1;2\n3;4\n", b';'),
            ("a;b\n1;2\n3;4\nTotal, of all\n", b';'),
            ("a,b\r\n1,2\r\n\r\n3,4\r\n", b','),
            ("a;b;c,d\n", b';'),
            ("a|b\n1|2\n", b','),
            ("", b','),
        ] {
            assert_eq!(choose_separator(&count_separators(text.as_bytes())) as char, separator as char, "{text:?}");
        }
    }
}
