//! Rows that each replicate draws.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Problem;
use super::rules::{Checked, dimension, fail};
use dpgp_number::Count;

/// Rows that each replicate draws, seeded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum DrawSetting {
    /// This many rows, without replacement, in random order.
    Rows(Count),
    /// As many rows of each kind as its quota says, without replacement.
    Quotas(Vec<QuotaSetting>),
}

/// How many rows of a kind are drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuotaSetting {
    /// The target of the rows.
    pub target: f64,
    /// The inputs of the rows.
    pub inputs: Vec<f64>,
    /// How many.
    pub rows: usize,
}

impl DrawSetting {
    /// Checks the numbers, for data with so many inputs.
    pub(super) fn check(&self, inputs: usize) -> Checked {
        match self {
            Self::Rows(_) => Ok(()),
            Self::Quotas(quotas) if quotas.is_empty() => fail("data.draw.quotas", Problem::Empty),
            Self::Quotas(quotas) => quotas.iter().enumerate().try_for_each(|(i, quota)| {
                dimension(&format!("data.draw.quotas.{i}.inputs"), inputs, quota.inputs.len())
            }),
        }
    }
}
