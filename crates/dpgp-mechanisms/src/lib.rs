//! Mechanisms: the noise that makes a release private, each with its spec settings and the proof of its
//! guarantee.
//!
//! A mechanism implements [`Mechanism`] and has a line in the list of [`MechanismSetting`]. This crate also
//! holds the building blocks of tasks: selections, private means and private Newton steps.

mod binning;
mod cloaking;
mod coinpress;
mod function;
mod gaussian;
mod gradient;
mod histogram;
mod linear;
mod mechanism;
mod moments;
mod newton;
mod private_selection;
mod public_targets;
mod registry;
mod selection;
mod sums;

pub use binning::{BinNoiseLaw, BinningEstimate, BinningSetting, Statistic};
pub use cloaking::{CloakingSetting, cloaking};
pub use coinpress::{CoinPressStep, Within, coinpress_mean, coinpress_shares, tail_bound};
pub use function::{FunctionNoise, FunctionSensitivity, FunctionSetting, NoisyFunction};
pub use gaussian::GaussianSetting;
pub use gradient::GradientSetting;
pub use histogram::{CountsGuarantee, HistogramModel, HistogramSetting, count_sensitivity};
pub use linear::{
    LinearEvidence, LinearFit, LinearMechanism, LinearNoise, LinearRelease, deviations, noisy_predictions,
};
pub use mechanism::Mechanism;
pub use mechanism::MechanismError;
pub use moments::{
    CellsDesign, CellsNoise, CellsRelease, DesignQuestion, Frequencies, IntegerCells, IntegerMoments,
    LEAST_SIGMA, LeastRisk, MomentFeatures, MomentsDesign, MomentsEvidence, MomentsGuarantee, MomentsModel,
    MomentsNoise, MomentsPosterior, MomentsRelease, MomentsSetting, PairTable, PhaseTable, RecordDesign,
    ReleasedCells, ReleasedLevel, ReleasedMoments, ReleasedWaves, SimulatedMoments, SitePrior, SquareRule,
    SurfacePrediction, WeightSearch, check_moments, check_stationary, moments_certificate, moments_reference,
    waves_alone, within_box,
};
pub use newton::PrivateStep;
pub use private_selection::PrivateSelection;
pub use public_targets::public_targets;
pub use registry::{MechanismSetting, PrivacySetting, Sections};
pub use selection::{FoldColumns, SensitivityRule, selection_probabilities, sse_sensitivity};
pub use sums::{
    Ellipsoid, FeaturesSetting, HeteroscedasticRule, MidpointBounds, NoiseAxes, ProductsSetting,
    RecordBounds, SumMaps, SummedTargets, SumsNoise, SumsRule, SumsSetting, SumsShape,
    class_sums_sensitivity, free_split,
};
