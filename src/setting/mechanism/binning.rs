//! Noise on a statistic of the targets of each bin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Problem;
use super::super::rules::{Checked, fail, range};
use crate::number::Count;
use crate::privacy::Statistic;

/// Noise on a statistic of the targets of each bin, with as many intervals along each input. The bins cover the training
/// inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BinningSetting {
    /// Intervals along each input.
    pub bins: Count,
    /// What is released of a bin.
    pub statistic: Statistic,
    /// How predictions are made of it.
    pub estimate: BinningEstimate,
    /// Whether predictions are the best linear ones given the noisy means, under the process of `[model]`: post-processing, which costs no
    /// budget. Needs the statistic mean and the estimate bin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denoise: Option<bool>,
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
            (None | Some(false), _, _) | (Some(true), Statistic::Mean, BinningEstimate::Bin {}) => {
                return Ok(());
            }
            (Some(true), Statistic::Mean, BinningEstimate::Integral { .. }) => {
                "estimate.bin: that of the integral kernel knows the noise already"
            }
            (Some(true), _, _) => "statistic = \"mean\": a median is not linear in the targets",
        };
        fail(&format!("{path}.denoise"), Problem::NotDenoised { needed })
    }
}
