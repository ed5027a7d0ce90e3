//! Reasons why no spec can be drafted.

use std::path::PathBuf;

use thiserror::Error;

use dpgp_data::DataError;

use super::ColumnError;
use crate::ReleaseError;

/// A reason why no spec can be drafted from a file.
#[derive(Debug, Error)]
pub enum DraftError {
    /// The file could not be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The released counts could not be used.
    #[error(transparent)]
    Release(#[from] ReleaseError),
    /// Too few rows for private bounds.
    #[error(
        "{}: private bounds need at least {fewest} rows at an epsilon of 1, but the file has {rows}: with fewer, noise hides the tails and \
         many rows would be clipped. Take the bounds from public knowledge, such as a law, the measurement protocol \
         or a public study",
        path.display()
    )]
    FewRowsForBounds {
        /// The file.
        path: PathBuf,
        /// Its rows.
        rows: usize,
        /// The least number of rows.
        fewest: usize,
    },
    /// Released bounds are of another column.
    #[error("{} holds bounds for {found:?}, but the target is {target:?}", path.display())]
    BoundsOfOther {
        /// The file of counts.
        path: PathBuf,
        /// Its column.
        found: String,
        /// The target.
        target: String,
    },
    /// Released counts that leave no budget.
    #[error(
        "{}: nothing is left of a budget of epsilon = 1 after the cost of these counts, or the file does not \
         say what they cost", .0.display()
    )]
    NoRest(PathBuf),
    /// A file of no bounds.
    #[error("{} is not a file of counts written by `dpgp sum --release`", .0.display())]
    NoCounts(PathBuf),
    /// A file without rows.
    #[error("{} has no rows below its header", .0.display())]
    NoRows(PathBuf),
    /// Too few numeric columns.
    #[error(
        "{} needs at least two numeric columns, an input and a target; it has {}{}",
        path.display(),
        if numbers.is_empty() { "none".to_owned() } else { numbers.join(", ") },
        indent_first_lines(why)
    )]
    FewNumbers {
        /// The file.
        path: PathBuf,
        /// Its numeric columns.
        numbers: Vec<String>,
        /// The reasons why others are left out.
        why: Vec<String>,
    },
    /// Columns that single cells keep from being numeric.
    #[error(
        "{}: not every cell of these columns is a number; correct the cells, or choose columns with --inputs and --target{}", path.display(),
        indent_first_lines(why)
    )]
    MostlyNumbers {
        /// The file.
        path: PathBuf,
        /// The first such cell of each column.
        why: Vec<String>,
    },
    /// Columns that do not exist, or are not numeric.
    #[error("{}: {cause}", path.display())]
    Columns {
        /// The file.
        path: PathBuf,
        /// The reason.
        cause: ColumnError,
    },
    /// A file whose first line is a row of data. The message must not quote it, because its cells are private.
    #[error(
        "{} has numbers where column names should be. The spec is public, so it must not contain values from your data. If the file has \
         no header, use --columns a,b,c or --no-header", .0.display()
    )]
    NumbersForNames(PathBuf),
    /// Options for column names with a file that has its own.
    #[error("{} is a Parquet file, which has its own column names; remove --columns, --no-header and --separator", .0.display())]
    NamedColumns(PathBuf),
}

/// The most lines to show.
const MOST_TOLD: usize = 10;

/// Indents lines below another one, and counts those that are too many to show.
pub fn indent_first_lines(lines: &[String]) -> String {
    let mut text: String = lines.iter().take(MOST_TOLD).map(|line| format!("\n  {line}")).collect();
    if let Some(more) = lines.len().checked_sub(MOST_TOLD).filter(|more| *more > 0) {
        text.push_str(&format!("\n  and {more} more"));
    }
    text
}
