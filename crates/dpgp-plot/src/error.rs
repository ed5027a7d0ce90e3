//! Why nothing was drawn.

use plotters::drawing::DrawingAreaErrorKind;
use thiserror::Error;

/// The drawing library refused.
#[derive(Debug, Error)]
#[error("the figure could not be drawn: {0}")]
pub struct PlotError(#[from] DrawingAreaErrorKind<std::io::Error>);
