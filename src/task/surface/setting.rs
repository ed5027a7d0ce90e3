//! What a spec says of a surface from sums over all rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::number::Finite;
use crate::setting::rules::{dimension, fail, grid};
use crate::setting::{Checked, MechanismSetting, NoiseAwareSetting, Problem, RangeSetting, Sections, Summed};
use crate::task::{Described, sums_model};

/// A surface over the inputs from the sums over all rows, and what privacy changes in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurfaceTask {
    /// The public inducing inputs, a product grid with a range for each input.
    pub inducing: Vec<RangeSetting>,
    /// How the posterior follows from the sums.
    pub posterior: NoiseAwareSetting,
    /// The grid of the figure over the first inputs; no figure without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub map: Vec<RangeSetting>,
    /// The values of the other inputs there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Finite>,
}

impl SurfaceTask {
    /// The metrics.
    pub const METRICS: [&str; 5] = ["rmse", "difference", "noise-sd", "rows", "clipped"];
}

impl SurfaceTask {
    fn check_map(&self, inputs: usize) -> Checked {
        let path = "task.surface";
        if self.map.is_empty() {
            return dimension(&format!("{path}.at"), 0, self.at.len());
        }
        dimension(&format!("{path}.at"), inputs.saturating_sub(self.map.len()), self.at.len())?;
        grid(&format!("{path}.map"), &self.map, inputs - self.at.len())
    }
}

impl Described for SurfaceTask {
    fn check(&self, setting: &Sections) -> Checked {
        let (path, inputs) = ("task.surface", setting.data.inputs.len());
        let model = setting.model(path)?;
        if model.lengthscales(inputs).is_none() {
            let why = "this task needs the kernel `eq` or `eq-ard`".to_owned();
            return fail("model.kernel", Problem::Shape(why));
        }
        model.has_noise("surface")?;
        sums_model::inducing(path, &self.inducing, setting)?;
        self.posterior.check(&format!("{path}.posterior"))?;
        if setting.normalise.is_private() {
            let why = "statistics of the private targets; this task needs `bounds` or `constants`, which are public";
            return fail("normalise", Problem::Shape(why.to_owned()));
        }
        self.check_map(inputs)?;
        sums_model::mechanism(setting, Summed::Targets)?.holds(&self.inducing)
    }

    fn protects_persons(&self, mechanism: &MechanismSetting) -> bool {
        matches!(mechanism, MechanismSetting::Sums(_))
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        Self::METRICS.map(str::to_owned).to_vec()
    }
}
