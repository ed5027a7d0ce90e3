//! Finds the noise for a guarantee.

use super::root::{Bracket, RootSearch};
use super::{Accountant, AccountingError, NeighbourRelation, SamplingSchedule};
use dpgp_number::Budget;

/// The range of noise multipliers searched.
const LEAST: f64 = 1e-3;
const GREATEST: f64 = 1e9;
/// The relative precision of the multiplier.
const PRECISION: f64 = 1e-7;

/// The least noise multiplier at which `accountant` bounds the steps by the budget, found along `ln multiplier` to a
/// relative 1e-7. The inverse is [`Accountant::epsilon`].
///
/// Obligation: the multiplier returned is one at which the accountant's own bound on delta was seen to be at most delta.
///
/// ```
/// use dpgp_number::Budget;
/// use dpgp_accounting::Calibration;
/// use dpgp_accounting::{ExactGaussianAccountant, NeighbourRelation, Sampling, SamplingSchedule, noise_multiplier};
/// // Four full steps need twice the noise of one: sigma adds up as the root of the number of steps.
/// let schedule = SamplingSchedule { sampling: Sampling::FullBatch, steps: 4 };
/// let noise = noise_multiplier(&ExactGaussianAccountant, schedule, NeighbourRelation::AddRemove, Budget::new(1.0, 1e-5)?)?;
/// assert!((noise / (2.0 * Calibration::Analytic.sigma(1.0, 1e-5)) - 1.0).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`AccountingError`] if the accountant refuses, or no multiplier from 1e-3 to 1e9 is the least.
pub fn noise_multiplier(
    accountant: &dyn Accountant,
    schedule: SamplingSchedule,
    relation: NeighbourRelation,
    budget: Budget,
) -> Result<f64, AccountingError> {
    let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
    // Logarithms of both: delta falls nearly as a parabola along ln noise, over many powers of ten.
    let excess = |log_noise: f64| {
        let spent = accountant.delta(&schedule.with_noise(log_noise.exp()), relation, epsilon)?;
        Ok((spent.upper / delta).ln())
    };
    let search = RootSearch { start: 0.0, stride: 0.5, least: LEAST.ln(), greatest: GREATEST.ln() };
    match Bracket::search(excess, search)? {
        Some(bracket) => Ok(bracket.narrow(excess, PRECISION)?.high.x.exp()),
        None => Err(AccountingError::NoMultiplier { low: LEAST, high: GREATEST, epsilon, delta }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExactGaussianAccountant, Sampling};

    /// At the greatest multiplier delta is about `1e-9 / sqrt(2 pi)`, far above the one asked for; at the least, epsilon is about
    /// `1e6 / 2`, far below.
    #[test]
    fn a_budget_beyond_all_multipliers_is_refused() {
        let schedule = SamplingSchedule { sampling: Sampling::FullBatch, steps: 1 };
        for (epsilon, delta) in [(1e-12, 1e-12), (1e8, 1e-5)] {
            let budget = Budget::new(epsilon, delta).unwrap();
            let found = noise_multiplier(&ExactGaussianAccountant, schedule, NeighbourRelation::AddRemove, budget);
            assert!(matches!(found, Err(AccountingError::NoMultiplier { .. })), "{epsilon}: {found:?}");
        }
    }
}
