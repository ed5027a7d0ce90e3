//! What a spec says of a Gaussian process at two places.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::setting::rules::{dimension, grid, range};
use crate::setting::{Checked, RangeSetting, Sections};
use crate::task::Described;

/// A Gaussian process at two places, before or after the observations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TutorialTask {
    /// Whether the observations are known.
    pub observed: bool,
    /// The two places.
    pub pair: [f64; 2],
    /// Where functions are drawn.
    pub grid: RangeSetting,
    /// How many are drawn.
    pub draws: usize,
}

impl TutorialTask {
    /// The metrics.
    pub const METRICS: [&str; 3] = ["mean", "sd", "correlation"];
}

impl Described for TutorialTask {
    fn check(&self, setting: &Sections) -> Checked {
        setting.regression_model("task.tutorial")?;
        dimension("data.inputs", 1, setting.data.inputs.len())?;
        range("task.tutorial.draws", self.draws <= 1000, "at most 1000", self.draws as f64)?;
        grid("task.tutorial.grid", &[self.grid], 1)?;
        setting.privacy.cloaking().map(drop)
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        Self::METRICS.map(str::to_owned).to_vec()
    }
}
