//! The two numbers of a guarantee.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Delta, Epsilon, OutOfRange};

/// An epsilon with its delta: what a release, or several together, may spend.
///
/// ```
/// use dpgp_number::Budget;
/// let budget = Budget::new(1.0, 1e-6)?;
/// assert_eq!((budget.epsilon.get(), budget.delta.get()), (1.0, 1e-6));
/// assert!(Budget::new(1.0, 0.0).is_err());
/// # Ok::<(), dpgp_number::OutOfRange>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// Epsilon.
    pub epsilon: Epsilon,
    /// Delta.
    pub delta: Delta,
}

impl Budget {
    /// The budget of two bare numbers.
    ///
    /// # Errors
    /// [`OutOfRange`] of the first that is wrong.
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, OutOfRange> {
        Ok(Self { epsilon: Epsilon::new(epsilon)?, delta: Delta::new(delta)? })
    }
}
