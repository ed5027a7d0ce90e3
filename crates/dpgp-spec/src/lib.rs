//! Experiment specs: TOML text becomes a checked [`Experiment`] whose cells can run.
//!
//! Two stages: the raw form (serde, strict) and the checked form. Only the checks of this room make a
//! [`Cell`], and the rooms that run experiments accept nothing else. The language knows no task: what is measured is a
//! parameter, a [`TaskSection`].

mod axis;
mod beside;
mod broken;
mod canonical;
mod catalogue;
mod cell;
mod changes;
mod claim;
mod claim_check;
mod copied;
mod counterpart;
mod coverage;
mod document;
mod error;
mod expand;
mod experiment;
mod figure;
mod layout;
mod page;
mod schema;
mod section;
mod select;
pub mod setting;
mod source;
mod task_section;
mod value_table;
mod words;

pub use axis::{Axis, FIXED_COLUMNS, label};
pub use broken::Broken;
pub use canonical::Identity;
pub use catalogue::{Catalogue, NamedSpec, spec_name};
pub use cell::{Block, Cell};
pub use changes::{Change, NoChange, is_changed};
pub use claim::{Claim, ClaimOwner, Margin, OtherSide, Relation, UniformPick};
pub use copied::copied;
pub use counterpart::{Counterpart, HowRead, Owner, SpreadKind};
pub use coverage::{Coverage, CoverageError, CoverageItem};
pub use document::{Deviation, DeviationKind, Meta};
pub use error::SpecError;
pub use experiment::{Experiment, FEWEST_FOR_QUANTILES};
pub use figure::{
    BarsFigure, CalibrationFigure, CurvesFigure, CurvesSubject, FigureSetting, HintonFigure, IntervalsFigure,
    LevelSetting, LinesFigure, MapFigure, PairsFigure, ProbabilitiesFigure, TilesFigure, TracesFigure,
    TutorialFigure, ViolinsFigure,
};
pub use layout::{Best, TableLayout};
pub use page::{ClaimsChosen, NumbersChosen, PaperPage, PlaceRow, ValueChosen, has_labels};
pub use schema::schema;
pub use section::SectionText;
pub use select::Selector;
pub use source::SourceText;
pub use task_section::TaskSection;
pub use words::{ErratumKind, ErratumWords};

use crate::setting::Problem;
