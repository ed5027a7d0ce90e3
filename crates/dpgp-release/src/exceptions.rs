//! What keeps a guarantee from being given away, and what is said of a weak one and of a weak design.

use super::ReleaseError;
use dpgp_accounting::{Caveat, Certificate};
use dpgp_number::text::exact;
use dpgp_spec::setting::ChosenBy;
use dpgp_task::Setting;

/// An epsilon beyond which hardly anything is hidden: a guess of one in 22,000 may become a certainty.
const WEAK: f64 = 10.0;

/// Refuses a release whose guarantee has exceptions, or whose delta lets the rows of some people be published as they are:
/// one person in `1 / delta`. Both verbs of release ask this, before anything is charged.
///
/// Obligation: what is refused depends on public things alone. Where the number of rows is private, no delta is refused; a large
/// one is told of with the release ([`large_delta`]).
///
/// # Errors
/// [`ReleaseError::Caveats`], [`ReleaseError::LargeDelta`]; none if exceptions are `allowed`.
pub(super) fn refuse_exceptions(
    certificate: &Certificate,
    public_rows: Option<u64>,
    allowed: bool,
) -> Result<(), ReleaseError> {
    if allowed {
        return Ok(());
    }
    if !certificate.caveats.is_empty() {
        let list = certificate.caveats.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        return Err(ReleaseError::Caveats(list));
    }
    certificate.delta().zip(public_rows).map_or(Ok(()), |(delta, rows)| refuse_large(delta, rows))
}

/// Refuses a spec that filters by its private target while inputs are public. This comes before a row is read: later refusals would tell
/// how many rows pass.
///
/// # Errors
/// [`ReleaseError::Caveats`]; none if exceptions are `allowed`.
pub fn refuse_private_filter(setting: &Setting, allowed: bool) -> Result<(), ReleaseError> {
    let inputs_are_public = setting.privacy.mechanism.chosen_by() == ChosenBy::Inputs;
    if allowed || !inputs_are_public || !setting.data.chosen_by_target() {
        return Ok(());
    }
    Err(ReleaseError::Caveats(Caveat::PrivateFilter.to_string()))
}

/// Refuses a delta that lets some rows be published as they are.
///
/// # Errors
/// [`ReleaseError::LargeDelta`].
pub(super) fn refuse_large(delta: f64, rows: u64) -> Result<(), ReleaseError> {
    if is_large(delta, rows) {
        return Err(ReleaseError::LargeDelta(delta));
    }
    Ok(())
}

/// Whether a mechanism that publishes one row as it is, chosen by chance, has this delta.
fn is_large(delta: f64, rows: u64) -> bool {
    rows > 0 && delta * rows as f64 >= 1.0
}

/// Where the number of rows is private, a delta from here on is told of: it may give away one row in 10,000.
const LARGE_DELTA: f64 = 1e-4;

/// The warning about a large delta where the number of rows, which it cannot be compared with, is private.
pub(super) fn large_delta(certificate: &Certificate) -> Option<String> {
    let delta = certificate.delta().filter(|delta| *delta >= LARGE_DELTA)?;
    Some(format!(
        "delta = {} should be far below one over the number of people: a mechanism that publishes one row in {} as it is has such a \
         delta",
        exact(delta),
        (1.0 / delta).ceil()
    ))
}

/// What is said of a guarantee that hides little.
pub(super) fn warnings(certificate: &Certificate) -> Vec<String> {
    let epsilon = certificate.epsilon();
    if epsilon <= WEAK || epsilon.is_infinite() {
        return Vec::new();
    }
    let shown = exact(epsilon);
    vec![format!(
        "epsilon = {shown} is above {}: what somebody believes of what it hides may become e^{shown} times as likely by this release, which \
         hides hardly anything",
        exact(WEAK)
    )]
}

/// A certified gap above which a noise design is called unfinished.
const WIDE_GAP: f64 = 1e-4;

/// What is said of a noise design that stopped short of the best one: rounding keeps the solver from resolving directions
/// whose singular value is near the machine precision.
pub(super) fn design_warning(certificate: &Certificate) -> Option<String> {
    let gap = certificate.gap.filter(|gap| *gap > WIDE_GAP)?;
    Some(format!(
        "the design is certified to lie within {gap:.1e} of the best one only (relative; nats for log-det): it holds what it claims, \
         with more noise than may be needed; a larger rank_tolerance, like 1e-8, leaves out directions that rounding hides"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told_of(gap: Option<f64>) -> Option<String> {
        design_warning(&Certificate::none().with_gap(gap))
    }

    #[test]
    fn a_design_that_stopped_short_is_told() {
        assert_eq!([None, Some(1e-11), Some(1e-4)].map(told_of), [None, None, None]);
        let warning = told_of(Some(2.84e-3)).unwrap();
        assert!(warning.contains("within 2.8e-3") && warning.contains("rank_tolerance"), "{warning}");
    }
}
