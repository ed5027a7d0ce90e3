//! Gaussian noise on the counts of a histogram.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Mechanism;
use dpgp_accounting::Relation;
use dpgp_number::Count;
use dpgp_spec::setting::ChosenBy;

/// Gaussian noise on the counts of a histogram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistogramSetting {
    /// Which data sets are neighbours.
    pub relation: Relation,
    /// The most records that a row stands for; more are clipped. Neighbours then differ in a row (or in a person, with
    /// data.person), not in one of its records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_per_row: Option<Count>,
    /// Whether a process that is fitted to the noisy counts knows the variance of their noise, which is public, and fits only what they
    /// have beside it; otherwise it fits both together. Needs estimate.process of task.density; costs no budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub denoise: Option<bool>,
}

impl Mechanism for HistogramSetting {
    fn chosen_by(&self) -> ChosenBy {
        ChosenBy::Record
    }

    fn denoise(&self) -> Option<bool> {
        self.denoise
    }

    fn hides_number_of_rows(&self) -> bool {
        self.relation == Relation::AddRemove
    }
}

/// How far a histogram of counts moves (in the Euclidean norm) between neighbours.
///
/// A record added or removed changes one bin by 1; a replaced one may leave a bin and enter another, `sqrt 2`.
///
/// ```
/// use dpgp_accounting::Relation;
/// use dpgp_mechanisms::count_sensitivity;
/// assert_eq!(count_sensitivity(Relation::AddRemove), 1.0);
/// assert_eq!(count_sensitivity(Relation::ReplaceOne), 2f64.sqrt());
/// ```
pub fn count_sensitivity(relation: Relation) -> f64 {
    match relation {
        Relation::AddRemove => 1.0,
        Relation::ReplaceOne => std::f64::consts::SQRT_2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_moves_one_bin_or_two() {
        assert_eq!(count_sensitivity(Relation::AddRemove), 1.0);
        assert!((count_sensitivity(Relation::ReplaceOne).powi(2) - 2.0).abs() < 1e-15);
    }
}
