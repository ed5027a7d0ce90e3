//! Figures: a kind turns rows and frames into marks, and one renderer draws them as SVG.

mod beside;
mod drawing;
mod estimate;
#[cfg(test)]
pub(super) mod fabricated;
mod frames;
mod groups;
mod kinds;
mod prelude;
mod preview;
mod words;

pub use drawing::FigureError;
pub use kinds::figure_svg;
pub use preview::figure_json;
pub use preview::{AccuracyGoal, preview_svg};
