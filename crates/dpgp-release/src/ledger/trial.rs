//! A state folder and releases for the tests of this module.

use std::path::PathBuf;

use super::charge::{ChargeReceipt, LedgerOptions, PendingCharge, PendingRelease, charge_ledgers};
use super::entry::{BudgetSetting, LedgerEntry};
use super::error::LedgerError;
use dpgp_accounting::{Neighbours, PrivacyUnit};
use dpgp_data::{HmacKey, RowFingerprinter, RowsFingerprint};
use dpgp_run::StateFolder;

/// A folder that goes with the test.
pub struct Trial {
    _folder: tempfile::TempDir,
    pub place: LedgerOptions,
}

impl Trial {
    /// A new state folder, and a budget for many releases.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open_at(&folder.path().join("state")).unwrap();
        let budget = Some(BudgetSetting { epsilon: 8.0, delta: 1e-5 });
        Self { _folder: folder, place: LedgerOptions { state, file: None, budget, other_people: false } }
    }

    /// Charges a release about twelve rows.
    pub fn charge(&self, id: &str) -> Result<ChargeReceipt, LedgerError> {
        let rows = rows(self.place.state.key());
        let releases = vec![PendingRelease { entry: entry(id), rows: &rows }];
        charge_ledgers(&PendingCharge { place: &self.place, releases }).map(|mut receipts| receipts.remove(0))
    }

    /// The files of a kind in the folder of ledgers.
    pub fn files(&self, ending: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.place.state.path().join("ledgers")).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|found| found == ending));
        paths.sort();
        paths
    }
}

/// Twelve rows of two columns, of which a spec reads one.
pub fn rows(key: &HmacKey) -> RowsFingerprint {
    let names = ["x".to_owned(), "y".to_owned()];
    let mut witness = RowFingerprinter::new(key, &names, &["x"]);
    witness.begin_file(0, &names);
    for row in 0..12 {
        witness.add_number(f64::from(row), true);
        witness.add_number(f64::from(row * row), false);
        witness.end_row();
    }
    witness.into_fingerprint(1)
}

/// A release whose exact delta at epsilon 1 was computed with mpmath.
pub fn entry(id: &str) -> LedgerEntry {
    LedgerEntry {
        number: 0,
        id: id.to_owned(),
        time: "2026-01-31T12:00:00Z".to_owned(),
        spec: "energy.toml".to_owned(),
        spec_sha256: "0d142ec91f6e0a4e4322a3ec0139e7deb4eef520bdf63551dd94ce8e15b7dc7e".to_owned(),
        target: "kwh".to_owned(),
        public: vec!["temperature".to_owned()],
        epsilon: 1.0,
        delta: 3e-6,
        delta_exact: 2.924_272_104_856_407e-6,
        mu: 0.25,
        neighbours: Neighbours::OneTargetChanges(40.0),
        small_changes: false,
        unit: PrivacyUnit::Record,
        counted: None,
        caveats: Vec::new(),
        columns: Default::default(),
        data: dpgp_data::RowDigestSum::default(),
        link: String::new(),
    }
}
