//! Rows that lack a cell.

use super::rules::{Checked, fail};
use super::{ChosenBy, DataSetting, MechanismSection, Problem};
use dpgp_data::{CellRules, DataError, Missing};

const PATH: &str = "data.missing";

/// Obligation: a guarantee holds for the rows of the files, of which `missing = "drop"` leaves out those that lack a cell, and
/// nothing that is released tells how many those are.
///
/// *Proof.* Whether a row is left out depends on its own cells alone: rows are mapped one by one, each to itself or to none.
///
/// Where the target alone is private ([`ChosenBy::Inputs`]), whether a row is left out depends on its inputs, its person and
/// the columns of filters, all public and equal in neighbours. So neighbours keep the same rows, which differ in one target (or those
/// of one person), and the guarantee is the one for these rows; their number is public. A row that lacks nothing but the target is an
/// error: without it, the public inputs would be those of one row less, and tell that its target is missing.
///
/// Where records are private ([`ChosenBy::Record`]), a record that is added or removed is one that is kept, or none; one that is
/// replaced is replaced, added, removed or none, as with a filter. No mechanism that is let through moves further by a record that comes
/// in or goes than by one that is replaced:
///
/// - sums `(A, sqrt(c) B)`, of classes or not: a record without a correlation with any inducing input adds nothing, so that one that is
///   left out moves them as its replacement by that one does;
/// - moments: `SquareRule` of the mechanism, with the number of rows, which is released with noise; the design takes the
///   number that `rows` says, a key that is needed then;
/// - histograms: 1, with either relation; a row without a number of records has none.
///
/// A person's rows are those that are kept; whether one is depends on that row alone, so that neighbours use the same rows of all
/// others. Number of rows: that of the files is public, if records are replaced, and that of the rows that are kept is in no release.
/// Noisy gradients take the number of rows that are kept as public, and rows that `data.draw` chooses depend on it: both are
/// refused.
impl DataSetting {
    /// Whether rows that lack a cell are left out.
    pub fn drops_missing(&self) -> bool {
        self.missing == Missing::Drop
    }

    /// How the cells of rows are read that come one after the other.
    pub fn cell_rules(&self) -> CellRules {
        CellRules { missing: self.missing, codes: self.encode.clone() }
    }

    /// Whether every row counts. How many pass a filter depends on private records, and so does how many lack no cell; how many a
    /// person brings depends on private persons.
    pub fn keeps_all_rows(&self) -> bool {
        self.filter.is_empty() && self.person.is_none() && !self.drops_missing()
    }

    /// An error in the user's own files, which names the key that leaves out rows with a missing cell where it does.
    pub fn offering_drop(&self, error: DataError, chosen_by: ChosenBy) -> DataError {
        match (self.source.own_file(), self.missing, chosen_by) {
            (None, _, _) | (_, Missing::Drop, _) => error,
            (_, Missing::Refuse, ChosenBy::Inputs) => error.offering_drop(Some(&self.target)),
            (_, Missing::Refuse, ChosenBy::Record) => error.offering_drop(None),
        }
    }

    /// Checks that rows may be left out.
    pub(super) fn check_missing(&self, mechanism: &impl MechanismSection) -> Checked {
        let why = if !self.drops_missing() {
            return Ok(());
        } else if self.source.own_file().is_none() {
            "\"drop\" leaves rows out of CSV and Parquet files of your own (source.csv, source.parquet); no other source has missing \
             cells"
                .to_owned()
        } else if self.draw.is_some() {
            "\"drop\" cannot stand beside data.draw: which rows are drawn would depend on how many are left out, which is private"
                .to_owned()
        } else if mechanism.needs_public_rows() {
            let word = mechanism.word();
            format!("\"drop\" cannot stand beside mechanism.{word}, which takes the number of rows as public")
        } else {
            return Ok(());
        };
        fail(PATH, Problem::Shape(why))
    }
}
