//! Entries of a ledger, their time stamps in UTC, and the search for a published release in ledgers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::account::{LedgerState, ListedLedger};
use super::error::LedgerError;
use dpgp_accounting::{Neighbours, PrivacyBudget, PrivacyUnit};
use dpgp_data::{CellDigestSum, RowDigestSum, read_limited_text};

/// The budget of all releases together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetSetting {
    /// Epsilon.
    pub epsilon: f64,
    /// Delta.
    pub delta: f64,
}

impl From<BudgetSetting> for PrivacyBudget {
    fn from(BudgetSetting { epsilon, delta }: BudgetSetting) -> Self {
        Self { epsilon, delta }
    }
}

/// One release.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerEntry {
    /// Its place among the releases, from 1.
    #[serde(default)]
    pub number: u64,
    /// The random id in the files of the release. Releases of earlier versions have none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// When it was charged, in UTC.
    pub time: String,
    /// The file of the spec, as the user named it, and the settings that the release changed.
    pub spec: String,
    /// SHA-256 of the spec.
    pub spec_sha256: String,
    /// The private column.
    pub target: String,
    /// The columns that the release treats as public: inputs and columns of filters.
    pub public: Vec<String>,
    /// The epsilon that the release claims.
    pub epsilon: f64,
    /// The delta that it claims.
    pub delta: f64,
    /// The exact delta at that epsilon.
    pub delta_exact: f64,
    /// The sensitivity divided by the standard deviation of the noise. Releases compose by the root of the sum of
    /// squares.
    pub mu: f64,
    /// The neighbouring datasets.
    pub neighbours: Neighbours,
    /// Whether it protects only changes of a target that are smaller than the width of its bounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub small_changes: bool,
    /// The unit of privacy: one row, or the rows of one person.
    #[serde(default, skip_serializing_if = "PrivacyUnit::is_record")]
    pub unit: PrivacyUnit,
    /// The column whose numbers are the records of a histogram. None where a record is a row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<String>,
    /// The exceptions to its guarantee.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
    /// Sums of digests of the cells of protected columns, public columns and persons. They identify a column under any
    /// later name. Releases of earlier versions have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, CellDigestSum>,
    /// The identity of its rows: the sum of their digests under the key of the state folder.
    #[serde(default)]
    pub data: RowDigestSum,
    /// The link to earlier entries: the tag of this entry and of theirs under the key.
    #[serde(default)]
    pub link: String,
}

impl LedgerEntry {
    /// Returns the name of the first invalid number, if there is one.
    pub(super) fn find_invalid_number(&self) -> Option<&'static str> {
        let change = match self.neighbours {
            Neighbours::OneTargetChanges(by) => by,
            Neighbours::OneRecord(_) => 1.0,
        };
        let numbers = [
            ("mu", is_positive(self.mu)),
            ("epsilon", is_positive(self.epsilon)),
            ("delta", self.delta > 0.0 && self.delta < 1.0),
            ("delta_exact", (0.0..=1.0).contains(&self.delta_exact)),
            ("neighbours", is_positive(change)),
        ];
        numbers.into_iter().find(|(_, right)| !right).map(|(name, _)| name)
    }

    /// Says what a record is.
    pub(super) fn record_in_words(&self) -> String {
        match &self.counted {
            None => "a row".to_owned(),
            Some(column) => format!("one unit of a count in the column {column:?}"),
        }
    }

    /// Describes the neighbouring datasets in words.
    pub fn neighbours_in_words(&self) -> String {
        self.unit.describe_neighbours(self.neighbours)
    }
}

fn is_positive(x: f64) -> bool {
    x > 0.0 && x.is_finite()
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// Seconds since 1970 as `2026-11-21T15:04:05Z` (proleptic Gregorian calendar, without leap seconds).
///
/// ```
/// assert_eq!(dpgp_release::ledger::format_utc(951_782_400), "2000-02-29T00:00:00Z");
/// ```
pub fn format_utc(seconds: u64) -> String {
    let (mut day, second) = (seconds / 86_400, seconds % 86_400);
    let mut year = 1970;
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{:02}Z", day + 1, second % 60)
}

/// The fields of the file of a release about its ledger.
#[derive(Debug, Deserialize)]
struct ReleaseIdFields {
    #[serde(default)]
    release_id: Option<String>,
    /// Of combinations, whose file holds their certificate.
    #[serde(default)]
    certificate: Option<Box<EmbeddedReleaseIdFields>>,
}

/// A certificate within another file.
#[derive(Debug, Deserialize)]
struct EmbeddedReleaseIdFields {
    #[serde(default)]
    release_id: Option<String>,
}

/// The place of a release in ledgers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleasePosition {
    /// In this ledger, at this place from 1.
    At {
        /// The ledger.
        ledger: PathBuf,
        /// Its place.
        number: u64,
    },
    /// In none of these ledgers: an earlier copy of its ledger was restored, or it was charged to another.
    Nowhere,
    /// It has no id: it was made without a ledger, or by an earlier version.
    Unnamed,
}

/// Searches ledgers for the release of a certificate, or of a file of sums or counts.
///
/// A state folder that was restored as a whole looks as it was written, and so does each ledger in it. Only the files
/// of later releases can then show that they are missing.
///
/// # Errors
/// [`LedgerError::NoRelease`] for a file that is not a release.
pub fn locate_release(path: &Path, ledgers: &[ListedLedger]) -> Result<ReleasePosition, LedgerError> {
    let text = read_limited_text(path).map_err(|cause| not_release_error(path, cause))?;
    let file: ReleaseIdFields = serde_json::from_str(&text).map_err(|cause| not_release_error(path, cause))?;
    let Some(id) = file.release_id.or(file.certificate.and_then(|inner| inner.release_id)) else {
        return Ok(ReleasePosition::Unnamed);
    };
    for ListedLedger { path, state } in ledgers {
        let (LedgerState::Sound(ledger) | LedgerState::Old(ledger)) = state else { continue };
        if let Some(entry) = ledger.release.iter().find(|entry| entry.id == id) {
            return Ok(ReleasePosition::At { ledger: path.clone(), number: entry.number });
        }
    }
    Ok(ReleasePosition::Nowhere)
}

fn not_release_error(path: &Path, cause: impl ToString) -> LedgerError {
    LedgerError::NoRelease { path: path.to_path_buf(), cause: cause.to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::error::ReleaseWithRows;
    use super::*;
    use dpgp_accounting::NeighbourRelation;

    fn entry(target: &str, neighbours: Neighbours) -> LedgerEntry {
        LedgerEntry {
            time: String::new(),
            spec: String::new(),
            spec_sha256: String::new(),
            target: target.to_owned(),
            public: Vec::new(),
            epsilon: 1.0,
            delta: 1e-6,
            delta_exact: 1e-6,
            mu: 0.2,
            neighbours,
            small_changes: false,
            unit: PrivacyUnit::Record,
            counted: None,
            number: 0,
            id: String::new(),
            caveats: Vec::new(),
            columns: BTreeMap::new(),
            data: RowDigestSum::default(),
            link: String::new(),
        }
    }

    /// The reason why two releases have no common guarantee, if only the names of their columns are known.
    fn conflict(now: &LedgerEntry, then: &LedgerEntry) -> Option<String> {
        let [now, then] = [now, then].map(|entry| ReleaseWithRows { entry, rows: None });
        now.conflict_reason(&then)
    }

    /// Guards against a common guarantee of releases about persons and about rows. Those about one column of persons
    /// add up, with any number of rows for each person.
    #[test]
    fn only_the_same_unit_adds_up() {
        let person = |column: &str, rows| PrivacyUnit::Person { column: column.to_owned(), rows, records_per_row: 1 };
        let row = |records| PrivacyUnit::Row { records };
        for (one, other, together) in [
            (person("id", 3), person("id", 3), true),
            (person("id", 3), person("id", 1), true),
            (person("id", 3).with_records_per_row(9), person("id", 1), true),
            (person("id", 3), person("house", 3), false),
            (person("id", 1), PrivacyUnit::Record, false),
            (person("id", 1), row(1), false),
            (row(1), row(5), true),
            (row(1), PrivacyUnit::Record, false),
        ] {
            for neighbours in [Neighbours::OneRecord(NeighbourRelation::ReplaceOne), Neighbours::OneTargetChanges(1.0)]
            {
                let of = |unit: &PrivacyUnit| LedgerEntry { unit: unit.clone(), ..entry("a", neighbours) };
                assert_eq!(conflict(&of(&one), &of(&other)).is_none(), together, "{one:?} {other:?}");
                assert_eq!(conflict(&of(&other), &of(&one)).is_none(), together, "{one:?} {other:?}");
            }
        }
    }

    /// Guards against a wrong conflict between removing and replacing a record. Replacing is removing one and adding
    /// another, so it is hidden at twice the mu, for any target.
    #[test]
    fn only_the_same_guarantee_adds_up() {
        let (replaced, removed) =
            (Neighbours::OneRecord(NeighbourRelation::ReplaceOne), Neighbours::OneRecord(NeighbourRelation::AddRemove));
        let changes = Neighbours::OneTargetChanges;
        for (one, other, together) in [
            (("a", replaced), ("a", replaced), true),
            (("a", replaced), ("b", replaced), true),
            (("a", replaced), ("a", removed), false),
            (("a", replaced), ("b", removed), false),
            (("a", changes(1.0)), ("a", changes(1.0)), true),
            (("a", changes(1.0)), ("a", changes(2.0)), false),
            (("a", changes(1.0)), ("b", changes(2.0)), true),
            (("a", changes(1.0)), ("b", removed), false),
        ] {
            let conflict = conflict(&entry(one.0, one.1), &entry(other.0, other.1));
            assert_eq!(conflict.is_none(), together, "{one:?} {other:?}: {conflict:?}");
        }
    }

    /// Ends that are not allowed, and those that are.
    #[test]
    fn numbers_that_no_release_has_are_named() {
        let sound = || entry("a", Neighbours::OneTargetChanges(1.0));
        assert_eq!(sound().find_invalid_number(), None);
        for delta_exact in [0.0, 1.0] {
            assert_eq!(LedgerEntry { delta_exact, ..sound() }.find_invalid_number(), None);
        }
        for bad in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert_eq!(LedgerEntry { mu: bad, ..sound() }.find_invalid_number(), Some("mu"), "{bad}");
            assert_eq!(LedgerEntry { epsilon: bad, ..sound() }.find_invalid_number(), Some("epsilon"), "{bad}");
            assert_eq!(LedgerEntry { delta: bad, ..sound() }.find_invalid_number(), Some("delta"), "{bad}");
            let neighbours = Neighbours::OneTargetChanges(bad);
            assert_eq!(LedgerEntry { neighbours, ..sound() }.find_invalid_number(), Some("neighbours"), "{bad}");
        }
        assert_eq!(LedgerEntry { delta: 1.0, ..sound() }.find_invalid_number(), Some("delta"));
        for delta_exact in [-1e-300, 1.1, f64::NAN] {
            assert_eq!(LedgerEntry { delta_exact, ..sound() }.find_invalid_number(), Some("delta_exact"));
        }
    }
}

#[cfg(test)]
mod time_tests {
    use super::*;

    /// Computed with `date -u`.
    #[test]
    fn known_times() {
        assert_eq!(format_utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(format_utc(1_000_000_000), "2001-09-09T01:46:40Z");
        assert_eq!(format_utc(4_107_542_399), "2100-02-28T23:59:59Z");
        assert_eq!(format_utc(4_107_542_400), "2100-03-01T00:00:00Z");
        assert_eq!(format_utc(1_735_689_599), "2024-12-31T23:59:59Z");
    }
}
