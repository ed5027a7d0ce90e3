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
pub use cell::Selector;
pub use cell::{Axis, FIXED_COLUMNS, label};
pub use cell::{Block, Cell};
pub use changes::SpecError;
pub use changes::{Change, NoChange, is_changed};
pub use claim::{Claim, ClaimOwner, Margin, OtherSide, Relation, UniformPick};
pub use claim::{HowRead, Owner, ReferenceValue, SpreadKind};
pub use copied::copied;
pub use coverage::{Coverage, CoverageError, CoverageItem, PublishedIn};
pub use document::Broken;
pub use document::{ClaimsChosen, NumbersChosen, PaperPage, PlaceRow, ValueChosen, has_labels};
pub use document::{Deviation, DeviationKind, Meta};
pub use document::{ErratumKind, ErratumWords};
pub use experiment::{Experiment, FEWEST_FOR_QUANTILES};
pub use figure::{
    BarsFigure, CalibrationFigure, CurvesFigure, CurvesSubject, FigureSetting, HintonFigure, IntervalsFigure,
    LevelSetting, LineGroup, LinesFigure, MapFigure, PairsFigure, ProbabilitiesFigure, TilesFigure,
    TracesFigure, TutorialFigure, ViolinsFigure,
};
pub use schema::TaskSection;
pub use schema::schema;
pub use section::Identity;
pub use section::SectionText;
pub use section::SourceText;
pub use value_table::{Best, TableLayout};

use crate::setting::Problem;
