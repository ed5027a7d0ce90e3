//! Settings that scale targets for the model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{CheckResult, check_bounds, check_range};
use dpgp_number::{Finite, Positive};

/// How targets are clipped, centred and scaled before the model sees them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum NormaliseSetting {
    /// Targets as they are.
    #[default]
    None,
    /// By statistics of the private targets, as the papers do. This costs privacy that the guarantee does not account for.
    Private {
        /// Clip targets to the midrange plus or minus this, in units of the target.
        #[serde(skip_serializing_if = "Option::is_none")]
        clip: Option<Positive>,
        /// The statistic that is subtracted.
        centre: PrivateCentreSetting,
        /// Whether to divide by the population standard deviation.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        scale: bool,
    },
    /// Clip to the public bounds [low, high], then subtract the mean of the clipped targets and divide by their
    /// population standard deviation, which are private. This costs privacy that the guarantee does not account for.
    Standardised {
        /// Lower bound on the targets.
        low: Finite,
        /// Upper bound on the targets.
        high: Finite,
    },
    /// By public constants: subtract the centre, divide by the scale.
    Constants {
        /// The number that is subtracted, in units of the target.
        #[serde(default = "nought", skip_serializing_if = "is_nought")]
        centre: Finite,
        /// Units of the target per unit of the normalised target.
        scale: Positive,
    },
    /// By public constants: clip to [low, high], subtract the centre and divide by the scale.
    Bounds {
        /// Lower bound on the targets.
        low: Finite,
        /// Upper bound on the targets.
        high: Finite,
        /// The mean of the prior, in units of the target, from public knowledge; the middle of the bounds if it is not given. Where
        /// little is released, predictions stay near it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        centre: Option<Finite>,
        /// Units of the target per unit of the normalised target.
        #[serde(default = "unit", skip_serializing_if = "is_unit")]
        scale: Positive,
    },
}

/// The smallest part of the public bounds that a second clip, by a bound in units of the model, may leave: less suggests a
/// mistake in a scale.
const LEAST_KEPT: f64 = 0.1;

impl NormaliseSetting {
    /// Fails where a bound on either side of zero, in units of the model, leaves hardly anything of the public bounds: all
    /// targets would be clipped to nearly the same value.
    ///
    /// # Errors
    /// [`SpecProblem::OutOfRange`](super::SpecProblem::OutOfRange).
    pub fn check_target_clip(&self, bound: f64) -> CheckResult {
        let Self::Bounds { low, high, scale, .. } = *self else { return Ok(()) };
        let kept = 2.0 * bound * scale.get();
        let asked = "at least (high - low) / (20 target_bound): targets are clipped to centre +- target_bound x scale";
        check_range("normalise.bounds.scale", kept >= LEAST_KEPT * (high.get() - low.get()), asked, scale.get())
    }

    /// Fails unless the bounds rise.
    pub(super) fn check(&self) -> CheckResult {
        match *self {
            Self::None | Self::Private { .. } | Self::Constants { .. } => Ok(()),
            Self::Bounds { low, high, centre, .. } => {
                check_bounds("normalise.bounds", low, high)?;
                let Some(centre) = centre else { return Ok(()) };
                let inside = low.get() <= centre.get() && centre.get() <= high.get();
                check_range("normalise.bounds.centre", inside, "between low and high", centre.get())
            }
            Self::Standardised { low, high } => check_bounds("normalise.standardised", low, high),
        }
    }

    /// How far two targets can be apart, in their own units; none if nothing bounds them.
    pub fn width(&self) -> Option<f64> {
        match *self {
            Self::Bounds { low, high, .. } | Self::Standardised { low, high } => Some(high.get() - low.get()),
            Self::None | Self::Private { .. } | Self::Constants { .. } => None,
        }
    }

    /// The same where it is more than a change, but for the rounding of a difference.
    pub fn width_beyond(&self, change: f64) -> Option<f64> {
        self.width().filter(|width| change < width * (1.0 - 1e-12))
    }

    /// The same as the bounds were written: each of the two is rounded to a double, which for time stamps in nanoseconds is a
    /// step of hundreds.
    pub(super) fn written_width_beyond(&self, change: f64) -> Option<f64> {
        let (Self::Bounds { low, high, .. } | Self::Standardised { low, high }) = *self else { return None };
        let largest = low.get().abs().max(high.get().abs());
        self.width_beyond(change).filter(|width| change < width - (largest.next_up() - largest))
    }

    /// Whether targets are scaled by statistics of their own, which are private.
    pub fn is_private(&self) -> bool {
        matches!(self, Self::Private { .. } | Self::Standardised { .. })
    }
}

/// Offset that public bounds subtract from targets: the mean of the prior that is given, or else the middle, as the
/// specification says.
pub fn prior_mean(low: Finite, high: Finite, centre: Option<Finite>) -> f64 {
    centre.map_or(0.5 * (low.get() + high.get()), Finite::get)
}

fn unit() -> Positive {
    Positive::ONE
}

fn is_unit(number: &Positive) -> bool {
    *number == Positive::ONE
}

fn nought() -> Finite {
    Finite::ZERO
}

fn is_nought(number: &Finite) -> bool {
    *number == Finite::ZERO
}

/// A private statistic that is subtracted from the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrivateCentreSetting {
    /// Their mean.
    Mean,
    /// Halfway between the smallest and the largest.
    Midrange,
}
