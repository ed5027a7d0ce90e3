//! The cells of files of outputs: numbers or words.

use std::path::Path;

use rand::RngExt;
use rand_pcg::Pcg64;

use super::attack::Outputs;
use super::sampled::{FEWEST, SampledProblem};
use crate::data::{Table, column_types, read_own};

/// The cells of a file, column after column.
pub(super) struct Cells {
    pub columns: Vec<String>,
    rows: usize,
    cells: Vec<Vec<Option<String>>>,
}

pub(super) fn cells(path: &Path) -> Result<Cells, SampledProblem> {
    let columns: Vec<String> = column_types(path)?.into_iter().map(|column| column.name).collect();
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let table: Table = read_own(path, &names)?;
    let rows = table.rows();
    if rows < FEWEST {
        return Err(SampledProblem::Few { path: path.to_path_buf(), rows });
    }
    let cells = names.iter().map(|name| table.text(name)).collect::<Result<_, _>>()?;
    Ok(Cells { columns, rows, cells })
}

impl Cells {
    /// The cells that are no numbers.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let cells = self.cells.iter().flatten().map(|cell| cell.as_deref().unwrap_or_default());
        cells.filter(|cell| cell.parse::<f64>().is_err())
    }

    /// The rows as numbers, in random order.
    pub fn outputs(&self, words: &[&str], stream: &mut Pcg64) -> Outputs {
        let mut order: Vec<usize> = (0..self.rows).collect();
        // Fisher and Yates: each order is as likely as another.
        for last in (1..self.rows).rev() {
            order.swap(last, stream.random_range(0..=last));
        }
        let mut numbers = Vec::with_capacity(self.rows * self.columns.len());
        for row in order {
            numbers.extend(self.cells.iter().map(|column| number(column[row].as_deref(), words)));
        }
        Outputs::new(self.columns.len(), numbers)
    }
}

/// A cell as a number; a word is what is no number, with the place of the word among all in its bits.
fn number(cell: Option<&str>, words: &[&str]) -> f64 {
    let cell = cell.unwrap_or_default();
    cell.parse().unwrap_or_else(|_| {
        let place = words.partition_point(|word| *word < cell) as u64;
        f64::from_bits(f64::NAN.to_bits() | (place + 1))
    })
}
