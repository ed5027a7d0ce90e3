//! Numbers beside ours, tied to their cells.

use std::collections::BTreeSet;

use super::counterpart::{Counterpart, Owner};
use super::document::Document;
use super::experiment::Context;
use super::value_table::{ValueEntry, ValueTable};
use super::{Problem, Selector, SpecError, TaskSection};
use dpgp_number::OutOfRange;

/// The numbers that have a cell, and how many have none in a reduced grid.
pub(super) struct Counterparts {
    pub found: Vec<Counterpart>,
    pub left_out: usize,
}

/// Where a table of numbers stands: its owner and its name.
#[derive(Clone, Copy)]
struct Place<'a> {
    owner: Owner,
    table: &'a str,
}

impl<T: TaskSection> Context<'_, T> {
    /// Those of all tables of a spec. With reduced settings one that fails is left out: the full spec has been checked.
    pub fn counterparts(&self, document: &Document) -> Result<Counterparts, SpecError> {
        let mut all = Counterparts { found: Vec::new(), left_out: 0 };
        let mut seen = BTreeSet::new();
        for owner in Owner::ALL {
            for (name, table) in document.values(owner) {
                let place = Place { owner, table: name };
                for (number, row) in table.rows.iter().enumerate() {
                    match self.counterpart(place, table, number, row) {
                        Err(_) if self.quick => all.left_out += 1,
                        Err(error) => return Err(error),
                        Ok(one) if seen.insert((owner, one.cell, one.metric.clone())) => all.found.push(one),
                        Ok(_) => return Err(self.wrong(place, &number.to_string(), Problem::ValueTwice)),
                    }
                }
            }
        }
        Ok(all)
    }

    fn counterpart(
        &self,
        place: Place<'_>,
        table: &ValueTable,
        number: usize,
        row: &[toml::Value],
    ) -> Result<Counterpart, SpecError> {
        let row_text = number.to_string();
        let at = [place.owner.name(), place.table, "rows", &row_text];
        let entry = table.entry(row).map_err(|problem| self.source.error(&at, problem))?;
        let selector = Selector::new(&entry.cells, self.axes, self.source, &at)?;
        let cell = selector.only(self.cells).map_err(|problem| self.source.error(&at, problem))?;
        self.metric(&at, &entry.metric)?;
        let (value, runs) = (self.numbers(&at, &entry)?, self.runs(&at, &entry)?);
        Ok(Counterpart {
            owner: place.owner,
            cell,
            metric: entry.metric,
            value,
            spread: entry.spread,
            spread_kind: entry.spread_kind,
            count: entry.count,
            runs,
            precision: entry.precision,
            tolerance: entry.tolerance,
            effect: entry.effect,
            fitted: entry.fitted,
            source: entry.source,
            read: entry.read,
        })
    }

    /// Of how many runs an entry is the mean: of one where it says nothing.
    fn runs(&self, at: &[&str], entry: &ValueEntry) -> Result<u32, SpecError> {
        match entry.runs {
            None => Ok(1),
            Some(0) => Err(self.source.error(at, OutOfRange::new("at least 1", 0.0).into())),
            Some(runs) => Ok(runs),
        }
    }

    /// The numbers of an entry: finite, and none negative but the value itself, which is returned.
    fn numbers(&self, at: &[&str], entry: &ValueEntry) -> Result<f64, SpecError> {
        let value = entry.value.unwrap_or(f64::NAN);
        let least_of_others = [entry.spread, Some(entry.precision), entry.tolerance, entry.effect];
        if !value.is_finite() {
            return Err(self.source.error(at, OutOfRange::new("finite", value).into()));
        }
        for found in least_of_others.into_iter().flatten() {
            if !found.is_finite() || found < 0.0 {
                return Err(self.source.error(at, OutOfRange::new("at least 0 and finite", found).into()));
            }
        }
        Ok(value)
    }

    fn wrong(&self, place: Place<'_>, row: &str, problem: Problem) -> SpecError {
        self.source.error(&[place.owner.name(), place.table, "rows", row], problem)
    }
}
