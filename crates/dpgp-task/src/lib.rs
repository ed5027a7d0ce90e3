//! Measures cells. A task receives a sample, a setting and random streams. It does not know files or threads.

mod averaged;
mod binned;
mod calibration;
mod classification;
mod command;
mod convergence;
mod cross_validation;
mod denoised_bins;
mod density;
mod dirichlet;
mod errata;
mod error;
mod evidence;
mod given;
mod hyperparameters;
mod job;
mod known;
mod leaderboard;
mod measure;
mod measurement;
mod memory;
mod model;
mod noise;
mod noisy_sums;
mod normalise;
mod posterior;
mod prediction;
mod registry;
mod regression;
mod release;
mod sample;
mod selection;
mod site_sums;
mod summary;
mod surface;
mod tutorial;

pub use dirichlet::ClassModel;
pub use error::TaskError;
pub use evidence::{RecordReleases, Sampled, SelectionDraws, ShapedRelease, SumsRelease, WeightedLabel};
pub use job::FittedRows;
pub use job::{Job, Task};
pub use known::RunCache;
pub use measure::measure;
pub use measurement::{Certified, Measured, Measurement};
pub use measurement::{Frame, MissingColumn};
pub use memory::ModelMemory;
pub use release::{
    CountEstimates, Expected, PartOfBin, Points, Predictions, PreparedRelease, Preview, PreviewInput,
    PreviewedOver, ReleasedCombinations, count_axes, preview_moments, refusal,
};
pub use sample::Sample;
pub use selection::Selected;
pub use summary::Streams;
pub use summary::{Row, summarise};
pub use surface::{SumsGuarantee, SurfaceModel};

pub use calibration::{CalibrationTask, PosteriorRule};
pub use classification::ClassificationTask;
pub use command::{AnswerError, CommandTask, ProgramAnswer, ProgramQuestion, QuestionData, Timeout};
pub use convergence::ConvergenceTask;
pub use density::{DensityEstimate, DensityTask, ProcessSetting};
pub use dirichlet::{DirichletRelease, DirichletTask};
pub use errata::{ErrataTask, Erratum, Numbers};
pub use given::{GivenError, GivenTask, is_label};
pub use hyperparameters::{BudgetRule, HyperparametersMethod, HyperparametersTask, RefusalRule};
pub use job::TaskSpec;
pub use leaderboard::{BaselineSetting, ChooseSetting, LeaderboardTask};
pub use posterior::{AdviSetting, PosteriorMethod, PosteriorModel, PosteriorTask};
pub use prediction::PredictionTask;
pub use registry::{Cell, Experiment, Setting, TaskSetting};
pub use regression::{RegressionTask, ScoreSetting};
pub use selection::{Candidate, GpCandidate, GpGrid, NoiseScale, RowsSetting, SelectionTask};
pub use surface::SurfaceTask;
pub use tutorial::TutorialTask;

use noise::TargetGuarantee;
