//! The cells of files of outputs: numbers or words.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rand::RngExt;
use rand_pcg::Pcg64;

use crate::sampled::{FEWEST, FirstLine, SampledProblem};
use crate::shared_rows::is_copy;
use dpgp_audit::Outputs;
use dpgp_data::{ColumnNames, Table, column_types, is_parquet, own_layout, read_own};

/// The cells of a file, column after column.
pub(super) struct Cells {
    pub columns: Vec<String>,
    rows: usize,
    cells: Vec<Vec<Option<String>>>,
}

/// Reads a file. A first line that may be an output is one or the other only where it is said.
pub(super) fn cells(path: &Path, first: Option<FirstLine>) -> Result<Cells, SampledProblem> {
    let table = if first == Some(FirstLine::Row) && !is_parquet(path) {
        Table::read(path, &own_layout(path, &ColumnNames::Numbered)?.format())?
    } else {
        let columns: Vec<String> = column_types(path)?.into_iter().map(|column| column.name).collect();
        read_own(path, &columns.iter().map(String::as_str).collect::<Vec<&str>>())?
    };
    let (columns, rows) = (table.columns(), table.rows());
    let cells = columns.iter().map(|name| table.text(name)).collect::<Result<_, _>>()?;
    let cells = Cells { columns, rows, cells };
    if first.is_none() && !is_parquet(path) && cells.may_begin_with_a_row() {
        return Err(SampledProblem::FirstLine(path.to_path_buf()));
    }
    if rows < FEWEST {
        return Err(SampledProblem::Few { path: path.to_path_buf(), rows });
    }
    Ok(cells)
}

impl Cells {
    /// Whether every name of a column is a number, or a word that stands below it.
    fn may_begin_with_a_row(&self) -> bool {
        self.columns.iter().zip(&self.cells).all(|(name, cells)| {
            is_number(name) || cells.iter().any(|cell| cell.as_deref().unwrap_or_default() == name)
        })
    }

    /// The cells of a column.
    fn column(&self, column: usize) -> impl Iterator<Item = &str> {
        self.cells[column].iter().map(|cell| cell.as_deref().unwrap_or_default())
    }

    fn row(&self, row: usize) -> Vec<&str> {
        (0..self.columns.len()).map(|column| self.cells[column][row].as_deref().unwrap_or_default()).collect()
    }

    /// Whether the rows are those of another file, in the same order.
    pub fn are_copied(&self, other: &Self) -> bool {
        self.rows == other.rows && is_copy(&self.all_rows(), &other.all_rows())
    }

    fn all_rows(&self) -> Vec<Vec<&str>> {
        (0..self.rows).map(|row| self.row(row)).collect()
    }

    /// The rows as numbers, in random order.
    pub fn outputs(&self, codes: &[ColumnCode<'_>], stream: &mut Pcg64) -> Outputs {
        let mut order: Vec<usize> = (0..self.rows).collect();
        // Fisher and Yates: each order is as likely as another.
        for last in (1..self.rows).rev() {
            order.swap(last, stream.random_range(0..=last));
        }
        let mut numbers = Vec::with_capacity(self.rows * self.columns.len());
        for row in order {
            numbers.extend(self.row(row).into_iter().zip(codes).map(|(cell, code)| code.number(cell)));
        }
        Outputs::new(self.columns.len(), numbers)
    }
}

fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok()
}

/// How the cells of one column become numbers that are told apart and ordered as the cells are.
pub(super) struct ColumnCode<'c> {
    /// Those that are no numbers, in order.
    words: Vec<&'c str>,
    whole: WholeNumbers,
    /// Whether cells that differ become the same number.
    pub is_cut: bool,
}

/// Whole numbers, if some are beyond what a double tells apart.
enum WholeNumbers {
    /// All numbers are doubles.
    No,
    /// Each is taken as its distance from this one, the least.
    From(i128),
    /// Each is taken as its rank, since the least and the greatest are too far apart.
    Places(BTreeMap<i128, f64>),
}

/// Up to this all whole numbers are doubles.
const EXACT: i128 = 1 << 53;

impl<'c> ColumnCode<'c> {
    /// For the cells of a column in both files.
    pub fn of(files: [&'c Cells; 2], column: usize) -> Self {
        let distinct: BTreeSet<&str> = files.into_iter().flat_map(|cells| cells.column(column)).collect();
        let (numbers, words): (Vec<&str>, Vec<&str>) = distinct.into_iter().partition(|cell| is_number(cell));
        let whole = WholeNumbers::of(&numbers);
        let is_cut = matches!(whole, WholeNumbers::No) && are_cut(&numbers);
        Self { words, whole, is_cut }
    }

    /// A cell as a number; a word is what is no number, with its place among all words in its bits.
    fn number(&self, cell: &str) -> f64 {
        match (cell.parse::<f64>(), whole(cell)) {
            (Ok(number), Some(whole)) => self.whole.number(whole).unwrap_or(number),
            (Ok(number), None) => number,
            (Err(_), _) => {
                let place = self.words.partition_point(|word| *word < cell) as u64;
                f64::from_bits(f64::NAN.to_bits() | (place + 1))
            }
        }
    }
}

impl WholeNumbers {
    /// Whole numbers among the cells that are numbers: none if some have decimals, or all are small.
    fn of(numbers: &[&str]) -> Self {
        let finite = numbers.iter().filter(|cell| cell.parse::<f64>().is_ok_and(f64::is_finite));
        let Some(mut whole) = finite.map(|cell| whole(cell)).collect::<Option<Vec<i128>>>() else {
            return Self::No;
        };
        whole.sort_unstable();
        whole.dedup();
        let (Some(least), Some(greatest)) = (whole.first().copied(), whole.last().copied()) else {
            return Self::No;
        };
        if least >= -EXACT && greatest <= EXACT {
            return Self::No;
        }
        match greatest.checked_sub(least) {
            Some(width) if width <= EXACT => Self::From(least),
            _ => Self::Places(
                whole.into_iter().zip(0u32..).map(|(number, place)| (number, f64::from(place))).collect(),
            ),
        }
    }

    fn number(&self, whole: i128) -> Option<f64> {
        match self {
            Self::No => None,
            Self::From(least) => Some((whole - least) as f64),
            Self::Places(places) => places.get(&whole).copied(),
        }
    }
}

/// A whole number without decimals and exponent.
fn whole(cell: &str) -> Option<i128> {
    cell.parse().ok()
}

/// Digits beyond which two numbers may be one double.
const DIGITS: usize = 17;

/// Whether two of these are one double although they have more digits than that, and others.
fn are_cut(numbers: &[&str]) -> bool {
    let mut seen: BTreeMap<u64, &str> = BTreeMap::new();
    let long = numbers.iter().filter(|cell| significant_digits(cell) > DIGITS);
    let mut bits = long.filter_map(|cell| Some((cell.parse::<f64>().ok()?.to_bits(), *cell)));
    bits.any(|(bits, cell)| seen.insert(bits, cell).is_some())
}

fn significant_digits(number: &str) -> usize {
    number.chars().filter(char::is_ascii_digit).skip_while(|digit| *digit == '0').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coded(cells: &[&str]) -> (Vec<f64>, bool) {
        let of = |cells: &[&str]| Cells {
            columns: vec!["y".to_owned()],
            rows: cells.len(),
            cells: vec![cells.iter().map(|cell| Some((*cell).to_owned())).collect()],
        };
        let (one, none) = (of(cells), of(&[]));
        let code = ColumnCode::of([&one, &none], 0);
        (cells.iter().map(|cell| code.number(cell)).collect(), code.is_cut)
    }

    /// Also where the least and the greatest are farther apart than a double counts, and beyond 64 bits.
    #[test]
    fn whole_numbers_are_told_apart() {
        let (near, cut) = coded(&["1700000000000000001", "1700000000000000002", "+1700000000000000001"]);
        assert_eq!((near, cut), (vec![0.0, 1.0, 0.0], false));
        let (far, _) =
            coded(&["-9223372036854775808", "18446744073709551615", "18446744073709551614", "nan"]);
        assert_eq!(far[..3], [0.0, 2.0, 1.0]);
        assert!(far[3].is_nan());
        assert_eq!(coded(&["3", "-5"]).0, [3.0, -5.0]);
    }

    /// Digits that no double holds are said to be cut; those that it was written with are not.
    #[test]
    fn digits_that_are_cut_are_known() {
        assert!(coded(&["1700000000000000001.5", "1700000000000000002.5"]).1);
        assert!(
            coded(&["1234567890123456789012345678901234567890", "1234567890123456789012345678901234567891"])
                .1
        );
        assert!(!coded(&["1.000000000000000056e-01", "2.000000000000000111e-01", "0.1", "0.5"]).1);
    }
}
