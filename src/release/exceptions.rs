//! What keeps a guarantee from being given away, and what is said of a weak one.

use super::ReleaseError;
use crate::privacy::Certificate;

/// An epsilon beyond which hardly anything is hidden: a guess of one in 22,000 may become a certainty.
const WEAK: f64 = 10.0;

/// Refuses a release whose guarantee has exceptions, or whose delta lets the rows of some people be published as they are:
/// one person in `1 / delta`. Both verbs of release ask this, before anything is charged.
///
/// # Errors
/// [`ReleaseError::Caveats`], [`ReleaseError::LargeDelta`]; none if exceptions are `allowed`.
pub(super) fn refuse_exceptions(
    certificate: &Certificate,
    rows: u64,
    allowed: bool,
) -> Result<(), ReleaseError> {
    if allowed {
        return Ok(());
    }
    if !certificate.caveats.is_empty() {
        let list = certificate.caveats.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        return Err(ReleaseError::Caveats(list));
    }
    match certificate.delta() {
        Some(delta) if is_large(delta, rows) => Err(ReleaseError::LargeDelta { delta, rows }),
        _ => Ok(()),
    }
}

/// Whether a mechanism that publishes one row as it is, chosen by chance, has this delta.
fn is_large(delta: f64, rows: u64) -> bool {
    rows > 0 && delta * rows as f64 >= 1.0
}

/// What is said of a guarantee that hides little.
pub(super) fn warnings(certificate: &Certificate) -> Vec<String> {
    let epsilon = certificate.epsilon();
    if epsilon <= WEAK || epsilon.is_infinite() {
        return Vec::new();
    }
    vec![format!(
        "epsilon = {epsilon:?} is above {WEAK:?}: what somebody believes of a person may become e^{epsilon:?} times as likely \
         by this release, which hides hardly anything"
    )]
}
