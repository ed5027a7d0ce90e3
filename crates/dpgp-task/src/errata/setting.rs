//! The setting of the task.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Erratum;
use crate::Described;
use dpgp_mechanisms::{Sections, cloaking};
use dpgp_spec::setting::Checked;

/// A statement against computed numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrataTask {
    /// The statement, by its name in the registry. An `[[erratum]]` of the spec describes it.
    #[schemars(with = "String", extend("enum" = Erratum::names()))]
    pub erratum: Erratum,
}

impl ErrataTask {
    /// The metrics: what the paper says, what is true of that very statement, whether it holds, the right number, and the
    /// first over the second.
    pub(super) const METRICS: [&str; 5] = ["claimed", "found", "holds", "corrected", "factor"];
}

impl Described for ErrataTask {
    fn check(&self, setting: &Sections) -> Checked {
        setting.privacy.protects_nothing("inf: the numbers are computed without privacy")?;
        cloaking(&setting.privacy).map(drop)
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        Self::METRICS.map(str::to_owned).to_vec()
    }

    fn erratum(&self) -> Option<&str> {
        Some(self.erratum.name())
    }
}
