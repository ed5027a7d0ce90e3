//! Rows of numbers that Python holds, read block by block without a copy of the whole.

use std::io::{Error, ErrorKind};
use std::sync::Arc;

use dpgp::data::DataError;
use dpgp::data::error::FileAction;
use dpgp::data::rows::{ExtraCell, ExtraColumns, RowStream};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::errors::Failure;
use crate::work::Gate;

/// A column of numbers.
pub enum Column {
    /// Of a buffer with one or two dimensions: row i is at `first + i * step`.
    Buffer { buffer: Arc<PyBuffer<f64>>, first: usize, step: usize },
    /// The same number in every row.
    Constant(f64),
}

/// Columns of one length.
pub struct Columns {
    columns: Vec<Column>,
    rows: usize,
}

/// The columns of a table that are not summed.
pub struct Others {
    names: Vec<String>,
    columns: Vec<OtherColumn>,
}

/// One such column.
enum OtherColumn {
    Numbers(Column),
    /// The bytes of all cells, end to end, and the end of each.
    Text {
        bytes: Vec<u8>,
        ends: Vec<usize>,
    },
}

/// The next rows of these columns, read on another thread.
pub struct HeldOthers<'a> {
    others: &'a Others,
    next: usize,
}

/// A block of rows, read on another thread.
pub struct HeldColumns<'a> {
    columns: &'a Columns,
    gate: &'a Gate,
    next: usize,
}

impl Columns {
    /// From objects of Python: a number, a buffer of one dimension, or a pair of a buffer of two dimensions and a
    /// column of it.
    ///
    /// # Errors
    /// [`Failure`] for an object that is not a contiguous buffer of 64-bit numbers, and for columns that differ in length.
    pub fn from_objects(objects: &[Bound<'_, PyAny>]) -> PyResult<Self> {
        let (mut columns, mut rows) = (Vec::with_capacity(objects.len()), None);
        for object in objects {
            let (column, length) = column(object)?;
            if let Some(length) = length
                && *rows.get_or_insert(length) != length
            {
                return Err(Failure::input("the columns differ in length").into());
            }
            columns.push(column);
        }
        let rows = rows.ok_or_else(|| Failure::input("at least one column must have rows"))?;
        Ok(Self { columns, rows })
    }

    /// How many columns there are.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// From the first row on, for work that a gate may stop.
    pub fn held<'a>(&'a self, gate: &'a Gate) -> HeldColumns<'a> {
        HeldColumns { columns: self, gate, next: 0 }
    }
}

/// A column, and its length unless it fits any.
fn column(object: &Bound<'_, PyAny>) -> PyResult<(Column, Option<usize>)> {
    if let Ok(number) = object.extract::<f64>() {
        return Ok((Column::Constant(number), None));
    }
    if let Ok((table, at)) = object.extract::<(Bound<'_, PyAny>, usize)>() {
        let buffer = PyBuffer::<f64>::get(&table)?;
        let &[rows, width] = buffer.shape() else {
            return Err(Failure::input("a table must have two dimensions").into());
        };
        let (first, step) = match (buffer.is_c_contiguous(), buffer.is_fortran_contiguous()) {
            (true, _) => (at, width),
            (_, true) => (at * rows, 1),
            _ => return Err(Failure::input("the numbers of a table must be contiguous").into()),
        };
        if at >= width {
            return Err(Failure::input("the table has too few columns").into());
        }
        return Ok((Column::Buffer { buffer: Arc::new(buffer), first, step }, Some(rows)));
    }
    let buffer = PyBuffer::<f64>::get(object)?;
    let &[rows] = buffer.shape() else {
        return Err(Failure::input("a column must have one dimension").into());
    };
    if !buffer.is_c_contiguous() {
        return Err(Failure::input("the numbers of a column must be contiguous").into());
    }
    Ok((Column::Buffer { buffer: Arc::new(buffer), first: 0, step: 1 }, Some(rows)))
}

impl Others {
    /// From pairs of a name and a column: a buffer of numbers, or a pair of the bytes of all cells and the ends of
    /// each. All have the length of `rows`.
    ///
    /// # Errors
    /// [`Failure`] for columns of another length.
    pub fn from_objects(objects: &[(String, Bound<'_, PyAny>)], rows: &Columns) -> PyResult<Self> {
        let (mut names, mut columns) = (Vec::new(), Vec::new());
        for (name, object) in objects {
            let (column, length) = match object.extract::<(Vec<u8>, Vec<usize>)>() {
                Ok((bytes, ends)) => {
                    let length = ends.len();
                    if !ends.is_sorted() || ends.last().is_some_and(|end| *end != bytes.len()) {
                        return Err(
                            Failure::input("the ends of the cells of a text column do not match its bytes").into()
                        );
                    }
                    (OtherColumn::Text { bytes, ends }, Some(length))
                }
                Err(_) => {
                    let (column, length) = column(object)?;
                    (OtherColumn::Numbers(column), length)
                }
            };
            if length.is_some_and(|length| length != rows.rows) {
                return Err(Failure::input("the columns differ in length").into());
            }
            names.push(name.clone());
            columns.push(column);
        }
        Ok(Self { names, columns })
    }

    /// From the first row on.
    pub fn held(&self) -> HeldOthers<'_> {
        HeldOthers { others: self, next: 0 }
    }
}

impl ExtraColumns for HeldOthers<'_> {
    fn names(&self) -> Vec<String> {
        self.others.names.clone()
    }

    fn next_cells(&mut self, rows: usize) -> Vec<Vec<ExtraCell>> {
        let block = self.next..self.next + rows;
        self.next = block.end;
        Python::attach(|py| self.others.columns.iter().map(|column| column.cells(py, block.clone())).collect())
    }
}

impl OtherColumn {
    /// The cells of some rows.
    fn cells(&self, py: Python<'_>, rows: std::ops::Range<usize>) -> Vec<ExtraCell> {
        match self {
            Self::Numbers(column) => {
                let mut numbers = Vec::with_capacity(rows.len());
                column.append(py, rows, &mut numbers);
                numbers.into_iter().map(ExtraCell::Number).collect()
            }
            Self::Text { bytes, ends } => {
                let cell = |row: usize| {
                    let from = row.checked_sub(1).map_or(0, |before| ends[before]);
                    // Ends rise up to the end of the bytes.
                    ExtraCell::Text(bytes[from..ends[row]].to_vec())
                };
                rows.filter(|row| *row < ends.len()).map(cell).collect()
            }
        }
    }
}

impl Column {
    /// Appends some rows.
    fn append(&self, _py: Python<'_>, rows: std::ops::Range<usize>, to: &mut Vec<f64>) {
        match self {
            Self::Constant(number) => to.resize(to.len() + rows.len(), *number),
            Self::Buffer { buffer, first, step } => {
                let Some(numbers) = buffer.as_slice_ptr().or_else(|| buffer.as_fortran_slice_ptr()) else {
                    return;
                };
                // Obligation: the buffer is locked while it is held, so that it neither moves nor ends; its numbers lie
                // without gaps, and the lock of the interpreter keeps other threads of Python from writing to them
                // meanwhile.
                #[allow(unsafe_code)]
                let numbers = unsafe { numbers.as_ref() };
                // A table without rows has no first cell of its second column.
                let places = numbers.get(*first..).into_iter().flatten().step_by(*step);
                to.extend(places.skip(rows.start).take(rows.len()));
            }
        }
    }
}

impl HeldColumns<'_> {
    fn advance(&mut self, most: usize) -> std::ops::Range<usize> {
        let start = self.next;
        self.next = self.columns.rows.min(start.saturating_add(most));
        start..self.next
    }
}

impl RowStream for HeldColumns<'_> {
    /// A block is copied under the lock of the interpreter, so that nothing writes to it meanwhile.
    fn read(&mut self, columns: &mut [Vec<f64>], most: usize) -> Result<usize, DataError> {
        if self.gate.is_stopped() {
            let (path, source) = ("rows".into(), Error::from(ErrorKind::Interrupted));
            return Err(DataError::Io { action: FileAction::Read, path, source });
        }
        let rows = self.advance(most);
        Python::attach(|py| {
            for (from, to) in self.columns.columns.iter().zip(columns) {
                from.append(py, rows.clone(), to);
            }
        });
        Ok(rows.len())
    }

    fn skip(&mut self, rows: u64) -> Result<u64, DataError> {
        Ok(self.advance(usize::try_from(rows).unwrap_or(usize::MAX)).len() as u64)
    }
}
