//! Ledgers for people to look at.

use std::path::{Path, PathBuf};

use super::book::Ledger;
use super::chain::SealKey;
use super::error::LedgerError;
use super::file::{PlacedLedger, present, real_path, text_of};
use super::known::KnownLedgers;
use super::old::is_old;
use dpgp_data::Fingerprint;
use dpgp_run::StateFolder;

/// A ledger, or why it cannot be trusted.
#[derive(Debug)]
pub struct Listed {
    /// Where it is.
    pub path: PathBuf,
    /// What became of it.
    pub state: LedgerState,
}

/// What became of a ledger.
#[derive(Debug)]
pub enum LedgerState {
    /// It is as it was written.
    Sound(Ledger),
    /// It is of version 1, which has no seal; the next release takes its entries over.
    Old(Ledger),
    /// It was edited, cut, put back or taken away.
    Broken(LedgerError),
}

/// All ledgers that the state folder knows.
///
/// # Errors
/// [`LedgerError`] if the state folder cannot be read.
pub fn listed(state: &StateFolder) -> Result<Vec<Listed>, LedgerError> {
    let known = KnownLedgers::read(state)?;
    Ok(known.list.iter().map(|one| of_path(&one.path, &known, state)).collect())
}

/// Those that count some of these rows.
///
/// # Errors
/// As [`listed`].
pub fn listed_about(state: &StateFolder, rows: &Fingerprint) -> Result<Vec<Listed>, LedgerError> {
    let known = KnownLedgers::read(state)?;
    Ok(known.about(rows, true).iter().map(|one| of_path(&one.path, &known, state)).collect())
}

/// The ledger in a file; none if the file is no ledger at all, such as a spec.
///
/// # Errors
/// [`LedgerError::Io`].
pub fn listed_file(state: &StateFolder, path: &Path) -> Result<Option<Listed>, LedgerError> {
    let real = real_path(path)?;
    let known = KnownLedgers::read(state)?;
    let looks = match text_of(path) {
        Ok(Some(text)) => looks_like_a_ledger(&text),
        Ok(None) => known.at(&real).is_some(),
        Err(error @ LedgerError::Io { .. }) => return Err(error),
        Err(_) => true,
    };
    Ok(looks.then(|| Listed { path: path.to_path_buf(), ..of_path(&real, &known, state) }))
}

fn looks_like_a_ledger(text: &str) -> bool {
    let table = text.parse::<toml::Table>().unwrap_or_default();
    is_old(text) || table.contains_key("seal") || table.contains_key("release")
}

fn of_path(path: &Path, known: &KnownLedgers, state: &StateFolder) -> Listed {
    let found = match present(path, known, &SealKey::new(state.key())) {
        Ok(Some(PlacedLedger { ledger, old: Some(_), .. })) => LedgerState::Old(ledger),
        Ok(Some(PlacedLedger { ledger, .. })) => LedgerState::Sound(ledger),
        Ok(None) => LedgerState::Broken(LedgerError::malformed(path, "there is no such file")),
        Err(error) => LedgerState::Broken(error),
    };
    Listed { path: path.to_path_buf(), state: found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ledgers_are_known_by_what_they_hold() {
        for (text, looks) in [
            ("seal = \"\"\n", true),
            ("[[release]]\nmu = 1.0\n", true),
            ("seal = \"\"\n[[release]]\nmu = 1.0\n", true),
            ("experiment.title = \"a spec\"\n", false),
            ("no TOML", false),
        ] {
            assert_eq!(looks_like_a_ledger(text), looks, "{text}");
        }
    }
}
