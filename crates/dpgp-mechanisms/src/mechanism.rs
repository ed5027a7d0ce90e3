//! The interface of mechanisms with their errors, and the list of all of them. To add one, implement
//! [`Mechanism`] in a file or folder of this crate and add a line here.

use std::any::Any;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    BinningSetting, CloakingSetting, FunctionNoiseSetting, GaussianSetting, GradientSetting, HistogramSetting,
    LinearMechanism, MomentsSetting, SumsSetting,
};
use dpgp_linalg::LinalgError;
use dpgp_noise::PrivacyError;
use dpgp_number::OutOfRangeError;
use dpgp_spec::setting::{MechanismSection, PersonRowChoiceBasis};

/// The settings of a mechanism, and what follows from them alone.
///
/// A mechanism adds noise to something that depends on rows: predictions, sums or counts. Most methods have a default, which holds
/// unless a mechanism overrides it.
pub trait Mechanism: Any {
    /// What of a record the guarantee hides: its target, where inputs are public, or all of it. The rows of a person may be chosen by
    /// what it does not hide.
    fn person_row_choice_basis(&self) -> PersonRowChoiceBasis;

    /// Itself, where it covers predictions that are linear in the targets.
    fn as_linear(&self) -> Option<&dyn LinearMechanism> {
        None
    }

    /// Whether a Gaussian process with matrices of all training rows is behind its predictions.
    fn needs_training_square_matrices(&self) -> bool {
        self.as_linear().is_some()
    }

    /// Whether predictions are the best ones given what is released, where the settings say it.
    fn denoise_setting(&self) -> Option<bool> {
        None
    }

    /// The bound that targets are clipped to, on either side of zero, where it is a setting of the mechanism.
    fn target_bound(&self) -> Option<f64> {
        None
    }

    /// The public box that inputs are clipped to; none if inputs are not.
    fn domain(&self) -> Option<&[[f64; 2]]> {
        None
    }

    /// About how many rows there are, where the settings say it from public knowledge.
    fn stated_row_count(&self) -> Option<u64> {
        None
    }

    /// Whether a neighbour may have a row more or less.
    fn hides_number_of_rows(&self) -> bool {
        false
    }

    /// Whether the number of rows that are used must be public.
    fn needs_public_row_count(&self) -> bool {
        false
    }
}

/// A mechanism that gave no release.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MechanismError {
    /// A release cannot be made, or not safely.
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
    /// A factorisation failed.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// A number lies beyond the arithmetic.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRangeError),
    /// Something is missing that the checks of a spec ask for.
    #[error("this mechanism needs {0}")]
    Missing(&'static str),
}

/// The guarantee and the mechanism.
pub type PrivacySetting = dpgp_spec::setting::PrivacySetting<MechanismSetting>;

/// The sections of a cell, except its task.
pub type CellSections = dpgp_spec::setting::CellSections<MechanismSetting>;

macro_rules! mechanisms {
    ($($(#[$doc:meta])* $word:literal: $name:ident($setting:ty),)*) => {
        /// The mechanism.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub enum MechanismSetting {
            $($(#[$doc])* #[serde(rename = $word)] $name($setting),)*
        }

        impl MechanismSetting {
            /// The mechanism itself.
            pub fn mechanism(&self) -> &dyn Mechanism {
                match self {
                    $(Self::$name(mechanism) => mechanism,)*
                }
            }

            /// Its word in specs.
            pub fn spec_keyword(&self) -> &'static str {
                match self {
                    $(Self::$name(_) => $word,)*
                }
            }
        }
    };
}

mechanisms! {
    /// Gaussian noise with an optimal covariance.
    "cloaking": Cloaking(CloakingSetting),
    /// Clipped and noisy gradients.
    "gradient": Gradient(GradientSetting),
    /// Noisy sums of a variational model.
    "sums": Sums(SumsSetting),
    /// Gaussian noise on Fourier moments of records.
    "moments": Moments(MomentsSetting),
    /// Gaussian noise on the counts of a histogram.
    "histogram": Histogram(HistogramSetting),
    /// A sample of the model's process, added to its mean function.
    "function": Function(FunctionNoiseSetting),
    /// Gaussian noise on a statistic of the targets of each bin.
    "binning": Binning(BinningSetting),
    /// Independent Gaussian noise of the same size on every prediction.
    "gaussian": Gaussian(GaussianSetting),
}

impl MechanismSetting {
    /// Its settings, if it is the mechanism with settings of this type.
    ///
    /// ```
    /// use dpgp_mechanisms::{HistogramSetting, MechanismSetting, SumsSetting};
    ///
    /// let mechanism: MechanismSetting = toml::from_str("histogram.relation = \"add-remove\"")?;
    /// assert!(mechanism.downcast::<HistogramSetting>().is_some());
    /// assert!(mechanism.downcast::<SumsSetting>().is_none());
    /// # Ok::<(), toml::de::Error>(())
    /// ```
    pub fn downcast<T: Mechanism>(&self) -> Option<&T> {
        let mechanism: &dyn Any = self.mechanism();
        mechanism.downcast_ref()
    }

    /// Whether an experiment uses the best predictions given the released values. It does so only if its spec asks for them.
    pub fn denoises_in_experiments(&self) -> bool {
        self.mechanism().denoise_setting().unwrap_or(false)
    }

    /// Whether a release uses the best predictions given the released values. They cost no budget, so it does unless its spec says not to.
    pub fn denoises_in_releases(&self) -> bool {
        self.mechanism().denoise_setting().unwrap_or(true)
    }

    /// The values by which the rows of a person may be chosen.
    pub fn person_row_choice_basis(&self) -> PersonRowChoiceBasis {
        self.mechanism().person_row_choice_basis()
    }

    /// The mechanism, if it covers predictions that are linear in the targets.
    pub fn as_linear(&self) -> Option<&dyn LinearMechanism> {
        self.mechanism().as_linear()
    }
}

impl MechanismSection for MechanismSetting {
    fn spec_keyword(&self) -> &'static str {
        self.spec_keyword()
    }

    fn needs_public_row_count(&self) -> bool {
        self.mechanism().needs_public_row_count()
    }
}
