//! What a release does with the columns of its rows, which are known by their cells.

use super::entry::LedgerEntry;
use dpgp_accounting::{Neighbours, PrivacyUnit};
use dpgp_data::{CellTotal, ColumnMark, Fingerprint};

/// The share of cells by which a column of other rows may be a column again, also where it has few values.
const MANY: f64 = 0.3;

/// A release and the rows that it is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct KnownRelease<'a> {
    pub entry: &'a LedgerEntry,
    /// None for one about which no more is known than the names of its columns.
    pub rows: Option<&'a Fingerprint>,
}

/// A column of the rows of a release.
#[derive(Debug, Clone, Copy)]
struct RoleColumn<'a> {
    name: &'a str,
    cells: Option<CellTotal>,
    rows: Option<&'a Fingerprint>,
}

/// How far two columns are known to be one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sameness {
    /// Nothing is known of the cells of one of them.
    Unknown,
    /// They hold the same cells.
    Same,
    /// They are columns of the very same rows, and hold other cells.
    Other,
    /// The rows differ: the share of cells that they have in common, and the greatest that one of them has in common with any column,
    /// where it is more than chance explains.
    Alike { share: f64, most: f64 },
}

impl LedgerEntry {
    /// The same with the cells of the columns that it protects or takes as public.
    pub(super) fn of_rows(&self, rows: &Fingerprint) -> Self {
        let person = match &self.unit {
            PrivacyUnit::Person { column, .. } => Some(column),
            _ => None,
        };
        let named = self.public.iter().chain([&self.target]).chain(person);
        let known = named.filter_map(|name| rows.named(name));
        let columns = known.map(|column| (column.name.clone(), column.total)).collect();
        Self { data: rows.whole().total, columns, ..self.clone() }
    }
}

impl<'a> KnownRelease<'a> {
    fn column(&self, name: &'a str) -> RoleColumn<'a> {
        let cells = self.entry.columns.get(name).copied();
        RoleColumn { name, cells, rows: self.rows.filter(|_| cells.is_some()) }
    }

    fn target(&self) -> RoleColumn<'a> {
        self.column(&self.entry.target)
    }

    fn public(&self) -> impl Iterator<Item = RoleColumn<'a>> {
        let release = *self;
        self.entry.public.iter().map(move |name| release.column(name))
    }

    /// Why this release and an earlier one have no guarantee in common.
    ///
    /// Obligation: of the very same rows no column that one protects is public in the other, whatever it is called; and both hide the
    /// rows of the same persons, if they hide persons. Where some rows are others, a column is the one with which it has the
    /// most cells in common, or that is called the same.
    pub fn conflict(&self, earlier: &KnownRelease<'_>) -> Option<String> {
        let (now, then) = (self.entry.neighbours, earlier.entry.neighbours);
        // A change of one target says nothing of another column's; what becomes of a record concerns all its columns.
        let apart = matches!((now, then), (Neighbours::OneTargetChanges(_), Neighbours::OneTargetChanges(_)))
            && !self.target().may_be(&earlier.target());
        let other_persons = self.is_about_others_than(earlier);
        if !apart && other_persons && self.entry.unit.adds_up_with(&earlier.entry.unit) {
            return Some(
                "it is about the persons of a column that is called as before, but holds other cells than the one by which an \
                 earlier release knows persons"
                    .to_owned(),
            );
        }
        let same_unit = match (&self.entry.unit, &earlier.entry.unit) {
            (PrivacyUnit::Person { .. }, PrivacyUnit::Person { .. }) => !other_persons,
            (one, other) => one.adds_up_with(other),
        };
        if !(apart || now == then && same_unit) {
            let [now, then] = [self.entry, earlier.entry].map(LedgerEntry::protects_against);
            return Some(format!("this release protects against: {now}; an earlier one against: {then}"));
        }
        if let Some(cut) = earlier.cut_otherwise(self.rows) {
            return Some(cut);
        }
        if let Some(exposed) = earlier.exposed_by(self.public()) {
            return Some(exposed);
        }
        let target = self.target();
        let public = earlier.public().find(|public| target.may_be(public));
        public.map(|public| {
            format!(
                "an earlier release took the column {:?} as public, which this one protects{}",
                public.name,
                called(&target, &public)
            )
        })
    }

    /// Which of some public columns shows what this release protects: its target, or any column of whole records.
    fn exposed_by<'p>(&self, mut public: impl Iterator<Item = RoleColumn<'p>>) -> Option<String> {
        if let Neighbours::OneRecord(_) = self.entry.neighbours {
            return public.next().map(|public| {
                let name = public.name;
                format!("an earlier release protects whole records, of which this one takes the column {name:?} as public")
            });
        }
        let target = self.target();
        let public = public.find(|public| public.may_be(&target));
        public.map(|public| {
            format!(
                "an earlier release protects the column {:?}, which this one takes as public{}",
                target.name,
                called(&public, &target)
            )
        })
    }

    /// Which of some columns of some rows, taken as public, shows what this release protects.
    pub fn exposed(&self, public: &[String], rows: &Fingerprint) -> Option<String> {
        let columns = public.iter().map(|name| {
            let cells = rows.named(name).map(|column| column.total);
            RoleColumn { name, cells, rows: cells.is_some().then_some(rows) }
        });
        self.cut_otherwise(Some(rows)).or_else(|| self.exposed_by(columns))
    }

    /// Why no column of some rows is known: their lines are those of an earlier release, cut into other cells.
    fn cut_otherwise(&self, rows: Option<&Fingerprint>) -> Option<String> {
        let is_cut = self.rows.zip(rows).is_some_and(|(then, now)| then.is_cut_otherwise(now));
        is_cut.then(|| {
            "an earlier release read the same lines with another separator, so that its columns are not known here".to_owned()
        })
    }

    /// Whether both are about persons, but of columns that are not known to be one.
    fn is_about_others_than(&self, earlier: &KnownRelease<'_>) -> bool {
        let (PrivacyUnit::Person { column: now, .. }, PrivacyUnit::Person { column: then, .. }) =
            (&self.entry.unit, &earlier.entry.unit)
        else {
            return false;
        };
        let is_one = match self.column(now).sameness(&earlier.column(then)) {
            Sameness::Unknown => now == then,
            Sameness::Same => true,
            Sameness::Other => false,
            // Of rows that have nothing in common but by chance only the name can tell.
            Sameness::Alike { share, most } => share >= most && (share > 0.0 || now == then),
        };
        !is_one
    }
}

impl RoleColumn<'_> {
    /// Whether two columns may be one: they are called the same, or hold the same cells.
    fn may_be(&self, other: &RoleColumn<'_>) -> bool {
        self.name == other.name
            || match self.sameness(other) {
                Sameness::Unknown | Sameness::Other => false,
                Sameness::Same => true,
                Sameness::Alike { share, most } => share >= most && share > 0.0,
            }
    }

    fn sameness(&self, other: &RoleColumn<'_>) -> Sameness {
        let (Some(cells), Some(others)) = (self.cells, other.cells) else { return Sameness::Unknown };
        if cells == others {
            return Sameness::Same;
        }
        let (Some(rows), Some(of)) = (self.rows, other.rows) else { return Sameness::Unknown };
        if rows.whole() == of.whole() {
            return Sameness::Other;
        }
        let (Some(one), Some(two)) = (rows.with_cells(cells), of.with_cells(others)) else {
            return Sameness::Unknown;
        };
        let share = common(one, rows, two, of);
        let here = rows.columns.iter().map(|column| common(column, rows, two, of));
        let there = of.columns.iter().map(|column| common(one, rows, column, of));
        Sameness::Alike { share, most: here.chain(there).fold(share, f64::max) }
    }
}

/// The share of cells that two columns have in common, or nothing if chance explains it.
fn common(one: &ColumnMark, rows: &Fingerprint, other: &ColumnMark, of: &Fingerprint) -> f64 {
    let share = one.common(rows.whole().rows, other, of.whole().rows);
    if share >= MANY || one.shares_rows(other) { share } else { 0.0 }
}

/// What a column is called now, if it is called otherwise.
fn called(now: &RoleColumn<'_>, then: &RoleColumn<'_>) -> String {
    if now.name == then.name { String::new() } else { format!(" (it has the cells of {:?} here)", now.name) }
}
