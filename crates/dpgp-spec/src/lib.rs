//! Experiment specs: turns TOML text into a checked [`Experiment`] whose cells can run. Text is parsed into a
//! raw form (serde, strict) and then checked. Only the checks of this crate create a [`Cell`], and the crates
//! that run experiments accept nothing else. The language does not know any task: the task is a parameter, a
//! [`TaskSection`].

mod catalogue;
mod cell;
mod changes;
mod claim;
mod copied;
mod coverage;
mod document;
mod expand;
mod experiment;
mod figure;
mod schema;
mod section;
pub mod setting;
mod value_table;

pub use catalogue::{Catalogue, NamedSpec, spec_name};
pub use cell::CellSelector;
pub use cell::{Axis, FIXED_COLUMNS, label};
pub use cell::{Cell, CellBlock};
pub use changes::SpecError;
pub use changes::{ChangeParseError, SpecChange, is_changed_experiment};
pub use claim::{Claim, ClaimMargin, ClaimOwner, ClaimRelation, ClaimRightSide, UniformBaseline};
pub use claim::{ReadingMethod, ReferenceValue, SpreadKind, ValueOwner};
pub use copied::strip_paper_content;
pub use coverage::{CoverageError, PaperCoverage, PaperPart, PublishedIn};
pub use document::BrokenGuarantee;
pub use document::{ClaimSelector, NumberSelector, OwnValueSelector, PaperPage, PaperPageRow, has_labels};
pub use document::{DeviationKind, Meta, ProtocolDeviation};
pub use document::{ErratumKind, ErratumWords};
pub use experiment::{Experiment, FEWEST_FOR_QUANTILES};
pub use figure::{
    BarsFigure, CalibrationFigure, CurvesFigure, CurvesSubject, FigureSetting, HintonFigure, HorizontalLineSetting,
    IntervalsFigure, LineGroup, LinesFigure, MapFigure, PairsFigure, ProbabilitiesFigure, TilesFigure, TracesFigure,
    TutorialFigure, ViolinsFigure,
};
pub use schema::TaskSection;
pub use schema::schema;
pub use section::SectionText;
pub use section::SourceText;
pub use section::TextDigest;
pub use value_table::{BestDirection, TableLayout};

use crate::setting::SpecProblem;
