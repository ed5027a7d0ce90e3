//! Clipped and noisy gradients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Mechanism;
use dpgp_accounting::{AccountantKind, NeighbourRelation};
use dpgp_number::{Epsilon, Positive};
use dpgp_spec::setting::rules::{CheckResult, fail};
use dpgp_spec::setting::{PersonRowChoiceBasis, SpecProblem};

/// The settings of clipped and noisy gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GradientSetting {
    /// The bound to which the norm of each row's gradient is clipped. Without it, gradients are not clipped, which requires
    /// `epsilon = inf`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<Positive>,
    /// The accountant, which computes the privacy cost of the steps.
    pub accountant: AccountantKind,
    /// Which datasets are neighbours.
    pub relation: NeighbourRelation,
}

impl Mechanism for GradientSetting {
    fn person_row_choice_basis(&self) -> PersonRowChoiceBasis {
        PersonRowChoiceBasis::Record
    }

    fn needs_public_row_count(&self) -> bool {
        true
    }
}

impl GradientSetting {
    /// Checks the clip, which only a task without privacy can do without.
    ///
    /// # Errors
    /// [`SpecProblem::MissingKey`], [`SpecProblem::OutOfRange`].
    pub fn check(&self, epsilon: Epsilon) -> CheckResult {
        let path = "privacy.mechanism.gradient";
        match self.clip {
            Some(_) => Ok(()),
            None if epsilon.is_unprotected() => Ok(()),
            None => fail(path, SpecProblem::MissingKey { key: "clip", by: "a finite epsilon" }),
        }
    }
}
