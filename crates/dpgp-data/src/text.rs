//! Layouts of text files, and one reader that cuts rows into cells, for whole tables and for streams of any
//! length.

use std::io::{BufRead, Error, Read};
use std::path::{Path, PathBuf};
use std::str::from_utf8;

use super::error::{DataError, FileAction};
use super::format::{CsvFormat, Separator, detect_non_text_format};
use super::rows::{DamagedGzipError, DecompressingReader};
use super::table_error::TableError;

/// The most bytes of a row, with the blank lines and comments before it: a file without line ends, or with a quote that stays
/// open, must not fill the memory.
pub(super) const LONGEST: u64 = 1 << 26;

/// Reads one row after the other. Comments, the lines to skip, and blank lines of files with several columns are passed over.
pub(super) struct CsvRowReader<R> {
    file: PathBuf,
    from: R,
    separator: Separator,
    comment: Option<String>,
    skips_blank_cells: bool,
    names: Vec<String>,
    /// The cells of a row, those that are passed over among them.
    width: usize,
    /// Where in a row the columns stand, if some of its cells are passed over; otherwise it is empty.
    places: Vec<usize>,
    /// Cells that are passed over, which must be empty.
    passed: Vec<usize>,
    /// The line of the header, until the first row is read.
    header: Option<usize>,
    /// Whether the next row is the first of a file that should have no header.
    unnamed: bool,
    /// Lines read so far.
    lines: usize,
    /// The line that the row began in, counted from 1.
    line: usize,
    /// The cells of the row with one byte between them.
    text: Vec<u8>,
    /// Where in `text` each cell ends.
    ends: Vec<usize>,
    /// Whether a quote stands inside a cell that does not begin with one.
    stray: bool,
    /// Memory for rows without their quotes.
    plain: Vec<u8>,
}

impl CsvRowReader<DecompressingReader> {
    /// Opens a file and reads its header.
    pub fn open(path: &Path, format: &CsvFormat) -> Result<Self, DataError> {
        Self::new(path, DecompressingReader::open(path)?, format)
    }

    /// The share of the file that was read, at most 1.
    pub fn read_fraction(&self) -> f64 {
        self.from.read_fraction()
    }
}

impl<R: BufRead> CsvRowReader<R> {
    /// Reads the header; messages name the file `path`.
    pub fn new(path: &Path, from: R, format: &CsvFormat) -> Result<Self, DataError> {
        let mut reader = Self {
            file: path.to_owned(),
            from,
            separator: format.separator,
            comment: format.comment.clone().filter(|mark| !mark.is_empty()),
            skips_blank_cells: format.skips_blank_cells,
            names: Vec::new(),
            width: 0,
            places: Vec::new(),
            passed: Vec::new(),
            header: None,
            unnamed: !format.header,
            lines: 0,
            line: 0,
            text: Vec::new(),
            ends: Vec::new(),
            stray: false,
            plain: Vec::new(),
        };
        for _ in 0..format.skip {
            reader.advance_to_content_line()?;
        }
        reader.names = if format.header { reader.read_header(&format.columns)? } else { format.columns.clone() };
        reader.width = reader.width.max(reader.names.len());
        if reader.names.is_empty() { Err(reader.wrap_table_error(TableError::NoColumns)) } else { Ok(reader) }
    }

    /// The names of the columns.
    pub fn column_names(&self) -> &[String] {
        &self.names
    }

    /// The cells of a row, those that are passed over among them.
    pub fn cells_per_row(&self) -> usize {
        self.width
    }

    /// The line that the row began in, counted from 1.
    pub fn line_number(&self) -> usize {
        self.line
    }

    /// A cell of the row, by its place from 0.
    pub fn cell(&self, place: usize) -> &[u8] {
        self.cell_at_raw_index(self.places.get(place).copied().unwrap_or(place))
    }

    /// All cells of the row, with one byte between them.
    pub fn joined_cell_bytes(&self) -> &[u8] {
        &self.text
    }

    /// A cell of the row by its place among all cells, those that are passed over among them.
    fn cell_at_raw_index(&self, place: usize) -> &[u8] {
        let start = if place == 0 { 0 } else { self.ends[place - 1] + 1 };
        &self.text[start..self.ends[place]]
    }

    /// A cell of the row as text.
    pub fn cell_text(&self, place: usize) -> Result<&str, DataError> {
        from_utf8(self.cell(place)).map_err(|_| self.wrap_table_error(TableError::NotUtf8(self.line)))
    }

    /// The error for a problem of this file.
    pub fn wrap_table_error(&self, problem: TableError) -> DataError {
        DataError::from_table_error(&self.file, problem)
    }

    /// Reads the next row; whether there was one.
    pub fn advance_row(&mut self) -> Result<bool, DataError> {
        if !self.advance_to_content_line()? {
            return Ok(false);
        }
        self.split_cells()?;
        let (line, found, expected) = (self.line, self.ends.len(), self.width);
        // A blank line below a title, which looks like a header of one column, is no row of it.
        let header = if self.text.trim_ascii().is_empty() { self.header } else { self.header.take() };
        if std::mem::take(&mut self.unnamed) && self.is_header() {
            return Err(self.wrap_table_error(TableError::UnexpectedHeader(line)));
        }
        if found == expected {
            return match self.passed.iter().all(|place| self.cell_at_raw_index(*place).trim_ascii().is_empty()) {
                true => Ok(true),
                false => Err(self.wrap_table_error(TableError::UnnamedCell(line))),
            };
        }
        // Text such as 1"a,b"c was meant to be one cell; the quotes are what is to be mended, not the number of cells.
        Err(self.wrap_table_error(match header {
            _ if self.text.contains(&b'\r') => TableError::LineEnds(line),
            _ if self.stray => TableError::StrayQuote(line),
            Some(header) => TableError::RaggedHeader { line, header, expected, found },
            None => TableError::Ragged { line, expected, found },
        }))
    }

    /// Whether the row holds the very names of the columns.
    fn is_header(&self) -> bool {
        let cells = (0..self.ends.len()).map(|place| self.cell(place).trim_ascii());
        cells.eq(self.names.iter().map(|name| name.trim().as_bytes()))
    }

    fn read_header(&mut self, listed: &[String]) -> Result<Vec<String>, DataError> {
        if !self.advance_to_content_line()? {
            return Err(self.wrap_table_error(TableError::Empty));
        }
        if has_unquoted_carriage_return(&self.text) {
            return Err(self.wrap_table_error(TableError::LineEnds(self.line)));
        }
        self.header = Some(self.line);
        self.split_cells()?;
        let mut found = Vec::with_capacity(self.ends.len());
        for place in 0..self.ends.len() {
            found.push(self.cell_text(place)?.trim().to_owned());
        }
        if listed.is_empty() {
            return Ok(self.drop_unnamed_columns(found));
        }
        if listed == found {
            return Ok(found);
        }
        Err(self.wrap_table_error(TableError::Header { line: self.line, found, listed: listed.to_vec() }))
    }

    /// The names of the columns without those after the first that have none: programs write empty columns beside a table, and they hold
    /// nothing.
    fn drop_unnamed_columns(&mut self, found: Vec<String>) -> Vec<String> {
        self.width = found.len();
        let without: Vec<usize> = (0..found.len()).filter(|place| found[*place].is_empty()).collect();
        if without.len() < 2 {
            return found;
        }
        self.passed = without[1..].to_vec();
        let (places, names): (Vec<usize>, Vec<String>) =
            found.into_iter().enumerate().filter(|(place, name)| !name.is_empty() || *place == without[0]).unzip();
        self.places = places;
        names
    }

    /// Reads the next line that is neither blank nor a comment; whether there was one.
    fn advance_to_content_line(&mut self) -> Result<bool, DataError> {
        let mut aside = 0;
        loop {
            self.text.clear();
            if !self.append_next_line()? {
                return Ok(false);
            }
            aside += self.text.len() as u64 + 1;
            // A small gzip file may hold blank lines by the thousand million.
            if aside > LONGEST + 1 {
                return Err(self.wrap_table_error(TableError::LongRow(self.lines, LONGEST >> 20)));
            }
            if self.lines == 1 && self.text.starts_with(b"\xef\xbb\xbf") {
                self.text.drain(..3);
            }
            if !self.is_skipped_line() {
                self.line = self.lines;
                return Ok(true);
            }
        }
    }

    /// Adds the next line of the file without its end; whether there was one.
    fn append_next_line(&mut self) -> Result<bool, DataError> {
        let room = (LONGEST + 1).saturating_sub(self.text.len() as u64);
        let read = self.from.by_ref().take(room).read_until(b'\n', &mut self.text);
        if read.map_err(|cause| text_read_error(&self.file, cause))? == 0 {
            return Ok(false);
        }
        self.lines += 1;
        if self.lines == 1
            && let Some(kind) = detect_non_text_format(&self.text)
        {
            return Err(self.wrap_table_error(TableError::OtherKind(kind)));
        }
        if self.text.len() as u64 > LONGEST {
            if has_unquoted_carriage_return(&self.text) {
                return Err(self.wrap_table_error(TableError::LineEnds(self.lines)));
            }
            return Err(self.wrap_table_error(TableError::LongRow(self.lines, LONGEST >> 20)));
        }
        self.text.pop_if(|byte| *byte == b'\n');
        self.text.pop_if(|byte| *byte == b'\r');
        Ok(true)
    }

    fn is_skipped_line(&self) -> bool {
        let blank = match self.separator {
            // A line of separators alone is a row of empty cells.
            Separator::Byte(b' ' | b'\t') => self.text.is_empty(),
            _ => self.text.trim_ascii().is_empty(),
        };
        // In a file of one column, a blank line is a missing cell: the number of rows must not depend on what is private.
        (blank && (self.width != 1 || self.skips_blank_cells))
            || self.comment.as_ref().is_some_and(|mark| self.text.starts_with(mark.as_bytes()))
    }

    fn split_cells(&mut self) -> Result<(), DataError> {
        self.ends.clear();
        self.stray = false;
        match self.separator {
            Separator::Whitespace => self.split_whitespace_cells(),
            Separator::Byte(separator) if self.text.contains(&b'"') => self.split_quoted(separator)?,
            Separator::Byte(separator) => {
                let places = self.text.iter().enumerate().filter(|(_, byte)| **byte == separator);
                self.ends.extend(places.map(|(place, _)| place));
                self.ends.push(self.text.len());
            }
        }
        Ok(())
    }

    fn split_whitespace_cells(&mut self) {
        self.plain.clear();
        for cell in self.text.split(u8::is_ascii_whitespace).filter(|cell| !cell.is_empty()) {
            self.plain.extend_from_slice(cell);
            self.ends.push(self.plain.len());
            self.plain.push(b'\t');
        }
        std::mem::swap(&mut self.text, &mut self.plain);
        if self.ends.is_empty() {
            self.ends.push(0);
        }
    }

    /// Cuts a row whose cells may stand in quotes, which may hold separators, line ends, and quotes as two.
    fn split_quoted(&mut self, separator: u8) -> Result<(), DataError> {
        self.plain.clear();
        let mut at = 0;
        loop {
            at = match self.text.get(at) {
                Some(b'"') => self.copy_quoted_cell(at + 1)?,
                _ => self.copy_unquoted_cell(at, separator),
            };
            self.ends.push(self.plain.len());
            match self.text.get(at) {
                None => break,
                Some(byte) if *byte == separator => self.plain.push(separator),
                Some(_) => return Err(self.wrap_table_error(TableError::StrayQuote(self.line))),
            }
            at += 1;
        }
        std::mem::swap(&mut self.text, &mut self.plain);
        Ok(())
    }

    /// Copies the cell that its opening quote precedes; gives the place after its closing quote.
    fn copy_quoted_cell(&mut self, mut at: usize) -> Result<usize, DataError> {
        loop {
            match self.text.get(at) {
                Some(b'"') if self.text.get(at + 1) != Some(&b'"') => return Ok(at + 1),
                // The second of two quotes is passed over.
                Some(b'"') => at += 1,
                Some(_) => {}
                None => {
                    self.text.push(b'\n');
                    if !self.append_next_line()? {
                        return Err(self.wrap_table_error(TableError::OpenQuote(self.line)));
                    }
                }
            }
            self.plain.push(self.text[at]);
            at += 1;
        }
    }

    /// Copies a cell without quotes around it; gives the place of the separator after it.
    fn copy_unquoted_cell(&mut self, at: usize, separator: u8) -> usize {
        let rest = &self.text[at..];
        let cell = rest.split(|byte| *byte == separator).next().unwrap_or_default();
        self.stray |= cell.contains(&b'"');
        self.plain.extend_from_slice(cell);
        at + cell.len()
    }
}

/// Whether a line holds a carriage return outside of quotes.
fn has_unquoted_carriage_return(line: &[u8]) -> bool {
    let mut quoted = false;
    line.iter().any(|byte| {
        quoted ^= *byte == b'"';
        *byte == b'\r' && !quoted
    })
}

/// The error for text that cannot be read: damaged, or as the system says.
pub(super) fn text_read_error(file: &Path, cause: Error) -> DataError {
    if cause.get_ref().is_some_and(|inner| inner.is::<DamagedGzipError>()) {
        return DataError::from_table_error(file, TableError::Gzip(Box::new(cause)));
    }
    DataError::Io { action: FileAction::Read, path: file.to_owned(), source: cause }
}

/// Separator between two cells, and the names of the columns.
///
/// ```
/// use dpgp_data::CsvLayout;
/// let named = CsvLayout { separator: b';', columns: Some(vec!["age".to_owned(), "height".to_owned()]) };
/// assert!(!named.to_csv_format().header && CsvLayout::default().to_csv_format().header);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CsvLayout {
    /// One ASCII character between two cells.
    pub separator: u8,
    /// The names of the columns, in their order, of files without a header; none if the first line has them.
    pub columns: Option<Vec<String>>,
}

impl Default for CsvLayout {
    /// Commas, and a header.
    fn default() -> Self {
        Self { separator: b',', columns: None }
    }
}

impl CsvLayout {
    /// The format that says the same.
    #[must_use]
    pub fn to_csv_format(&self) -> CsvFormat {
        CsvFormat {
            separator: Separator::Byte(self.separator),
            header: self.columns.is_none(),
            columns: self.columns.clone().unwrap_or_default(),
            ..CsvFormat::default()
        }
    }
}
