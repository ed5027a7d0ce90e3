//! Kernels that specs can name.

use std::fmt;

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Kernel, StationarySpecKernel};

/// The table of a kernel in a spec: its settings, and the covariance function that they make.
///
/// The types of the numbers enforce their ranges ([`number`](dpgp_number)) when a table is read. Only what depends on the
/// data is checked later, by [`Self::check_input_count`].
pub trait SpecKernel: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// An example of the table for two inputs. All laws of kernels are tested on it.
    const EXAMPLE: &'static str;

    /// Whether the settings fit so many inputs.
    ///
    /// # Errors
    /// [`KernelKeyError`] with the key that does not.
    fn check_input_count(&self, _inputs: usize) -> Result<(), KernelKeyError> {
        Ok(())
    }

    /// The covariance function. `inputs` (n x d) are those of all rows: they are public, and a lengthscale may follow them.
    fn build_kernel(&self, inputs: &DMatrix<f64>) -> Box<dyn Kernel>;

    /// Its form on a box, if it depends on the differences of inputs alone, and on the sign of none.
    fn as_stationary(&self) -> Option<&dyn StationarySpecKernel> {
        None
    }
}

/// A key of a kernel's table that does not fit the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelKeyError {
    /// The dotted path of the key, starting from the kernel.
    pub key: String,
    /// The problem.
    pub reason: KernelKeyErrorReason,
}

/// Why a key does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KernelKeyErrorReason {
    /// The list is empty.
    Empty,
    /// The list has this many values, but it needs one for each input.
    Dimension(usize),
    /// The list does not name two different inputs.
    Places,
}

impl KernelKeyError {
    /// The same, seen from one level further up.
    #[must_use]
    pub fn with_key_prefix(self, word: impl fmt::Display) -> Self {
        let separator = if self.key.is_empty() { "" } else { "." };
        Self { key: format!("{word}{separator}{}", self.key), ..self }
    }
}

/// Makes [`KernelSetting`](super::KernelSetting) of one line for each kernel: its word, variant, file with the type of its
/// table, and description.
macro_rules! kernels {
    ($($word:tt: $name:ident($file:ident::$table:ident) = $doc:literal,)+) => {
        $(pub use $file::$table;)+

        /// A covariance function.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub enum KernelSetting {
            $(#[doc = $doc] #[serde(rename = $word)] $name($table),)+
        }

        impl KernelSetting {
            /// The keyword of each kernel, with an example of its table.
            pub const EXAMPLES: &[(&str, &str)] = &[$(($word, $table::EXAMPLE)),+];

            /// As [`SpecKernel::check_input_count`].
            ///
            /// # Errors
            /// [`KernelKeyError`] with the key that does not fit.
            pub fn check_input_count(&self, inputs: usize) -> Result<(), KernelKeyError> {
                match self {
                    $(Self::$name(table) => table.check_input_count(inputs).map_err(|unfit| unfit.with_key_prefix($word)),)+
                }
            }

            /// As [`SpecKernel::build_kernel`].
            pub fn build_kernel(&self, inputs: &nalgebra::DMatrix<f64>) -> Box<dyn Kernel> {
                match self {
                    $(Self::$name(table) => table.build_kernel(inputs),)+
                }
            }

            /// As [`SpecKernel::as_stationary`].
            pub fn as_stationary(&self) -> Option<&dyn StationarySpecKernel> {
                match self {
                    $(Self::$name(table) => table.as_stationary(),)+
                }
            }
        }
    };
}
pub(super) use kernels;
