//! Outputs of anybody's mechanism, from two files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rand_pcg::Pcg64;

use super::attack::{Outputs, provable_epsilon};
use super::sampled_cells::{Cells, cells};
use crate::data::DataError;
use crate::privacy::Guarantee;
use crate::task::Streams;

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

/// Outputs on two neighbouring inputs.
#[derive(Debug)]
pub struct SampledOutputs {
    /// The names of their columns.
    pub columns: Vec<String>,
    /// Those on either input, in an order that tells nothing.
    pub outputs: [Outputs; 2],
}

impl SampledOutputs {
    /// The greatest epsilon that so many outputs can prove: that of a set which all of one and none of the other are in.
    pub fn provable_epsilon(&self, claim: Guarantee, confidence: f64) -> f64 {
        provable_epsilon(self.outputs.each_ref(), claim, confidence)
    }
}

/// Reads the outputs of a mechanism on two neighbouring inputs: a row for each, CSV or Parquet, of columns that both files
/// have. A cell is a number or a word, an empty one too.
///
/// Rows are brought into a random order, by the seed: an attack judges on other rows than it learns on, and a file that is
/// sorted would tell it apart from the other by the order alone.
///
/// # Errors
/// [`SampledProblem`].
pub fn read_sampled(one: &Path, other: &Path, seed: u32) -> Result<SampledOutputs, SampledProblem> {
    let [first, second] = [cells(one)?, cells(other)?];
    if first.columns != second.columns {
        let [one, other] = [one, other].map(Path::to_path_buf);
        return Err(SampledProblem::Columns { one, of_one: first.columns, other, of_other: second.columns });
    }
    let both = [&first, &second];
    let words: BTreeSet<&str> = both.into_iter().flat_map(Cells::words).collect();
    let words: Vec<&str> = words.into_iter().collect();
    let outputs = [0, 1].map(|file| both[file].outputs(&words, &mut stream(seed, file)));
    Ok(SampledOutputs { columns: first.columns, outputs })
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
        let read = read_sampled(&path, &path, 1).unwrap();
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

    #[test]
    fn files_that_do_not_fit_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let rows = "1\n".repeat(100);
        let [y, z] = ["y", "z"].map(|name| written(&folder, name, &format!("{name}\n{rows}")));
        let few = written(&folder, "few", "y\n1\n2\n");
        let [differ, few] =
            [(&y, &z), (&y, &few)].map(|(a, b)| read_sampled(a, b, 1).unwrap_err().to_string());
        assert!(differ.contains("has the columns y, but") && differ.contains("has z;"), "{differ}");
        assert!(few.contains("few has 2 rows; an attack needs at least 100"), "{few}");
        assert!(matches!(read_sampled(&y, &folder.path().join("none"), 1), Err(SampledProblem::Data(_))));
    }
}
