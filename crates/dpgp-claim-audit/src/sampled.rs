//! Outputs of any mechanism, read from two files of numbers or words.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rand::RngExt;
use rand_pcg::Pcg64;

use crate::records::{has_shared_draws, is_copy};
use dpgp_accounting::Guarantee;
use dpgp_audit::{MechanismOutputs, max_provable_epsilon};
use dpgp_data::{ColumnNameSource, DataError, Table, describe_columns, detect_csv_layout, is_parquet, read_user_table};
use dpgp_task::RandomStreams;

/// Rows of a file below which nothing can be learned.
const FEWEST: usize = 100;

/// Why files are no outputs that can be compared.
#[derive(Debug, thiserror::Error)]
pub enum SampledFilesError {
    /// A file cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The files have other columns.
    #[error(
        "{} has the columns {}, but {} has {}; both files must have the same \
         columns", one.display(), join_column_names(of_one),
        other.display(), join_column_names(of_other)
    )]
    Columns {
        /// The first file.
        one: PathBuf,
        /// Its columns.
        of_one: Vec<String>,
        /// The second file.
        other: PathBuf,
        /// Its columns.
        of_other: Vec<String>,
    },
    /// A first line that may be an output like the others.
    #[error(
        "{}: the first line could be column names or an output; use --first-line names or --first-line \
         row", .0.display()
    )]
    FirstLine(PathBuf),
    /// One file for both inputs.
    #[error("{} is named twice; use one file for each of the two inputs", .0.display())]
    SameFile(PathBuf),
    /// Files with the same draws.
    #[error(
        "{} and {} share rows: outputs on the two inputs must be independent draws with separate random \
         numbers, because an attack is tested on rows that it was not trained \
         on", one.display(), other.display()
    )]
    SharedRows {
        /// The first file.
        one: PathBuf,
        /// The second file.
        other: PathBuf,
    },
    /// A file has too few rows.
    #[error(
        "{} has {rows} rows; an attack needs at least {FEWEST}, and more rows can prove more",
        path.display()
    )]
    Few {
        /// The file.
        path: PathBuf,
        /// Its rows.
        rows: usize,
    },
}

fn join_column_names(columns: &[String]) -> String {
    columns.join(", ")
}

/// What the first line of a CSV file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsvFirstLineKind {
    /// The names of the columns.
    Names,
    /// An output.
    Row,
}

/// Outputs on two neighbouring inputs.
#[derive(Debug)]
pub struct SampledOutputs {
    /// The names of their columns.
    pub columns: Vec<String>,
    /// Those on either input, in an order that tells nothing.
    pub outputs: [MechanismOutputs; 2],
    /// Columns with numbers that differ in digits beyond those that are read.
    pub cut: Vec<String>,
}

impl SampledOutputs {
    /// The greatest epsilon that so many outputs can prove: that of a set which all of one and none of the other are
    /// in.
    pub fn max_provable_epsilon(&self, claim: Guarantee, confidence: f64) -> f64 {
        max_provable_epsilon(self.outputs.each_ref(), claim, confidence)
    }
}

/// Reads the outputs of a mechanism on two neighbouring inputs: a row for each, CSV or Parquet, of columns that both
/// files have. A cell is a number or a word, an empty one too; whole numbers of any size below 2^127 are read exactly.
///
/// Rows are brought into a random order, by the seed: an attack judges on other rows than it learns on, and a file that
/// is sorted would tell it apart from the other by the order alone.
///
/// # Errors
/// [`SampledFilesError`].
pub fn read_sampled_outputs(
    one: &Path,
    other: &Path,
    line: Option<CsvFirstLineKind>,
    seed: u32,
) -> Result<SampledOutputs, SampledFilesError> {
    let [first, second] = [read_cells(one, line)?, read_cells(other, line)?];
    if [one, other].map(|path| path.canonicalize().ok()).iter().flatten().count() == 2
        && one.canonicalize().ok() == other.canonicalize().ok()
    {
        return Err(SampledFilesError::SameFile(one.to_path_buf()));
    }
    if first.columns != second.columns {
        let [one, other] = [one, other].map(Path::to_path_buf);
        return Err(SampledFilesError::Columns { one, of_one: first.columns, other, of_other: second.columns });
    }
    let both = [&first, &second];
    let codes: Vec<ColumnEncoding<'_>> =
        (0..first.columns.len()).map(|column| ColumnEncoding::from_files(both, column)).collect();
    let outputs = [0, 1].map(|file| both[file].encode_shuffled_outputs(&codes, &mut row_order_stream(seed, file)));
    if first.is_copy_of(&second) || has_shared_draws(outputs.each_ref()) {
        let [one, other] = [one, other].map(Path::to_path_buf);
        return Err(SampledFilesError::SharedRows { one, other });
    }
    let cut = first.columns.iter().zip(&codes).filter(|(_, code)| code.is_cut);
    let cut = cut.map(|(name, _)| name.clone()).collect();
    Ok(SampledOutputs { columns: first.columns, outputs, cut })
}

fn row_order_stream(seed: u32, file: usize) -> Pcg64 {
    let streams = RandomStreams { seed, data: "samples".to_owned(), block: format!("file {file}"), replicate: 0 };
    streams.block_stream("order")
}

/// The cells of a file, column after column.
pub(super) struct OutputFileCells {
    pub columns: Vec<String>,
    rows: usize,
    cells: Vec<Vec<Option<String>>>,
}

/// Reads a file. A first line that may be an output is one or the other only where it is said.
fn read_cells(path: &Path, first: Option<CsvFirstLineKind>) -> Result<OutputFileCells, SampledFilesError> {
    let table = if first == Some(CsvFirstLineKind::Row) && !is_parquet(path) {
        Table::read(path, &detect_csv_layout(path, &ColumnNameSource::Numbered)?.to_csv_format())?
    } else {
        let columns: Vec<String> = describe_columns(path)?.into_iter().map(|column| column.name).collect();
        read_user_table(path, &columns.iter().map(String::as_str).collect::<Vec<&str>>())?
    };
    let (columns, rows) = (table.column_names(), table.row_count());
    let cells = columns.iter().map(|name| table.text_column(name)).collect::<Result<_, _>>()?;
    let cells = OutputFileCells { columns, rows, cells };
    if first.is_none() && !is_parquet(path) && cells.has_ambiguous_header() {
        return Err(SampledFilesError::FirstLine(path.to_path_buf()));
    }
    if rows < FEWEST {
        return Err(SampledFilesError::Few { path: path.to_path_buf(), rows });
    }
    Ok(cells)
}

impl OutputFileCells {
    /// Whether every name of a column is a number, or a word that stands below it.
    fn has_ambiguous_header(&self) -> bool {
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

    /// Whether this file holds the rows of another one in the same order.
    pub fn is_copy_of(&self, other: &Self) -> bool {
        self.rows == other.rows && is_copy(&self.all_rows(), &other.all_rows())
    }

    fn all_rows(&self) -> Vec<Vec<&str>> {
        (0..self.rows).map(|row| self.row(row)).collect()
    }

    /// The rows as numbers, in random order.
    pub fn encode_shuffled_outputs(&self, codes: &[ColumnEncoding<'_>], stream: &mut Pcg64) -> MechanismOutputs {
        let mut order: Vec<usize> = (0..self.rows).collect();
        // Fisher and Yates: each order is as likely as another.
        for last in (1..self.rows).rev() {
            order.swap(last, stream.random_range(0..=last));
        }
        let mut numbers = Vec::with_capacity(self.rows * self.columns.len());
        for row in order {
            numbers.extend(self.row(row).into_iter().zip(codes).map(|(cell, code)| code.encode_cell(cell)));
        }
        MechanismOutputs::new(self.columns.len(), numbers)
    }
}

fn is_number(cell: &str) -> bool {
    cell.parse::<f64>().is_ok()
}

/// How the cells of one column become numbers that are told apart and ordered as the cells are.
pub(super) struct ColumnEncoding<'c> {
    /// Those that are no numbers, in order.
    words: Vec<&'c str>,
    whole: LargeIntegerEncoding,
    /// Whether cells that differ become the same number.
    pub is_cut: bool,
}

/// Whole numbers, if some are beyond what a double tells apart.
enum LargeIntegerEncoding {
    /// All numbers are doubles.
    PlainDoubles,
    /// Each is taken as its distance from this one, the least.
    OffsetFromLeast(i128),
    /// Each is taken as its rank, since the least and the greatest are too far apart.
    Ranks(BTreeMap<i128, f64>),
}

/// Up to this all whole numbers are doubles.
const EXACT: i128 = 1 << 53;

impl<'c> ColumnEncoding<'c> {
    /// For the cells of a column in both files.
    pub fn from_files(files: [&'c OutputFileCells; 2], column: usize) -> Self {
        let distinct: BTreeSet<&str> = files.into_iter().flat_map(|cells| cells.column(column)).collect();
        let (numbers, words): (Vec<&str>, Vec<&str>) = distinct.into_iter().partition(|cell| is_number(cell));
        let whole = LargeIntegerEncoding::from_numbers(&numbers);
        let is_cut = matches!(whole, LargeIntegerEncoding::PlainDoubles) && long_numbers_collide_as_doubles(&numbers);
        Self { words, whole, is_cut }
    }

    /// A cell as a number; a word is what is no number, with its place among all words in its bits.
    fn encode_cell(&self, cell: &str) -> f64 {
        match (cell.parse::<f64>(), parse_integer(cell)) {
            (Ok(number), Some(whole)) => self.whole.encode_integer(whole).unwrap_or(number),
            (Ok(number), None) => number,
            (Err(_), _) => {
                let place = self.words.partition_point(|word| *word < cell) as u64;
                f64::from_bits(f64::NAN.to_bits() | (place + 1))
            }
        }
    }
}

impl LargeIntegerEncoding {
    /// Whole numbers among the cells that are numbers: none if some have decimals, or all are small.
    fn from_numbers(numbers: &[&str]) -> Self {
        let finite = numbers.iter().filter(|cell| cell.parse::<f64>().is_ok_and(f64::is_finite));
        let Some(mut whole) = finite.map(|cell| parse_integer(cell)).collect::<Option<Vec<i128>>>() else {
            return Self::PlainDoubles;
        };
        whole.sort_unstable();
        whole.dedup();
        let (Some(least), Some(greatest)) = (whole.first().copied(), whole.last().copied()) else {
            return Self::PlainDoubles;
        };
        if least >= -EXACT && greatest <= EXACT {
            return Self::PlainDoubles;
        }
        match greatest.checked_sub(least) {
            Some(width) if width <= EXACT => Self::OffsetFromLeast(least),
            _ => Self::Ranks(whole.into_iter().zip(0u32..).map(|(number, place)| (number, f64::from(place))).collect()),
        }
    }

    fn encode_integer(&self, whole: i128) -> Option<f64> {
        match self {
            Self::PlainDoubles => None,
            Self::OffsetFromLeast(least) => Some((whole - least) as f64),
            Self::Ranks(places) => places.get(&whole).copied(),
        }
    }
}

/// A whole number without decimals and exponent.
fn parse_integer(cell: &str) -> Option<i128> {
    cell.parse().ok()
}

/// Digits beyond which two numbers may be one double.
const DIGITS: usize = 17;

/// Whether two of these are one double although they have more digits than that, and others.
fn long_numbers_collide_as_doubles(numbers: &[&str]) -> bool {
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

    fn written(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn cells_are_numbers_or_words() {
        let folder = tempfile::tempdir().unwrap();
        let text = format!("y,z\n{}", "1.5,yes\n-inf,no\n".repeat(60));
        let path = written(&folder, "a.csv", &text);
        let copy = written(&folder, "b.csv", &format!("y,z\n{}", "-inf,no\n1.5,yes\n".repeat(60)));
        let read = read_sampled_outputs(&path, &copy, None, 1).unwrap();
        assert_eq!((read.columns, read.outputs[0].len()), (vec!["y".to_owned(), "z".to_owned()], 120));
        let rows = |which: usize| read.outputs[which].rows().map(|row| [row[0], row[1]].map(f64::to_bits));
        let (mut one, mut other): (Vec<_>, Vec<_>) = (rows(0).collect(), rows(1).collect());
        // The two files have orders of their own, and the same rows.
        assert_ne!(one, other);
        one.sort_unstable();
        other.sort_unstable();
        assert_eq!(one, other);
        one.dedup();
        let nan = f64::NAN.to_bits();
        assert_eq!(one, [[1.5f64.to_bits(), nan | 2], [f64::NEG_INFINITY.to_bits(), nan | 1]]);
    }

    /// A line of numbers, or of words that stand below it, is asked for; as a row it is one more.
    #[test]
    fn a_first_line_that_may_be_a_row_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let rows = |first: &str| format!("{first}\n{}{}", "1,yes\n".repeat(60), "2,no\n".repeat(60));
        let [one, other] = ["a", "b"].map(|name| written(&folder, name, &rows("7,no")));
        assert!(matches!(read_sampled_outputs(&one, &other, None, 1), Err(SampledFilesError::FirstLine(_))));
        for (line, rows, names) in
            [(CsvFirstLineKind::Names, 120, ["7", "no"]), (CsvFirstLineKind::Row, 121, ["column1", "column2"])]
        {
            let read = read_sampled_outputs(&one, &other, Some(line), 1).unwrap();
            assert_eq!((read.outputs[0].len(), read.columns), (rows, names.map(str::to_owned).to_vec()));
        }
        let [one, other] = ["c", "d"].map(|name| written(&folder, name, &rows("7,z")));
        assert!(read_sampled_outputs(&one, &other, None, 1).is_ok());
    }

    /// Under one name, under two, and in another order.
    #[test]
    fn the_same_rows_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut rows: Vec<String> = (0..300).map(|i| format!("{:?}\n", f64::from(i).sin())).collect();
        let file = |name: &str, rows: &[String]| written(&folder, name, &format!("y\n{}", rows.concat()));
        let one = file("a", &rows);
        let copy = file("b", &rows);
        rows.reverse();
        let backwards = file("c", &rows);
        rows.rotate_left(100);
        let part = file("d", &rows[..150]);
        assert!(matches!(read_sampled_outputs(&one, &one, None, 1), Err(SampledFilesError::SameFile(_))));
        for other in [&copy, &backwards, &part] {
            assert!(matches!(read_sampled_outputs(&one, other, None, 1), Err(SampledFilesError::SharedRows { .. })));
        }
    }

    #[test]
    fn files_that_do_not_fit_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let rows = "1\n".repeat(100);
        let [y, z] = ["y", "z"].map(|name| written(&folder, name, &format!("{name}\n{rows}")));
        let few = written(&folder, "few", "y\n1\n2\n");
        let [differ, few] =
            [(&y, &z), (&y, &few)].map(|(a, b)| read_sampled_outputs(a, b, None, 1).unwrap_err().to_string());
        assert!(differ.contains("has the columns y, but") && differ.contains("has z;"), "{differ}");
        assert!(few.contains("few has 2 rows; an attack needs at least 100"), "{few}");
        assert!(matches!(
            read_sampled_outputs(&y, &folder.path().join("none"), None, 1),
            Err(SampledFilesError::Data(_))
        ));
    }
}

#[cfg(test)]
mod sampled_cells_tests {
    use super::*;

    fn coded(cells: &[&str]) -> (Vec<f64>, bool) {
        let of = |cells: &[&str]| OutputFileCells {
            columns: vec!["y".to_owned()],
            rows: cells.len(),
            cells: vec![cells.iter().map(|cell| Some((*cell).to_owned())).collect()],
        };
        let (one, none) = (of(cells), of(&[]));
        let code = ColumnEncoding::from_files([&one, &none], 0);
        (cells.iter().map(|cell| code.encode_cell(cell)).collect(), code.is_cut)
    }

    /// Also where the least and the greatest are farther apart than a double counts, and beyond 64 bits.
    #[test]
    fn whole_numbers_are_told_apart() {
        let (near, cut) = coded(&["1700000000000000001", "1700000000000000002", "+1700000000000000001"]);
        assert_eq!((near, cut), (vec![0.0, 1.0, 0.0], false));
        let (far, _) = coded(&["-9223372036854775808", "18446744073709551615", "18446744073709551614", "nan"]);
        assert_eq!(far[..3], [0.0, 2.0, 1.0]);
        assert!(far[3].is_nan());
        assert_eq!(coded(&["3", "-5"]).0, [3.0, -5.0]);
    }

    /// Digits that no double holds are said to be cut; those that it was written with are not.
    #[test]
    fn digits_that_are_cut_are_known() {
        assert!(coded(&["1700000000000000001.5", "1700000000000000002.5"]).1);
        assert!(coded(&["1234567890123456789012345678901234567890", "1234567890123456789012345678901234567891"]).1);
        assert!(!coded(&["1.000000000000000056e-01", "2.000000000000000111e-01", "0.1", "0.5"]).1);
    }
}
