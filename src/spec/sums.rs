//! What a variational model with noisy sums is made of, in the words of the spec.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::setting::RangeSetting;
use crate::gp::variational::{Correction, Regularisation};
use crate::privacy::{HeteroscedasticRule, SumsRule};

/// The settings of Gaussian noise on the two sums of a variational model. Neighbours replace one record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SumsSetting {
    /// The public bound that targets are clipped to, on either side of zero; labels need none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_bound: Option<f64>,
    /// The bound on the covariances of one input with the inducing inputs.
    pub features: FeaturesSetting,
    /// The ratio of the noise variances on the two sums.
    #[serde(default = "one")]
    pub split: f64,
    /// How the sensitivity is bounded.
    pub sensitivity: SumsRule,
}

fn one() -> f64 {
    1.0
}

/// Bounds on the norm of the covariances of one input with the inducing inputs. On a product grid each but
/// `trivial` and `separated` is the product of those of its sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FeaturesSetting {
    /// The number of inducing inputs.
    Trivial,
    /// By their spacing on a line, as printed in the paper.
    PrintedLine,
    /// The same without its two superfluous terms.
    Line,
    /// By their least distance.
    Separated,
    /// The supremum over a public box: its ends in each dimension.
    Supremum(Vec<[f64; 2]>),
}

/// How well predictions from noisy sums are calibrated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationTask {
    /// Rows at the beginning that are trained on. The others are test rows, and as many rows with the same
    /// inputs that hold the true function.
    pub train: usize,
    /// The public inducing inputs, a product grid with a range for each input.
    pub inducing: Vec<RangeSetting>,
    /// How the posterior follows from the sums.
    pub posterior: PosteriorRule,
    /// Masses of the central intervals whose coverage is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masses: Vec<f64>,
    /// Only test rows whose first input lies between these count; all without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<[f64; 2]>,
    /// Whether the figure shows the curve itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub curve: bool,
}

/// How a posterior follows from noisy sums.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum PosteriorRule {
    /// By a regularised inverse, the covariance corrected for the noise.
    NoiseAware(NoiseAwareSetting),
    /// By projecting the second sum on the matrices that data can have.
    Moment {
        /// The public grid of inputs, a range for each input.
        grid: Vec<RangeSetting>,
    },
}

/// The settings of a regularised inverse.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoiseAwareSetting {
    /// What is added to the diagonal.
    pub regularisation: Regularisation,
    /// What is added to the covariance.
    pub correction: Correction,
}

/// How often private selection finds the true hyperparameters: those of the model section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HyperparametersTask {
    /// Rows at the beginning that are trained on; the others validate.
    pub train: usize,
    /// The public inducing inputs, a range for each input.
    pub inducing: Vec<RangeSetting>,
    /// The lengthscales to choose from.
    pub lengthscales: Vec<f64>,
    /// The standard deviations of the noise to choose from.
    pub noise_sds: Vec<f64>,
    /// How posteriors follow from the sums.
    pub posterior: NoiseAwareSetting,
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
        gamma: f64,
        /// Steps of CoinPress.
        steps: usize,
        /// Which scores are refused.
        refuse: RefusalRule,
        /// What each CoinPress mean may spend.
        budget: BudgetRule,
    },
    /// One release per lengthscale and one of all mean log-likelihoods, composed.
    Composition {
        /// How far below its greatest possible value a log-likelihood is clipped, in nats.
        clip: f64,
    },
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

/// Classification by regression on Dirichlet labels. Targets are the classes 0, 1, 2, ...
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirichletTask {
    /// Rows at the beginning that are trained on; the others are tested.
    pub train: usize,
    /// The number of classes.
    pub classes: usize,
    /// The public inducing inputs, a product grid with a range for each input.
    pub inducing: Vec<RangeSetting>,
    /// The regularisation of the labels.
    pub alpha: f64,
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
    pub at: Vec<f64>,
}

impl SurfaceTask {
    /// The metrics.
    pub const METRICS: [&str; 5] = ["rmse", "difference", "noise-sd", "rows", "clipped"];
}
