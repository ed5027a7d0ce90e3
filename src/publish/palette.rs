//! Colours and fonts that all figures share.

use plotters::style::RGBColor;

/// Colours that colour-blind readers can tell apart, by decreasing contrast with white.
pub(super) const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 95, 170),
    RGBColor(200, 80, 0),
    RGBColor(0, 130, 95),
    RGBColor(170, 60, 130),
    RGBColor(95, 95, 95),
    RGBColor(190, 140, 0),
    RGBColor(60, 160, 220),
];
/// Lines behind the data.
pub(super) const GRID: RGBColor = RGBColor(215, 215, 215);
/// Lines that matter less.
pub(super) const GREY: RGBColor = RGBColor(140, 140, 140);
/// The font of all text.
pub(super) const FONT: &str = "sans-serif";
