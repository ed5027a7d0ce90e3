//! Names that every kind of figure uses.

pub use super::beside::*;
pub use super::drawing::FigureError;
pub use super::drawing::PictureBuilder;
pub use super::estimate::*;
pub use super::frames::*;
pub use super::groups::*;
pub use crate::report::{Report, ReportRow};
pub use dpgp_number::text::{format_brief, format_exact, format_short};
pub use dpgp_plot::*;
pub use dpgp_spec::ValueOwner;
