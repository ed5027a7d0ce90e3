//! What a spec says of binary classification by the Laplace approximation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::setting::rules::{count, points, to_test};
use crate::setting::{Checked, Sections, ThresholdSetting};
use crate::task::prediction::PredictionTask;
use crate::task::{Described, classifier};

/// Binary classification by the Laplace approximation. The first rows are trained on, the others tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassificationTask {
    /// Rows at the beginning that are trained on.
    pub train: usize,
    /// The class of a row: whether its target compares so with a number.
    pub positive: ThresholdSetting,
    /// Newton steps with privacy; they share epsilon and delta evenly.
    #[serde(default = "one")]
    pub iterations: usize,
    /// Newton steps without privacy.
    #[serde(default = "twenty")]
    pub newton: usize,
    /// Draws of the privacy noise.
    pub draws: usize,
    /// Inputs whose predictions have metrics of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Vec<f64>>,
}

fn one() -> usize {
    1
}

fn twenty() -> usize {
    20
}

impl ClassificationTask {
    /// The metrics at each point.
    pub const AT: [&str; 3] = ["probability", "probability-sd", "latent"];
}

impl Described for ClassificationTask {
    fn check(&self, setting: &Sections) -> Checked {
        let path = "task.classification";
        count(&format!("{path}.train"), self.train)?;
        self.positive.check(&format!("{path}.positive"))?;
        classifier::check(path, setting)?;
        for (key, found) in [("iterations", self.iterations), ("newton", self.newton), ("draws", self.draws)]
        {
            count(&format!("{path}.{key}"), found)?;
        }
        points(&format!("{path}.at"), &self.at, setting.data.inputs.len())
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        let accuracy = ["accuracy", "accuracy-se"].map(str::to_owned).into_iter();
        let at = self.at.iter().flat_map(|point| Self::AT.map(|name| PredictionTask::metric(name, point)));
        accuracy.chain(at).collect()
    }

    fn check_rows(&self, rows: usize) -> Checked {
        // Points of their own can be predicted without a test row.
        let points = usize::from(!self.at.is_empty());
        to_test("task.classification.train", self.train, rows + points)
    }
}
