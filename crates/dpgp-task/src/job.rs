//! What every task is asked, and what it is asked with.

use super::model::Placing;
use super::{Described, Known, Measured, Sample, Streams, TaskError};
use dpgp_mechanisms::{PrivacySetting, Sections, SumsSetting};
use dpgp_spec::setting::ModelSetting;

/// A quantity that can be measured.
pub trait Task: Described {
    /// Measures one replicate of one block: the model and the noise design are computed once, then every cell of the
    /// job is answered, in order.
    ///
    /// # Errors
    /// [`TaskError`] if a factorisation fails, a release is refused or a number overflows.
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError>;
}

/// One replicate of one block, and the cells of it that are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Job<'a> {
    /// What all cells of the block share; their privacy sections differ.
    pub setting: &'a Sections,
    /// The privacy section of each cell.
    pub cells: &'a [&'a PrivacySetting],
    /// The rows.
    pub sample: &'a Sample,
    /// The random streams of the replicate.
    pub streams: &'a Streams,
    /// What has been computed, for all jobs of a run.
    pub known: &'a Known,
    /// Whether what is sampled is kept as evidence of each claim.
    pub audited: bool,
}

impl<'a> Job<'a> {
    /// Whether a cell has noise.
    pub(super) fn is_private(&self) -> bool {
        self.cells.iter().any(|cell| cell.epsilon.get().is_finite())
    }

    /// What places the inducing inputs of a training set.
    pub(super) fn placing<'b>(&'b self, purpose: &'b str) -> Placing<'b> {
        Placing { streams: self.streams, known: self.known, purpose }
    }

    /// The Gaussian process, for a task that cannot do without one.
    ///
    /// # Errors
    /// [`TaskError::Missing`], which the checks of a spec rule out.
    pub(super) fn model(&self) -> Result<&'a ModelSetting, TaskError> {
        self.setting.model.as_deref().ok_or(TaskError::Missing { needed: "a model" })
    }

    /// Variance and lengthscale of the kernel, for a task that knows no other than the exponentiated quadratic.
    ///
    /// # Errors
    /// [`TaskError::Missing`], which the checks of a spec rule out.
    pub(super) fn exponentiated_quadratic(&self) -> Result<(f64, f64), TaskError> {
        self.model()?.exponentiated_quadratic().ok_or(TaskError::Missing { needed: "the kernel eq" })
    }

    /// The noise on sums, for a task that knows no other.
    ///
    /// # Errors
    /// [`TaskError::Missing`], which the checks of a spec rule out.
    pub(super) fn sums(&self) -> Result<&'a SumsSetting, TaskError> {
        self.setting.privacy.mechanism.of().ok_or(TaskError::Missing { needed: "mechanism.sums" })
    }
}
