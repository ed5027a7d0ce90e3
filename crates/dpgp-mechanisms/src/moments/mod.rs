//! Fourier moments of records whose inputs and targets are private. They are sums of cosines and sines, with
//! and without the targets as weights, and the sum of the squared targets. Gaussian noise is designed for all
//! of them together ([`SquareRule`]).

mod cells;
mod choice;
mod design;
mod frequencies;
mod model;
mod released;
mod search;
mod setting;
mod torus;
mod whole;

pub use cells::{CellsDesign, CellsNoise, IntegerCells, ReleasedCells, ReleasedLevel};
pub use design::MomentsDesign;
pub use design::MomentsNoise;
pub use design::SquareRule;
pub use frequencies::Frequencies;
pub use frequencies::PairTable;
pub use frequencies::PhaseTable;
pub use model::{
    CellsRelease, DesignQuestion, LEAST_SIGMA, MomentsEvidence, MomentsGuarantee, MomentsModel,
    MomentsRelease, RecordDesign, SimulatedMoments, moments_certificate,
};
pub use model::{check_moments, check_stationary, moments_reference, waves_alone, within_box};
pub use released::SurfacePrediction;
pub use released::{MomentsPosterior, ReleasedMoments, ReleasedWaves};
pub use search::{LeastRisk, SitePrior, WeightSearch};
pub use setting::{MomentFeatures, MomentsSetting};
pub use whole::IntegerMoments;
