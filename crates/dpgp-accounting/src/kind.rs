//! The accountants by name.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Accountant, AdvancedComposition, LossDistribution, Renyi};

/// An accountant, as specs name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AccountantKind {
    /// Advanced composition with amplification by sub-sampling, as in 2016.
    AdvancedComposition,
    /// Renyi differential privacy.
    Renyi,
    /// Privacy loss distributions, with certified bounds.
    LossDistribution,
}

impl AccountantKind {
    /// The accountant.
    pub fn accountant(self) -> Box<dyn Accountant> {
        match self {
            Self::AdvancedComposition => Box::new(AdvancedComposition),
            Self::Renyi => Box::new(Renyi),
            Self::LossDistribution => Box::new(LossDistribution::default()),
        }
    }
}

impl fmt::Display for AccountantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AdvancedComposition => "advanced composition",
            Self::Renyi => "Renyi accountant",
            Self::LossDistribution => "loss distributions",
        })
    }
}
