//! Experiment specs: turns TOML text into a checked [`Experiment`] whose cells can run. Text is parsed into a
//! raw form (serde, strict) and then checked. Only the checks of this crate create a [`Cell`], and the crates
//! that run experiments accept nothing else. The language does not know any task: the task is a parameter, a
//! [`TaskSection`].

mod catalogue;
mod cell;
mod changes;
mod claim;
mod document;
mod expand;
mod experiment;
mod figure;
mod section;
pub mod setting;
mod value_table;

pub use catalogue::{
    CatalogueFile, ClaimSelector, OurNumberSelector, PaperCoverage, PaperFileError, PaperPart, PaperReportPage,
    PaperReportRow, PrintedNumberSelector, PublishedIn, SpecCatalogue, cell_has_labels, spec_name,
};
pub use cell::{Cell, CellBlock, CellSelector, ExperimentAxis, FIXED_COLUMNS, TaskSection, axis_value_label};
pub use changes::{ChangeParseError, SpecChange, SpecError, is_changed_experiment_name, strip_paper_content};
pub use claim::{
    Claim, ClaimMargin, ClaimOwner, ClaimRelation, ClaimRightSide, ReadingMethod, ReferenceValue, ReferenceValueOwner,
    SpreadKind, UniformBaseline,
};
pub use document::{BrokenGuarantee, DeviationKind, ErratumKind, ErratumWords, Meta, ProtocolDeviation, schema};
pub use experiment::{Experiment, FEWEST_FOR_QUANTILES};
pub use figure::{
    BarsFigure, CalibrationFigure, CurvesFigure, CurvesSubject, FigureSetting, HintonFigure, HorizontalLineSetting,
    IntervalsFigure, LinePanel, LinesFigure, MapFigure, PairsFigure, ProbabilitiesFigure, TilesFigure, TracesFigure,
    TutorialFigure, ViolinsFigure,
};
pub use section::{SectionText, SourceText, TextDigest};
pub use value_table::{BestDirection, TableLayout};

use crate::setting::SpecProblem;
