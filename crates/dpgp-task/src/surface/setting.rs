//! What a spec says of a surface from sums over all rows.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::measure::METRICS;
use crate::grid::grid as product_grid;
use crate::metric::names;
use crate::{Described, sums_model};
use dpgp_mechanisms::{MechanismSetting, MomentsSetting, Sections, Summed, SumsSetting, check_moments};
use dpgp_number::Finite;
use dpgp_spec::setting::rules::{dimension, fail, grid};
use dpgp_spec::setting::{Checked, NoiseAwareSetting, Problem, RangeSetting};

const PATH: &str = "task.surface";

/// A surface over the inputs from the sums over all rows, and what privacy changes in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurfaceTask {
    /// The public inducing inputs of noisy sums, a product grid with a range for each input; noisy moments have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inducing: Vec<RangeSetting>,
    /// How the posterior follows from noisy sums.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posterior: Option<NoiseAwareSetting>,
    /// The grid of the figure over the first inputs; no figure without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub map: Vec<RangeSetting>,
    /// The values of the other inputs there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Finite>,
}

impl SurfaceTask {
    fn check_map(&self, inputs: usize) -> Checked {
        let path = PATH;
        if self.map.is_empty() {
            return dimension(&format!("{path}.at"), 0, self.at.len());
        }
        dimension(&format!("{path}.at"), inputs.saturating_sub(self.map.len()), self.at.len())?;
        grid(&format!("{path}.map"), &self.map, inputs - self.at.len())
    }

    /// The points of the figure (t x d); none if it has none.
    pub fn points_of_map(&self) -> DMatrix<f64> {
        let map = product_grid(&self.map);
        let (rows, inner) = (if self.map.is_empty() { 0 } else { map.nrows() }, map.ncols());
        DMatrix::from_fn(rows, inner + self.at.len(), |i, d| {
            if d < inner { map[(i, d)] } else { self.at[d - inner].get() }
        })
    }

    fn check_sums(&self, setting: &Sections) -> Checked {
        if setting.model(PATH)?.lengthscales(setting.data.dimensions()).is_none() {
            let why = "noisy sums need the kernel `eq` or `eq-ard`".to_owned();
            return fail("model.kernel", Problem::Shape(why));
        }
        sums_model::inducing(PATH, &self.inducing, setting)?;
        let Some(posterior) = self.posterior else {
            return fail(PATH, Problem::MissingKey { key: "posterior", by: "noisy sums" });
        };
        posterior.check(&format!("{PATH}.posterior"))?;
        sums_model::mechanism(setting, Summed::Targets)?.holds(&self.inducing)
    }
}

impl Described for SurfaceTask {
    fn check(&self, setting: &Sections) -> Checked {
        setting.model(PATH)?.has_noise("surface")?;
        if setting.normalise.is_private() {
            let why = "statistics of the private targets; this task needs `bounds` or `constants`, which are public";
            return fail("normalise", Problem::Shape(why.to_owned()));
        }
        self.check_map(setting.data.dimensions())?;
        let Some(moments) = setting.privacy.mechanism.of::<MomentsSetting>() else {
            return self.check_sums(setting);
        };
        let without = self.inducing.is_empty() && self.posterior.is_none();
        check_moments(PATH, moments, without, setting)
    }

    fn protects_persons(&self, mechanism: &MechanismSetting) -> bool {
        mechanism.of::<SumsSetting>().is_some() || mechanism.of::<MomentsSetting>().is_some()
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        names(&METRICS)
    }
}
