//! Noisy gradients: the accountant's bounds, recomputed for the noise that was used.

use crate::finding::{AuditVerdict, Check, Found, ROUNDING};
use dpgp_accounting::Guarantee;
use dpgp_accounting::{Accountant, AccountingError, AssumePoisson, Event, LossDistribution, Relation};

/// Loss distributions where they cover the sampling; else an account as if it were Poisson, which proves nothing.
///
/// Obligation: `lower <= delta(epsilon) <= upper` for the noise that was used, whatever accountant the claim is by: the
/// claim holds if `upper` is at most its delta, and is broken if `lower` exceeds it.
///
/// # Errors
/// [`AccountingError`] if the event is none.
pub(super) fn gradients(
    event: &Event,
    relation: Relation,
    claim: Guarantee,
) -> Result<Check, AccountingError> {
    let (loss, most) = (LossDistribution::default(), claim.delta * (1.0 + ROUNDING));
    let Ok(spent) = loss.delta(event, relation, claim.epsilon) else {
        let spent = AssumePoisson(loss).delta(event, relation, claim.epsilon)?;
        let note = format!("no proof covers {} of {relation}; treated as Poisson sampling", event.sampling);
        let verdict = if spent.upper <= most { AuditVerdict::Caveat } else { AuditVerdict::NotAudited };
        return Ok(Check { verdict, found: Found::DeltaAtMost(spent.upper), note });
    };
    let note = format!("loss distributions of {} steps, {}", event.steps, event.sampling);
    // The pair behind the lower bound is attained, so more than the claim is a break and not a loose bound.
    if spent.lower > most {
        return Ok(Check { verdict: AuditVerdict::Broken, found: Found::DeltaAtLeast(spent.lower), note });
    }
    let verdict = if spent.upper <= most { AuditVerdict::Holds } else { AuditVerdict::NotAudited };
    Ok(Check { verdict, found: Found::DeltaAtMost(spent.upper), note })
}
