//! Selection of a configuration by the exponential mechanism, on cross-validated errors that include the
//! noise.

mod fold;
mod judged;
mod measure;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FitSize, TaskRequirements};
use dpgp_mechanisms::{CellSections, SseSensitivityRule, require_cloaking_setting};
use dpgp_number::{Count, Epsilon, Positive};
use dpgp_spec::axis_value_label;
use dpgp_spec::setting::rules::{check_positive, check_range, fail};
use dpgp_spec::setting::{CheckResult, SpecProblem, SplitSetting};

pub(super) use fold::LengthscaleCandidates;
pub use fold::SelectionErrorFunction;
pub(super) use judged::expected_clipped_square;

/// Selection among candidates by cross-validated expected squared error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SelectionTask {
    /// The rows to use; all rows if not given. Normalisation uses all rows in either case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowRangeSetting>,
    /// How rows are split into folds.
    pub split: SplitSetting,
    /// The configurations to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<ModelCandidate>,
    /// More configurations: Gaussian processes with all combinations of the listed hyperparameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gp: Option<GpHyperparameterGrid>,
    /// Budget of the exponential mechanism.
    pub epsilon: Epsilon,
    /// Clip errors at this many times the largest change of a target. Without this key, errors are not clipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<Positive>,
    /// The bound on the change of the sum of squared errors.
    pub sensitivity: SseSensitivityRule,
    /// A candidate is allowed only if changing one target changes the predictions of a fold, on the model's scale, by a vector
    /// whose squared norm is at most this threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Positive>,
    /// The number of noise draws over which the errors are averaged. Without this key, their exact expectation is used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws: Option<Count>,
    /// The factor that scales the noise in the errors.
    #[serde(default, skip_serializing_if = "NoiseScaleRule::is_delta")]
    pub noise_scale: NoiseScaleRule,
    /// Pairs of rows, counted from 0 among those that are used. For each pair, a metric gives the change of the prediction at
    /// the first row when the target of the second row changes by 1. The change is 0 if the second row is not a training row
    /// for that prediction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<[usize; 2]>,
    /// Whether the noise-free error of each fold is also measured, in addition to the sum of these errors.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub each_fold: bool,
    /// Whether to leave out the metrics of each candidate and measure only those about all candidates together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub summary: bool,
}

/// One factor in the scale of the noise on predictions. The others are the change of a target and the noise multiplier. It depends on
/// `Delta^2`, the largest `c' M^-1 c` over the columns c, where M is the covariance that the solver returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseScaleRule {
    /// Delta, the sensitivity, as the paper says and as a proof requires.
    #[default]
    Delta,
    /// `Delta^2`, an error in the authors' code: too much noise if Delta is above 1, too little if it is below 1.
    DeltaSquared,
}

impl NoiseScaleRule {
    fn is_delta(&self) -> bool {
        *self == Self::Delta
    }
}

/// A range of consecutive rows, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RowRangeSetting {
    /// The first row of the range.
    pub from: usize,
    /// The row after the last row of the range.
    pub to: usize,
}

/// Lists of hyperparameters, of which all combinations are candidates.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpHyperparameterGrid {
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

/// A configuration that can be selected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ModelCandidate {
    /// Least squares on monomials up to this degree.
    Polynomial(u32),
    /// A Gaussian process.
    Gp(GpCandidate),
}

impl GpHyperparameterGrid {
    /// Every combination; variances vary fastest, then noise variances.
    fn candidates(&self) -> Vec<ModelCandidate> {
        let mut all = Vec::new();
        for &lengthscale in &self.lengthscales {
            for &noise_variance in &self.noise_variances {
                all.extend(
                    self.variances
                        .iter()
                        .map(|&variance| ModelCandidate::Gp(GpCandidate { lengthscale, noise_variance, variance })),
                );
            }
        }
        all
    }

    fn check(&self) -> CheckResult {
        let Self { lengthscales, noise_variances, variances } = self;
        let lists = [("lengthscales", lengthscales), ("noise_variances", noise_variances), ("variances", variances)];
        for (key, values) in lists {
            let path = format!("task.selection.gp.{key}");
            if values.is_empty() {
                return fail(&path, SpecProblem::Empty);
            }
            values.iter().try_for_each(|value| check_positive(&path, *value))?;
        }
        let size = lengthscales.len().saturating_mul(noise_variances.len()).saturating_mul(variances.len());
        check_range("task.selection.gp", size <= MOST_CANDIDATES, "at most 10000 combinations", size as f64)
    }
}

/// The most candidates of a selection.
const MOST_CANDIDATES: usize = 10_000;

impl ModelCandidate {
    /// A short name, as it appears in the names of metrics.
    pub fn name(&self) -> String {
        match self {
            Self::Polynomial(degree) => format!("polynomial-{degree}"),
            Self::Gp(GpCandidate { lengthscale, noise_variance, variance }) => {
                let [l, n, v] =
                    [lengthscale, noise_variance, variance].map(|x| axis_value_label(&toml::Value::Float(*x)));
                format!("l={l} noise={n} variance={v}")
            }
        }
    }

    fn check(&self, path: &str) -> CheckResult {
        match self {
            Self::Polynomial(degree) => check_range(path, *degree <= 20, "at most 20", f64::from(*degree)),
            Self::Gp(GpCandidate { lengthscale, noise_variance, variance }) => {
                [lengthscale, noise_variance, variance].into_iter().try_for_each(|x| check_positive(path, *x))
            }
        }
    }
}

impl SelectionTask {
    /// How many of so many rows are used.
    fn used_row_count(&self, rows: usize) -> usize {
        self.rows.map_or(rows, |chosen| rows.min(chosen.to).saturating_sub(chosen.from))
    }

    /// The metrics of each candidate.
    pub const OF_EACH: [&str; 6] = ["sse", "sse-without-noise", "most-moved", "sensitivity", "probability", "rmse"];

    /// The metrics that are about all candidates together.
    pub const OF_ALL: [&str; 6] =
        ["expected-rmse", "mean-rmse", "allowed", "largest-sensitivity", "largest-probability", "uniform-rmse"];

    /// Budget of the choice together with the release of predictions that follows, if both are private.
    pub const TOTAL: &str = "total-epsilon";

    /// The only clip for which the corrected sensitivity is proved, as a multiple of the largest change of a target.
    pub const CORRECTED_CLIP: Positive = Positive::literal(4.0);

    /// The name of the metric for an entry of a candidate's prediction map.
    pub fn map_entry_metric_name(name: &str, [test, training]: [usize; 2]) -> String {
        format!("map/{name}/{test} from {training}")
    }

    /// The name of the metric for a candidate's noise-free error in a fold. Folds are counted from 1.
    pub fn fold_error_metric_name(name: &str, fold: usize) -> String {
        format!("sse-without-noise/{name}/fold-{fold}")
    }

    /// The name of the metric for the probability of a lengthscale.
    pub fn lengthscale_probability_metric_name(lengthscale: f64) -> String {
        format!("lengthscale/{}", axis_value_label(&toml::Value::Float(lengthscale)))
    }

    /// All configurations; those of the grid come last.
    pub fn all_candidates(&self) -> Vec<ModelCandidate> {
        let grid = self.gp.iter().flat_map(GpHyperparameterGrid::candidates);
        self.candidates.iter().cloned().chain(grid).collect()
    }

    fn check_candidates(&self) -> CheckResult {
        let path = "task.selection.candidates";
        self.gp.as_ref().map_or(Ok(()), GpHyperparameterGrid::check)?;
        let all = self.all_candidates();
        if all.is_empty() {
            return fail(path, SpecProblem::Empty);
        }
        let mut seen = std::collections::BTreeSet::new();
        for candidate in &all {
            candidate.check(path)?;
            if !seen.insert(candidate.name()) {
                return fail(path, SpecProblem::DuplicateValue { label: candidate.name() });
            }
        }
        Ok(())
    }
}

impl TaskRequirements for SelectionTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        setting.data.check_split("task.selection.split", self.split)?;
        if let Some(rows) = self.rows {
            check_range("task.selection.rows.to", rows.to > rows.from, "greater than `from`", rows.to as f64)?;
        }
        self.check_candidates()?;
        if self.sensitivity == SseSensitivityRule::Corrected && self.clip != Some(Self::CORRECTED_CLIP) {
            return fail("task.selection.sensitivity", SpecProblem::CorrectedNeedsClip);
        }
        require_cloaking_setting(&setting.privacy).map(drop)
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        let each = if self.summary { Vec::new() } else { self.all_candidates() };
        let names: Vec<String> = each.iter().map(ModelCandidate::name).collect();
        let each =
            Self::OF_EACH.into_iter().flat_map(|metric| names.iter().map(move |name| format!("{metric}/{name}")));
        let lengthscales = self.gp.iter().flat_map(|grid| &grid.lengthscales);
        let lengthscales = lengthscales.map(|l| SelectionTask::lengthscale_probability_metric_name(*l));
        let entries =
            names.iter().flat_map(|name| self.entries.iter().map(|entry| Self::map_entry_metric_name(name, *entry)));
        let folds = if self.each_fold { self.split.fold_count() } else { 0 };
        let of_folds =
            names.iter().flat_map(|name| (1..=folds).map(move |fold| Self::fold_error_metric_name(name, fold)));
        let of_all = Self::OF_ALL.into_iter().chain([Self::TOTAL]).map(str::to_owned);
        each.chain(entries).chain(of_folds).chain(lengthscales).chain(of_all).collect()
    }

    fn check_row_count(&self, rows: usize) -> CheckResult {
        let last = self.entries.iter().flatten().copied().max();
        let used = self.used_row_count(rows);
        let allowed = "less than the number of rows used";
        let inside = last.is_none_or(|last| last < used);
        check_range("task.selection.entries", inside, allowed, last.unwrap_or(0) as f64)?;
        self.split.check_row_count("task.selection.split", self.used_row_count(rows))
    }

    fn fit_size(&self, rows: usize) -> Option<FitSize> {
        let exact = self.all_candidates().iter().any(|candidate| matches!(candidate, ModelCandidate::Gp(_)));
        exact.then(|| FitSize::from_split(self.split, self.used_row_count(rows)))
    }
}
