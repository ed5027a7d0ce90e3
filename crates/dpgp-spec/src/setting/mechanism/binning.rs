//! Noise on a statistic of the targets of each bin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Problem;
use super::super::rules::{Checked, fail, range};
use dpgp_mechanisms::Statistic;
use dpgp_number::Count;

/// Noise on a statistic of the targets of each bin, with as many intervals along each input. The bins cover the training
/// inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BinningSetting {
    /// Intervals along each input.
    pub bins: Count,
    /// What is released of a bin.
    pub statistic: Statistic,
    /// The law of the noise.
    #[serde(default, skip_serializing_if = "BinNoiseLaw::is_gaussian")]
    pub noise: BinNoiseLaw,
    /// How predictions are made of it.
    pub estimate: BinningEstimate,
    /// Whether predictions are the best linear ones given the noisy means, under the process of `[model]`: post-processing, which costs no
    /// budget. Needs the statistic mean and the estimate bin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denoise: Option<bool>,
}

/// The law of the noise on a statistic of a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BinNoiseLaw {
    /// Gaussian, by the calibration of `[privacy]`.
    #[default]
    Gaussian,
    /// Laplace, of the scale `change / epsilon` times what one target moves the statistic by; it needs no delta and no
    /// calibration. One target moves one bin only.
    Laplace,
}

impl BinNoiseLaw {
    fn is_gaussian(&self) -> bool {
        *self == Self::Gaussian
    }
}

/// How predictions are made of noisy bins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum BinningEstimate {
    /// The statistic of the bin that holds a point; the centre of the targets where it is empty.
    Bin {},
    /// Regression with the integral kernel, all its parameters by maximum likelihood.
    Integral {
        /// The bins with the most records, so many at most, that the parameters are fitted to.
        fitted: Count,
    },
    /// The mean of the noisy statistics, the same for every point: the offset of the process of estimate.integral without the
    /// process.
    Offset {},
}

/// The most bins of a histogram.
const MOST_BINS: usize = 20_000;

impl BinningSetting {
    /// Checks the numbers, for data with so many inputs.
    ///
    /// # Errors
    /// [`Problem::OutOfRange`], a statistic that says nothing of targets, or [`Problem::NotDenoised`].
    pub fn check(&self, inputs: usize) -> Checked {
        let path = "privacy.mechanism.binning";
        let total = (0..inputs).fold(1, |n: usize, _| n.saturating_mul(self.bins.get()));
        range(&format!("{path}.bins"), total <= MOST_BINS, "a grid of at most 20000 bins", total as f64)?;
        if self.statistic == Statistic::Count {
            let why = "a count tells nothing of targets; use \"mean\" or \"median\"".to_owned();
            return fail(&format!("{path}.statistic"), Problem::Shape(why));
        }
        self.check_denoise(path)
    }

    fn check_denoise(&self, path: &str) -> Checked {
        let needed = match (self.denoise, self.statistic, &self.estimate) {
            (Some(true), _, _) if self.noise == BinNoiseLaw::Laplace => "noise = \"gaussian\"",
            (None | Some(false), _, _) | (Some(true), Statistic::Mean, BinningEstimate::Bin {}) => {
                return Ok(());
            }
            (Some(true), Statistic::Mean, BinningEstimate::Integral { .. }) => {
                "estimate.bin: that of the integral kernel knows the noise already"
            }
            (Some(true), Statistic::Mean, BinningEstimate::Offset {}) => {
                "estimate.bin: an offset is one number"
            }
            (Some(true), _, _) => "statistic = \"mean\": a median is not linear in the targets",
        };
        fail(&format!("{path}.denoise"), Problem::NotDenoised { needed })
    }
}
