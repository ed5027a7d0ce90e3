//! Whether earlier releases protect a column that a spec takes as public, which is asked before the column is read.

use super::LedgerPlace;
use super::book::Ledger;
use super::error::LedgerError;
use super::file::text_of;
use super::known::KnownLedgers;
use dpgp_data::Fingerprint;

/// Refuses a release that takes columns as public that a ledger with a budget protects.
///
/// Obligation: it looks at the cells of the rows by their keyed digests alone, and comes before anything is parsed, filtered or fitted: an
/// error of reading, a preview and a matrix that cannot be inverted would show a column that is protected, for nothing.
///
/// # Errors
/// [`LedgerError::OtherGuarantee`], and those of ledgers that cannot be read.
pub(crate) fn ensure_protected(
    place: &LedgerPlace,
    rows: &Fingerprint,
    public: &[String],
) -> Result<(), LedgerError> {
    if public.is_empty() {
        return Ok(());
    }
    for known in KnownLedgers::read(&place.state)?.about(rows, !place.other_people) {
        // One that went away is told of by the charge.
        let Some(text) = text_of(&known.path)? else { continue };
        let ledger = Ledger::parse(&known.path, &text)?;
        let exposed = ledger.known().find_map(|earlier| earlier.exposed(public, rows));
        if let Some(reason) = exposed.filter(|_| ledger.budget.is_some()) {
            return Err(LedgerError::OtherGuarantee { path: known.path.clone(), reason });
        }
    }
    Ok(())
}
