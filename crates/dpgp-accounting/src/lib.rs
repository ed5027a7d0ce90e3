#![doc = include_str!("../README.md")]

mod accountant;
mod advanced_composition;
mod calibration;
mod certificate;
mod event;
mod gaussian;
mod loss_distribution;
mod renyi;
mod risk;
mod root;

pub use accountant::{
    Accountant, AccountantKind, AccountingCaveat, AccountingError, AssumedPoissonAccountant, ComputedGuarantee,
    DoubledSensitivityAccountant, EpsilonOrDeltaBounds, GivenEpsilonOrDelta,
};
pub use advanced_composition::AdvancedCompositionAccountant;
pub use calibration::{Calibration, calibrate_noise_multiplier, gaussian_delta, gaussian_delta_upper_bound};
pub use certificate::{
    CalibratedGaussianRelease, Certificate, CertifiedMechanism, Guarantee, GuaranteeCaveat, Neighbours, PrivacyUnit,
    ReleaseKind, UncheckedClaim,
};
pub use event::{NeighbourRelation, PrivacyEvent, Sampling, SamplingSchedule};
pub use gaussian::{
    ExactGaussianAccountant, PrivacyBudget, composed_mu, gaussian_epsilon_at_mu, gaussian_rho_budget, zcdp_epsilon,
    zcdp_epsilon_classic, zcdp_rho, zcdp_rho_classic, zcdp_rho_of_pure,
};
pub use loss_distribution::LossDistributionAccountant;
pub use renyi::RenyiAccountant;
pub use risk::{AttackRisk, FALSE_POSITIVE_RATE};
