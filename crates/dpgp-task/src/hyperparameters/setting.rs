//! What a spec says of the private choice of hyperparameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Described, sums_model};
use dpgp_mechanisms::PrivateSelection;
use dpgp_mechanisms::{MomentsSetting, PrivacySetting, Sections, Summed, check_moments};
use dpgp_number::{Budget, Count, Positive, Share};
use dpgp_spec::setting::rules::{fail, range, to_test};
use dpgp_spec::setting::{Checked, NoiseAwareSetting, Problem, RangeSetting};

/// How often private selection finds the true hyperparameters: those of the model section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HyperparametersTask {
    /// Rows at the beginning that are trained on; the others validate.
    pub train: Count,
    /// The public inducing inputs of noisy sums, a range for each input; noisy moments have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inducing: Vec<RangeSetting>,
    /// The lengthscales to choose from.
    pub lengthscales: Vec<Positive>,
    /// The standard deviations of the noise to choose from.
    pub noise_sds: Vec<Positive>,
    /// How posteriors follow from noisy sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posterior: Option<NoiseAwareSetting>,
    /// How one is chosen.
    pub method: HyperparametersMethod,
}

/// How hyperparameters are chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum HyperparametersMethod {
    /// The best of candidates drawn at random until a random stop, each with a fresh release and a CoinPress
    /// mean.
    PrivateSelection {
        /// The probability of stopping after each draw.
        gamma: Share,
        /// Steps of CoinPress.
        steps: Count,
        /// Which scores are refused.
        refuse: RefusalRule,
        /// What each CoinPress mean may spend.
        budget: BudgetRule,
    },
    /// One release per lengthscale and one of all mean log-likelihoods, composed.
    Composition {
        /// How far below its greatest possible value a log-likelihood is clipped, in nats.
        clip: Positive,
    },
    /// Those of the greatest evidence of noisy moments of all rows, which is computed after the release, at no cost.
    Evidence {},
}

/// Which scores of a candidate are refused as impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalRule {
    /// Those whose sum exceeds the bound on one term, as printed.
    Published,
    /// Those whose mean exceeds the bound on one term.
    Corrected,
}

/// What (epsilon, delta) leaves for a sequence of Gaussian mechanisms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BudgetRule {
    /// By zero-concentrated differential privacy.
    Concentrated,
    /// Exactly.
    Gaussian,
}

impl HyperparametersMethod {
    fn check(&self, privacy: &PrivacySetting) -> Checked {
        match *self {
            Self::PrivateSelection { gamma, .. } => {
                let epsilon = privacy.epsilon;
                let total = Budget { epsilon, delta: privacy.delta };
                let enough = !epsilon.is_unprotected() && PrivateSelection::new(total, gamma.get()).is_some();
                range("privacy.epsilon", enough, "finite and enough for private selection", epsilon.get())
            }
            Self::Composition { .. } | Self::Evidence {} => Ok(()),
        }
    }

    /// The metrics on what a choice spends.
    fn metrics(&self) -> &'static [&'static str] {
        match self {
            Self::PrivateSelection { .. } => &["root", "draw-delta", "most-draws"],
            Self::Composition { .. } | Self::Evidence {} => &[],
        }
    }
}

impl HyperparametersTask {
    fn check_sums(&self, setting: &Sections) -> Checked {
        let path = "task.hyperparameters";
        sums_model::model(path, setting)?.has_noise("hyperparameters")?;
        sums_model::inducing(path, &self.inducing, setting)?;
        let Some(posterior) = self.posterior else {
            return fail(path, Problem::MissingKey { key: "posterior", by: "noisy sums" });
        };
        posterior.check(&format!("{path}.posterior"))?;
        sums_model::mechanism(setting, Summed::Targets).map(drop)
    }
}

impl Described for HyperparametersTask {
    fn check(&self, setting: &Sections) -> Checked {
        let path = "task.hyperparameters";
        for (key, values) in [("lengthscales", &self.lengthscales), ("noise_sds", &self.noise_sds)] {
            let path = format!("{path}.{key}");
            if values.is_empty() {
                return fail(&path, Problem::Empty);
            }
        }
        self.method.check(&setting.privacy)?;
        match (setting.privacy.mechanism.of::<MomentsSetting>(), &self.method) {
            (Some(moments), HyperparametersMethod::Evidence {}) => {
                sums_model::model(path, setting)?;
                let without = self.inducing.is_empty() && self.posterior.is_none();
                check_moments(path, moments, without, setting)
            }
            (Some(_), _) | (None, HyperparametersMethod::Evidence {}) => {
                let why = "the method `evidence` goes with the mechanism `moments`, and with no other";
                fail(&format!("{path}.method"), Problem::Shape(why.to_owned()))
            }
            _ => self.check_sums(setting),
        }
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        let chosen = [("lengthscale", &self.lengthscales), ("noise-sd", &self.noise_sds)];
        let chosen = chosen
            .into_iter()
            .flat_map(|(name, values)| values.iter().map(move |value| format!("{name}/{value}")));
        let plain = std::iter::once(&"both").chain(self.method.metrics());
        chosen.chain(plain.map(|name| (*name).to_owned())).collect()
    }

    fn check_rows(&self, rows: usize) -> Checked {
        to_test("task.hyperparameters.train", self.train.get(), rows)
    }
}
