//! Fourier moments of records, with inputs and targets private: sums of cosines and sines, weighed by the targets and plain, and
//! the sum of the squared targets, with Gaussian noise that is designed for all of them together ([`SquareRule`]).

mod choice;
mod design;
mod frequencies;
mod gram_map;
mod lower_bound;
mod model;
mod noise;
mod pairs;
mod phases;
mod reference;
mod released;
mod search;
mod setting;
mod square_rule;
mod surface;
mod torus;
mod whole;

pub use design::MomentsDesign;
pub use frequencies::Frequencies;
pub use model::{
    DesignQuestion, LEAST_SIGMA, MomentsGuarantee, MomentsModel, MomentsRelease, SimulatedMoments,
    moments_certificate,
};
pub use noise::MomentsNoise;
pub use pairs::PairTable;
pub use phases::PhaseTable;
pub use reference::{check_moments, check_stationary, moments_reference, within_box};
pub use released::ReleasedMoments;
pub use search::{LeastRisk, SitePrior, WeightSearch};
pub use setting::MomentsSetting;
pub use square_rule::SquareRule;
pub use surface::SurfacePrediction;
pub use whole::WholeMoments;
