//! Noise on a statistic of the targets of each bin.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Mechanism;
use dpgp_number::Count;
use dpgp_spec::setting::rules::{CheckResult, check_range, fail};
use dpgp_spec::setting::{PersonRowChoiceBasis, SpecProblem};

/// Noise on a statistic of the targets of each bin. The bins cover the training inputs and divide the range of each input
/// into the same number of intervals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BinningSetting {
    /// The number of intervals along each input.
    pub bins: Count,
    /// The statistic that is released for each bin.
    pub statistic: BinStatistic,
    /// The distribution of the noise.
    #[serde(default, skip_serializing_if = "BinNoiseDistribution::is_gaussian")]
    pub noise: BinNoiseDistribution,
    /// How predictions are made from the noisy statistics.
    pub estimate: BinPredictionSetting,
    /// Whether predictions are the best linear predictions given the noisy means, under the process of `[model]`. This is
    /// post-processing and costs no budget. Needs Gaussian noise, the statistic `mean` and the estimate `bin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denoise: Option<bool>,
}

impl Mechanism for BinningSetting {
    fn person_row_choice_basis(&self) -> PersonRowChoiceBasis {
        PersonRowChoiceBasis::Inputs
    }

    fn denoise_setting(&self) -> Option<bool> {
        self.denoise
    }

    fn needs_training_square_matrices(&self) -> bool {
        // Means of bins are denoised by a process on all rows.
        self.denoise == Some(true)
    }
}

/// The distribution of the noise on a statistic of a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BinNoiseDistribution {
    /// Gaussian, with the calibration of `[privacy]`.
    #[default]
    Gaussian,
    /// Laplace. Its scale is `change / epsilon` times how far the statistic can move when one target moves by 1. It needs
    /// no delta and no calibration. One target affects only one bin.
    Laplace,
}

impl BinNoiseDistribution {
    fn is_gaussian(&self) -> bool {
        *self == Self::Gaussian
    }
}

/// How predictions are made from noisy bins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum BinPredictionSetting {
    /// The noisy statistic of the bin that contains the point, or, if that bin is empty, the centre that `normalise` subtracts from
    /// the targets.
    Bin {},
    /// Regression with the integral kernel, with all its parameters fitted by maximum likelihood.
    Integral {
        /// The maximum number of bins to which the parameters are fitted. The bins with the most records are used.
        fitted: Count,
    },
    /// The mean of the noisy statistics, the same for every point: the offset of `estimate.integral` without its process.
    Offset {},
}

/// The most bins of a histogram.
const MOST_BINS: usize = 20_000;

impl BinningSetting {
    /// Checks the numbers, for data with this number of inputs.
    ///
    /// # Errors
    /// [`SpecProblem::OutOfRange`], [`SpecProblem::Shape`] for a statistic that ignores the targets, or [`SpecProblem::NotDenoised`].
    pub fn check(&self, inputs: usize) -> CheckResult {
        let path = "privacy.mechanism.binning";
        let total = (0..inputs).fold(1, |n: usize, _| n.saturating_mul(self.bins.get()));
        check_range(
            &format!("{path}.bins"),
            total <= MOST_BINS,
            "small enough for a grid of at most 20000 bins",
            total as f64,
        )?;
        if self.statistic == BinStatistic::Count {
            let why = "a count ignores the targets; use \"mean\" or \"median\"".to_owned();
            return fail(&format!("{path}.statistic"), SpecProblem::Shape(why));
        }
        self.check_denoise(path)
    }

    fn check_denoise(&self, path: &str) -> CheckResult {
        let needed = match (self.denoise, self.statistic, &self.estimate) {
            (Some(true), _, _) if self.noise == BinNoiseDistribution::Laplace => "noise = \"gaussian\"",
            (None | Some(false), _, _) | (Some(true), BinStatistic::Mean, BinPredictionSetting::Bin {}) => {
                return Ok(());
            }
            (Some(true), BinStatistic::Mean, BinPredictionSetting::Integral { .. }) => {
                "estimate.bin, because the integral kernel already models the noise"
            }
            (Some(true), BinStatistic::Mean, BinPredictionSetting::Offset {}) => {
                "estimate.bin, because an offset is one number"
            }
            (Some(true), _, _) => "statistic = \"mean\", because a median is not linear in the targets",
        };
        fail(&format!("{path}.denoise"), SpecProblem::NotDenoised { needed })
    }
}

/// The statistic that is released for a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BinStatistic {
    /// The number of records in the bin. Specs cannot use it, because a count ignores the targets.
    Count,
    /// The mean of the targets in the bin. Only the targets are private.
    Mean,
    /// The median of the targets in the bin. Only the targets are private.
    Median,
}

impl BinStatistic {
    /// The statistic of the targets in one bin. `None` for an empty bin, which has no mean or median; its count is 0.
    pub fn compute(self, targets: &[f64]) -> Option<f64> {
        let n = targets.len();
        if self == Self::Count {
            return Some(n as f64);
        }
        if n == 0 {
            return None;
        }
        Some(match self {
            Self::Count | Self::Mean => targets.iter().sum::<f64>() / n as f64,
            Self::Median => {
                let mut sorted = targets.to_vec();
                sorted.sort_by(f64::total_cmp);
                0.5 * (sorted[(n - 1) / 2] + sorted[n / 2])
            }
        })
    }

    /// How far the statistic of a bin with `n` records moves when one target moves by at most `change` within an interval
    /// of that length; the number of records is public. Only one bin moves, so noise in proportion to each bin's own
    /// value has the sensitivity 1 in its metric.
    ///
    /// A mean moves by `change / n`. A median of an odd number may move from one end of the interval to the other; of an
    /// even number it is the middle of two neighbours in the order, and `m' - m <= (y_(k+1) - y_(k-1)) / 2 <= change / 2`.
    ///
    /// ```
    /// use dpgp_mechanisms::BinStatistic;
    /// assert_eq!(BinStatistic::Mean.sensitivity(4, 2.0), 0.5);
    /// assert_eq!(BinStatistic::Median.sensitivity(4, 2.0), 1.0);
    /// assert_eq!(BinStatistic::Median.sensitivity(5, 2.0), 2.0);
    /// ```
    pub fn sensitivity(self, n: usize, change: f64) -> f64 {
        match self {
            // No target enters a count, and records are public where targets change.
            Self::Count => 0.0,
            Self::Mean => change / n as f64,
            Self::Median if n % 2 == 1 => change,
            Self::Median => 0.5 * change,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_of_bins_and_how_far_they_move() {
        let targets = [5.0, 1.0, 4.0, 2.0];
        assert_eq!(
            [BinStatistic::Count, BinStatistic::Mean, BinStatistic::Median].map(|which| which.compute(&targets)),
            [Some(4.0), Some(3.0), Some(3.0)]
        );
        assert_eq!(BinStatistic::Median.compute(&targets[..3]), Some(4.0));
        assert_eq!((BinStatistic::Count.compute(&[]), BinStatistic::Mean.compute(&[])), (Some(0.0), None));
        for (n, moves) in [(4, [0.0, 0.75, 1.5]), (5, [0.0, 0.6, 3.0])] {
            let found =
                [BinStatistic::Count, BinStatistic::Mean, BinStatistic::Median].map(|which| which.sensitivity(n, 3.0));
            assert_eq!(found, moves, "{n}");
        }
    }
}
