//! Clipped and noisy gradients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::super::Problem;
use super::super::rules::{Checked, fail};
use dpgp_accounting::{AccountantKind, Relation};
use dpgp_number::{Epsilon, Positive};

/// The settings of clipped and noisy gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GradientSetting {
    /// Bound on the norm of one row's gradient; no clip without it, which only `epsilon = inf` allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<Positive>,
    /// What prices the steps.
    pub accountant: AccountantKind,
    /// Which data sets are neighbours.
    pub relation: Relation,
}

impl GradientSetting {
    /// Checks the clip, which only a task without privacy can do without.
    ///
    /// # Errors
    /// [`Problem::MissingKey`], [`Problem::OutOfRange`].
    pub fn check(&self, epsilon: Epsilon) -> Checked {
        let path = "privacy.mechanism.gradient";
        match self.clip {
            Some(_) => Ok(()),
            None if epsilon.is_unprotected() => Ok(()),
            None => fail(path, Problem::MissingKey { key: "clip", by: "a finite epsilon" }),
        }
    }
}
