//! The interface of all kinds of figure, and the errors of drawing one.

use thiserror::Error;

use crate::report::Report;
use dpgp_plot::{Picture, PlotError};
use dpgp_task::MissingColumnError;

/// Turns the rows and frames of a report into marks.
pub trait PictureBuilder {
    /// Draws a report without computing any of its numbers.
    ///
    /// # Errors
    /// [`FigureError`] if a frame lacks columns that the kind needs, or has unknown ones.
    fn build_picture(&self, report: &Report<'_>) -> Result<Picture, FigureError>;
}

/// Reasons why a figure was not drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FigureError {
    /// The drawing library refused.
    #[error(transparent)]
    Refused(#[from] PlotError),
    /// A frame lacks a column that the kind of figure needs.
    #[error(transparent)]
    MissingColumn(#[from] MissingColumnError),
    /// A frame has a column unknown to the kind of figure, perhaps a misspelt optional one.
    #[error("the frame `{frame}` has an unknown column `{column}`; its figure accepts {}", known.join(", "))]
    UnknownColumn {
        /// The name of the frame.
        frame: String,
        /// The column.
        column: String,
        /// The columns that the figure accepts; numbered ones by their name without the number.
        known: Vec<&'static str>,
    },
}
