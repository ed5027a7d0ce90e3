//! Ledgers of version 1, which identified their data by a digest without a key.

use std::path::Path;

use serde::Deserialize;

use super::book::SealKey;
use super::book::{Ledger, check_ledger_numbers};
use super::entry::{BudgetSetting, LedgerEntry};
use super::error::LedgerError;

/// The form of the file.
const VERSION: u32 = 1;

/// A ledger of version 1.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct LedgerVersion1 {
    version: u32,
    #[serde(rename = "data_sha256")]
    _digest: String,
    budget: BudgetSetting,
    #[serde(default)]
    release: Vec<LedgerEntry>,
}

/// Whether a text says that it is a ledger of version 1.
pub(super) fn is_version_1(text: &str) -> bool {
    let table = text.parse::<toml::Table>().unwrap_or_default();
    table.get("version").and_then(toml::Value::as_integer) == Some(VERSION.into()) && table.contains_key("data_sha256")
}

/// Converts a ledger of version 1: links its releases and seals it with its budget.
///
/// The result may be used for any rows. If its releases were about other rows, counting them costs budget, never
/// privacy.
///
/// # Errors
/// [`LedgerError::Malformed`].
pub(super) fn convert_version_1(path: &Path, text: &str, key: &SealKey) -> Result<Ledger, LedgerError> {
    let old: LedgerVersion1 =
        toml::from_str(text).map_err(|error| LedgerError::malformed(path, error.to_string().trim_end()))?;
    let mut ledger = Ledger { budget: Some(old.budget), ..Ledger::new(key) };
    let checked = check_ledger_numbers(ledger.budget, &old.release);
    let entered = checked.and_then(|()| old.release.into_iter().try_for_each(|entry| ledger.append_entry(entry, key)));
    entered.map_err(|reason| LedgerError::malformed(path, reason))?;
    debug_assert_eq!(old.version, VERSION);
    Ok(ledger)
}
