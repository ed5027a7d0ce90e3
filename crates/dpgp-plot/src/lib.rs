//! The grammar of figures: a figure is marks between axes, in panels below a legend. Each kind of figure makes a [`Picture`], and
//! one renderer draws them all.

mod canvas;
mod ends;
mod layout;
mod legend;
mod mark;
mod palette;
mod picture;
mod render;
mod scale;
mod stage;
mod surface;

pub use canvas::{MarkShape, Pen};
pub use ends::LineEndLabel;
pub use layout::{Layout, axis_margins, letters_that_fit, title_height};
pub use legend::{LegendEntry, Swatch};
pub use mark::{Disc, DiscUnit, Mark, TextAnchor, TextLabel, shift_curve};
pub use palette::{BLACK, COLOURS, Colour, DARK, GREY, GROUND, RED, WHITE, ramp, viridis};
pub use picture::{Backdrop, Panel, Picture, Plot, PlotAxis, Ticks};
pub use render::PlotError;
pub use render::{CAPTION_GROUP, PLOT_GAP, RenderedFigure, render, render_captioned};
pub use scale::{Scale, least_gap, min_max};
pub use surface::Surface;
pub use surface::{PlotPoint, Rect, points_from_columns};
