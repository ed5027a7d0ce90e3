//! What a cell measures. A task sees a sample, a setting and random streams; it knows no files and no threads.

mod against_constant;
mod binned;
mod calibration;
mod classification;
mod classifier;
mod convergence;
mod cross_validation;
mod denoised_bins;
mod density;
mod described;
mod dirichlet;
mod errata;
mod error;
mod evidence;
mod fitted_rows;
mod frame;
mod grid;
mod hyperparameters;
mod job;
mod known;
mod leaderboard;
mod measure;
mod measurement;
mod memory;
mod metric;
mod model;
mod noise;
mod noises;
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
mod site_sums;
mod streams;
mod summary;
mod sums_model;
mod surface;
mod tutorial;

pub use dirichlet::ClassModel;
pub use error::TaskError;
pub use evidence::{RecordReleases, Sampled, SelectionDraws, ShapedRelease, SumsRelease, WeightedLabel};
pub use fitted_rows::FittedRows;
pub use frame::{Frame, MissingColumn};
pub use job::{Job, Task};
pub use known::Known;
pub use measure::measure;
pub use measurement::{Certified, Measured, Measurement};
pub use memory::ModelMemory;
pub use release::{
    Expected, Foreknown, Points, Predictions, PreparedRelease, Preview, PreviewedOver, preview_moments,
    refusal,
};
pub use sample::Sample;
pub use selection::Selected;
pub use streams::Streams;
pub use summary::{Row, summarise};
pub use surface::{SumsGuarantee, SurfaceModel};

pub use calibration::{CalibrationTask, PosteriorRule};
pub use classification::ClassificationTask;
pub use convergence::ConvergenceTask;
pub use density::{DensityEstimate, DensityTask, ProcessSetting};
pub use described::Described;
pub use dirichlet::{DirichletRelease, DirichletTask};
pub use errata::{ErrataTask, Erratum, Numbers};
pub use hyperparameters::{BudgetRule, HyperparametersMethod, HyperparametersTask, RefusalRule};
pub use leaderboard::{BaselineSetting, ChooseSetting, LeaderboardTask};
pub use posterior::{AdviSetting, PosteriorMethod, PosteriorModel, PosteriorTask};
pub use prediction::PredictionTask;
pub use registry::{Cell, Experiment, Setting, TaskSetting};
pub use regression::{RegressionTask, ScoreSetting};
pub use selection::{Candidate, GpCandidate, GpGrid, NoiseScale, RowsSetting, SelectionTask};
pub use surface::SurfaceTask;
pub use tutorial::TutorialTask;

use one_target::OneTarget;
