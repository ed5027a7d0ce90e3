//! What a cell measures. A task sees a sample, a setting and random streams; it knows no files and no threads.

mod binned;
mod calibration;
mod classification;
mod classifier;
mod convergence;
mod cross_validation;
mod density;
mod described;
mod dirichlet;
mod draw;
pub mod errata;
mod error;
mod evidence;
mod frame;
mod grid;
mod hyperparameters;
mod leaderboard;
mod measure;
mod measurement;
mod model;
mod noise;
mod noisy_sums;
mod normalise;
mod one_target;
mod posterior;
mod prediction;
mod registry;
mod regression;
mod release;
mod sample;
mod selection;
mod streams;
mod summary;
mod sums_model;
mod surface;
mod task;
mod tutorial;

pub use density::{CountsGuarantee, HistogramModel};
pub use dirichlet::ClassModel;
pub use error::TaskError;
pub use evidence::{LinearRelease, RecordReleases, Sampled, SelectionDraws, SumsRelease, WeightedLabel};
pub use frame::Frame;
pub use measure::measure;
pub use measurement::{Measured, Measurement};
pub use posterior::Prices;
pub use release::{Predictions, PreparedRelease, refusal};
pub use sample::Sample;
pub use selection::Selected;
pub use streams::Streams;
pub use summary::{Row, summarise};
pub use surface::{SumsGuarantee, SurfaceModel};
pub use task::Job;

pub use calibration::{CalibrationTask, PosteriorRule};
pub use classification::ClassificationTask;
pub use convergence::ConvergenceTask;
pub use density::{DensityEstimate, DensityTask, ProcessSetting};
pub use described::Described;
pub use dirichlet::{DirichletRelease, DirichletTask};
pub use hyperparameters::{BudgetRule, HyperparametersMethod, HyperparametersTask, RefusalRule};
pub use leaderboard::{ChooseSetting, LeaderboardTask};
pub use posterior::{AdviSetting, PosteriorMethod, PosteriorModel, PosteriorTask};
pub use prediction::PredictionTask;
pub use registry::TaskSetting;
pub use regression::{RegressionTask, ScoreSetting};
pub use selection::{Candidate, GpCandidate, GpGrid, RowsSetting, SelectionTask};
pub use surface::SurfaceTask;
pub use tutorial::TutorialTask;

use measurement::Certified;
use one_target::OneTarget;
use task::Task;

/// The setting of a cell.
pub type Setting = crate::setting::Setting<TaskSetting>;

/// A checked point of the grid.
pub type Cell = crate::spec::Cell<TaskSetting>;

/// A spec whose every value has been checked.
pub type Experiment = crate::spec::Experiment<TaskSetting>;
