//! Fourier moments of records whose inputs and targets are private. They are sums of cosines and sines, with
//! and without the targets as weights, and the sum of the squared targets. Gaussian noise is designed for all
//! of them together ([`FourierSensitivityRule`]).

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

pub use cells::{IntegerCellSums, NestedCellsDesign, NestedCellsNoise, ReleasedCellLevel, ReleasedCellSums};
pub use design::FourierSensitivityRule;
pub use design::MomentsDesign;
pub use design::MomentsNoise;
pub use frequencies::Frequencies;
pub use frequencies::FrequencyPairTable;
pub use frequencies::PhaseTable;
pub use model::{
    CellsNoiseEvidence, DesignProblem, LEAST_SIGMA, MomentsAuditEvidence, MomentsGuarantee, MomentsModel,
    MomentsNoiseEvidence, RecordMomentsDesign, SimulatedMoments, moments_certificate,
};
pub use model::{check_moments, check_stationary_kernel, check_waves_only, moments_reference, scale_to_unit_box};
pub use released::SurfacePrediction;
pub use released::{MomentsPosterior, ReleasedFourierMoments, ReleasedMoments};
pub use search::{LeastRiskWeights, SitePrior, WeightSearch};
pub use setting::{MomentFeatures, MomentsSetting};
pub use whole::IntegerMoments;
