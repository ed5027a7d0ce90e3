//! The settings of a noise design.

use serde::{Deserialize, Serialize};

use super::attempts::Attempts;
use super::objective::Objective;
use super::recipe::ReleaseRecipe;

/// How the weights are found.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Solver {
    /// Interior point, to a certified gap of about 1e-11.
    InteriorPoint,
    /// The published gradient scheme, for comparison.
    Gradient {
        /// Step length.
        step: f64,
        /// Number of steps.
        steps: usize,
    },
    /// The gradient scheme from random weights, as the authors of the papers ran it, for comparison.
    GradientAttempts(Attempts),
}

impl Solver {
    /// Its name, as specs spell it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::InteriorPoint => "interior-point",
            Self::Gradient { .. } => "gradient",
            Self::GradientAttempts(_) => "gradient-attempts",
        }
    }
}

/// The settings of a noise design.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CloakingOptions {
    /// The objective.
    pub objective: Objective,
    /// Directions with a singular value of C below this, relative to the largest, are dropped.
    pub rank_tolerance: f64,
    /// The solver.
    pub solver: Solver,
    /// The release recipe.
    pub release: ReleaseRecipe,
}

#[cfg(test)]
mod tests {
    use super::*;

    use dpgp_number::{Count, Positive};

    #[test]
    fn solvers_are_spelled_as_in_specs() {
        let (one, number) = (Positive::constant(1.0), Count::new(2).unwrap());
        let attempts = Attempts { step: one, steps: number, attempts: number, below: one, still: one };
        let gradient = Solver::Gradient { step: 0.5, steps: 3 };
        for solver in [Solver::InteriorPoint, gradient, Solver::GradientAttempts(attempts)] {
            let spelled = serde_json::to_value(solver).unwrap();
            let name = spelled.as_str().or_else(|| spelled.as_object()?.keys().next().map(String::as_str));
            assert_eq!(name, Some(solver.name()));
        }
    }
}
