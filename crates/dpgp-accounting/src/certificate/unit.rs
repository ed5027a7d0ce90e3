//! The unit of privacy: the records in which neighbours differ.

use serde::{Deserialize, Serialize};

use super::Neighbours;
use crate::NeighbourRelation;
use dpgp_number::Budget;

/// Difference between neighbours: one record, one row that stands for several, or all rows of one person.
///
/// Obligation: neighbours differ in at most [`PrivacyUnit::max_records`] records. From one to the other there is a way of as many
/// steps, each of which changes one target, or adds, removes or replaces one record; so whatever moves by at most D with a step
/// moves by at most `records() D`, by the triangle inequality. Where a person's rows are replaced by fewer or by more, some of
/// the steps add or remove a record, which moves sums no further than one that is replaced.
///
/// ```
/// use dpgp_accounting::{Neighbours, PrivacyUnit};
/// let unit = PrivacyUnit::Person { column: "patient".to_owned(), rows: 3, records_per_row: 1 };
/// assert_eq!(unit.max_records(), 3);
/// assert_eq!(
///     unit.describe_neighbours(Neighbours::OneTargetChanges(40.0)),
///     "the targets of one person (\"patient\", at most 3 rows each) change by <= 40.0 each"
/// );
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrivacyUnit {
    /// One record.
    #[default]
    Record,
    /// One row of a histogram.
    Row {
        /// The most records that a row stands for.
        records: u64,
    },
    /// All rows of one person.
    Person {
        /// The column that says whose row it is.
        column: String,
        /// The most rows that are used of a person.
        rows: u64,
        /// The most records that a row of a histogram stands for.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        records_per_row: u64,
    },
}

fn one() -> u64 {
    1
}

fn is_one(number: &u64) -> bool {
    *number == 1
}

impl PrivacyUnit {
    /// Whether it is one record, of which nothing need be said.
    pub fn is_record(&self) -> bool {
        *self == Self::Record
    }

    /// The most records that neighbours differ in.
    pub fn max_records(&self) -> u64 {
        match self {
            Self::Record => 1,
            Self::Row { records } => *records,
            Self::Person { rows, records_per_row, .. } => rows.saturating_mul(*records_per_row),
        }
    }

    /// The same where a row stands for at most so many records of a histogram.
    #[must_use]
    pub fn with_records_per_row(self, most: u64) -> Self {
        match self {
            Self::Record | Self::Row { .. } => Self::Row { records: most },
            Self::Person { column, rows, .. } => Self::Person { column, rows, records_per_row: most },
        }
    }

    /// Whether releases about the two units add up: both hide the same neighbours, however many rows each uses of a person.
    pub fn protects_same_unit_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Person { column, .. }, Self::Person { column: other, .. }) => column == other,
            (Self::Row { .. }, Self::Row { .. }) | (Self::Record, Self::Record) => true,
            _ => false,
        }
    }

    /// Which pairs of data sets are neighbours, in words.
    pub fn describe_neighbours(&self, neighbours: Neighbours) -> String {
        let who = match self {
            Self::Record => return neighbours.to_string(),
            Self::Row { records } => format!("one row (at most {} each)", count_with_noun(*records, "record")),
            Self::Person { column, rows, records_per_row } => {
                let of_each = match records_per_row {
                    1 => String::new(),
                    records => format!(" of at most {}", count_with_noun(*records, "record")),
                };
                format!("one person ({column:?}, at most {} each{of_each})", count_with_noun(*rows, "row"))
            }
        };
        match neighbours {
            Neighbours::OneTargetChanges(by) => format!("the targets of {who} change by <= {by:?} each"),
            Neighbours::OneRecord(NeighbourRelation::ReplaceOne) => format!("{who} is replaced"),
            Neighbours::OneRecord(NeighbourRelation::AddRemove) => format!("{who} is added or removed"),
        }
    }
}

fn count_with_noun(number: u64, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// `(epsilon, delta)`-differential privacy as a release claims it: for all neighbours D, D' and all sets S of outputs
/// `P(M(D) in S) <= e^epsilon P(M(D') in S) + delta`. Unlike a [`PrivacyBudget`](crate::PrivacyBudget), it may be pure (`delta = 0`), or what several
/// steps add up to.
///
/// ```
/// use dpgp_accounting::Guarantee;
/// assert_eq!(Guarantee::pure(0.5).times(4), Guarantee { epsilon: 2.0, delta: 0.0 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    /// Epsilon, in nats.
    pub epsilon: f64,
    /// Delta, a probability.
    pub delta: f64,
}

impl Guarantee {
    /// Pure differential privacy.
    pub fn pure(epsilon: f64) -> Self {
        Self { epsilon, delta: 0.0 }
    }

    /// The guarantee `(k epsilon, k delta)` of k steps that each have this one, also if later steps depend on the results of earlier
    /// ones: basic composition. Source: Dwork and Roth 2014, Theorem B.1.
    #[must_use]
    pub fn times(self, steps: usize) -> Self {
        Self { epsilon: self.epsilon * steps as f64, delta: self.delta * steps as f64 }
    }
}

impl From<Budget> for Guarantee {
    fn from(budget: Budget) -> Self {
        Self { epsilon: budget.epsilon.get(), delta: budget.delta.get() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(column: &str, rows: u64) -> PrivacyUnit {
        PrivacyUnit::Person { column: column.to_owned(), rows, records_per_row: 1 }
    }

    #[test]
    fn words_say_what_differs() {
        let [removed, replaced] =
            [NeighbourRelation::AddRemove, NeighbourRelation::ReplaceOne].map(Neighbours::OneRecord);
        for (unit, neighbours, words) in [
            (PrivacyUnit::Record, removed, "one record is added or removed"),
            (
                PrivacyUnit::Record.with_records_per_row(5),
                removed,
                "one row (at most 5 records each) is added or removed",
            ),
            (person("id", 1), replaced, "one person (\"id\", at most 1 row each) is replaced"),
            (
                person("id", 3).with_records_per_row(5),
                replaced,
                "one person (\"id\", at most 3 rows each of at most 5 records) is replaced",
            ),
        ] {
            assert_eq!(unit.describe_neighbours(neighbours), words);
        }
        assert_eq!(person("id", 3).with_records_per_row(5).max_records(), 15);
    }

    #[test]
    fn units_read_back() {
        for unit in [
            PrivacyUnit::Record,
            PrivacyUnit::Row { records: 2 },
            person("id", 4),
            person("id", 4).with_records_per_row(2),
        ] {
            let text = serde_json::to_string(&unit).unwrap();
            assert_eq!(serde_json::from_str::<PrivacyUnit>(&text).unwrap(), unit, "{text}");
        }
    }

    /// What is one is not written, and is one when it is read.
    #[test]
    fn a_person_is_written_shortly() {
        let person = |records_per_row| PrivacyUnit::Person { column: "id".to_owned(), rows: 3, records_per_row };
        let texts = [person(1), person(4)].map(|unit| serde_json::to_string(&unit).unwrap());
        assert!(!texts[0].contains("records_per_row") && texts[1].contains("records_per_row"), "{texts:?}");
        let read = texts.map(|text| serde_json::from_str::<PrivacyUnit>(&text).unwrap());
        assert_eq!(read, [person(1), person(4)]);
        assert!(PrivacyUnit::Record.is_record() && !person(1).is_record());
        assert_eq!((person(4).max_records(), PrivacyUnit::Row { records: 7 }.max_records()), (12, 7));
    }

    #[test]
    fn steps_add_up() {
        let each = Guarantee { epsilon: 0.5, delta: 0.125 };
        assert_eq!(each.times(4), Guarantee { epsilon: 2.0, delta: 0.5 });
    }
}
