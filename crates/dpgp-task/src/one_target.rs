//! A guarantee about one target.

use super::TaskError;
use dpgp_accounting::{Calibration, CertifiedMechanism, GaussianEvent, Guarantee, Neighbours, Release};
use dpgp_mechanisms::PrivacySetting;
use dpgp_spec::setting::DataSetting;

/// The guarantee of a cell that hides a change of one target, or of those of one person, where inputs are public.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OneTarget {
    /// The most that a target changes, in its own units.
    pub change: f64,
    /// The most targets that change: those of one person.
    pub rows: u64,
    /// Epsilon; infinite without privacy.
    pub epsilon: f64,
    /// Delta.
    pub delta: f64,
    /// How the noise is set from both.
    pub calibration: Calibration,
}

impl OneTarget {
    /// The guarantee of a cell about one row.
    ///
    /// # Errors
    /// [`TaskError::Missing`] where nothing bounds the change, which the checks of a spec rule out.
    pub fn of(cell: &PrivacySetting) -> Result<Self, TaskError> {
        let PrivacySetting { epsilon, delta, calibration, .. } = *cell;
        let change = cell.change.ok_or(TaskError::Missing { needed: "privacy.change" })?;
        Ok(Self { change: change.get(), rows: 1, epsilon: epsilon.get(), delta: delta.get(), calibration })
    }

    /// The same about the rows of one person, where the data say whose they are. Its certificates are to say so
    /// ([`Certificate::about`]).
    ///
    /// # Errors
    /// As [`OneTarget::of`].
    pub fn of_unit(cell: &PrivacySetting, data: &DataSetting) -> Result<Self, TaskError> {
        Ok(Self { rows: data.unit().records(), ..Self::of(cell)? })
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

    /// The most that all targets together change.
    pub fn moved(self) -> f64 {
        self.change * self.rows as f64
    }

    /// What multiplies noise that is designed for one target and a change of 1.
    ///
    /// Obligation: the targets of one person move a linear map no further than one target that moves by as much as all of them
    /// together, by the triangle inequality.
    pub fn scale(self) -> f64 {
        self.moved() * self.sigma()
    }

    pub fn neighbours(self) -> Neighbours {
        Neighbours::OneTargetChanges(self.change)
    }

    /// The event of Gaussian noise where the release moves by `sensitivity`, in units of what the noise is scaled by; its
    /// certificate claims nothing without privacy.
    pub fn gaussian(
        self,
        release: Release,
        mechanism: fn(Calibration) -> CertifiedMechanism,
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
}
