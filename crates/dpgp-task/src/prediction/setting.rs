//! What a spec says of predictions on a grid.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Described, FittedRows};
use dpgp_mechanisms::{MechanismSetting, Sections, noisy_predictions};
use dpgp_number::{Count, Positive};
use dpgp_spec::label;
use dpgp_spec::setting::rules::{dimension, fail, grid};
use dpgp_spec::setting::{Checked, Problem, RangeSetting};

/// Predictions of a regression on a grid, with all rows as training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PredictionTask {
    /// The test inputs: the product of these, one per input; the last varies fastest.
    pub grid: Vec<RangeSetting>,
    /// A finer grid that a map draws contours on, without privacy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface: Option<Vec<RangeSetting>>,
    /// Private samples that the figure shows.
    #[serde(default = "none", skip_serializing_if = "is_none")]
    pub draws: Count<1000, 0>,
    /// The share of the points whose noise has at least this standard deviation (units of the target) is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_from: Option<Positive>,
    /// The points of the grid that have metrics of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Vec<f64>>,
}

fn none() -> Count<1000, 0> {
    Count::literal::<0>()
}

fn is_none(draws: &Count<1000, 0>) -> bool {
    draws.get() == 0
}

impl PredictionTask {
    /// The name of a metric at a point, for example `noise-sd@70` or `mean@50,60`.
    pub fn metric(name: &str, point: &[f64]) -> String {
        let point: Vec<String> = point.iter().map(|x| label(&toml::Value::Float(*x))).collect();
        format!("{name}@{}", point.join(","))
    }

    fn check_points(&self, inputs: usize) -> Checked {
        for (i, point) in self.at.iter().enumerate() {
            let path = format!("task.prediction.at.{i}");
            dimension(&path, inputs, point.len())?;
            if let Some((x, _)) = point.iter().zip(&self.grid).find(|(x, range)| !range.holds(**x)) {
                return fail(&path, Problem::Shape(format!("{x} is no point of the grid")));
            }
        }
        Ok(())
    }
}

impl Described for PredictionTask {
    fn check(&self, setting: &Sections) -> Checked {
        let inputs = setting.data.dimensions();
        setting.regression_model("task.prediction")?;
        grid("task.prediction.grid", &self.grid, inputs)?;
        if let Some(surface) = &self.surface {
            grid("task.prediction.surface", surface, inputs)?;
        }
        self.check_points(inputs)?;
        noisy_predictions(&setting.privacy).map(drop)
    }

    fn protects_persons(&self, mechanism: &MechanismSetting) -> bool {
        mechanism.linear().is_some()
    }

    fn fitted_rows(&self, rows: usize) -> Option<FittedRows> {
        let points = [Some(&self.grid), self.surface.as_ref()].into_iter().flatten();
        let points = points.map(|ranges| ranges.iter().map(|range| range.points).product::<usize>());
        Some(FittedRows::of_test(rows, points.max().unwrap_or_default()))
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        let at = self.at.iter().flat_map(|point| {
            ["mean", "gp-sd", "noise-sd", "noise-share"].map(|name| PredictionTask::metric(name, point))
        });
        let of_all = ["influence", "noise-rms", "hidden-share", "expected-error", "released", "sensitivity"];
        at.chain(of_all.map(str::to_owned)).collect()
    }
}
