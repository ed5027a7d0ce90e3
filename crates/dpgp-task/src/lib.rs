//! Measures cells. A task receives a sample, a setting and random streams. It does not know files or threads.

mod audited;
mod averaged;
mod binned;
mod calibration;
mod classification;
mod command;
mod convergence;
mod cross_validation;
mod density;
mod dirichlet;
mod errata;
mod error;
mod given;
mod hyperparameters;
mod job;
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

pub use audited::{
    AuditedAnisotropicSumsNoise, AuditedJointSumsNoise, AuditedMechanism, AuditedPrivateSelection, AuditedSumsNoise,
    RecordSumWeights,
};
pub use dirichlet::DirichletModel;
pub use error::TaskError;
pub use job::{FitSize, MeasurableTask, ReplicateJob, RunCache, TaskRequirements};
pub use measure::{FoldedSample, measure_replicate, split_into_folds};
pub use measurement::{AuditableCertificate, CellMeasurements, FigureTable, MetricMeasurement, MissingColumnError};
pub use memory::ModelMemory;
pub use release::{
    BinAreaOverlap, CountEstimates, ErrorAveragingDomain, ExpectedErrors, PredictionPoints, Predictions, PreviewInput,
    ReleasePreview, ReleasedTargetCombinations, UnnoisedRelease, build_count_axes, drawn_rows_refusal_reason,
    preview_moments, release_refusal_reason,
};
pub use sample::Sample;
pub use selection::SelectionErrorFunction;
pub use summary::{MetricSummary, RandomStreams, summarise};
pub use surface::{CertifiedSumsNoise, SurfaceModel};

pub use calibration::{CalibrationTask, PosteriorRule};
pub use classification::ClassificationTask;
pub use command::{CommandTask, ProgramRequest, ProgramResponse, RequestData, ResponseError, Timeout};
pub use convergence::ConvergenceTask;
pub use density::{DensityEstimate, DensityProcessSetting, DensityTask};
pub use dirichlet::{DirichletReleaseSetting, DirichletTask};
pub use errata::{ErrataTask, Erratum, ErratumNumbers};
pub use given::{GivenNumbersError, GivenNumbersTask, is_same_label};
pub use hyperparameters::{BudgetConversionRule, HyperparametersMethod, HyperparametersTask, ScoreRefusalRule};
pub use leaderboard::{BaselineSetting, LeaderboardTask, LengthscaleChoiceSetting};
pub use posterior::{AdviSetting, PosteriorMethod, PosteriorModel, PosteriorTask};
pub use prediction::PredictionTask;
pub use registry::{Cell, CellSetting, Experiment, TaskSetting};
pub use regression::{RegressionTask, ScoredTargetsSetting};
pub use selection::{
    GpCandidate, GpHyperparameterGrid, ModelCandidate, NoiseScaleRule, RowRangeSetting, SelectionTask,
};
pub use surface::SurfaceTask;
pub use tutorial::TutorialTask;

use noise::TargetChangeGuarantee;
