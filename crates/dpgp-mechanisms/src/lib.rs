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
mod selection;
mod sums;

pub use binning::{BinNoiseDistribution, BinPredictionSetting, BinStatistic, BinningSetting};
pub use cloaking::{CloakingSetting, require_cloaking_setting};
pub use coinpress::{CoinPressStepDesign, MeanInterval, coinpress_mean, normal_tail_radius, split_coinpress_budget};
pub use function::{FunctionNoiseSetting, FunctionSensitivity, GaussianProcessSampler, MeanFunctionNoise};
pub use gaussian::GaussianSetting;
pub use gradient::GradientSetting;
pub use histogram::{CertifiedCountsNoise, HistogramReleaseDesign, HistogramSetting, histogram_sensitivity};
pub use linear::{
    AuditedLinearMechanism, LinearFit, LinearMechanism, LinearNoise, LinearReleaseMatrices, noise_standard_deviations,
    require_linear_mechanism,
};
pub use mechanism::{CellSections, Mechanism, MechanismError, MechanismSetting, PrivacySetting};
pub use moments::{
    AuditedCellsNoise, AuditedMomentsNoise, AuditedWavesNoise, CertifiedMomentsNoise, FourierDesignProblem,
    FourierMomentsDesign, FourierMomentsNoise, FourierSensitivityRule, Frequencies, FrequencyPairTable,
    IntegerCellSums, IntegerFourierMoments, LEAST_SIGMA, LeastRiskWeights, MomentFeatures, MomentsModel,
    MomentsPosterior, MomentsSetting, NestedCellsDesign, NestedCellsNoise, PhaseTable, RecordMomentsDesign,
    ReleasedCellLevel, ReleasedCellSums, ReleasedFourierMoments, ReleasedMoments, SimulatedMoments, SitePrior,
    SurfacePrediction, WeightRiskObjective, check_spec_for_moments, check_stationary_kernel, check_waves_only,
    moments_certificate, public_target_quantizer, reference_model_for_moments, scale_and_clip_to_box,
};
pub use newton::PrivateNewtonStep;
pub use selection::{
    FoldPredictionMap, PrivateSelection, SseSensitivityRule, selection_probabilities, sse_sensitivity,
};
pub use sums::{
    FeatureBoundSetting, HeteroscedasticSensitivityRule, MidpointFeatureBounds, NoiseAxes, NoiseEllipsoid,
    RecordBounds, SecondSumSetting, SumFeatureMaps, SummedValueKind, SumsNoise, SumsNoiseShape, SumsSensitivityRule,
    SumsSetting, class_sums_sensitivity, max_free_split_ratio,
};
