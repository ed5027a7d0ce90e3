//! What a cell measures. A task sees a sample, a setting and random streams; it knows no files and no threads.

mod binning;
mod calibration;
mod class_model;
mod classification;
mod clipped_square;
mod convergence;
mod cross_validation;
mod density;
mod dirichlet;
mod draw;
pub mod errata;
mod error;
mod frame;
mod grid;
mod histogram_model;
mod hyperparameters;
mod latent;
mod leaderboard;
mod measure;
mod model;
mod noise;
mod noisy_sums;
mod normalise;
mod posterior;
mod prediction;
mod price;
mod regression;
mod release;
mod sample;
mod selection;
mod streams;
mod summary;
mod surface;
mod surface_model;
mod tutorial;
mod witness;

pub use class_model::ClassModel;
pub use cross_validation::folds;
pub use error::TaskError;
pub use frame::Frame;
pub use histogram_model::{CountsGuarantee, HistogramModel};
pub use measure::{Measured, Measurement, measure};
pub use release::{Predictions, PreparedRelease, refusal};
pub use sample::Sample;
pub use selection::Selected;
pub use streams::Streams;
pub use summary::{Row, summarise};
pub use surface_model::{SumsGuarantee, SurfaceModel};
pub use witness::{
    Evidence, LinearRelease, RecordReleases, Sampled, SelectionDraws, SumsRelease, WeightedLabel, witnessed,
};
