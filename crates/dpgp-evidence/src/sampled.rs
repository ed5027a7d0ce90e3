//! Outputs of anybody's mechanism, from two files.

use std::path::{Path, PathBuf};

use rand_pcg::Pcg64;

use crate::sampled_cells::{ColumnCode, cells};
use crate::shared_rows::share_draws;
use dpgp_accounting::Guarantee;
use dpgp_audit::{Outputs, provable_epsilon};
use dpgp_data::DataError;
use dpgp_task::Streams;

/// Rows of a file below which nothing can be learned.
pub(super) const FEWEST: usize = 100;

/// Why files are no outputs that can be compared.
#[derive(Debug, thiserror::Error)]
pub enum SampledProblem {
    /// A file cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The files have other columns.
    #[error(
        "{} has the columns {}, but {} has {}; outputs of one mechanism have the same", one.display(), list(of_one),
        other.display(), list(of_other)
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
        "{}: the first line may be the names of the columns, or an output like those below it: --first-line names or --first-line row \
         says which", .0.display()
    )]
    FirstLine(PathBuf),
    /// One file for both inputs.
    #[error("{} is named twice; outputs on the two inputs stand in two files", .0.display())]
    SameFile(PathBuf),
    /// Files with the same draws.
    #[error(
        "{} and {} hold the same rows, in whole or in part: outputs on the two inputs must be draws of their own, with random numbers of \
         their own, or an attack would judge by what it has learned from", one.display(), other.display()
    )]
    SharedRows {
        /// The first file.
        one: PathBuf,
        /// The second file.
        other: PathBuf,
    },
    /// A file has too few rows.
    #[error(
        "{} has {rows} rows; an attack needs at least {FEWEST}, and the more there are the more it can prove",
        path.display()
    )]
    Few {
        /// The file.
        path: PathBuf,
        /// Its rows.
        rows: usize,
    },
}

fn list(columns: &[String]) -> String {
    columns.join(", ")
}

/// What the first line of a CSV file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstLine {
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
    pub outputs: [Outputs; 2],
    /// Columns with numbers that differ in digits beyond those that are read.
    pub cut: Vec<String>,
}

impl SampledOutputs {
    /// The greatest epsilon that so many outputs can prove: that of a set which all of one and none of the other are in.
    pub fn provable_epsilon(&self, claim: Guarantee, confidence: f64) -> f64 {
        provable_epsilon(self.outputs.each_ref(), claim, confidence)
    }
}

/// Reads the outputs of a mechanism on two neighbouring inputs: a row for each, CSV or Parquet, of columns that both files
/// have. A cell is a number or a word, an empty one too; whole numbers of any size below 2^127 are read exactly.
///
/// Rows are brought into a random order, by the seed: an attack judges on other rows than it learns on, and a file that is
/// sorted would tell it apart from the other by the order alone.
///
/// # Errors
/// [`SampledProblem`].
pub fn read_sampled(
    one: &Path,
    other: &Path,
    line: Option<FirstLine>,
    seed: u32,
) -> Result<SampledOutputs, SampledProblem> {
    let [first, second] = [cells(one, line)?, cells(other, line)?];
    if [one, other].map(|path| path.canonicalize().ok()).iter().flatten().count() == 2
        && one.canonicalize().ok() == other.canonicalize().ok()
    {
        return Err(SampledProblem::SameFile(one.to_path_buf()));
    }
    if first.columns != second.columns {
        let [one, other] = [one, other].map(Path::to_path_buf);
        return Err(SampledProblem::Columns { one, of_one: first.columns, other, of_other: second.columns });
    }
    let both = [&first, &second];
    let codes: Vec<ColumnCode<'_>> =
        (0..first.columns.len()).map(|column| ColumnCode::of(both, column)).collect();
    let outputs = [0, 1].map(|file| both[file].outputs(&codes, &mut stream(seed, file)));
    if first.are_copied(&second) || share_draws(outputs.each_ref()) {
        let [one, other] = [one, other].map(Path::to_path_buf);
        return Err(SampledProblem::SharedRows { one, other });
    }
    let cut = first.columns.iter().zip(&codes).filter(|(_, code)| code.is_cut);
    let cut = cut.map(|(name, _)| name.clone()).collect();
    Ok(SampledOutputs { columns: first.columns, outputs, cut })
}

fn stream(seed: u32, file: usize) -> Pcg64 {
    let streams = Streams { seed, data: "samples".to_owned(), block: format!("file {file}"), replicate: 0 };
    streams.of_block("order")
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
        let read = read_sampled(&path, &copy, None, 1).unwrap();
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
        assert!(matches!(read_sampled(&one, &other, None, 1), Err(SampledProblem::FirstLine(_))));
        for (line, rows, names) in
            [(FirstLine::Names, 120, ["7", "no"]), (FirstLine::Row, 121, ["column1", "column2"])]
        {
            let read = read_sampled(&one, &other, Some(line), 1).unwrap();
            assert_eq!((read.outputs[0].len(), read.columns), (rows, names.map(str::to_owned).to_vec()));
        }
        let [one, other] = ["c", "d"].map(|name| written(&folder, name, &rows("7,z")));
        assert!(read_sampled(&one, &other, None, 1).is_ok());
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
        assert!(matches!(read_sampled(&one, &one, None, 1), Err(SampledProblem::SameFile(_))));
        for other in [&copy, &backwards, &part] {
            assert!(matches!(read_sampled(&one, other, None, 1), Err(SampledProblem::SharedRows { .. })));
        }
    }

    #[test]
    fn files_that_do_not_fit_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let rows = "1\n".repeat(100);
        let [y, z] = ["y", "z"].map(|name| written(&folder, name, &format!("{name}\n{rows}")));
        let few = written(&folder, "few", "y\n1\n2\n");
        let [differ, few] =
            [(&y, &z), (&y, &few)].map(|(a, b)| read_sampled(a, b, None, 1).unwrap_err().to_string());
        assert!(differ.contains("has the columns y, but") && differ.contains("has z;"), "{differ}");
        assert!(few.contains("few has 2 rows; an attack needs at least 100"), "{few}");
        assert!(matches!(
            read_sampled(&y, &folder.path().join("none"), None, 1),
            Err(SampledProblem::Data(_))
        ));
    }
}
