//! Names that every kind of figure uses.

pub use super::beside::*;
pub use super::drawing::Drawing;
pub use super::drawing::FigureError;
pub use super::estimate::*;
pub use super::frames::*;
pub use super::groups::*;
pub use crate::report::{Report, ReportRow};
pub use dpgp_number::text::{brief, exact, short};
pub use dpgp_plot::*;
pub use dpgp_spec::Owner;
