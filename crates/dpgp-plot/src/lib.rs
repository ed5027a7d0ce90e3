//! The grammar of figures: a figure is marks between axes, in panels below a legend. Each kind of figure makes a [`Picture`], and
//! one renderer draws them all.

mod canvas;
mod layout;
mod legend;
mod picture;
mod render;
mod scale;
mod surface;

pub use canvas::{BLACK, COLOURS, Colour, DARK, GREY, GROUND, MarkShape, Pen, RED, WHITE, ramp_colour, viridis};
pub use layout::{Layout, left_and_right_margins, letters_that_fit, title_height};
pub use legend::{LegendEntry, LineEndLabel, Swatch};
pub use picture::{
    Backdrop, Disc, DiscUnit, Mark, Panel, Picture, Plot, PlotAxis, TextAnchor, TextLabel, Ticks, shift_curve,
};
pub use render::{CAPTION_GROUP, PLOT_GAP, PlotError, RenderedFigure, render, render_with_plot_places};
pub use scale::{Scale, least_gap, min_max};
pub use surface::{PlotPoint, Rect, Surface, points_from_columns};
