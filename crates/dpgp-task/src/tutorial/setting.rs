//! What a spec says of a Gaussian process at two places.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::measure::METRICS;
use crate::Described;
use crate::metric::names;
use dpgp_mechanisms::{Sections, cloaking};
use dpgp_number::Count;
use dpgp_spec::setting::rules::{dimension, grid};
use dpgp_spec::setting::{Checked, RangeSetting};

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
    pub draws: Count<1000, 0>,
}

impl Described for TutorialTask {
    fn check(&self, setting: &Sections) -> Checked {
        setting.regression_model("task.tutorial")?;
        dimension("data.inputs", 1, setting.data.dimensions())?;
        grid("task.tutorial.grid", &[self.grid], 1)?;
        cloaking(&setting.privacy).map(drop)
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        names(&METRICS)
    }
}
