//! Settings of histograms and of private functions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RangeSetting;
use crate::kernel::Observed;
use crate::privacy::accounting::Relation;
use crate::privacy::{FunctionSensitivity, Statistic};

/// The density of records over their inputs, estimated from a histogram or from a process on fine bins. The target of
/// a row says how many records it stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DensityTask {
    /// The bins that are counted, along each input.
    pub bins: Vec<CutSetting>,
    /// The bins whose densities are predicted at their centres, along each input.
    pub test: Vec<CutSetting>,
    /// How the density is estimated.
    pub estimate: DensityEstimate,
    /// Draws of the privacy noise.
    pub draws: usize,
    /// Where the figure shows the estimate; in one dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<RangeSetting>,
}

/// A range cut into intervals of one width.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CutSetting {
    /// Where the first begins.
    pub from: f64,
    /// Where the last ends.
    pub to: f64,
    /// How many.
    pub bins: usize,
}

/// How a density is estimated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum DensityEstimate {
    /// The noisy density of the bin that holds a point; needs mechanism.histogram.
    Histogram {},
    /// Regression on the noisy histogram, its variances fitted by maximum likelihood; needs mechanism.histogram.
    Process(ProcessSetting),
    /// Regression on the densities of the bins by the process of [model], with noise on the mean function; needs
    /// mechanism.function.
    Function {
        /// Whether the mean of all densities is subtracted first, which is private and not paid for.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        centred: bool,
    },
}

/// Regression on a histogram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProcessSetting {
    /// What a bin's density is of the latent function: its average over the bin (the integral kernel), or its value at
    /// the centre. The kernel is `exp(-r^2 / l^2)`, without the factor 2.
    pub observed: Observed,
    /// Fixed lengthscales, one per input; fitted without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lengthscales: Option<Vec<f64>>,
    /// Lengthscales that the searches begin with, in widths of a bin; the best fit of all counts.
    #[serde(default = "one_width", skip_serializing_if = "is_one_width")]
    pub widths: Vec<f64>,
    /// Whether the noisy densities are centred and scaled by their own mean and standard deviation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub standardise: bool,
}

fn one_width() -> Vec<f64> {
    vec![1.0]
}

fn is_one_width(widths: &Vec<f64>) -> bool {
    *widths == [1.0]
}

/// Gaussian noise on the counts of a histogram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistogramSetting {
    /// Which data sets are neighbours.
    pub relation: Relation,
}

/// A sample of the model's process, added to its mean function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionSetting {
    /// The sensitivity that scales it.
    pub sensitivity: FunctionSensitivity,
}

/// Noise on a statistic of the targets of each bin, with as many intervals along each input. The bins cover the training
/// inputs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BinningSetting {
    /// Intervals along each input.
    pub bins: usize,
    /// What is released of a bin.
    pub statistic: Statistic,
    /// How predictions are made of it.
    pub estimate: BinningEstimate,
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
        fitted: usize,
    },
}
