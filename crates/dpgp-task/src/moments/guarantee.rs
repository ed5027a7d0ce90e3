//! What noise on moments guarantees.

use dpgp_accounting::Relation;
use dpgp_accounting::{Certificate, CertifiedMechanism, GaussianEvent, Neighbours, Release};
use dpgp_mechanisms::MomentsNoise;
use dpgp_mechanisms::PrivacySetting;
use dpgp_noise::RoundedNoise;

/// The noise on the moments of a surface.
#[derive(Debug, Clone)]
pub struct MomentsGuarantee {
    /// Its size.
    pub noise: MomentsNoise,
    /// What is guaranteed.
    pub certificate: Certificate,
    /// Its size against the sensitivity, both in units of a weight of 1.
    pub record: RoundedNoise,
}

/// The multiplier that stands for no noise: exact sums would leave singular matrices.
pub(crate) const LEAST_SIGMA: f64 = 0.01;

/// The noise multiplier of a cell; zero without privacy.
pub(crate) fn sigma(cell: &PrivacySetting) -> f64 {
    cell.calibration.sigma(cell.epsilon.get(), cell.delta.get())
}

/// What is guaranteed of noisy moments by a cell.
pub(crate) fn certificate(cell: &PrivacySetting) -> Certificate {
    let event = GaussianEvent {
        release: Release::Posterior,
        neighbours: Neighbours::OneRecord(Relation::ReplaceOne),
        mechanism: CertifiedMechanism::NoisyMoments,
        calibration: cell.calibration,
        guarantee: cell.guarantee(),
        // The noise is scaled by the closed form, which is a bound.
        sensitivity: 1.0,
    };
    event.certificate()
}
