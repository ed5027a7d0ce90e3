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

pub use canvas::{Pen, Stroke};
pub use ends::LineEnd;
pub use layout::{Layout, axis_room, letters_along, title_room};
pub use legend::{LegendEntry, Swatch};
pub use mark::{Anchor, Disc, DiscUnit, Mark, Words, shifted};
pub use palette::{BLACK, COLOURS, Colour, DARK, GREY, GROUND, RED, WHITE, ramp, viridis};
pub use picture::{Backdrop, Panel, Picture, Plot, Side, Ticks};
pub use render::PlotError;
pub use render::{CAPTION_GROUP, PLOT_GAP, Rendered, render, render_captioned};
pub use scale::{Scale, ends, least_gap};
pub use surface::Surface;
pub use surface::{PlotPoint, Rect, spots};
