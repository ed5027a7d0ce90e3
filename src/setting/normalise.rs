//! How targets are brought to the scale of the model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{Checked, bounds, positive, range};

/// How targets are clipped, centred and scaled before the model sees them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum NormaliseSetting {
    /// Targets as they are.
    #[default]
    None,
    /// By statistics of the private targets, as the papers do. Costs privacy that nobody pays for.
    Private {
        /// Clip to the midrange plus and minus this, in units of the target.
        #[serde(skip_serializing_if = "Option::is_none")]
        clip: Option<f64>,
        /// What is subtracted.
        centre: CentreSetting,
        /// Whether to divide by the population standard deviation.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        scale: bool,
    },
    /// Clip to the public bounds [low, high], then subtract the mean of the clipped targets and divide by their
    /// population standard deviation, which are private. Costs privacy that nobody pays for.
    Standardised {
        /// Least value of a target.
        low: f64,
        /// Greatest value of a target.
        high: f64,
    },
    /// By public constants: subtract the centre, divide by the scale.
    Constants {
        /// What is subtracted, in units of the target.
        #[serde(default, skip_serializing_if = "is_nought")]
        centre: f64,
        /// Units of the target per unit of the normalised one.
        scale: f64,
    },
    /// By public constants: clip to [low, high], subtract the middle and divide by the scale.
    Bounds {
        /// Least value of a target.
        low: f64,
        /// Greatest value of a target.
        high: f64,
        /// Units of the target per unit of the normalised one.
        #[serde(default = "unit", skip_serializing_if = "is_unit")]
        scale: f64,
    },
}

impl NormaliseSetting {
    /// Checks the numbers.
    pub(super) fn check(&self) -> Checked {
        match *self {
            Self::None | Self::Private { clip: None, .. } => Ok(()),
            Self::Private { clip: Some(clip), .. } => positive("normalise.private.clip", clip),
            Self::Constants { centre, scale } => {
                range("normalise.constants.centre", centre.is_finite(), "finite", centre)?;
                positive("normalise.constants.scale", scale)
            }
            Self::Bounds { low, high, scale } => {
                positive("normalise.bounds.scale", scale)?;
                bounds("normalise.bounds", low, high)
            }
            Self::Standardised { low, high } => bounds("normalise.standardised", low, high),
        }
    }

    /// Whether targets are scaled by statistics of their own, which are private.
    pub fn is_private(&self) -> bool {
        matches!(self, Self::Private { .. } | Self::Standardised { .. })
    }
}

fn unit() -> f64 {
    1.0
}

fn is_unit(number: &f64) -> bool {
    *number == 1.0
}

fn is_nought(number: &f64) -> bool {
    *number == 0.0
}

/// A private statistic that targets are centred by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CentreSetting {
    /// Their mean.
    Mean,
    /// Halfway between the least and the greatest.
    Midrange,
}
