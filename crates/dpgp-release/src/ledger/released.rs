//! Whether a release that was published stands in a ledger.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::LedgerError;
use super::listing::{LedgerState, Listed};
use dpgp_data::whole_text;

/// What the file of a release says of its ledger.
#[derive(Debug, Deserialize)]
struct ReleaseFile {
    #[serde(default)]
    release_id: Option<String>,
}

/// Where a release stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entered {
    /// In this ledger, at this place from 1.
    At {
        /// The ledger.
        ledger: PathBuf,
        /// Its place.
        number: u64,
    },
    /// In none of the ledgers that were looked at: an earlier copy of its ledger was put back, or it was charged elsewhere.
    Nowhere,
    /// It does not say what a ledger knows it by: it was made without a ledger, or by a version that did not say it.
    Unnamed,
}

/// Looks for the release of a certificate, or of a file of sums or counts, in ledgers.
///
/// A whole state folder that was put back is as it was written, and so is each ledger in it; the releases that it forgets are then
/// found by their files alone.
///
/// # Errors
/// [`LedgerError::NoRelease`] for a file that is no release.
pub fn entered(path: &Path, ledgers: &[Listed]) -> Result<Entered, LedgerError> {
    let text = whole_text(path).map_err(|cause| no_release(path, cause))?;
    let file: ReleaseFile = serde_json::from_str(&text).map_err(|cause| no_release(path, cause))?;
    let Some(id) = file.release_id else { return Ok(Entered::Unnamed) };
    for Listed { path, state } in ledgers {
        let (LedgerState::Sound(ledger) | LedgerState::Old(ledger)) = state else { continue };
        if let Some(entry) = ledger.release.iter().find(|entry| entry.id == id) {
            return Ok(Entered::At { ledger: path.clone(), number: entry.number });
        }
    }
    Ok(Entered::Nowhere)
}

fn no_release(path: &Path, cause: impl ToString) -> LedgerError {
    LedgerError::NoRelease { path: path.to_path_buf(), cause: cause.to_string() }
}
