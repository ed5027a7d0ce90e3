//! How posteriors follow from noisy sums.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{Checked, range};
use dpgp_gp::variational::{Correction, Regularisation};

/// The settings of a regularised inverse.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoiseAwareSetting {
    /// What is added to the diagonal.
    pub regularisation: Regularisation,
    /// What is added to the covariance.
    pub correction: Correction,
}

impl NoiseAwareSetting {
    /// Checks the numbers.
    ///
    /// # Errors
    /// [`super::Problem::OutOfRange`].
    pub fn check(&self, path: &str) -> Checked {
        let (name, rho) = match self.regularisation {
            Regularisation::Printed { rho } => ("printed", rho),
            Regularisation::Inside { rho } => ("inside", rho),
            Regularisation::Tight => return Ok(()),
        };
        range(&format!("{path}.regularisation.{name}.rho"), rho > 0.0 && rho < 1.0, "between 0 and 1", rho)
    }
}
