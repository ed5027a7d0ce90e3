//! A guarantee about one target.

use super::TaskError;
use crate::privacy::{Calibration, Certificate, GaussianEvent, Guarantee, Mechanism, Neighbours, Release};
use crate::setting::PrivacySetting;

/// The guarantee of a cell that hides a change of one target, where inputs are public.
#[derive(Debug, Clone, Copy)]
pub(super) struct OneTarget {
    /// The most that the target changes, in its own units.
    pub change: f64,
    /// Epsilon; infinite without privacy.
    pub epsilon: f64,
    /// Delta.
    pub delta: f64,
    /// How the noise is set from both.
    pub calibration: Calibration,
}

impl OneTarget {
    /// The guarantee of a cell.
    ///
    /// # Errors
    /// [`TaskError::Missing`] where nothing bounds the change, which the checks of a spec rule out.
    pub fn of(cell: &PrivacySetting) -> Result<Self, TaskError> {
        let PrivacySetting { epsilon, delta, calibration, .. } = *cell;
        let change = cell.change.ok_or(TaskError::Missing { needed: "privacy.change" })?;
        Ok(Self { change: change.get(), epsilon: epsilon.get(), delta: delta.get(), calibration })
    }

    /// With another epsilon.
    pub fn spending(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }

    pub fn is_private(self) -> bool {
        self.epsilon.is_finite()
    }

    /// The noise multiplier; zero without privacy.
    pub fn sigma(self) -> f64 {
        self.calibration.sigma(self.epsilon, self.delta)
    }

    /// What multiplies noise that is designed for a change of 1.
    pub fn scale(self) -> f64 {
        self.change * self.sigma()
    }

    pub fn neighbours(self) -> Neighbours {
        Neighbours::OneTargetChanges(self.change)
    }

    /// The event of Gaussian noise where the release moves by `sensitivity`, in units of what the noise is scaled by; its
    /// certificate claims nothing without privacy.
    pub fn gaussian(
        self,
        release: Release,
        mechanism: fn(Calibration) -> Mechanism,
        sensitivity: f64,
    ) -> GaussianEvent {
        GaussianEvent {
            release,
            neighbours: self.neighbours(),
            mechanism,
            calibration: self.calibration,
            guarantee: Guarantee { epsilon: self.epsilon, delta: self.delta },
            sensitivity,
        }
    }

    /// The certificate of cloaking, with the distance of its noise from the optimum.
    pub fn cloaked(self, release: Release, sensitivity: f64, gap: Option<f64>) -> Certificate {
        match self.is_private() {
            false => Certificate::none(),
            true => self.gaussian(release, Mechanism::Cloaking, sensitivity).certificate().with_gap(gap),
        }
    }
}
