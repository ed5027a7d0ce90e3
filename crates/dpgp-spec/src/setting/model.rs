//! Gaussian processes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{Checked, dimension, fail};
use super::{InducingSetting, Problem};
use dpgp_gp::kernel::{KernelSetting, Unfit, UnfitKey};
use dpgp_number::{NonNegative, Positive};

/// A Gaussian process with Gaussian noise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelSetting {
    /// The covariance function.
    pub kernel: KernelSetting,
    /// Variance of the Gaussian likelihood, in squared units of the normalised target; for regression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_variance: Option<Positive>,
    /// A sparse approximation; exact inference without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparse: Option<SparseSetting>,
}

/// A sparse approximation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SparseSetting {
    /// Fully independent training conditional; for regression.
    Fitc {
        /// Where the inducing inputs lie.
        inducing: InducingSetting,
    },
    /// Subset of regressors; for classification.
    Sor {
        /// Where the inducing inputs lie.
        inducing: InducingSetting,
        /// Added to the diagonal of the covariance of the inducing inputs.
        #[serde(default = "no_jitter")]
        jitter: NonNegative,
    },
}

impl ModelSetting {
    /// Checks the numbers, for data with so many inputs.
    pub(super) fn check(&self, inputs: usize) -> Checked {
        self.kernel_fits(inputs)?;
        match &self.sparse {
            None => Ok(()),
            Some(SparseSetting::Fitc { inducing }) => inducing.check("model.sparse.fitc", inputs),
            Some(SparseSetting::Sor { inducing, .. }) => inducing.check("model.sparse.sor", inputs),
        }
    }

    /// Fails unless the kernel fits so many inputs.
    fn kernel_fits(&self, inputs: usize) -> Checked {
        let Err(UnfitKey { key, reason }) = self.kernel.fits(inputs) else { return Ok(()) };
        let path = format!("model.kernel.{key}");
        match reason {
            Unfit::Empty => fail(&path, Problem::Empty),
            Unfit::Dimension(found) => dimension(&path, inputs, found),
            Unfit::Places => {
                fail(&path, Problem::Shape(format!("must be two different places, each less than {inputs}")))
            }
        }
    }

    /// Fails unless it is the model of a regression: it has noise, and is exact or by FITC.
    ///
    /// # Errors
    /// [`super::Fault`] at the model.
    pub fn regresses(&self) -> Checked {
        self.has_noise("regression")?;
        match self.sparse {
            Some(SparseSetting::Sor { .. }) => {
                fail("model.sparse", Problem::Shape("regression needs sparse.fitc".to_owned()))
            }
            Some(SparseSetting::Fitc { .. }) | None => Ok(()),
        }
    }

    /// Fails unless it is the model of a classifier: exact or a subset of regressors.
    ///
    /// # Errors
    /// [`super::Fault`] at the model.
    pub fn classifies(&self) -> Checked {
        match self.sparse {
            Some(SparseSetting::Fitc { .. }) => {
                fail("model.sparse", Problem::Shape("classification needs sparse.sor".to_owned()))
            }
            Some(SparseSetting::Sor { .. }) | None => Ok(()),
        }
    }

    /// Fails unless the noise variance is said, which `by` needs.
    ///
    /// # Errors
    /// [`Problem::MissingKey`].
    pub fn has_noise(&self, by: &'static str) -> Checked {
        let missing = Problem::MissingKey { key: "noise_variance", by };
        if self.noise_variance.is_some() { Ok(()) } else { fail("model", missing) }
    }

    /// Variance and lengthscale of an exponentiated quadratic kernel; none of another one.
    pub fn exponentiated_quadratic(&self) -> Option<(f64, f64)> {
        match &self.kernel {
            KernelSetting::Eq(eq) => Some((eq.variance.get(), eq.lengthscale.get())),
            _ => None,
        }
    }

    /// Variance and lengthscales of an exponentiated quadratic kernel over so many inputs; none of another one.
    pub fn lengthscales(&self, inputs: usize) -> Option<(f64, Vec<f64>)> {
        match &self.kernel {
            KernelSetting::Eq(eq) => Some((eq.variance.get(), vec![eq.lengthscale.get(); inputs])),
            KernelSetting::EqArd(eq) => {
                Some((eq.variance.get(), eq.lengthscales.iter().map(|l| l.get()).collect()))
            }
            _ => None,
        }
    }
}

fn no_jitter() -> NonNegative {
    NonNegative::ZERO
}
