//! The two numbers of a claim.

use serde::{Deserialize, Serialize};

use dpgp_number::Budget;

/// `(epsilon, delta)`-differential privacy as a release claims it: for all neighbours D, D' and all sets S of outputs
/// `P(M(D) in S) <= e^epsilon P(M(D') in S) + delta`. Unlike a [`Budget`], it may be pure (`delta = 0`), or what several
/// steps add up to.
///
/// ```
/// use dpgp_accounting::Guarantee;
/// assert_eq!(Guarantee::pure(0.5).times(4), Guarantee { epsilon: 2.0, delta: 0.0 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    /// Epsilon, in nats.
    pub epsilon: f64,
    /// Delta, a probability.
    pub delta: f64,
}

impl Guarantee {
    /// Pure differential privacy.
    pub fn pure(epsilon: f64) -> Self {
        Self { epsilon, delta: 0.0 }
    }

    /// That of so many steps, each with this one, also if steps follow the results of others: basic composition, `(k
    /// epsilon, k delta)`. Source: Dwork and Roth 2014, Theorem B.1.
    #[must_use]
    pub fn times(self, steps: usize) -> Self {
        Self { epsilon: self.epsilon * steps as f64, delta: self.delta * steps as f64 }
    }
}

impl From<Budget> for Guarantee {
    fn from(budget: Budget) -> Self {
        Self { epsilon: budget.epsilon.get(), delta: budget.delta.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_add_up() {
        let each = Guarantee { epsilon: 0.5, delta: 0.125 };
        assert_eq!(each.times(4), Guarantee { epsilon: 2.0, delta: 0.5 });
    }
}
