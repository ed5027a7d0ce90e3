//! Why a figure was not drawn.

use dpgp_plot::PlotError;
use thiserror::Error;

use dpgp_task::MissingColumn;

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
    #[error("the frame `{frame}` has a column `{column}` that its figure does not know; it knows {}", known.join(", "))]
    UnknownColumn {
        /// The name of the frame.
        frame: String,
        /// The column.
        column: String,
        /// The columns that the figure knows; of those that are numbered the name without a number.
        known: Vec<&'static str>,
    },
}
