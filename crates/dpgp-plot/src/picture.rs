//! A figure before it is drawn: marks between axes, in panels below a legend.

use super::ends::LineEndLabel;
use super::layout::Layout;
use super::legend::LegendEntry;
use super::mark::Mark;
use super::palette::Colour;
use super::scale::Scale;

/// Everything that the renderer needs except the title.
#[derive(Debug, Clone)]
pub struct Picture {
    /// The meaning of signs and colours.
    pub legend: Vec<LegendEntry>,
    /// Sizes, and panels in a row.
    pub layout: Layout,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
}

impl Picture {
    /// With a letter before the title of each panel, if there are several.
    #[must_use]
    pub fn with_panel_letters(mut self) -> Self {
        if self.panels.len() > 1 {
            for (panel, letter) in self.panels.iter_mut().zip('A'..='Z') {
                panel.title = format!("({letter}) {}", panel.title);
            }
        }
        self
    }
}

/// Plots below a title.
#[derive(Debug, Clone)]
pub struct Panel {
    /// The title above it.
    pub title: String,
    /// Its width in columns of panels.
    pub span: usize,
    /// One below the other; most panels have one.
    pub plots: Vec<Plot>,
}

impl Panel {
    /// A panel with a title.
    pub fn new(title: impl Into<String>, plot: Plot) -> Self {
        Self { title: title.into(), span: 1, plots: vec![plot] }
    }
}

/// A pair of axes, and the marks between them.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The part of the height of its panel.
    pub share: f64,
    /// The ground behind the marks.
    pub backdrop: Backdrop,
    /// The horizontal axis.
    pub x: PlotAxis,
    /// The vertical axis.
    pub y: PlotAxis,
    /// The marks, the first at the bottom.
    pub marks: Vec<Mark>,
    /// The names of lines, at their ends.
    pub ends: Vec<LineEndLabel>,
    /// What the plot leaves out, above it.
    pub note: String,
}

impl Plot {
    /// A plot on a plain ground.
    pub fn new(x: PlotAxis, y: PlotAxis, marks: Vec<Mark>) -> Self {
        Self { share: 1.0, backdrop: Backdrop::Plain, x, y, marks, ends: Vec::new(), note: String::new() }
    }
}

/// The ground behind the marks, or the frame around them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Backdrop {
    /// Nothing.
    Plain,
    /// A frame around them.
    Framed,
    /// A ground of this colour.
    Filled(Colour),
}

/// An axis of a plot.
#[derive(Debug, Clone)]
pub struct PlotAxis {
    /// From values to places.
    pub scale: Scale,
    /// The quantity, with units.
    pub label: String,
    /// Its numbers.
    pub ticks: Ticks,
    /// What infinity is called.
    pub infinity: &'static str,
}

/// The ticks along an axis.
#[derive(Debug, Clone, PartialEq)]
pub enum Ticks {
    /// Numbers.
    Values,
    /// Numbers, and lines from edge to edge.
    Lines,
    /// As many numbers as have room along an x axis, between words at both ends if there are any, with or without lines from edge to edge.
    Fitting {
        /// The words at both ends.
        ends: Option<[String; 2]>,
        /// Whether there are lines.
        lines: bool,
    },
    /// Nothing.
    Bare,
    /// Names at 1/2, 3/2, ...
    Names(Vec<String>),
}

impl PlotAxis {
    /// An axis with numbers.
    pub fn with_numbers(scale: Scale, label: impl Into<String>) -> Self {
        Self { scale, label: label.into(), ticks: Ticks::Values, infinity: "inf" }
    }

    /// An axis with numbers, and lines across the plot.
    pub fn with_grid_lines(scale: Scale, label: impl Into<String>) -> Self {
        Self { ticks: Ticks::Lines, ..Self::with_numbers(scale, label) }
    }

    /// An axis with as many numbers as have room.
    pub fn with_fitting_ticks(scale: Scale, label: impl Into<String>) -> Self {
        Self { ticks: Ticks::Fitting { ends: None, lines: false }, ..Self::with_numbers(scale, label) }
    }

    /// With another word for infinity.
    #[must_use]
    pub fn with_infinity_name(self, infinity: &'static str) -> Self {
        Self { infinity, ..self }
    }

    /// An axis without numbers: the plot below shows them.
    pub fn without_ticks(scale: Scale) -> Self {
        Self { ticks: Ticks::Bare, ..Self::with_numbers(scale, "") }
    }

    /// An axis with a name in each of its rooms of width 1.
    pub fn with_names(names: Vec<String>, label: impl Into<String>) -> Self {
        let scale = Scale::between(0.0, names.len() as f64);
        Self { ticks: Ticks::Names(names), ..Self::with_numbers(scale, label) }
    }
}
