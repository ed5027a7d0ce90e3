//! What a spec says of the calibration of predictions from noisy sums.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Described, TaskError, site_sums, sums_model};
use dpgp_mechanisms::{MomentsSetting, Sections, Summed, check_moments};
use dpgp_number::{Count, Probability};
use dpgp_spec::setting::rules::{fail, grid, range, to_test};
use dpgp_spec::setting::{Checked, NoiseAwareSetting, Problem, RangeSetting};

/// How well predictions from noisy sums are calibrated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationTask {
    /// Rows at the beginning that are trained on. The others are test rows, and as many rows with the same
    /// inputs that hold the true function.
    pub train: Count,
    /// The public inducing inputs of noisy sums, a product grid with a range for each input; noisy moments have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inducing: Vec<RangeSetting>,
    /// How the posterior follows from noisy sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posterior: Option<PosteriorRule>,
    /// Masses of the central intervals whose coverage is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masses: Vec<Probability>,
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
    /// By a process on the public box of the inputs, which knows how little is known of them.
    Sites,
}

/// The most points of the grid of a moment cone.
const MOST_VERTICES: usize = 1000;

impl PosteriorRule {
    fn check(&self, path: &str, inputs: usize) -> Checked {
        match self {
            Self::NoiseAware(rule) => rule.check(&format!("{path}.noise-aware")),
            Self::Moment { grid: points } => {
                let path = format!("{path}.moment.grid");
                grid(&path, points, inputs)?;
                let total: usize = points.iter().map(|range| range.points).product();
                range(&path, total <= MOST_VERTICES, "at most 1000 points", total as f64)
            }
            Self::Sites => Ok(()),
        }
    }
}

const PATH: &str = "task.calibration";

impl CalibrationTask {
    /// How the posterior follows from noisy sums.
    ///
    /// # Errors
    /// [`TaskError::Missing`], which the checks of a spec rule out.
    pub(super) fn posterior(&self) -> Result<&PosteriorRule, TaskError> {
        self.posterior.as_ref().ok_or(TaskError::Missing { needed: "task.calibration.posterior" })
    }

    fn check_sums(&self, setting: &Sections) -> Checked {
        sums_model::model(PATH, setting)?.has_noise("calibration")?;
        sums_model::inducing(PATH, &self.inducing, setting)?;
        let Some(posterior) = &self.posterior else {
            return fail(PATH, Problem::MissingKey { key: "posterior", by: "noisy sums" });
        };
        posterior.check(&format!("{PATH}.posterior"), setting.data.dimensions())?;
        match posterior {
            PosteriorRule::Sites => site_sums::check(PATH, &self.inducing, setting),
            PosteriorRule::NoiseAware(_) | PosteriorRule::Moment { .. } => {
                sums_model::mechanism(setting, Summed::Targets).map(drop)
            }
        }
    }
}

impl Described for CalibrationTask {
    fn check(&self, setting: &Sections) -> Checked {
        let path = PATH;
        if let Some([low, high]) = self.window {
            let rising = low < high && low.is_finite() && high.is_finite();
            range(&format!("{path}.window"), rising, "rising and finite", high)?;
        }
        let Some(moments) = setting.privacy.mechanism.of::<MomentsSetting>() else {
            return self.check_sums(setting);
        };
        let without = self.inducing.is_empty() && self.posterior.is_none();
        check_moments(path, moments, without, setting)
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        let plain = ["rmse", "width", "log-likelihood"].map(str::to_owned).into_iter();
        let coverage = ["coverage", "coverage-f"]
            .into_iter()
            .flat_map(|name| self.masses.iter().map(move |mass| format!("{name}/{mass}")));
        plain.chain(coverage).collect()
    }

    fn check_rows(&self, rows: usize) -> Checked {
        to_test("task.calibration.train", self.train.get(), rows)
    }
}
