//! Mechanisms and caveats in certificates, and Gaussian releases before certification.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Certificate, Guarantee, Neighbours, ReleaseKind};
use crate::{AccountantKind, AccountingCaveat, Calibration, gaussian_delta_upper_bound};

/// The mechanism that a guarantee is about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CertifiedMechanism {
    /// Gaussian noise with a covariance shaped by cloaking.
    Cloaking(Calibration),
    /// Independent Gaussian noise of one size.
    Gaussian(Calibration),
    /// Gaussian noise on a histogram.
    Histogram(Calibration),
    /// Laplace noise on a histogram, which satisfies pure differential privacy.
    Laplace,
    /// A sample of a Gaussian process, added to a function.
    Function(Calibration),
    /// The exponential mechanism, which satisfies pure differential privacy.
    Exponential,
    /// Clipped gradients with Gaussian noise, priced by an accountant.
    NoisyGradient(AccountantKind),
    /// Gaussian noise on the sums of a variational model.
    NoisySums(Calibration),
    /// Gaussian noise on Fourier moments of records.
    NoisyMoments(Calibration),
    /// The best of private candidates.
    PrivateSelection,
    /// Nothing hides the targets.
    None,
}

impl fmt::Display for CertifiedMechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (noise, calibration) = match self {
            Self::Cloaking(calibration) => ("cloaking", calibration),
            Self::Gaussian(calibration) => ("Gaussian noise", calibration),
            Self::Histogram(calibration) => ("noise on bins", calibration),
            Self::Function(calibration) => ("a sample of the process", calibration),
            Self::NoisySums(calibration) => ("noisy sums", calibration),
            Self::NoisyMoments(calibration) => ("noisy moments", calibration),
            Self::NoisyGradient(accountant) => return write!(f, "noisy gradients, {accountant}"),
            Self::PrivateSelection => return f.write_str("private selection"),
            Self::Laplace => return f.write_str("Laplace noise on bins"),
            Self::Exponential => return f.write_str("exponential mechanism"),
            Self::None => return f.write_str("none"),
        };
        write!(f, "{noise}, {} calibration", calibration.name())
    }
}

/// A reason why the guarantee holds only in part.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuaranteeCaveat {
    /// Rows were chosen by their private target.
    PrivateFilter,
    /// Targets were clipped, centred or scaled by statistics of the private targets.
    PrivateNormalisation,
    /// Epsilon lies outside the proof of the classic calibration.
    OutsideProof,
    /// The printed sensitivity is not a bound.
    InvalidSensitivity,
    /// Inputs were standardised by statistics of all private rows.
    PrivateStandardisation,
    /// What the accountant leaves out.
    Accounting(AccountingCaveat),
}

impl fmt::Display for GuaranteeCaveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Accounting(caveat) => return caveat.fmt(f),
            Self::PrivateStandardisation => "inputs standardised by statistics of all private rows",
            Self::PrivateFilter => "rows chosen by the private target",
            Self::PrivateNormalisation => "targets normalised by private statistics",
            Self::OutsideProof => "epsilon > 1 is outside the proof of the classic calibration",
            Self::InvalidSensitivity => "the published sensitivity is not a bound",
        })
    }
}

/// Gaussian noise that was added for a guarantee. A literal needs the mechanism, the neighbours and the sensitivity, and
/// there is no other way to a certificate of Gaussian noise: none can be written that lacks one of them.
///
/// Obligation: between neighbours the release moves by at most `sensitivity` standard deviations of its noise at
/// multiplier 1. At the multiplier `sigma` of the calibration `N(0, 1)` and `N(sensitivity / sigma, 1)` are then as far
/// apart as any two of its outputs, and the exact delta is [`gaussian_delta_upper_bound`] of `sigma / sensitivity`
/// (Balle and Wang 2018, Theorem 8).
///
/// ```
/// use dpgp_accounting::NeighbourRelation;
/// use dpgp_accounting::{Calibration, CalibratedGaussianRelease, Guarantee, CertifiedMechanism, Neighbours, ReleaseKind};
/// let certificate = CalibratedGaussianRelease {
///     release: ReleaseKind::Histogram,
///     neighbours: Neighbours::OneRecord(NeighbourRelation::AddRemove),
///     mechanism: CertifiedMechanism::Histogram,
///     calibration: Calibration::Classic,
///     guarantee: Guarantee { epsilon: 1.0, delta: 0.01 },
///     sensitivity: 1.0,
/// }
/// .certificate();
/// // The classic noise is larger than it need be: its exact delta is below the claim.
/// assert!(certificate.delta_exact.is_some_and(|delta| delta < 0.01));
/// assert!(certificate.to_string().starts_with("(1.0, 0.01)-DP for the histogram"));
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CalibratedGaussianRelease {
    /// What is released.
    pub release: ReleaseKind,
    /// Which data sets it hides from each other.
    pub neighbours: Neighbours,
    /// One of the variants of [`CertifiedMechanism`] that hold a calibration.
    pub mechanism: fn(Calibration) -> CertifiedMechanism,
    /// How the noise was set from the guarantee.
    pub calibration: Calibration,
    /// What the noise was set for; an infinite epsilon is no noise.
    pub guarantee: Guarantee,
    /// The true sensitivity over the one that the noise is scaled by: 1 where the noise fits, more is too little noise.
    pub sensitivity: f64,
}

impl CalibratedGaussianRelease {
    /// The certificate of the release.
    pub fn certificate(self) -> Certificate {
        self.certificate_for_steps(1)
    }

    /// The certificate of so many steps, each a release of this kind and each free to follow the results of those before.
    /// The claim is that of basic composition. The exact delta is that of one Gaussian mechanism with the noise over
    /// `sqrt(steps)`, which no adaptive sequence of such steps exceeds (Dong, Roth and Su 2022, Corollary 3.3).
    pub fn certificate_for_steps(self, steps: usize) -> Certificate {
        let Guarantee { epsilon, delta } = self.guarantee;
        if epsilon.is_infinite() {
            return Certificate::none();
        }
        let claimed = self.guarantee.times(steps);
        let sigma = self.calibration.sigma(epsilon, delta) / (self.sensitivity * (steps as f64).sqrt());
        let certificate = Certificate {
            delta_exact: Some(gaussian_delta_upper_bound(sigma, claimed.epsilon)),
            ..Certificate::new(self.release, self.neighbours, (self.mechanism)(self.calibration), claimed)
        };
        // The proof of a calibration is that of one step, at the epsilon of the step.
        certificate.with_caveats(&[(GuaranteeCaveat::OutsideProof, !self.calibration.is_proven_for(epsilon))])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NeighbourRelation;

    fn event(epsilon: f64, calibration: Calibration) -> CalibratedGaussianRelease {
        CalibratedGaussianRelease {
            release: ReleaseKind::Histogram,
            neighbours: Neighbours::OneRecord(NeighbourRelation::AddRemove),
            mechanism: CertifiedMechanism::Histogram,
            calibration,
            guarantee: Guarantee { epsilon, delta: 1e-5 },
            sensitivity: 2.0,
        }
    }

    /// Nine steps with half the noise are one with a sixth of it, at nine times the epsilon.
    #[test]
    fn steps_compose_to_one() {
        let certificate = event(0.1, Calibration::Analytic).certificate_for_steps(9);
        let sigma = Calibration::Analytic.sigma(0.1, 1e-5) / 6.0;
        let exact = certificate.delta_exact.unwrap();
        assert!((exact / gaussian_delta_upper_bound(sigma, 0.9) - 1.0).abs() < 1e-9, "{exact}");
        assert!((certificate.epsilon() - 0.9).abs() < 1e-12 && certificate.caveats.is_empty());
        assert!((certificate.delta().unwrap() - 9e-5).abs() < 1e-18);
    }

    #[test]
    fn what_no_proof_covers_is_an_exception() {
        let caveats = |epsilon| event(epsilon, Calibration::Classic).certificate().caveats;
        assert_eq!((caveats(1.0), caveats(1.5)), (vec![], vec![GuaranteeCaveat::OutsideProof]));
        let nothing = event(f64::INFINITY, Calibration::Classic).certificate();
        assert_eq!((nothing.guarantee, nothing.epsilon(), nothing.delta()), (None, f64::INFINITY, None));
    }
}
