//! What a spec says of a classifier whose posterior is approximated.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Described;
use dpgp_gp::advi::{BatchSampling, Family};
use dpgp_mechanisms::{GradientSetting, Sections};
use dpgp_number::{Count, Positive, Share};
use dpgp_spec::setting::rules::to_test;
use dpgp_spec::setting::{Checked, ThresholdSetting};

/// A Bayesian classifier, fitted to the first rows and tested on the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PosteriorTask {
    /// The likelihood and the prior.
    pub model: PosteriorModel,
    /// The class of a row: whether its target compares so with a number.
    pub positive: ThresholdSetting,
    /// Rows at the beginning that are trained on; the others are tested.
    pub train: Count,
    /// How the posterior is found.
    pub method: PosteriorMethod,
}

/// A likelihood and a prior.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PosteriorModel {
    /// Logistic regression without intercept on standardised inputs.
    Logistic {
        /// Variance of each weight under the prior.
        prior_variance: Positive,
    },
}

/// How a posterior is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PosteriorMethod {
    /// Its mode, without privacy.
    Mode {},
    /// Variational inference by stochastic gradients.
    Advi(AdviSetting),
}

/// Variational inference by stochastic gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdviSetting {
    /// The variational family.
    pub family: Family,
    /// Steps.
    pub steps: Count,
    /// The share of the training rows that a step samples.
    pub rate: Share,
    /// How it samples them.
    pub sampling: BatchSampling,
    /// The learning rate of windowed AdaGrad.
    pub learning_rate: Positive,
}

impl Described for PosteriorTask {
    fn check(&self, setting: &Sections) -> Checked {
        let privacy = &setting.privacy;
        let gradient = privacy.mechanism.of::<GradientSetting>().ok_or_else(|| privacy.wrong("gradient"))?;
        if matches!(self.method, PosteriorMethod::Mode {}) {
            privacy.protects_nothing("inf: the mode is computed without privacy")?;
        }
        gradient.check(privacy.epsilon)
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        ["accuracy", "sigma", "tight-epsilon", "looseness"].map(str::to_owned).to_vec()
    }

    fn check_rows(&self, rows: usize) -> Checked {
        to_test("task.posterior.train", self.train.get(), rows)
    }
}
