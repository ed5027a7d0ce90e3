//! Errors of tables and their cells.

use std::error::Error;
use std::fmt;

use super::error::did_you_mean;
use super::suggest::closest_name;

/// Error in a table. Lines count from 1 and include the header.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The table has no such column.
    #[error("there is no column {column:?}{}; {}", did_you_mean(suggestion.as_deref()), known_columns_text(known))]
    UnknownColumn {
        /// The column asked for.
        column: String,
        /// The columns there are.
        known: Vec<String>,
        /// The one that was probably meant.
        suggestion: Option<String>,
    },
    /// A cell is not a finite number.
    #[error("{unit} {line}, column {column:?}: {problem}")]
    Cell {
        /// The unit that is counted.
        unit: LineOrRow,
        /// The line in the file, or the row.
        line: usize,
        /// The column.
        column: String,
        /// The problem.
        problem: TableCellError,
    },
    /// A column of a Parquet file does not hold numbers.
    #[error("the column {column:?} holds {found}, not numbers")]
    NotNumeric {
        /// The column.
        column: String,
        /// Its content.
        found: String,
    },
    /// A row has more or fewer cells than there are columns.
    #[error(
        "line {line} has {found} cells, but there are {expected} columns (is the separator right? If line {line} is a note or a total, remove it)"
    )]
    Ragged {
        /// The line in the file.
        line: usize,
        /// The number of columns.
        expected: usize,
        /// The number of cells.
        found: usize,
    },
    /// The first row has more or fewer cells than the line above it, which should name the columns.
    #[error(
        "line {line} has {found} cells, but line {header} has {expected} (is the separator right? If line {header} is a title or a comment, remove it)"
    )]
    RaggedHeader {
        /// The line in the file.
        line: usize,
        /// The line that should name the columns.
        header: usize,
        /// The number of its cells.
        expected: usize,
        /// The number of cells of the row.
        found: usize,
    },
    /// A carriage return stands alone inside a line.
    #[error(
        "line {0} holds carriage returns without line feeds (Excel's \"CSV (Macintosh)\"); save the file with Unix or Windows line endings"
    )]
    LineEnds(usize),
    /// A cell stands in a column that has no name.
    #[error("line {0} has a cell in a column without a name; add the name to the header, or remove the cell")]
    UnnamedCell(usize),
    /// A file is of another kind.
    #[error("is {0}")]
    OtherKind(&'static str),
    /// There is at most a header.
    #[error("holds no rows")]
    NoRows,
    /// A quote is never closed.
    #[error("line {0} opens a quote that is never closed")]
    OpenQuote(usize),
    /// The file is not UTF-8.
    #[error("line {0} is not UTF-8 text; convert the file to UTF-8")]
    NotUtf8(usize),
    /// A file that should hold images or labels, and does not.
    #[error("is not an array of bytes in the IDX format: {0}")]
    NotIdx(&'static str),
    /// There is not even a header.
    #[error("the file is empty; expected a header")]
    Empty,
    /// The layout has no header and names no columns.
    #[error("the format has no header, so it must list the columns")]
    NoColumns,
    /// Two columns have the same name.
    #[error("the column {0:?} occurs twice; rename one")]
    RepeatedColumn(String),
    /// The header is not the one that the format lists.
    #[error("line {line}: the header names the columns {}, but the format lists {}", found.join(", "), listed.join(", "))]
    Header {
        /// The line in the file.
        line: usize,
        /// The columns of the header.
        found: Vec<String>,
        /// The columns of the format.
        listed: Vec<String>,
    },
    /// A file that should have no header has one.
    #[error(
        "line {0} holds the listed column names, so the file has a header; do not list the columns (`columns` in a spec, --columns of `dpgp new`)"
    )]
    UnexpectedHeader(usize),
    /// A quote is not where quotes may stand, and the cells cannot be told apart.
    #[error("line {0} has a quote inside a cell; quote the whole cell, and double any quotes inside it")]
    StrayQuote(usize),
    /// The file is not Parquet, or damaged.
    #[error("cannot be read as a Parquet file: {0}")]
    Parquet(Box<dyn Error + Send + Sync>),
    /// A column that holds neither numbers nor text.
    #[error(
        "the column {column:?} is of type {found}; convert it to numbers (DOUBLE, FLOAT, INT32, INT64, DECIMAL) or text, one value per row"
    )]
    ColumnType {
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// A column of a Parquet file that holds dates, times or spans of time.
    #[error("the column {column:?} holds dates or times ({found}); convert them to numbers of days, hours or seconds")]
    DateOrTime {
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// A column of a Parquet file is compressed in a way that cannot be read.
    #[error("the column {column:?} is compressed with {codec}; write it with SNAPPY, GZIP, ZSTD or LZ4")]
    Codec {
        /// The column.
        column: String,
        /// How it is compressed.
        codec: String,
    },
    /// Text that is compressed in another way than by gzip.
    #[error("is compressed in an unsupported format; decompress it, use gzip (.csv.gz), or leave it out")]
    Packed,
    /// A `.gz` file is not gzip, or is damaged.
    #[error("cannot be decompressed with gzip: {0}")]
    Gzip(Box<dyn Error + Send + Sync>),
    /// The file gives its rows only once.
    #[error("is a pipe or a device, but dpgp reads the rows several times; write the rows to a file")]
    NoFile,
    /// A row that would fill the memory.
    #[error(
        "line {0} belongs to a row of more than {1} MB, including blank lines and comments before it. Check that the file is text with line endings and that every quote is closed"
    )]
    LongRow(usize, u64),
    /// A table that would fill the memory.
    #[error(
        "holds more than {0} cells, the limit for a table in memory; remove rows or columns (`dpgp sum` streams any number of rows)"
    )]
    ManyCells(usize),
    /// An archive that would fill the memory.
    #[error("unpacks to more than {0} MB, the limit for an archive")]
    Unpacked(u64),
    /// A column stands in a file and in the path of the file.
    #[error("the column {0:?} is in both the file and its path; rename one")]
    ColumnInPath(String),
    /// The path of a file names a column with a value that cannot be used.
    #[error("the path names the column {column:?}: {problem}")]
    PathCell {
        /// The column.
        column: String,
        /// The problem with its value.
        problem: TableCellError,
    },
    /// An archive cannot be read or holds no table.
    #[error("cannot read the rows: {0}")]
    Body(Box<dyn Error + Send + Sync>),
    /// Error in a file whose contents are not shown.
    #[error("{0} (details are hidden: the file is outside the folder of its spec or project)")]
    Withheld(String),
}

/// The columns that there are. A first line with numbers may be a row, which is not shown.
fn known_columns_text(known: &[String]) -> String {
    if known.iter().any(|name| looks_like_cell_value(name)) {
        return "the header holds numbers, not names (if the file has no header, list the columns in \
            data.source.csv.columns)"
            .to_owned();
    }
    let shown: Vec<String> = known.iter().take(SHOWN).map(|name| shorten_column_name(name)).collect();
    match known.len().checked_sub(SHOWN) {
        None | Some(0) => format!("the columns are: {}", shown.join(", ")),
        Some(more) => format!("the columns are: {} and {more} more", shown.join(", ")),
    }
}

/// Whether a name may be a cell: a number, a date or an amount begins with a digit or a sign.
fn looks_like_cell_value(name: &str) -> bool {
    let digits = name.trim_start_matches(['-', '+', '$', '.', ' ', '\u{20ac}', '\u{a3}', '#']);
    digits.starts_with(|c: char| c.is_ascii_digit()) || name.parse::<f64>().is_ok()
}

/// The most columns that a message lists.
const SHOWN: usize = 50;

/// The most letters of a column that a message shows: a file without line ends has one header, of all its bytes.
const LETTERS: usize = 80;

fn shorten_column_name(name: &str) -> String {
    match name.char_indices().nth(LETTERS) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}...", &name[..end]),
    }
}

impl TableError {
    /// The same error without any contents of the file except places. Column names from the spec stay.
    pub(super) fn without_contents(self) -> Self {
        Self::Withheld(match self {
            Self::UnknownColumn { column, .. } => format!("there is no column {column:?}"),
            Self::Header { line, .. } => format!("line {line}: the header differs from the listed columns"),
            Self::RepeatedColumn(_) => "two columns have the same name".to_owned(),
            Self::ColumnInPath(_) => "a column is in both the file and its path".to_owned(),
            Self::NotNumeric { .. } => "a column holds no numbers".to_owned(),
            Self::ColumnType { .. } => "a column holds neither numbers nor text".to_owned(),
            Self::DateOrTime { .. } => "a column holds dates or times".to_owned(),
            Self::Codec { .. } => "a column uses an unsupported compression".to_owned(),
            Self::Parquet(_) => "cannot be read as a Parquet file".to_owned(),
            Self::Gzip(_) => "cannot be decompressed with gzip".to_owned(),
            Self::Body(_) => "cannot read the rows".to_owned(),
            // These tell places and what a spec says.
            other => return other,
        })
    }

    pub(super) fn unknown_column(column: &str, known: Vec<String>) -> Self {
        let suggestion = closest_name(column, known.iter().map(String::as_str)).map(str::to_owned);
        Self::UnknownColumn { column: column.to_owned(), known, suggestion }
    }
}

/// Unit in which places of cells are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineOrRow {
    /// Lines of a text, from 1, the header among them.
    Line,
    /// Rows, from 1.
    Row,
}

impl fmt::Display for LineOrRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Line => "line",
            Self::Row => "row",
        })
    }
}

/// Why a cell is not a finite number. Its contents are not shown: messages end up in logs, and the rows may be private.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableCellError {
    /// Nothing stands in it.
    #[error("the cell is empty; expected a number")]
    Missing,
    /// It holds a word, or a number, that stands for nothing.
    #[error("the cell is NA, NaN or null; expected a number")]
    Absent,
    /// No person stands in it.
    #[error("the cell is empty, NA, NaN or null; expected a person's identifier")]
    NoPerson,
    /// It holds something else.
    #[error("the cell is not a number")]
    NotANumber,
    /// It holds something else than a time.
    #[error("the cell is not a time; use 2016-06-01 00:00:37 or 6/1/2016 00:00:37 (month first)")]
    NotATime,
    /// It holds an infinity, NaN, or a number beyond the range of 64-bit floating point.
    #[error("the cell is not a finite number")]
    NotFinite,
    /// It holds a word that the list of codes lacks.
    #[error("the cell is not one of the codes {}", .0.join(", "))]
    NoCode(Vec<String>),
    /// It holds a key that a row above it holds too.
    #[error("the cell repeats the key of an earlier row; every row needs its own key")]
    RepeatedKey,
    /// It has no target, whose row may not be left out.
    #[error(
        "the target is missing. data.missing drops only rows with a missing input, because the public inputs would otherwise reveal which targets are missing. Filter by a public column, or make whole records private (`dpgp new --private-inputs`)"
    )]
    NoTarget,
    /// A missing cell that a spec may drop.
    #[error("{0}; to drop such rows, set data.missing = \"drop\"")]
    Refused(Box<Self>),
    /// A missing target where inputs are public.
    #[error(
        "{0}. Where inputs are public, a release must not depend on which targets are missing: fill it in, choose rows by a \
         public column (data.filter), or protect whole records"
    )]
    MissingTarget(Box<Self>),
}

impl TableCellError {
    /// Whether nothing stands in the cell.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing | Self::Absent | Self::NoPerson)
    }
}
