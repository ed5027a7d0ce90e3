//! Privacy: noise calibration, sensitivities, cloaking, the exponential mechanism, certificates.

pub mod accounting;
mod bisect;
mod budget;
mod certificate;
mod cloaking;
mod coinpress;
mod ellipsoid;
mod error;
mod function;
mod gaussian;
mod histogram;
mod lattice;
mod midpoints;
mod moments;
mod newton;
mod private_selection;
mod rounded;
mod rounded_noise;
mod selection;
mod sufficient;
mod zcdp;

pub use budget::{Budget, composed_mu, epsilon_of};
pub use certificate::{
    Caveat, Certificate, GaussianEvent, Guarantee, Mechanism, Neighbours, PrivacyUnit, Release,
};
pub use cloaking::{
    Attempts, Cloak, CloakingOptions, Objective, ReleaseRecipe, RiskDesign, RiskProblem, Solver, cloak,
    cloak_from, risk_cloak,
};
pub use coinpress::{CoinPressStep, Within, coinpress_mean, coinpress_shares, tail_bound};
pub use ellipsoid::{Ellipsoid, NoiseAxes, SumMaps};
pub use error::PrivacyError;
pub use function::{FunctionNoise, FunctionSensitivity};
pub use gaussian::{Calibration, gaussian_delta, gaussian_delta_at_most};
pub use histogram::{Statistic, count_sensitivity};
pub use lattice::{LatticeMap, LatticeRelease, TargetLattice};
pub use midpoints::MidpointBounds;
pub use moments::{
    Frequencies, LeastRisk, MomentsDesign, MomentsNoise, PairTable, PhaseTable, SitePrior, SquareRule,
    WeightSearch, WholeMoments,
};
pub use newton::PrivateStep;
pub use private_selection::PrivateSelection;
pub use rounded::RoundedGaussian;
pub use rounded_noise::RoundedNoise;
pub use selection::{FoldColumns, SensitivityRule, selection_probabilities, sse_sensitivity};
pub use sufficient::{
    HeteroscedasticRule, RecordBounds, SumsNoise, SumsRule, class_sums_sensitivity, free_split,
};
pub use zcdp::{
    gaussian_rho, zcdp_epsilon, zcdp_epsilon_classic, zcdp_rho, zcdp_rho_classic, zcdp_rho_of_pure,
};
