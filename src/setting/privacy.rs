//! The guarantee.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{Checked, Fault, fail, positive, range};
use super::{CloakingSetting, MechanismSetting, Problem};
use crate::privacy::{Calibration, Guarantee};

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
    /// Checks the numbers.
    pub(super) fn check(&self) -> Checked {
        let Self { epsilon, delta, change, .. } = *self;
        range("privacy.epsilon", epsilon > 0.0, "greater than 0 (inf for no privacy)", epsilon)?;
        range("privacy.delta", delta > 0.0 && delta < 1.0, "greater than 0 and less than 1", delta)?;
        change.map_or(Ok(()), |change| positive("privacy.change", change))
    }

    /// The guarantee that the mechanism is set for.
    pub fn guarantee(&self) -> Guarantee {
        Guarantee { epsilon: self.epsilon, delta: self.delta }
    }

    /// Fails unless epsilon says that nothing is protected; `why` names what is computed without privacy.
    ///
    /// # Errors
    /// [`Problem::OutOfRange`].
    pub fn protects_nothing(&self, why: &'static str) -> Checked {
        range("privacy.epsilon", self.epsilon.is_infinite(), why, self.epsilon)
    }

    /// The settings of cloaking, the mechanism of most tasks.
    ///
    /// # Errors
    /// [`Problem::WrongMechanism`] with another mechanism, or what is wrong with the settings.
    pub fn cloaking(&self) -> Result<&CloakingSetting, Fault> {
        let MechanismSetting::Cloaking(cloaking) = &self.mechanism else {
            return Err(self.wrong("cloaking"));
        };
        self.has_change("cloaking")?;
        cloaking.check()?;
        Ok(cloaking)
    }

    /// Fails unless the most that a target can change is said, which `by` needs.
    ///
    /// # Errors
    /// [`Problem::MissingKey`].
    pub fn has_change(&self, by: &'static str) -> Checked {
        let missing = Problem::MissingKey { key: "change", by };
        if self.change.is_some() { Ok(()) } else { fail("privacy", missing) }
    }

    /// The fault of a mechanism that the task does not know.
    pub fn wrong(&self, needed: &'static str) -> Fault {
        Fault::new("privacy.mechanism", Problem::WrongMechanism { needed })
    }

    /// Most that one target can change; where it is not said, nothing bounds it.
    pub fn change(&self) -> f64 {
        self.change.unwrap_or(f64::INFINITY)
    }
}

fn classic() -> Calibration {
    Calibration::Classic
}
