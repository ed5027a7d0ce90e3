//! Statements of Jälkö, Dikmen and Honkela 2016, "Differentially private variational inference for non-conjugate models".

use super::Numbers;
use crate::TaskError;
use dpgp_accounting::{
    Accountant, AccountingCaveat, AdvancedComposition, AssumePoisson, Event, LossDistribution, Relation,
    Sampling, Schedule, noise_multiplier,
};
use dpgp_number::Budget;

/// Figure 1(a): the sampling (66 of 3341 rows), steps and total delta.
const SCHEDULE: Schedule =
    Schedule { sampling: Sampling::WithReplacement { rate: 66.0 / 3341.0 }, steps: 1000 };
const DELTA: f64 = 1e-3;
const RELATION: Relation = Relation::ReplaceOne;

/// The noise that the paper's account needs for a total epsilon.
fn event(epsilon: f64) -> Result<Event, TaskError> {
    let budget = Budget::new(epsilon, DELTA)?;
    Ok(SCHEDULE.with_noise(noise_multiplier(&AdvancedComposition, SCHEDULE, RELATION, budget)?))
}

/// The total epsilon up to which the theorem on one step covers Figure 1(a), which goes to 10.
pub(super) fn epsilon_per_step() -> Result<Numbers, TaskError> {
    let spent = AdvancedComposition.epsilon(&event(10.0)?, RELATION, DELTA)?;
    let limits = spent.caveats.iter().filter_map(|caveat| match caveat {
        AccountingCaveat::EpsilonPerStep { limit, .. } => Some(*limit),
        _ => None,
    });
    let limit = limits.fold(10.0, f64::min);
    Ok(Numbers::at_least(10.0, limit, limit))
}

/// The probability that a batch of 66 of 3341 rows, drawn with replacement, holds a given row more than once.
pub(super) fn repeated_records() -> Numbers {
    let (rows, batch) = (3341.0, 66.0);
    let none = (batch * (-1.0f64 / rows).ln_1p()).exp();
    let once = batch / rows * ((batch - 1.0) * (-1.0f64 / rows).ln_1p()).exp();
    Numbers::at_most(0.0, 1.0 - none - once, 0.0)
}

/// The epsilon of loss distributions for the noise that the paper needs for epsilon = 1, sampling taken as Poisson.
pub(super) fn looseness() -> Result<Numbers, TaskError> {
    let tight = AssumePoisson(LossDistribution::default()).epsilon(&event(1.0)?, RELATION, DELTA)?.upper;
    Ok(Numbers::at_most(1.0, tight, tight))
}

/// A prior gradient of 1 beside a row's of 99 in the same direction, clipped together at 5: what is left of it.
pub(super) fn clipped_prior() -> Numbers {
    let (prior, row, clip) = (1.0, 99.0, 5.0);
    Numbers::equal(prior, prior * clip / (prior + row), prior)
}
