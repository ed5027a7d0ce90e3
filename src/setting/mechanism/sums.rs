//! Gaussian noise on the two sums of a variational model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::rules::{Checked, dimension, fail, range};
use super::super::{Problem, RangeSetting};
use crate::number::Positive;
use crate::privacy::SumsRule;

/// The settings of Gaussian noise on the two sums of a variational model. Neighbours replace one record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SumsSetting {
    /// The public bound that targets are clipped to, on either side of zero; labels need none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_bound: Option<Positive>,
    /// The bound on the covariances of one input with the inducing inputs.
    pub features: FeaturesSetting,
    /// The ratio of the noise variances on the two sums.
    #[serde(default = "one")]
    pub split: Positive,
    /// How the sensitivity is bounded.
    pub sensitivity: SumsRule,
}

fn one() -> Positive {
    Positive::ONE
}

/// Bounds on the norm of the covariances of one input with the inducing inputs. On a product grid each but
/// `trivial` and `separated` is the product of those of its sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FeaturesSetting {
    /// The number of inducing inputs.
    Trivial,
    /// By their spacing on a line, as printed in the paper.
    PrintedLine,
    /// The same without its two superfluous terms.
    Line,
    /// By their least distance.
    Separated,
    /// The supremum over a public box: its ends in each dimension.
    Supremum(Vec<[f64; 2]>),
}

/// What is summed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Summed {
    /// Numerical targets, which a bound clips.
    Targets,
    /// Labels of classes, which are bounded by themselves.
    Labels,
}

impl SumsSetting {
    /// Checks the numbers, for data with so many inputs.
    ///
    /// # Errors
    /// [`Problem::MissingKey`], [`Problem::OutOfRange`], [`Problem::WrongDimension`].
    pub fn check(&self, inputs: usize, summed: Summed) -> Checked {
        let path = "privacy.mechanism.sums";
        match (self.target_bound, summed) {
            (Some(_), _) | (None, Summed::Labels) => {}
            (None, Summed::Targets) => {
                return fail(path, Problem::MissingKey { key: "target_bound", by: "a numerical target" });
            }
        }
        let FeaturesSetting::Supremum(domain) = &self.features else { return Ok(()) };
        dimension(SUPREMUM, inputs, domain.len())?;
        domain.iter().try_for_each(|[low, high]| {
            range(SUPREMUM, low < high && low.is_finite() && high.is_finite(), "rising and finite", *high)
        })
    }

    /// Fails unless the box of a supremum holds the inducing inputs. Then the bound holds for inputs anywhere: a step
    /// towards the inducing inputs raises every covariance.
    ///
    /// # Errors
    /// [`Problem::OutOfRange`].
    pub fn holds(&self, inducing: &[RangeSetting]) -> Checked {
        let FeaturesSetting::Supremum(domain) = &self.features else { return Ok(()) };
        inducing.iter().zip(domain).try_for_each(|(inducing, [low, high])| {
            range(SUPREMUM, *low <= inducing.from, "at most the first inducing input", *low)?;
            range(SUPREMUM, *high >= inducing.to, "at least the last inducing input", *high)
        })
    }
}

/// The path of a public box.
const SUPREMUM: &str = "privacy.mechanism.sums.features.supremum";
