//! What a kind of figure does.

use super::error::FigureError;
use crate::report::Report;
use dpgp_plot::Picture;

/// Turns the rows and frames of a report into marks.
pub trait Drawing {
    /// The picture of a report, of which it computes nothing.
    ///
    /// # Errors
    /// [`FigureError`] if a frame has not the columns that the kind knows.
    fn picture(&self, report: &Report<'_>) -> Result<Picture, FigureError>;
}
