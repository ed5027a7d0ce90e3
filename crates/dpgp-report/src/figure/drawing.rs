//! What a kind of figure does.
//!
//! Why a figure was not drawn.

use thiserror::Error;

use crate::report::Report;
use dpgp_plot::{Picture, PlotError};
use dpgp_task::MissingColumn;

/// Turns the rows and frames of a report into marks.
pub trait Drawing {
    /// The picture of a report, of which it computes nothing.
    ///
    /// # Errors
    /// [`FigureError`] if a frame has not the columns that the kind knows.
    fn picture(&self, report: &Report<'_>) -> Result<Picture, FigureError>;
}

/// Why a figure was not drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FigureError {
    /// The drawing library refused.
    #[error(transparent)]
    Refused(#[from] PlotError),
    /// A frame lacks a column that the kind of figure needs.
    #[error(transparent)]
    MissingColumn(#[from] MissingColumn),
    /// A frame has a column that the kind of figure does not know: it may be a misspelt optional one.
    #[error("the frame `{frame}` has an unknown column `{column}`; its figure knows {}", known.join(", "))]
    UnknownColumn {
        /// The name of the frame.
        frame: String,
        /// The column.
        column: String,
        /// The columns that the figure knows; of those that are numbered the name without a number.
        known: Vec<&'static str>,
    },
}
