//! What a spec says of classification by regression on Dirichlet labels.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::measure::METRICS;
use crate::metric::names;
use crate::{Described, sums_model};
use dpgp_mechanisms::HeteroscedasticRule;
use dpgp_mechanisms::{MechanismSetting, Sections, Summed, SumsSetting};
use dpgp_number::{Count, Positive};
use dpgp_spec::setting::rules::{fail, to_test};
use dpgp_spec::setting::{Checked, NoiseAwareSetting, Problem, RangeSetting};

/// Classification by regression on Dirichlet labels. Targets are the classes 0, 1, 2, ...
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirichletTask {
    /// Rows at the beginning that are trained on; the others are tested.
    pub train: Count,
    /// The number of classes.
    pub classes: Count<1000, 2>,
    /// The public inducing inputs, a product grid with a range for each input.
    pub inducing: Vec<RangeSetting>,
    /// The regularisation of the labels.
    pub alpha: Positive,
    /// How posteriors follow from the sums.
    pub posterior: NoiseAwareSetting,
    /// What is released.
    pub release: DirichletRelease,
    /// Whether rules that break privacy as printed are allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub published: bool,
}

/// What is released of a classification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum DirichletRelease {
    /// The sums over the rows of each class, which every class' posterior follows from.
    ClassSums,
    /// The sums of each class over all rows, weighted by its heteroscedastic noise.
    WeightedSums(HeteroscedasticRule),
}

impl Described for DirichletTask {
    fn check(&self, setting: &Sections) -> Checked {
        let path = "task.dirichlet";
        sums_model::model(path, setting)?;
        sums_model::inducing(path, &self.inducing, setting)?;
        let printed = self.release == DirichletRelease::WeightedSums(HeteroscedasticRule::Published);
        if printed && !self.published {
            let why =
                "the printed factor breaks privacy; say `published = true` in this section to see it at work";
            return fail(&format!("{path}.release"), Problem::Shape(why.to_owned()));
        }
        self.posterior.check(&format!("{path}.posterior"))?;
        sums_model::mechanism(setting, Summed::Labels)?.holds(&self.inducing)
    }

    fn protects_persons(&self, mechanism: &MechanismSetting) -> bool {
        mechanism.of::<SumsSetting>().is_some()
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        names(&METRICS)
    }

    fn check_rows(&self, rows: usize) -> Checked {
        to_test("task.dirichlet.train", self.train.get(), rows)
    }
}
