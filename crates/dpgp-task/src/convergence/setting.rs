//! What a spec says of the way of the Laplace approximation to its mode.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::measure::METRICS;
use crate::metric::names;
use crate::{Described, FittedRows, classifier};
use dpgp_mechanisms::Sections;
use dpgp_number::Count;
use dpgp_spec::setting::rules::to_test;
use dpgp_spec::setting::{Checked, ThresholdSetting};

/// The way of the Laplace approximation to its mode. Each step with privacy spends the whole of epsilon and delta.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvergenceTask {
    /// Rows at the beginning that are trained on; the others are tested.
    pub train: Count,
    /// The class of a row: whether its target compares so with a number.
    pub positive: ThresholdSetting,
    /// Newton steps.
    pub steps: Count,
}

impl Described for ConvergenceTask {
    fn check(&self, setting: &Sections) -> Checked {
        classifier::check("task.convergence", setting)
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        names(&METRICS)
    }

    fn check_rows(&self, rows: usize) -> Checked {
        to_test("task.convergence.train", self.train.get(), rows)
    }

    fn fitted_rows(&self, rows: usize) -> Option<FittedRows> {
        let train = self.train.get().min(rows);
        Some(FittedRows::of_test(train, rows - train))
    }
}
