//! Densities of records, from noisy histograms or as private functions.

mod measure;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{CellSetting, TaskRequirements, TaskSetting, build_count_axes};
use dpgp_gp::kernel::{BinObservation, Bins};
use dpgp_mechanisms::{
    CellSections, FunctionNoiseSetting, HistogramReleaseDesign, HistogramSetting, MechanismSetting, PrivacySetting,
};
use dpgp_number::{Count, Positive};
use dpgp_spec::setting::rules::{check_dimension, check_grid, fail};
use dpgp_spec::setting::{BinRangeSetting, CheckResult, RangeSetting, SpecProblem, check_bin_ranges};

/// The density of records over their inputs, estimated from a histogram or from a process on fine bins. The target of a row is
/// the number of records that the row stands for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DensityTask {
    /// The bins in which records are counted, along each input.
    pub bins: Vec<BinRangeSetting>,
    /// The bins at whose centres densities are predicted, along each input. Without this key, they are those of `bins`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test: Vec<BinRangeSetting>,
    /// How the density is estimated.
    pub estimate: DensityEstimate,
    /// The number of draws of the privacy noise.
    #[serde(default = "default_draws")]
    pub draws: Count,
    /// Whether each epsilon has its own draws. Otherwise all epsilons share the same draws, so that they are compared on equal
    /// terms, but one unlucky set of draws affects them all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_draws: bool,
    /// The points at which the figure shows the estimate, in one dimension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<RangeSetting>,
}

/// How a density is estimated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum DensityEstimate {
    /// The noisy density of the bin that contains a point. Needs `mechanism.histogram`.
    Histogram {},
    /// The estimates of the counts that `dpgp predict` makes from a noisy histogram. Needs `mechanism.histogram`.
    Denoised {},
    /// Regression on the noisy histogram, with variances fitted by maximum likelihood. Needs `mechanism.histogram`.
    Process(DensityProcessSetting),
    /// Regression on the densities of the bins with the Gaussian process of `[model]`, with noise on the mean function. Needs
    /// `mechanism.function`.
    Function {
        /// Whether the mean of all densities is subtracted first. This mean is private, and the guarantee does not account for
        /// it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        centred: bool,
    },
}

/// Regression on a histogram.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DensityProcessSetting {
    /// How the density of a bin relates to the latent function: as the function's average over the bin (the integral kernel)
    /// or its value at the centre of the bin. The kernel is `exp(-r^2 / l^2)`, without the usual factor of 2 in the denominator.
    pub observed: BinObservation,
    /// Fixed lengthscales, one per input. Without this key, the lengthscales are fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lengthscales: Option<Vec<Positive>>,
    /// Lengthscales from which the fits start, as multiples of the width of a bin. The best of all fits is used.
    #[serde(default = "default_start_widths", skip_serializing_if = "is_default_start_widths")]
    pub widths: Vec<Positive>,
    /// Whether the noisy densities are centred and scaled by their own mean and standard deviation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub standardise: bool,
}

fn default_draws() -> Count {
    Count::ONE
}

fn default_start_widths() -> Vec<Positive> {
    vec![Positive::ONE]
}

fn is_default_start_widths(widths: &Vec<Positive>) -> bool {
    *widths == [Positive::ONE]
}

impl DensityProcessSetting {
    fn check(&self, path: &str, inputs: usize) -> CheckResult {
        let widths = format!("{path}.widths");
        if self.widths.is_empty() {
            return fail(&widths, SpecProblem::Empty);
        }
        let path = format!("{path}.lengthscales");
        let Some(lengthscales) = &self.lengthscales else { return Ok(()) };
        check_dimension(&path, inputs, lengthscales.len())
    }
}

impl DensityTask {
    /// The histogram of a cell; none if the cell has another task or mechanism.
    pub fn histogram(setting: &CellSetting) -> Option<HistogramReleaseDesign> {
        let TaskSetting::Density(task) = &*setting.task else { return None };
        let histogram = setting.privacy.mechanism.downcast::<HistogramSetting>()?;
        Some(HistogramReleaseDesign::new(task.histogram_bins(), histogram, &setting.data))
    }

    /// The bins whose densities are predicted.
    fn test_bins(&self) -> Bins {
        bins(if self.test.is_empty() { &self.bins } else { &self.test })
    }

    /// The bins that records are counted in.
    fn histogram_bins(&self) -> Bins {
        bins(&self.bins)
    }

    /// The purpose of a stream of draws at an epsilon.
    fn stream_purpose(&self, draws: &str, epsilon: f64) -> String {
        if self.own_draws { format!("{draws} at {epsilon:?}") } else { draws.to_owned() }
    }

    /// The mechanism of a density must be that of its estimate.
    fn check_mechanism(&self, setting: &CellSections) -> CheckResult {
        let privacy = &setting.privacy;
        match (&self.estimate, privacy.mechanism.downcast::<HistogramSetting>()) {
            (DensityEstimate::Function { .. }, _) => match privacy.mechanism.downcast::<FunctionNoiseSetting>() {
                Some(_) => privacy.check_target_change("function"),
                None => Err(privacy.wrong_mechanism_error("function")),
            },
            (_, Some(histogram)) => {
                // Without a bound on what a row stands for there is none on what a person does.
                let unbounded = setting.data.person.is_some() && histogram.most_per_row.is_none();
                let (path, by) = ("privacy.mechanism.histogram", "data.person");
                // A unit of a count that lets its row pass a filter brings all others of the row with it.
                if setting.data.filters_by_target() && histogram.most_per_row.is_none() {
                    let why = "a filter on the counted column keeps or drops all records of a row, so one record could change many \
                               counts; filter by another column, or set most_per_row to protect whole rows";
                    fail("data.filter", SpecProblem::Shape(why.to_owned()))
                } else if unbounded && !setting.data.counts_each_row() {
                    fail(path, SpecProblem::MissingKey { key: "most_per_row", by })
                } else if histogram.most_per_row.is_some() && setting.data.counts_each_row() {
                    fail("data", SpecProblem::MissingKey { key: "target", by: "most_per_row" })
                } else {
                    self.check_denoise_needs_process(privacy)
                }
            }
            (_, None) => Err(privacy.wrong_mechanism_error("histogram")),
        }
    }
}

impl DensityTask {
    /// The counts of a histogram are no prediction: only a process makes one of them.
    fn check_denoise_needs_process(&self, privacy: &PrivacySetting) -> CheckResult {
        let process = matches!(self.estimate, DensityEstimate::Process(_));
        if process || !privacy.mechanism.denoises_in_experiments() {
            return Ok(());
        }
        let needed = "estimate.process, because counts alone are not predictions";
        fail("privacy.mechanism.histogram.denoise", SpecProblem::NotDenoised { needed })
    }
}

impl TaskRequirements for DensityTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        let (path, inputs) = ("task.density", setting.data.dimensions());
        if matches!(self.estimate, DensityEstimate::Function { .. }) {
            setting.regression_model("task.density.estimate.function")?;
        }
        check_bin_ranges(&format!("{path}.bins"), &self.bins, inputs)?;
        if !self.test.is_empty() {
            check_bin_ranges(&format!("{path}.test"), &self.test, inputs)?;
        }
        if matches!(self.estimate, DensityEstimate::Denoised {}) {
            let axes = build_count_axes(&setting.data.inputs, &setting.data.encode, &self.bins);
            if !self.test.is_empty() {
                let why = "applies only to densities; estimate.denoised is compared with the exact counts of `bins`";
                return fail(&format!("{path}.test"), SpecProblem::Shape(why.to_owned()));
            }
            axes.map(|_| ()).or_else(|why| fail(&format!("{path}.bins"), SpecProblem::Shape(why.to_owned())))?;
        }
        if let Some(curve) = self.curve {
            check_grid(&format!("{path}.curve"), &[curve], inputs)?;
        }
        if let DensityEstimate::Process(process) = &self.estimate {
            process.check(&format!("{path}.estimate.process"), inputs)?;
        }
        self.check_mechanism(setting)
    }

    fn protects_persons(&self, mechanism: &MechanismSetting) -> bool {
        mechanism.downcast::<HistogramSetting>().is_some()
    }

    fn can_count_rows(&self) -> bool {
        true
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        ["rmse", "noisy-rmse", "ratio", "coverage-90", "sensitivity", "sensitivity-exact"].map(str::to_owned).to_vec()
    }
}

/// The bins of a grid.
fn bins(cuts: &[BinRangeSetting]) -> Bins {
    Bins::from_edges(&cuts.iter().map(BinRangeSetting::edges).collect::<Vec<_>>())
}
