//! What a spec says of binary classification by the Laplace approximation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::prediction::PredictionTask;
use crate::{Described, FittedRows, classifier};
use dpgp_mechanisms::Sections;
use dpgp_number::Count;
use dpgp_spec::setting::rules::{points, to_test};
use dpgp_spec::setting::{Checked, ThresholdSetting};

/// Binary classification by the Laplace approximation. The first rows are trained on, the others tested.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassificationTask {
    /// Rows at the beginning that are trained on.
    pub train: Count,
    /// The class of a row: whether its target compares so with a number.
    pub positive: ThresholdSetting,
    /// Newton steps with privacy; they share epsilon and delta evenly.
    #[serde(default = "one")]
    pub iterations: Count,
    /// Newton steps without privacy.
    #[serde(default = "twenty")]
    pub newton: Count,
    /// Draws of the privacy noise.
    pub draws: Count,
    /// Inputs whose predictions have metrics of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Vec<f64>>,
}

fn one() -> Count {
    Count::literal::<1>()
}

fn twenty() -> Count {
    Count::literal::<20>()
}

impl ClassificationTask {
    /// The metrics at each point.
    pub const AT: [&str; 3] = ["probability", "probability-sd", "latent"];
}

impl Described for ClassificationTask {
    fn check(&self, setting: &Sections) -> Checked {
        let path = "task.classification";
        classifier::check(path, setting)?;
        points(&format!("{path}.at"), &self.at, setting.data.dimensions())
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        let accuracy = ["accuracy", "accuracy-se", "majority-share"].map(str::to_owned).into_iter();
        let at = self.at.iter().flat_map(|point| Self::AT.map(|name| PredictionTask::metric(name, point)));
        accuracy.chain(at).collect()
    }

    fn check_rows(&self, rows: usize) -> Checked {
        // Points of their own can be predicted without a test row.
        let points = usize::from(!self.at.is_empty());
        to_test("task.classification.train", self.train.get(), rows + points)
    }

    fn fitted_rows(&self, rows: usize) -> Option<FittedRows> {
        let train = self.train.get().min(rows);
        Some(FittedRows::of_test(train, rows - train + self.at.len()))
    }
}
