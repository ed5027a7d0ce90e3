//! Errors of ledgers, and conflicts between releases about the same columns. Columns are identified by their cells.

use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use super::account::LedgerAccount;
use super::entry::{BudgetSetting, LedgerEntry};
use dpgp_accounting::{Neighbours, PrivacyBudget, PrivacyUnit};
use dpgp_data::{CellDigestSum, ColumnFingerprint, RowsFingerprint};

/// A release that was not charged. The ledger is unchanged.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// The file could not be read, locked or written.
    #[error("the ledger {} cannot be used: {cause}; nothing was released{}", path.display(), possible_charge_note(*charged))]
    Io {
        /// The ledger or its lock file.
        path: PathBuf,
        /// Whether a ledger may already hold the release.
        charged: bool,
        /// The error of the system.
        cause: std::io::Error,
    },
    /// The file is no ledger.
    #[error(
        "the ledger {} cannot be trusted: {reason}\nNothing was released, and the file is unchanged. \
         Do not restore an earlier copy: it would lose later charges. The certificate of the last release \
         states how much all releases have spent. See docs/ledger.md, \"A ledger that cannot be \
         used\"", path.display()
    )]
    Malformed {
        /// The ledger.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process keeps the lock.
    #[error(
        "{} is still locked by another release{} after {} s. Nothing was released or charged; try again when \
         it has ended", path.display(), lock_holder_suffix(holder), patience.as_secs()
    )]
    Held {
        /// The lock file.
        path: PathBuf,
        /// The note of the process that holds it.
        holder: String,
        /// The time waited.
        patience: Duration,
    },
    /// A version without a checksum.
    #[error(
        "the ledger {} has version 1, which cannot reveal edits. It states the budget epsilon = {:?}, delta = \
         {:?}; {spent}. If that is right, pass this budget with --budget-epsilon and --budget-delta to keep \
         its entries. Nothing was released", path.display(), budget.epsilon, budget.delta
    )]
    Unsealed {
        /// The ledger.
        path: PathBuf,
        /// The budget that it says it has.
        budget: BudgetSetting,
        /// The spending that it states.
        spent: String,
    },
    /// The file no longer exists.
    #[error(
        "the ledger {} no longer exists; {releases} releases about these rows were charged to it. Nothing \
         was released. If you moved it, pass its new path with --ledger. An earlier copy lacks releases and \
         is refused. See docs/ledger.md, \"A ledger that cannot be used\"", path.display()
    )]
    Gone {
        /// The ledger.
        path: PathBuf,
        /// The number of releases that it held.
        releases: u64,
    },
    /// The record of a ledger in the state folder is missing.
    #[error(
        "{} is missing. The state folder kept its record of a ledger in this file. Without that record, a copy of the ledger \
         that lacks charges would go unnoticed. Nothing was released. Restore the file as it was \
         after the last release{}. See docs/ledger.md, \"A ledger that cannot be \
         used\"", head.display(), forget_ledger_hint(mark.as_deref())
    )]
    Forgotten {
        /// The missing file.
        head: PathBuf,
        /// The mark that the file existed, if there is one.
        mark: Option<PathBuf>,
    },
    /// The file has a second name, which would keep the present state.
    #[error(
        "the ledger {} {how}. It could split into two ledgers, and each would lack the charges of the other. \
         Nothing was released; use a regular file without hard links", path.display()
    )]
    Linked {
        /// The ledger.
        path: PathBuf,
        /// What is wrong with it.
        how: &'static str,
    },
    /// A path that cannot be recorded as text.
    #[error(
        "the path of the ledger {} is not valid UTF-8, and the record of a ledger holds its path; choose another with \
         --ledger or DPGP_STATE. Nothing was released or written", .0.display()
    )]
    NotUtf8(PathBuf),
    /// The file was sealed with another key.
    #[error(
        "the ledger {} was sealed with the key of another state folder, and only that key can show whether \
         it is about these rows; set DPGP_STATE to that folder. Nothing was released", .0.display()
    )]
    OtherKey(PathBuf),
    /// Another ledger records releases from these rows.
    #[error(
        "the ledger {} already records releases from some or all of these rows. Omit --ledger or name that ledger: \
         a release charged only to {} would ignore the earlier charges (use --other-people if the rows only look \
         alike)",
        known.display(), named.display()
    )]
    Known {
        /// The ledger that was named.
        named: PathBuf,
        /// The ledger that records them.
        known: PathBuf,
    },
    /// The rows of a release cannot be identified.
    #[error(
        "these sums do not identify their rows, so no ledger can record the release of these sums; sum the rows \
         again with a state folder (DPGP_STATE), or pass --no-ledger"
    )]
    NoIdentity,
    /// Releases of one charge that are from different rows.
    #[error("the answers are from different rows, so they cannot be charged together; release them one after another")]
    DifferentRows,
    /// The rows are identified by another key.
    #[error(
        "the rows of these sums were identified with the key of another state folder, so no ledger in this folder \
         can record the release of these sums; set DPGP_STATE to the other folder"
    )]
    OtherRows,
    /// A file that is looked for in ledgers.
    #[error("cannot look for {} in the ledgers: {cause}", path.display())]
    NoRelease {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// The named budget is invalid.
    #[error("invalid budget: {0}")]
    BadBudget(String),
    /// The named budget differs from that of the ledger.
    #[error(
        "the ledger {} records releases from some or all of these rows and has the budget epsilon = {:?}, delta = {:?}; omit \
         --budget-epsilon and --budget-delta, or pass the same values (if the rows are of other people and only look \
         alike, use --other-people)", path.display(), budget.epsilon, budget.delta
    )]
    OtherBudget {
        /// The ledger.
        path: PathBuf,
        /// The budget that it has.
        budget: BudgetSetting,
    },
    /// The ledger is about other data.
    #[error(
        "the ledger {} is about other data: it shares no row with the data of this spec. Use a separate \
         ledger for each data set", .0.display()
    )]
    OtherData(PathBuf),
    /// The guarantee of the release has exceptions.
    #[error(
        "the ledger {} has a budget, so it accepts no release whose guarantee has exceptions ({caveat}); \
         with --allow-caveats, use a ledger without a budget, or --no-ledger", path.display()
    )]
    Caveats {
        /// The ledger.
        path: PathBuf,
        /// The first of them.
        caveat: String,
    },
    /// Releases that cannot be composed.
    #[error(
        "the ledger {} cannot keep a budget for all of its releases: {reason}. Nothing was released. Use the \
         same protection as the earlier release, or keep this one out of the budget with --no-ledger. Each release \
         then has its own guarantee, but no joint guarantee is known", path.display()
    )]
    OtherGuarantee {
        /// The ledger.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The release exceeds the budget.
    #[error(
        "the budget of the ledger {} is too small for this release: {} of the budget epsilon = {:?}, delta = \
         {:?}. One more release at delta = {delta:?} can have epsilon = {left:.4}, but you asked for epsilon \
         = {asked:.4}. Nothing was released. The ledger records releases from some or all of these rows (if the rows are of \
         other people and only look alike, use --other-people)",
        path.display(), spent_summary(account), budget.epsilon, budget.delta
    )]
    Spent {
        /// The ledger.
        path: PathBuf,
        /// Its account.
        account: Box<LedgerAccount>,
        /// Its budget.
        budget: PrivacyBudget,
        /// The epsilon asked for.
        asked: f64,
        /// The delta asked for.
        delta: f64,
        /// The epsilon left at that delta.
        left: f64,
    },
}

fn lock_holder_suffix(holder: &str) -> String {
    if holder.is_empty() { String::new() } else { format!(" ({holder})") }
}

/// The way to make the state folder forget a ledger on purpose.
fn forget_ledger_hint(mark: Option<&Path>) -> String {
    mark.map_or_else(String::new, |mark| {
        format!(", or delete {} to forget that ledger and everything spent there", mark.display())
    })
}

fn possible_charge_note(charged: bool) -> &'static str {
    if charged { ", but a charge may have been recorded: see `dpgp ledger show`" } else { "" }
}

pub(super) fn spent_summary(account: &LedgerAccount) -> String {
    let releases = if account.releases == 1 { "release has" } else { "releases have" };
    format!(
        "{} {releases} spent {:.1} %",
        account.releases,
        100.0 * account.spent_squared_mu_share().unwrap_or_default()
    )
}

impl LedgerError {
    /// An I/O error of a path.
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::Io { path, cause, charged: false }
    }

    /// Marks the error as one after a ledger was written.
    pub(super) fn mark_charged(self) -> Self {
        match self {
            Self::Io { path, cause, .. } => Self::Io { path, cause, charged: true },
            other => other,
        }
    }

    /// A file that cannot be trusted.
    pub(super) fn malformed(path: &Path, reason: impl Into<String>) -> Self {
        Self::Malformed { path: path.to_path_buf(), reason: reason.into() }
    }
}

/// From this share of common cells on, columns count as the same even if they hold few distinct values.
const MANY: f64 = 0.3;

/// A release and the rows that it is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReleaseWithRows<'a> {
    pub entry: &'a LedgerEntry,
    /// None if only the names of its columns are known.
    pub rows: Option<&'a RowsFingerprint>,
}

/// A column of the rows of a release.
#[derive(Debug, Clone, Copy)]
struct ReleaseColumn<'a> {
    name: &'a str,
    cells: Option<CellDigestSum>,
    rows: Option<&'a RowsFingerprint>,
}

/// Evidence that two columns are the same.
#[derive(Debug, Clone, Copy, PartialEq)]
enum ColumnSameness {
    /// The cells of one of them are unknown.
    Unknown,
    /// They hold the same cells.
    Same,
    /// They are columns of the same rows with different cells.
    Other,
    /// The rows differ. `share` is the share of cells in common. `most` is the largest share of either with any column,
    /// if it is more than chance explains.
    Alike { share: f64, most: f64 },
}

/// Finds two releases of one charge that have no guarantee together: the places of the earlier and the later one, and the reason.
///
/// Obligation: this depends on names, settings, and whether a public column has the cells of a protected one: a copy of a protected column
/// must not be public in another answer. *Proof.* Entries know the cells of public columns and targets only, and targets are compared with
/// each other by their names. A comparison of their cells would show, in a refusal that costs nothing, whether two private columns are
/// equal.
pub(crate) fn find_conflicting_releases(releases: &[LedgerEntry]) -> Option<(usize, usize, String)> {
    for (later, entry) in releases.iter().enumerate() {
        let this = ReleaseWithRows { entry, rows: None };
        for (earlier, entry) in releases[..later].iter().enumerate() {
            if let Some(reason) = this.conflict_reason(&ReleaseWithRows { entry, rows: None }) {
                return Some((earlier, later, reason));
            }
        }
    }
    None
}

impl LedgerEntry {
    /// Adds the cells of the columns that it protects or treats as public.
    pub(super) fn with_row_and_column_digests(&self, rows: &RowsFingerprint) -> Self {
        let person = match &self.unit {
            PrivacyUnit::Person { column, .. } => Some(column),
            _ => None,
        };
        let mut known = self.with_column_digests(rows);
        let person = person.and_then(|name| rows.column_by_name(name));
        known.columns.extend(person.map(|column| (column.name.clone(), column.total)));
        Self { data: rows.all_rows_digest().total, ..known }
    }

    /// Adds the cells of the target and of public columns.
    pub(crate) fn with_column_digests(&self, rows: &RowsFingerprint) -> Self {
        let known = self.public.iter().chain([&self.target]).filter_map(|name| rows.column_by_name(name));
        Self { columns: known.map(|column| (column.name.clone(), column.total)).collect(), ..self.clone() }
    }
}

impl<'a> ReleaseWithRows<'a> {
    fn column(&self, name: &'a str) -> ReleaseColumn<'a> {
        let cells = self.entry.columns.get(name).copied();
        ReleaseColumn { name, cells, rows: self.rows.filter(|_| cells.is_some()) }
    }

    fn target(&self) -> ReleaseColumn<'a> {
        self.column(&self.entry.target)
    }

    fn public_columns(&self) -> impl Iterator<Item = ReleaseColumn<'a>> {
        let release = *self;
        self.entry.public.iter().map(move |name| release.column(name))
    }

    /// Returns the reason why this release and an earlier one have no common guarantee, if there is one.
    ///
    /// Obligation: for the same rows, no column that one release protects is public in the other, under any name. If
    /// they hide persons, both hide the rows of the same persons. If some rows differ, a column is matched by the most
    /// common cells, or by its name.
    pub fn conflict_reason(&self, earlier: &ReleaseWithRows<'_>) -> Option<String> {
        let (now, then) = (self.entry.neighbours, earlier.entry.neighbours);
        // A change of one target does not concern another column. A change of a record concerns all its columns. Targets go by their
        // names: a refusal that compared their cells would show whether two private columns are equal. Two names for one column are safe
        // if both releases hide every change: mu then adds up. One that hides small changes alone must have the changes of the other.
        let apart = matches!((now, then), (Neighbours::OneTargetChanges(_), Neighbours::OneTargetChanges(_)))
            && self.entry.target != earlier.entry.target
            && !self.entry.small_changes
            && !earlier.entry.small_changes;
        let other_persons = self.may_differ_in_person_column(earlier);
        if other_persons && self.entry.unit.protects_same_unit_as(&earlier.entry.unit) {
            return Some(
                "the column that identifies people has the same name as in an earlier release, but different cells"
                    .to_owned(),
            );
        }
        let same_unit = match (&self.entry.unit, &earlier.entry.unit) {
            (PrivacyUnit::Person { .. }, PrivacyUnit::Person { .. }) => !other_persons,
            (one, other) => one.protects_same_unit_as(other),
        };
        if self.entry.counted != earlier.entry.counted {
            let [now, then] = [self.entry, earlier.entry].map(LedgerEntry::record_in_words);
            return Some(format!("in this release a record is {now}. In an earlier one it is {then}"));
        }
        if self.entry.counted.is_some() && self.target().compare_cells(&earlier.target()) == ColumnSameness::Other {
            return Some(
                "the counted column has the same name as in an earlier release, but different cells".to_owned(),
            );
        }
        if !((apart || now == then) && same_unit) {
            let [now, then] = [self.entry, earlier.entry].map(LedgerEntry::neighbours_in_words);
            let hint = match (self.entry.neighbours, earlier.entry.neighbours) {
                (Neighbours::OneRecord(now), Neighbours::OneRecord(then)) if now != then => {
                    ". Counts can protect against either: set privacy.mechanism.histogram.relation"
                }
                _ => "",
            };
            return Some(format!(
                "this release protects against: {now}. An earlier one protects against: {then}{hint}"
            ));
        }
        if let Some(cut) = earlier.different_separator_reason(self.rows) {
            return Some(cut);
        }
        if let Some(exposed) = earlier.exposing_column_reason(self.public_columns()) {
            return Some(exposed);
        }
        let target = self.target();
        let public = earlier.public_columns().find(|public| target.can_be_same_column(public));
        public.map(|public| {
            format!(
                "an earlier release treated the column {:?} as public, and this one protects it{}",
                public.name,
                renamed_column_note(&target, &public)
            )
        })
    }

    /// Returns the reason if a public column shows protected data: the target, or any column of whole records.
    fn exposing_column_reason<'p>(&self, mut public: impl Iterator<Item = ReleaseColumn<'p>>) -> Option<String> {
        if let Neighbours::OneRecord(_) = self.entry.neighbours {
            return public.next().map(|public| {
                let name = public.name;
                format!("an earlier release protects whole records, and this one treats {name:?} as public; even a preview would read it")
            });
        }
        let target = self.target();
        let public = public.find(|public| public.can_be_same_column(&target));
        public.map(|public| {
            format!(
                "an earlier release protects the column {:?}, and this one treats it as public{}",
                target.name,
                renamed_column_note(&public, &target)
            )
        })
    }

    /// Returns the reason if columns of some rows, treated as public, show data that this release protects.
    pub fn exposure_reason(&self, public: &[String], rows: &RowsFingerprint) -> Option<String> {
        let columns = public.iter().map(|name| {
            let cells = rows.column_by_name(name).map(|column| column.total);
            ReleaseColumn { name, cells, rows: cells.is_some().then_some(rows) }
        });
        self.different_separator_reason(Some(rows)).or_else(|| self.exposing_column_reason(columns))
    }

    /// Returns the reason if the columns of some rows cannot be compared: the lines are those of an earlier release
    /// with other cells.
    fn different_separator_reason(&self, rows: Option<&RowsFingerprint>) -> Option<String> {
        let is_cut = self.rows.zip(rows).is_some_and(|(then, now)| then.is_split_differently(now));
        is_cut.then(|| {
            "an earlier release read the same lines with a different separator, so columns cannot be compared"
                .to_owned()
        })
    }

    /// Whether both are about persons, but by columns that may differ.
    fn may_differ_in_person_column(&self, earlier: &ReleaseWithRows<'_>) -> bool {
        let (PrivacyUnit::Person { column: now, .. }, PrivacyUnit::Person { column: then, .. }) =
            (&self.entry.unit, &earlier.entry.unit)
        else {
            return false;
        };
        let is_one = match self.column(now).compare_cells(&earlier.column(then)) {
            ColumnSameness::Unknown => now == then,
            ColumnSameness::Same => true,
            ColumnSameness::Other => false,
            // If rows share no more than chance explains, only the name can decide.
            ColumnSameness::Alike { share, most } => share >= most && (share > 0.0 || now == then),
        };
        !is_one
    }
}

impl ReleaseColumn<'_> {
    /// Whether two columns may be the same: they have the same name or the same cells.
    fn can_be_same_column(&self, other: &ReleaseColumn<'_>) -> bool {
        self.name == other.name
            || match self.compare_cells(other) {
                ColumnSameness::Unknown | ColumnSameness::Other => false,
                ColumnSameness::Same => true,
                ColumnSameness::Alike { share, most } => share >= most && share > 0.0,
            }
    }

    fn compare_cells(&self, other: &ReleaseColumn<'_>) -> ColumnSameness {
        let (Some(cells), Some(others)) = (self.cells, other.cells) else { return ColumnSameness::Unknown };
        if cells == others {
            return ColumnSameness::Same;
        }
        let (Some(rows), Some(of)) = (self.rows, other.rows) else { return ColumnSameness::Unknown };
        if rows.all_rows_digest() == of.all_rows_digest() {
            return ColumnSameness::Other;
        }
        let (Some(one), Some(two)) = (rows.column_by_cells(cells), of.column_by_cells(others)) else {
            return ColumnSameness::Unknown;
        };
        let share = common_cell_share(one, rows, two, of);
        let here = rows.columns.iter().map(|column| common_cell_share(column, rows, two, of));
        let there = of.columns.iter().map(|column| common_cell_share(one, rows, column, of));
        ColumnSameness::Alike { share, most: here.chain(there).fold(share, f64::max) }
    }
}

/// The share of cells that two columns have in common, or 0 if chance explains it.
fn common_cell_share(
    one: &ColumnFingerprint,
    rows: &RowsFingerprint,
    other: &ColumnFingerprint,
    of: &RowsFingerprint,
) -> f64 {
    let share = one.common_cell_fraction(rows.all_rows_digest().rows, other, of.all_rows_digest().rows);
    if share >= MANY || one.shares_rows(other) { share } else { 0.0 }
}

/// The present name of a column, if it differs.
fn renamed_column_note(now: &ReleaseColumn<'_>, then: &ReleaseColumn<'_>) -> String {
    if now.name == then.name { String::new() } else { format!(" (here, its cells are in {:?})", now.name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against an error after a charge that does not say that the budget may have been charged.
    #[test]
    fn errors_say_what_may_be_spent() {
        let failed = || LedgerError::io("l.toml".as_ref())(std::io::ErrorKind::StorageFull.into());
        let (before, after) = (failed().to_string(), failed().mark_charged().to_string());
        assert!(!before.contains("may have been recorded"), "{before}");
        assert!(after.starts_with(&before) && after.contains("a charge may have been recorded"), "{after}");
    }
}
