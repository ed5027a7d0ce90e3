//! Figures: a kind turns rows and frames into marks, and one renderer draws them as SVG.

#[cfg(test)]
pub(super) mod fabricated;
mod frames;
mod kinds;
mod panels;
mod preview;

pub use frames::FigureError;
pub use kinds::figure_svg;
pub use preview::{AccuracyGoal, figure_frames_json, preview_svg};
