//! Noisy gradients: the accountant's bounds, recomputed for the noise that was used.

use super::finding::{Check, Found, ROUNDING, Verdict};
use crate::privacy::accounting::{
    Accountant, AccountingError, AssumePoisson, Event, LossDistribution, Relation,
};

/// Loss distributions where they cover the sampling; else an account as if it were Poisson, which proves nothing.
pub(super) fn gradients(
    event: &Event,
    relation: Relation,
    (epsilon, delta): (f64, f64),
) -> Result<Check, AccountingError> {
    let loss = LossDistribution::default();
    let Ok(spent) = loss.delta(event, relation, epsilon) else {
        let spent = AssumePoisson(loss).delta(event, relation, epsilon)?;
        let note = format!("no proof covers {} of {relation}; treated as Poisson sampling", event.sampling);
        let within = spent.upper <= delta * (1.0 + ROUNDING);
        let verdict = if within { Verdict::Caveat } else { Verdict::NotAudited };
        return Ok(Check { verdict, found: Found::DeltaAtMost(spent.upper), note });
    };
    let note = format!("loss distributions of {} steps, {}", event.steps, event.sampling);
    if spent.lower > delta * (1.0 + ROUNDING) {
        return Ok(Check { verdict: Verdict::Broken, found: Found::DeltaAtLeast(spent.lower), note });
    }
    let within = spent.upper <= delta * (1.0 + ROUNDING);
    let verdict = if within { Verdict::Holds } else { Verdict::NotAudited };
    Ok(Check { verdict, found: Found::DeltaAtMost(spent.upper), note })
}
