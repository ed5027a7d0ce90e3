//! Figures: a kind turns rows and frames into marks, and one renderer draws them as SVG.

mod beside;
mod drawing;
mod error;
mod estimate;
#[cfg(test)]
pub(super) mod fabricated;
mod frames;
mod groups;
mod kinds;
mod prelude;
mod preview;
mod shown;

pub use error::FigureError;
pub use kinds::figure_svg;
pub use preview::{WantedError, preview_svg};
pub use shown::figure_json;
