//! What a spec says of a regression.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Described, FittedRows};
use dpgp_mechanisms::{BinningSetting, MechanismSetting, Sections, noisy_predictions};
use dpgp_number::Count;
use dpgp_spec::FEWEST_FOR_QUANTILES;
use dpgp_spec::setting::rules::count;
use dpgp_spec::setting::{Checked, SplitSetting};

/// Cross-validated regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegressionTask {
    /// How rows are split into folds.
    pub split: SplitSetting,
    /// Draws of the privacy noise in each fold; 0 for the exact expectation over the noise of cloaking, as
    /// `expected-rmse`.
    pub draws: Count<1_000_000, 0>,
    /// Which held-out targets predictions are compared with.
    #[serde(default, skip_serializing_if = "ScoreSetting::is_original")]
    pub score: ScoreSetting,
}

impl RegressionTask {
    /// The metric that it measures.
    pub fn metric(&self) -> &'static str {
        if self.draws.get() == 0 { "expected-rmse" } else { "rmse" }
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

impl Described for RegressionTask {
    fn check(&self, setting: &Sections) -> Checked {
        setting.regression_model("task.regression")?;
        self.split.check("task.regression.split")?;
        let Some(binning) = setting.privacy.mechanism.of::<BinningSetting>() else {
            // Zero draws stand for the exact expectation over the noise.
            let mechanism = noisy_predictions(&setting.privacy)?;
            let wrong = || setting.privacy.wrong("cloaking");
            return if mechanism.releases_function() { Err(wrong()) } else { Ok(()) };
        };
        count("task.regression.draws", self.draws.get())?;
        setting.privacy.has_change("binning")?;
        binning.check(setting.data.dimensions())
    }

    fn protects_persons(&self, mechanism: &MechanismSetting) -> bool {
        mechanism.linear().is_some_and(|linear| !linear.releases_function())
    }

    fn metrics(&self, replicates: u32) -> Vec<String> {
        let ends =
            [("", 1), ("-replicates", 2), ("-low", FEWEST_FOR_QUANTILES), ("-high", FEWEST_FOR_QUANTILES)];
        let shown = ends.iter().filter(|(_, fewest)| replicates >= *fewest);
        let names = self.list().map(|metric| metric.name);
        shown.flat_map(|(end, _)| names.map(|name| format!("{name}{end}"))).collect()
    }

    fn check_rows(&self, rows: usize) -> Checked {
        self.split.check_rows("task.regression.split", rows)
    }

    fn fitted_rows(&self, rows: usize) -> Option<FittedRows> {
        Some(FittedRows::of_split(self.split, rows))
    }
}
