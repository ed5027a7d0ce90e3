//! Where inducing inputs lie.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{Checked, check_grid, fail, points};
use super::{Problem, RangeSetting};
use dpgp_number::Count;

/// Where inducing inputs lie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum InducingSetting {
    /// At the k-means centres of the training inputs.
    Kmeans {
        /// Number of centres.
        centres: Count,
        /// Restarts.
        #[serde(default = "ten")]
        restarts: Count,
    },
    /// At given points, one row each.
    Points(Vec<Vec<f64>>),
    /// At the points of a grid: the product of these, one per input.
    Grid(Vec<RangeSetting>),
}

fn ten() -> Count {
    Count::literal::<10>()
}

impl InducingSetting {
    /// The most inducing inputs that there can be.
    pub fn most(&self) -> usize {
        match self {
            Self::Kmeans { centres, .. } => centres.get(),
            Self::Points(points) => points.len(),
            Self::Grid(ranges) => ranges.iter().map(|range| range.points).product(),
        }
    }

    /// Checks the numbers, for data with so many inputs; `path` is that of the sparse approximation.
    pub(super) fn check(&self, path: &str, inputs: usize) -> Checked {
        let path = format!("{path}.inducing");
        match self {
            Self::Kmeans { .. } => Ok(()),
            Self::Grid(ranges) => check_grid(&format!("{path}.grid"), ranges, inputs),
            Self::Points(all) if all.is_empty() => fail(&format!("{path}.points"), Problem::Empty),
            Self::Points(all) => points(&format!("{path}.points"), all, inputs),
        }
    }
}
