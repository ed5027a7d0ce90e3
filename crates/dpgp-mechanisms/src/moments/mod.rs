//! Fourier moments of records whose inputs and targets are private. They are sums of cosines and sines, with
//! and without the targets as weights, and the sum of the squared targets. Gaussian noise is designed for all
//! of them together ([`SquareRule`]).

mod choice;
mod design;
mod frequencies;
mod model;
mod released;
mod search;
mod setting;
mod torus;
mod whole;

pub use design::MomentsDesign;
pub use design::MomentsNoise;
pub use design::SquareRule;
pub use frequencies::Frequencies;
pub use frequencies::PairTable;
pub use frequencies::PhaseTable;
pub use model::{
    DesignQuestion, LEAST_SIGMA, MomentsGuarantee, MomentsModel, MomentsRelease, SimulatedMoments,
    moments_certificate,
};
pub use model::{check_moments, check_stationary, moments_reference, within_box};
pub use released::ReleasedMoments;
pub use released::SurfacePrediction;
pub use search::{LeastRisk, SitePrior, WeightSearch};
pub use setting::MomentsSetting;
pub use whole::IntegerMoments;
