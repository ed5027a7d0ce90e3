//! Experiment specs: TOML text becomes a checked [`Experiment`] whose cells can run.
//!
//! Two stages: the raw form (serde, strict) and the checked form. Only the checks of this room make a
//! [`Cell`], and the rooms that run experiments accept nothing else.

mod axis;
mod broken;
mod canonical;
mod catalogue;
mod cell;
mod check;
mod claim;
mod density;
mod density_check;
mod document;
mod errata;
mod error;
mod expand;
mod experiment;
mod figure;
mod leaderboard;
mod published;
mod quick;
mod schema;
mod section;
mod select;
mod setting;
mod source;
mod sums;
mod sums_check;

pub use axis::{Axis, FIXED_COLUMNS, label};
pub use broken::Broken;
pub use canonical::Identity;
pub use catalogue::{Catalogue, NamedSpec};
pub use cell::{Block, Cell};
pub use claim::{Claim, Relation};
pub use density::{
    BinningEstimate, BinningSetting, CutSetting, DensityEstimate, DensityTask, FunctionSetting,
    HistogramSetting, ProcessSetting,
};
pub use document::{Deviation, DeviationKind, Meta};
pub use errata::{ErrataTask, Erratum};
pub use error::{Problem, SpecError};
pub use experiment::{Experiment, FEWEST_FOR_QUANTILES};
pub use figure::{
    BarsFigure, CalibrationFigure, CurvesFigure, FigureSetting, HintonFigure, IntervalsFigure, LevelSetting,
    LinesFigure, MapFigure, ProbabilitiesFigure, TilesFigure, TracesFigure, TutorialFigure, ViolinsFigure,
};
pub use leaderboard::{ChooseSetting, LeaderboardTask};
pub use published::{HowRead, Published, SpreadKind};
pub use schema::schema;
pub use section::SectionText;
pub use select::Selector;
pub use setting::*;
pub use source::SourceText;
pub use sums::{
    BudgetRule, CalibrationTask, DirichletRelease, DirichletTask, FeaturesSetting, HyperparametersMethod,
    HyperparametersTask, NoiseAwareSetting, PosteriorRule, RefusalRule, SumsSetting, SurfaceTask,
};
