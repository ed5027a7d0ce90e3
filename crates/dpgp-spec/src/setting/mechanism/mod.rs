//! Mechanisms, each with its settings in a file of its own.

mod binning;
mod cloaking;
mod function;
mod gradient;
mod histogram;
mod moments;
mod sums;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use binning::{BinNoiseLaw, BinningEstimate, BinningSetting};
pub use cloaking::CloakingSetting;
pub use function::FunctionSetting;
pub use gradient::GradientSetting;
pub use histogram::HistogramSetting;
pub use moments::MomentsSetting;
pub use sums::{FeaturesSetting, ProductsSetting, Summed, SumsSetting, SumsShape};

/// The mechanism.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum MechanismSetting {
    /// Gaussian noise with an optimal covariance.
    Cloaking(CloakingSetting),
    /// Clipped and noisy gradients.
    Gradient(GradientSetting),
    /// Noisy sums of a variational model.
    Sums(SumsSetting),
    /// Gaussian noise on Fourier moments of records.
    Moments(MomentsSetting),
    /// Gaussian noise on the counts of a histogram.
    Histogram(HistogramSetting),
    /// A sample of the model's process, added to its mean function.
    Function(FunctionSetting),
    /// Gaussian noise on a statistic of the targets of each bin.
    Binning(BinningSetting),
}

impl MechanismSetting {
    /// Whether an experiment takes the best predictions given what is released: where its spec says so.
    pub fn denoises_experiments(&self) -> bool {
        self.denoise().unwrap_or(false)
    }

    /// Whether a release does: unless its spec says no, since it costs no budget.
    pub fn denoises_releases(&self) -> bool {
        self.denoise().unwrap_or(true)
    }

    /// Whether predictions and noise are designed together, so that a design is for one size of noise.
    pub fn is_risk(&self) -> bool {
        matches!(self, Self::Cloaking(cloaking) if cloaking.is_risk())
    }

    fn denoise(&self) -> Option<bool> {
        match self {
            Self::Cloaking(cloaking) => cloaking.denoise,
            Self::Function(function) => function.denoise,
            Self::Histogram(histogram) => histogram.denoise,
            Self::Binning(binning) => binning.denoise,
            Self::Gradient(_) | Self::Sums(_) | Self::Moments(_) => None,
        }
    }
}
