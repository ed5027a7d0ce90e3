//! The mechanisms that certificates name.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::AccountantKind;
use crate::Calibration;

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
