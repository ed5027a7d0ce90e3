//! What the kinds of figure draw with.

pub use super::beside::*;
pub use super::drawing::Drawing;
pub use super::error::FigureError;
pub use super::estimate::*;
pub use super::frames::*;
pub use super::grammar::*;
pub use super::groups::*;
pub use crate::report::{Report, ReportRow};
pub use crate::table::number::{brief, exact, short};
pub use dpgp_spec::Owner;
