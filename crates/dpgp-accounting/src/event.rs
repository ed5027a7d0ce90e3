//! The events whose privacy loss accountants compute: steps of the Gaussian mechanism on subsamples, with the
//! neighbours compared.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AccountingError;

/// Which datasets are neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NeighbourRelation {
    /// One record is added or removed.
    AddRemove,
    /// One record is replaced by another.
    ReplaceOne,
}

impl NeighbourRelation {
    /// The sensitivity of a sum over all records, each with a contribution of norm at most 1.
    pub fn unit_norm_sum_sensitivity(self) -> f64 {
        match self {
            Self::AddRemove => 1.0,
            Self::ReplaceOne => 2.0,
        }
    }
}

impl fmt::Display for NeighbourRelation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AddRemove => "add-remove neighbours",
            Self::ReplaceOne => "replace-one neighbours",
        })
    }
}

/// How the records of one step are chosen, independently of other steps.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sampling {
    /// Every record takes part.
    FullBatch,
    /// Each record takes part with this probability, independently.
    Poisson {
        /// The probability.
        rate: f64,
    },
    /// A batch of fixed size, drawn with replacement.
    WithReplacement {
        /// Batch size over number of records.
        rate: f64,
    },
    /// A batch of fixed size, drawn without replacement.
    WithoutReplacement {
        /// Batch size over number of records.
        rate: f64,
    },
}

impl Sampling {
    /// The expected share of the records in one step, or 1 for a full batch.
    pub fn rate(self) -> f64 {
        match self {
            Self::FullBatch => 1.0,
            Self::Poisson { rate } | Self::WithReplacement { rate } | Self::WithoutReplacement { rate } => rate,
        }
    }

    /// The same scheme, or the full batch if it takes every record for certain.
    pub(super) fn rate_one_as_full_batch(self) -> Self {
        match self {
            Self::Poisson { rate: 1.0 } | Self::WithoutReplacement { rate: 1.0 } => Self::FullBatch,
            other => other,
        }
    }
}

impl fmt::Display for Sampling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::FullBatch => "full batches",
            Self::Poisson { .. } => "Poisson sampling",
            Self::WithReplacement { .. } => "sampling with replacement",
            Self::WithoutReplacement { .. } => "sampling without replacement",
        })
    }
}

/// Steps on sub-samples, whatever their noise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SamplingSchedule {
    /// How a step chooses its records.
    pub sampling: Sampling,
    /// The number of steps.
    pub steps: u32,
}

impl SamplingSchedule {
    /// The event of these steps with this noise multiplier.
    pub fn with_noise(self, noise_multiplier: f64) -> PrivacyEvent {
        PrivacyEvent { noise_multiplier, sampling: self.sampling, steps: self.steps }
    }
}

/// Steps that each release a sum of contributions over a fresh sample, with fresh Gaussian noise. A step may
/// depend on the results of earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PrivacyEvent {
    /// Standard deviation of the noise, divided by the L2 bound on one record's contribution.
    pub noise_multiplier: f64,
    /// How a step chooses its records.
    pub sampling: Sampling,
    /// The number of steps.
    pub steps: u32,
}

impl PrivacyEvent {
    /// Refuses numbers that describe no mechanism.
    pub(super) fn check(&self) -> Result<(), AccountingError> {
        let (noise, rate) = (self.noise_multiplier, self.sampling.rate());
        if !(noise > 0.0 && noise.is_finite()) {
            return Err(AccountingError::out_of_range("the noise multiplier", "positive and finite", noise));
        }
        if !(rate > 0.0 && rate <= 1.0) {
            return Err(AccountingError::out_of_range("the sampling rate", "above 0 and at most 1", rate));
        }
        if self.steps == 0 {
            return Err(AccountingError::out_of_range("the number of steps", "at least 1", 0.0));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(noise_multiplier: f64, rate: f64, steps: u32) -> bool {
        PrivacyEvent { noise_multiplier, sampling: Sampling::Poisson { rate }, steps }.check().is_ok()
    }

    #[test]
    fn numbers_that_describe_no_mechanism_are_refused() {
        assert!(checked(1e-3, 1.0, 1) && checked(1e9, 1e-9, u32::MAX));
        for noise in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(!checked(noise, 0.5, 1), "{noise}");
        }
        for rate in [0.0, -0.5, 1.0f64.next_up(), f64::NAN] {
            assert!(!checked(1.0, rate, 1), "{rate}");
        }
        assert!(!checked(1.0, 0.5, 0));
    }

    #[test]
    fn schemes_have_words() {
        let rate = 0.5;
        let schemes = [
            Sampling::FullBatch,
            Sampling::Poisson { rate },
            Sampling::WithReplacement { rate },
            Sampling::WithoutReplacement { rate },
        ];
        assert_eq!(
            schemes.map(|scheme| scheme.to_string()),
            ["full batches", "Poisson sampling", "sampling with replacement", "sampling without replacement"]
        );
        let relations =
            [NeighbourRelation::AddRemove, NeighbourRelation::ReplaceOne].map(|relation| relation.to_string());
        assert_eq!(relations, ["add-remove neighbours", "replace-one neighbours"]);
    }
}
