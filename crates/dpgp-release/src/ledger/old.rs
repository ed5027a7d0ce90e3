//! Ledgers of version 1, which knew their data by a digest without a key.

use std::path::Path;

use serde::Deserialize;

use super::book::SealKey;
use super::book::{Ledger, check_numbers};
use super::entry::{BudgetSetting, LedgerEntry};
use super::error::LedgerError;

/// The form of the file.
const VERSION: u32 = 1;

/// A ledger as it was written before.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstForm {
    version: u32,
    #[serde(rename = "data_sha256")]
    _digest: String,
    budget: BudgetSetting,
    #[serde(default)]
    release: Vec<LedgerEntry>,
}

/// Whether a text says that it is a ledger of version 1.
pub(super) fn is_old(text: &str) -> bool {
    let table = text.parse::<toml::Table>().unwrap_or_default();
    table.get("version").and_then(toml::Value::as_integer) == Some(VERSION.into())
        && table.contains_key("data_sha256")
}

/// The releases and the budget of a ledger of version 1, linked and sealed.
///
/// It may be taken for any rows: releases that are counted although they were about other rows cost budget, never privacy.
///
/// # Errors
/// [`LedgerError::Malformed`].
pub(super) fn read_old(path: &Path, text: &str, key: &SealKey) -> Result<Ledger, LedgerError> {
    let old: FirstForm =
        toml::from_str(text).map_err(|error| LedgerError::malformed(path, error.to_string().trim_end()))?;
    let mut ledger = Ledger { budget: Some(old.budget), ..Ledger::new(key) };
    let checked = check_numbers(ledger.budget, &old.release);
    let entered =
        checked.and_then(|()| old.release.into_iter().try_for_each(|entry| ledger.enter(entry, key)));
    entered.map_err(|reason| LedgerError::malformed(path, reason))?;
    debug_assert_eq!(old.version, VERSION);
    Ok(ledger)
}
