//! What one cell is made of, in the words of the spec. These types are the raw stage: strict in form,
//! not yet checked in their values. Every path here can be a grid axis.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ErrataTask;
use super::density::{BinningSetting, DensityTask, FunctionSetting, HistogramSetting};
use super::leaderboard::LeaderboardTask;
use super::sums::{CalibrationTask, DirichletTask, HyperparametersTask, SumsSetting, SurfaceTask};
use crate::advi::{Family, Sampling};
use crate::data::Comparison;
use crate::privacy::accounting::{AccountantKind, Relation};
use crate::privacy::{Calibration, Guarantee, Objective, ReleaseRecipe, SensitivityRule, Solver};

/// Everything that determines a cell's numbers, seeds aside. Cells share the sections that no axis changes.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Where the rows come from.
    pub data: Arc<DataSetting>,
    /// How targets are brought to the scale of the model.
    pub normalise: Arc<NormaliseSetting>,
    /// The Gaussian process; not used by every task.
    pub model: Option<Arc<ModelSetting>>,
    /// What is measured.
    pub task: Arc<TaskSetting>,
    /// The guarantee and the mechanism.
    pub privacy: Arc<PrivacySetting>,
}

/// Rows, columns and filters of the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataSetting {
    /// The source of the rows.
    pub source: SourceSetting,
    /// Names of the input columns (public).
    pub inputs: Vec<String>,
    /// Name of the target column (private).
    pub target: String,
    /// Text columns that are read as numbers: each value's place in the list, from 0.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub encode: BTreeMap<String, Vec<String>>,
    /// Only rows that pass all of these are used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<FilterSetting>,
    /// Rows that each replicate draws from those; all of them without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawSetting>,
}

impl DataSetting {
    /// Whether rows are chosen by their private target, by a filter or by quotas.
    pub fn chosen_by_target(&self) -> bool {
        let quotas = matches!(self.draw, Some(DrawSetting::Quotas(_)));
        quotas || self.filter.iter().any(|filter| filter.column == self.target)
    }

    /// The rows that a replicate works on, of as many as the data hold.
    pub fn rows_drawn(&self, held: usize) -> usize {
        match (&self.source, &self.draw) {
            (SourceSetting::Synthetic(setting), _) => setting.rows(),
            (_, None) => held,
            (_, Some(DrawSetting::Rows(rows))) => held.min(*rows),
            (_, Some(DrawSetting::Quotas(quotas))) => quotas.iter().map(|quota| quota.rows).sum(),
        }
    }
}

/// Rows that each replicate draws, seeded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum DrawSetting {
    /// This many rows, without replacement, in random order.
    Rows(usize),
    /// As many rows of each kind as its quota says, without replacement.
    Quotas(Vec<QuotaSetting>),
}

/// How many rows of a kind are drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QuotaSetting {
    /// The target of the rows.
    pub target: f64,
    /// The inputs of the rows.
    pub inputs: Vec<f64>,
    /// How many.
    pub rows: usize,
}

/// Data that are generated, anew in each replicate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SyntheticSetting {
    /// Noisy diagonal stripes of two classes (0 and 1) over the square of side 10, denser at the bottom; then a test
    /// grid with its true classes.
    Stripes {
        /// Training points.
        points: usize,
        /// The share of the training points whose class is flipped.
        flips: f64,
        /// Test points along each side.
        grid: usize,
    },
    /// A damped oscillation with noise over [-4, 4]; then a test grid with noise, and the same without.
    Sinc {
        /// Training points.
        points: usize,
        /// Standard deviation of the noise.
        noise: f64,
        /// Test points.
        grid: usize,
    },
    /// A draw of a Gaussian process with noise over [-4, 4]; then test points with noise, and the same without.
    GaussianProcess {
        /// Training points.
        points: usize,
        /// Standard deviation of the noise.
        noise: f64,
        /// The lengthscale of the exponentiated quadratic kernel of variance 1.
        lengthscale: f64,
        /// Test points.
        test: usize,
    },
    /// Two half circles that hold each other, of classes 0 and 1.
    Moons {
        /// Points.
        points: usize,
        /// Standard deviation of the noise in either coordinate.
        noise: f64,
    },
    /// Intertwined spiral arms, each of a class.
    Spirals {
        /// Points.
        points: usize,
        /// Arms.
        arms: usize,
        /// Standard deviation of the noise in either coordinate.
        noise: f64,
    },
}

impl SyntheticSetting {
    /// The number of inputs of the data.
    pub fn inputs(&self) -> usize {
        match self {
            Self::Sinc { .. } | Self::GaussianProcess { .. } => 1,
            Self::Stripes { .. } | Self::Moons { .. } | Self::Spirals { .. } => 2,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Stripes { points, grid, .. } => points + grid * grid,
            Self::Sinc { points, grid: test, .. } | Self::GaussianProcess { points, test, .. } => {
                points + 2 * test
            }
            Self::Moons { points, .. } | Self::Spirals { points, .. } => *points,
        }
    }
}

/// The source of the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SourceSetting {
    /// A dataset of the manifest `data/datasets.toml`, by name.
    Dataset(String),
    /// A CSV file of the user's own, its path relative to the spec.
    Csv {
        /// Path of the file.
        path: String,
        /// The separator, one character.
        #[serde(default = "comma", skip_serializing_if = "is_comma")]
        separator: char,
    },
    /// A Parquet file of the user's own.
    Parquet {
        /// Path of the file, relative to the spec.
        path: String,
    },
    /// Columns in the spec itself.
    Inline(BTreeMap<String, Vec<f64>>),
    /// Data that are generated, anew in each replicate.
    Synthetic(SyntheticSetting),
    /// Grey images of a dataset, and their labels as targets. The one name in `inputs` stands for all pixels.
    Images(ImagesSetting),
    /// Trips of a bike share, with columns for their stations' places, their time of the week and their duration.
    Trips(TripsSetting),
}

/// Trips of a bike share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TripsSetting {
    /// The dataset of the manifest.
    pub dataset: String,
    /// The path of its file of trips, as the manifest lists it: CSV, or a zip archive with one CSV file. Without it, all
    /// files but the list of stations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journeys: Option<String>,
    /// The path of its list of stations, which trips without places are joined with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stations: Option<String>,
}

/// Images of a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImagesSetting {
    /// The dataset of the manifest.
    pub dataset: String,
    /// The path of the file of images, as the manifest lists it.
    pub images: String,
    /// The path of the file of labels.
    pub labels: String,
    /// Pixels along each side after scaling down (bilinear, antialiased).
    pub side: usize,
}

impl SourceSetting {
    /// The dataset of the manifest that the rows come from, if they do.
    pub fn dataset(&self) -> Option<&str> {
        match self {
            Self::Dataset(name)
            | Self::Images(ImagesSetting { dataset: name, .. })
            | Self::Trips(TripsSetting { dataset: name, .. }) => Some(name),
            Self::Csv { .. } | Self::Parquet { .. } | Self::Inline(_) | Self::Synthetic(_) => None,
        }
    }
}

impl SourceSetting {
    /// The path of the user's own file, as written.
    pub fn own_file(&self) -> Option<&str> {
        match self {
            Self::Csv { path, .. } | Self::Parquet { path } => Some(path),
            _ => None,
        }
    }
}

fn comma() -> char {
    ','
}

fn is_comma(separator: &char) -> bool {
    *separator == ','
}

/// A condition on one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FilterSetting {
    /// The column.
    pub column: String,
    /// The comparison.
    pub is: Comparison,
    /// The number that the column is compared with.
    pub value: f64,
}

/// How targets are clipped, centred and scaled before the model sees them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum NormaliseSetting {
    /// Targets as they are.
    #[default]
    None,
    /// By statistics of the private targets, as the papers do. Costs privacy that nobody pays for.
    Private {
        /// Clip to the midrange plus and minus this, in units of the target.
        #[serde(skip_serializing_if = "Option::is_none")]
        clip: Option<f64>,
        /// What is subtracted.
        centre: CentreSetting,
        /// Whether to divide by the population standard deviation.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        scale: bool,
    },
    /// Clip to the public bounds [low, high], then subtract the mean of the clipped targets and divide by their
    /// population standard deviation, which are private. Costs privacy that nobody pays for.
    Standardised {
        /// Least value of a target.
        low: f64,
        /// Greatest value of a target.
        high: f64,
    },
    /// By public constants: subtract the centre, divide by the scale.
    Constants {
        /// What is subtracted, in units of the target.
        #[serde(default, skip_serializing_if = "is_nought")]
        centre: f64,
        /// Units of the target per unit of the normalised one.
        scale: f64,
    },
    /// By public constants: clip to [low, high], subtract the middle and divide by the scale.
    Bounds {
        /// Least value of a target.
        low: f64,
        /// Greatest value of a target.
        high: f64,
        /// Units of the target per unit of the normalised one.
        #[serde(default = "unit", skip_serializing_if = "is_unit")]
        scale: f64,
    },
}

fn unit() -> f64 {
    1.0
}

fn is_unit(number: &f64) -> bool {
    *number == 1.0
}

/// A private statistic that targets are centred by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CentreSetting {
    /// Their mean.
    Mean,
    /// Halfway between the least and the greatest.
    Midrange,
}

/// A Gaussian process with Gaussian noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelSetting {
    /// The covariance function.
    pub kernel: KernelSetting,
    /// Variance of the Gaussian likelihood, in squared units of the normalised target; for regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_variance: Option<f64>,
    /// A sparse approximation; exact inference without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparse: Option<SparseSetting>,
}

impl ModelSetting {
    /// The noise variance; zero where there is none, which the checks of a spec allow for classification alone.
    pub fn noise(&self) -> f64 {
        self.noise_variance.unwrap_or(0.0)
    }
}

/// A covariance function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum KernelSetting {
    /// Exponentiated quadratic with one lengthscale.
    Eq {
        /// Variance.
        variance: f64,
        /// Lengthscale, in units of the inputs.
        lengthscale: f64,
    },
    /// Exponentiated quadratic with one lengthscale per input.
    EqArd {
        /// Variance.
        variance: f64,
        /// Lengthscales, in units of the inputs.
        lengthscales: Vec<f64>,
    },
    /// Gibbs' nonstationary kernel with lengthscales from the density of the inputs.
    Gibbs {
        /// Variance.
        variance: f64,
        /// Bandwidth h of the density estimate.
        bandwidth: f64,
        /// Inputs n wanted within a lengthscale.
        points: f64,
        /// Longest lengthscale m.
        longest: f64,
    },
    /// A constant.
    Bias {
        /// Variance.
        variance: f64,
    },
    /// A linear function through the origin.
    Linear {
        /// Variance of the slopes.
        variance: f64,
    },
    /// A periodic function.
    Periodic {
        /// Variance.
        variance: f64,
        /// Lengthscale, relative to the unit circle.
        lengthscale: f64,
        /// Period, in units of the inputs.
        period: f64,
    },
    /// The sum of several kernels.
    Sum(Vec<KernelSetting>),
    /// The product of several kernels.
    Product(Vec<KernelSetting>),
}

/// A sparse approximation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SparseSetting {
    /// Fully independent training conditional; for regression.
    Fitc {
        /// Where the inducing inputs lie.
        inducing: InducingSetting,
    },
    /// Subset of regressors; for classification.
    Sor {
        /// Where the inducing inputs lie.
        inducing: InducingSetting,
        /// Added to the diagonal of the covariance of the inducing inputs.
        #[serde(default)]
        jitter: f64,
    },
}

/// Where inducing inputs lie.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum InducingSetting {
    /// At the k-means centres of the training inputs.
    Kmeans {
        /// Number of centres.
        centres: usize,
        /// Restarts.
        #[serde(default = "ten")]
        restarts: usize,
    },
    /// At given points, one row each.
    Points(Vec<Vec<f64>>),
    /// At the points of a grid: the product of these, one per input.
    Grid(Vec<RangeSetting>),
}

fn ten() -> usize {
    10
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum TaskSetting {
    /// Root mean squared error of held-out targets.
    Regression(RegressionTask),
    /// Selection of a configuration by the exponential mechanism.
    Selection(SelectionTask),
    /// Test accuracy of a classifier whose posterior is approximated.
    Posterior(PosteriorTask),
    /// Predictions of a regression on a grid.
    Prediction(PredictionTask),
    /// The density of records over their inputs.
    Density(DensityTask),
    /// Binary classification by the Laplace approximation.
    Classification(ClassificationTask),
    /// The way of the Laplace approximation to its mode.
    Convergence(ConvergenceTask),
    /// A Gaussian process at two places, before or after an observation.
    Tutorial(TutorialTask),
    /// How well predictions from noisy sums are calibrated.
    Calibration(CalibrationTask),
    /// How often private selection finds the true hyperparameters.
    Hyperparameters(HyperparametersTask),
    /// Test accuracy of classification by regression on Dirichlet labels.
    Dirichlet(DirichletTask),
    /// Scores of the predictive distributions of a private regression.
    Leaderboard(LeaderboardTask),
    /// A surface from the sums over all rows, and what privacy changes in it.
    Surface(SurfaceTask),
    /// An error of a paper, with its counter-example.
    Errata(ErrataTask),
}

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

/// The way of the Laplace approximation to its mode. Each step with privacy spends the whole of epsilon and delta.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvergenceTask {
    /// Rows at the beginning that are trained on; the others are tested.
    pub train: usize,
    /// The class of a row: whether its target compares so with a number.
    pub positive: ThresholdSetting,
    /// Newton steps.
    pub steps: usize,
}

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

fn one() -> usize {
    1
}

fn twenty() -> usize {
    20
}

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
    #[serde(default, skip_serializing_if = "is_zero")]
    pub draws: usize,
    /// The points of the grid that have metrics of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Vec<f64>>,
}

/// Equally spaced numbers.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RangeSetting {
    /// The first.
    pub from: f64,
    /// The last.
    pub to: f64,
    /// How many.
    pub points: usize,
}

fn is_nought(number: &f64) -> bool {
    *number == 0.0
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Cross-validated regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegressionTask {
    /// How rows are split into folds.
    pub split: SplitSetting,
    /// Draws of the privacy noise in each fold; 0 for the exact expectation over the noise of cloaking, as
    /// `expected-rmse`.
    pub draws: usize,
    /// Which held-out targets predictions are compared with.
    #[serde(default, skip_serializing_if = "ScoreSetting::is_original")]
    pub score: ScoreSetting,
}

impl RegressionTask {
    /// The metric that it measures.
    pub fn metric(&self) -> &'static str {
        if self.draws == 0 { "expected-rmse" } else { "rmse" }
    }
}

/// Which held-out targets predictions are compared with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreSetting {
    /// The targets of the data.
    #[default]
    Original,
    /// The targets after clipping, which hides what the clip costs.
    Clipped,
}

impl ScoreSetting {
    fn is_original(&self) -> bool {
        *self == Self::Original
    }
}

/// Selection among candidates by cross-validated expected squared error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectionTask {
    /// The rows that are used; normalisation is by all of them. All rows without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowsSetting>,
    /// How rows are split into folds.
    pub split: SplitSetting,
    /// The configurations to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// More of them: Gaussian processes with all combinations of some hyperparameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gp: Option<GpGrid>,
    /// Budget of the exponential mechanism.
    pub epsilon: f64,
    /// Clip errors at this many times the largest change of a target; no clip without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
    /// The bound on the change of the summed squared error.
    pub sensitivity: SensitivityRule,
    /// Only candidates are allowed of which one target moves the predictions of a fold by at most the root of this
    /// (norm, on the scale of the model).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Draws of the noise that the errors are averaged over; without it their expectation is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws: Option<usize>,
    /// Whether only what is about all candidates together is measured, not each of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub summary: bool,
}

/// Rows in their order, from one number (counted from 0) to before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowsSetting {
    /// The first row.
    pub from: usize,
    /// The row after the last.
    pub to: usize,
}

/// All combinations of some hyperparameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpGrid {
    /// Lengthscales, in units of the inputs.
    pub lengthscales: Vec<f64>,
    /// Variances of the Gaussian likelihood, in squared units of the normalised target.
    pub noise_variances: Vec<f64>,
    /// Variances of the kernel.
    pub variances: Vec<f64>,
}

/// A Gaussian process with an exponentiated quadratic kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpCandidate {
    /// Lengthscale, in units of the inputs.
    pub lengthscale: f64,
    /// Variance of the Gaussian likelihood, in squared units of the normalised target.
    pub noise_variance: f64,
    /// Variance of the kernel.
    pub variance: f64,
}

impl SelectionTask {
    /// Every configuration; of the grid, variances vary fastest, then noise variances.
    pub fn all_candidates(&self) -> Vec<Candidate> {
        let mut all = self.candidates.clone();
        if let Some(GpGrid { lengthscales, noise_variances, variances }) = &self.gp {
            let pairs = || noise_variances.iter().flat_map(|&n| variances.iter().map(move |&v| (n, v)));
            let of = |&lengthscale: &f64| {
                pairs().map(move |(noise_variance, variance)| {
                    Candidate::Gp(GpCandidate { lengthscale, noise_variance, variance })
                })
            };
            all.extend(lengthscales.iter().flat_map(of));
        }
        all
    }
}

/// A configuration that can be selected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Candidate {
    /// Least squares on monomials up to this degree.
    Polynomial(u32),
    /// A Gaussian process.
    Gp(GpCandidate),
}

/// A Bayesian classifier, fitted to the first rows and tested on the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PosteriorTask {
    /// The likelihood and the prior.
    pub model: PosteriorModel,
    /// The class of a row: whether its target compares so with a number.
    pub positive: ThresholdSetting,
    /// Rows at the beginning that are trained on; the others are tested.
    pub train: usize,
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
        prior_variance: f64,
    },
}

/// A comparison with a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThresholdSetting {
    /// The comparison.
    pub is: Comparison,
    /// The number.
    pub value: f64,
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
    pub steps: usize,
    /// The share of the training rows that a step samples.
    pub rate: f64,
    /// How it samples them.
    pub sampling: Sampling,
    /// The learning rate of windowed AdaGrad.
    pub learning_rate: f64,
}

/// How rows are split into folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SplitSetting {
    /// Shuffled (seeded), then cut into this many folds.
    Shuffled(usize),
    /// Cut into this many folds in file order.
    Contiguous(usize),
    /// Row i goes to fold i mod this.
    Interleaved(usize),
    /// A single fold: the last rows, this many, are tested.
    Tail(usize),
}

/// The guarantee and the mechanism.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrivacySetting {
    /// Epsilon; `inf` for no privacy.
    pub epsilon: f64,
    /// Delta.
    pub delta: f64,
    /// Most that one target can change, in units of the target; for mechanisms that protect targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
    /// How noise is set from epsilon and delta.
    #[serde(default = "classic")]
    pub calibration: Calibration,
    /// The mechanism.
    pub mechanism: MechanismSetting,
}

impl PrivacySetting {
    /// The guarantee that the mechanism is set for.
    pub fn guarantee(&self) -> Guarantee {
        Guarantee { epsilon: self.epsilon, delta: self.delta }
    }

    /// Most that one target can change; where it is not said, nothing bounds it.
    pub fn change(&self) -> f64 {
        self.change.unwrap_or(f64::INFINITY)
    }
}

fn classic() -> Calibration {
    Calibration::Classic
}

/// The mechanism.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum MechanismSetting {
    /// Gaussian noise with an optimal covariance.
    Cloaking(CloakingSetting),
    /// Clipped and noisy gradients.
    Gradient(GradientSetting),
    /// Noisy sums of a variational model.
    Sums(SumsSetting),
    /// Gaussian noise on the counts of a histogram.
    Histogram(HistogramSetting),
    /// A sample of the model's process, added to its mean function.
    Function(FunctionSetting),
    /// Gaussian noise on a statistic of the targets of each bin.
    Binning(BinningSetting),
}

/// The settings of clipped and noisy gradients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GradientSetting {
    /// Bound on the norm of one row's gradient; no clip without it, which only `epsilon = inf` allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<f64>,
    /// What prices the steps.
    pub accountant: AccountantKind,
    /// Which data sets are neighbours.
    pub relation: Relation,
}

/// The settings of cloaking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloakingSetting {
    /// What the covariance minimises.
    pub objective: Objective,
    /// Directions below this singular value of C, relative to the largest, are dropped.
    pub rank_tolerance: f64,
    /// How the weights are found.
    #[serde(default = "interior_point")]
    pub solver: Solver,
    /// What is released when directions are dropped.
    #[serde(default = "projection")]
    pub release: ReleaseRecipe,
}

fn interior_point() -> Solver {
    Solver::InteriorPoint
}

fn projection() -> ReleaseRecipe {
    ReleaseRecipe::Projection
}
