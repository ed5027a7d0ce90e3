//! Two versions of a `table.csv`, compared cell by cell.

use std::collections::BTreeMap;
use std::fmt;

use csv::ReaderBuilder;

use crate::spec::FIXED_COLUMNS;

/// One difference between a committed table and a fresh one.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The cell and metric of the row.
    pub row: String,
    /// The column; `None` if the whole row is only in one of the tables.
    pub column: Option<String>,
    /// The committed text.
    pub committed: String,
    /// The fresh text.
    pub fresh: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, column, committed, fresh } = self;
        match column {
            Some(column) => write!(f, "{row}: {column} was {committed:?}, is {fresh:?}")?,
            None => write!(f, "{row}: the row is {fresh}")?,
        }
        match self.relative() {
            Some(relative) => write!(f, " ({relative:+.1e} relative)"),
            None => Ok(()),
        }
    }
}

impl Difference {
    /// How far the fresh number is from the committed one, relative to it.
    pub fn relative(&self) -> Option<f64> {
        let (committed, fresh): (f64, f64) = (self.committed.parse().ok()?, self.fresh.parse().ok()?);
        (committed != 0.0).then(|| fresh / committed - 1.0)
    }
}

/// Compares two tables row by row (rows are known by cell and metric, so their order does not matter);
/// numbers may differ by `tolerance`, relative. The `gap` column is a bound near rounding: it is compared
/// with an absolute tolerance of 1e-8.
///
/// # Errors
/// The CSV reader's error if a table is malformed.
pub fn compare_tables(committed: &str, fresh: &str, tolerance: f64) -> Result<Vec<Difference>, csv::Error> {
    let pairs = pair(rows(committed)?, rows(fresh)?);
    Ok(pairs.iter().flat_map(|pair| pair.differences(tolerance)).collect())
}

/// A row of two tables; it may be in one of them only.
#[derive(Debug, Clone, PartialEq)]
pub struct RowPair {
    key: Key,
    before: Option<Columns>,
    after: Option<Columns>,
}

/// The rows of two tables side by side. Rows are known by their place on the axes and their metric alone, so that
/// cells whose setting changed still meet.
///
/// # Errors
/// The CSV reader's error if a table is malformed.
pub fn side_by_side(before: &str, after: &str) -> Result<Vec<RowPair>, csv::Error> {
    let by_place = |rows: BTreeMap<Key, Columns>| {
        let without_cell = |((_, metric, place), mut row): (Key, Columns)| {
            row.remove("cell");
            ((String::new(), metric, place), row)
        };
        rows.into_iter().map(without_cell).collect()
    };
    Ok(pair(by_place(rows(before)?), by_place(rows(after)?)))
}

fn pair(mut before: BTreeMap<Key, Columns>, after: BTreeMap<Key, Columns>) -> Vec<RowPair> {
    let mut pairs = Vec::new();
    for (key, row) in after {
        pairs.push(RowPair { before: before.remove(&key), after: Some(row), key });
    }
    pairs.extend(before.into_iter().map(|(key, row)| RowPair { key, before: Some(row), after: None }));
    pairs.sort_by(|a, b| a.key.cmp(&b.key));
    pairs
}

impl RowPair {
    /// The place on the axes and the metric.
    pub fn name(&self) -> String {
        name(&self.key)
    }

    /// The value on each side; empty where the row is missing.
    pub fn values(&self) -> (String, String) {
        let value = |row: &Option<Columns>| row.as_ref().and_then(|row| row.get("value")).cloned();
        (value(&self.before).unwrap_or_default(), value(&self.after).unwrap_or_default())
    }

    /// What differs by more than a relative `tolerance`.
    pub fn differences(&self, tolerance: f64) -> Vec<Difference> {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => compare_rows(&self.key, before, after, tolerance),
            (Some(_), None) => vec![whole(&self.key, "there", "gone")],
            (None, _) => vec![whole(&self.key, "missing", "new")],
        }
    }
}

type Columns = BTreeMap<String, String>;

/// A row is known by its cell and metric, and named by its place on the axes.
type Key = (String, String, String);

fn rows(text: &str) -> Result<BTreeMap<Key, Columns>, csv::Error> {
    let mut reader = ReaderBuilder::new().from_reader(text.as_bytes());
    let headings = reader.headers()?.clone();
    let mut rows = BTreeMap::new();
    for record in reader.records() {
        let record = record?;
        let row: Columns =
            headings.iter().zip(record.iter()).map(|(h, v)| (h.to_owned(), v.to_owned())).collect();
        let field = |key: &str| row.get(key).cloned().unwrap_or_default();
        let on_axis = |(h, _): &(&str, &str)| !FIXED_COLUMNS.contains(h) || *h == "epsilon";
        let place = headings.iter().zip(record.iter()).filter(on_axis).map(|(h, v)| format!("{h} = {v}"));
        let key = (field("cell"), field("metric"), place.collect::<Vec<_>>().join(", "));
        rows.insert(key, row);
    }
    Ok(rows)
}

fn name((_, metric, place): &Key) -> String {
    format!("{place}: {metric}")
}

fn whole(key: &Key, committed: &str, fresh: &str) -> Difference {
    Difference { row: name(key), column: None, committed: committed.to_owned(), fresh: fresh.to_owned() }
}

fn compare_rows(key: &Key, committed: &Columns, fresh: &Columns, tolerance: f64) -> Vec<Difference> {
    let names: std::collections::BTreeSet<&String> = committed.keys().chain(fresh.keys()).collect();
    let mut differences = Vec::new();
    for column in names {
        let text = |row: &Columns| row.get(column).cloned().unwrap_or_default();
        let (before, after) = (text(committed), text(fresh));
        if !same(column, &before, &after, tolerance) {
            let column = Some(column.clone());
            differences.push(Difference { row: name(key), column, committed: before, fresh: after });
        }
    }
    differences
}

fn same(column: &str, before: &str, after: &str, tolerance: f64) -> bool {
    match (before.parse::<f64>(), after.parse::<f64>()) {
        (Ok(a), Ok(b)) if column == "gap" => (a - b).abs() <= 1e-8,
        (Ok(a), Ok(b)) => a == b || (a - b).abs() <= tolerance * a.abs().max(b.abs()),
        _ => before == after,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        "cell,size,metric,value,verdict,gap\na,1,m,1.0,agrees,1e-12\nb,2,m,2.0,agrees,1e-12\n";

    #[test]
    fn order_and_rounding_do_not_matter() {
        let other =
            "cell,size,metric,value,verdict,gap\nb,2,m,2.0000000001,agrees,3e-10\na,1,m,1.0,agrees,0\n";
        assert_eq!(compare_tables(TABLE, other, 1e-9).unwrap(), []);
    }

    #[test]
    fn one_digit_is_found_and_named() {
        let found = compare_tables(TABLE, &TABLE.replace("2.0", "2.1"), 1e-9).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "size = 2: m: value was \"2.0\", is \"2.1\" (+5.0e-2 relative)");
        let found = compare_tables(TABLE, &TABLE.replace("1.0,agrees", "1.0,differs"), 1e-9).unwrap();
        assert_eq!(found.len(), 1);
        assert!(compare_tables("cell,metric\na\n", TABLE, 1e-9).is_err());
    }

    #[test]
    fn missing_and_new_rows_are_found() {
        let found = compare_tables(TABLE, &TABLE.replace("b,2,m", "c,2,m"), 1e-9).unwrap();
        assert_eq!(found.len(), 2);
    }
}
