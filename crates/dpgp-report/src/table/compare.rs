//! Two versions of a `table.csv`, compared cell by cell.

use std::collections::BTreeMap;
use std::fmt;

use csv::ReaderBuilder;

use dpgp_spec::FIXED_COLUMNS;

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
    key: RowKey,
    before: Option<Fields>,
    after: Option<Fields>,
}

/// The rows of two tables side by side. Rows are known by their place on the axes and their metric alone, so that
/// cells whose setting changed still meet.
///
/// # Errors
/// The CSV reader's error if a table is malformed.
pub fn side_by_side(before: &str, after: &str) -> Result<Vec<RowPair>, csv::Error> {
    Ok(pair(without_cells(rows(before)?), without_cells(rows(after)?)))
}

fn without_cells(rows: BTreeMap<RowKey, Fields>) -> BTreeMap<RowKey, Fields> {
    let mut without = BTreeMap::new();
    for (key, mut row) in rows {
        row.remove("cell");
        without.insert(RowKey { cell: String::new(), ..key }, row);
    }
    without
}

fn pair(mut before: BTreeMap<RowKey, Fields>, after: BTreeMap<RowKey, Fields>) -> Vec<RowPair> {
    let mut pairs = Vec::new();
    for (key, row) in after {
        pairs.push(RowPair { before: before.remove(&key), after: Some(row), key });
    }
    pairs.extend(before.into_iter().map(|(key, row)| RowPair { key, before: Some(row), after: None }));
    pairs.sort_by(|a: &RowPair, b| a.key.cmp(&b.key));
    pairs
}

impl RowPair {
    /// The place on the axes and the metric.
    pub fn name(&self) -> String {
        self.key.name()
    }

    /// The value on each side; empty where the row is missing.
    pub fn values(&self) -> (String, String) {
        (value(self.before.as_ref()), value(self.after.as_ref()))
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

fn value(row: Option<&Fields>) -> String {
    row.and_then(|row| row.get("value")).cloned().unwrap_or_default()
}

/// The fields of a row by their column.
type Fields = BTreeMap<String, String>;

/// A row is known by its cell and metric, and named by its place on the axes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct RowKey {
    cell: String,
    metric: String,
    place: String,
}

impl RowKey {
    fn name(&self) -> String {
        format!("{}: {}", self.place, self.metric)
    }
}

fn rows(text: &str) -> Result<BTreeMap<RowKey, Fields>, csv::Error> {
    let mut reader = ReaderBuilder::new().from_reader(text.as_bytes());
    let headings = reader.headers()?.clone();
    let mut rows = BTreeMap::new();
    for record in reader.records() {
        let record = record?;
        let fields = headings.iter().zip(record.iter());
        let axes = fields.clone().filter(|(h, _)| !FIXED_COLUMNS.contains(h) || *h == "epsilon");
        let place = axes.map(|(h, v)| format!("{h} = {v}")).collect::<Vec<_>>().join(", ");
        let row: Fields = fields.map(|(h, v)| (h.to_owned(), v.to_owned())).collect();
        let [cell, metric] = ["cell", "metric"].map(|key| row.get(key).cloned().unwrap_or_default());
        rows.insert(RowKey { cell, metric, place }, row);
    }
    Ok(rows)
}

fn whole(key: &RowKey, committed: &str, fresh: &str) -> Difference {
    Difference { row: key.name(), column: None, committed: committed.to_owned(), fresh: fresh.to_owned() }
}

fn compare_rows(key: &RowKey, committed: &Fields, fresh: &Fields, tolerance: f64) -> Vec<Difference> {
    let names: std::collections::BTreeSet<&String> = committed.keys().chain(fresh.keys()).collect();
    let mut differences = Vec::new();
    for column in names {
        let [before, after] = [committed, fresh].map(|row| row.get(column).cloned().unwrap_or_default());
        if !same(column, &before, &after, tolerance) {
            let column = Some(column.clone());
            differences.push(Difference { row: key.name(), column, committed: before, fresh: after });
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

    #[test]
    fn values_stand_on_their_sides() {
        let pairs = side_by_side(TABLE, &TABLE.replace("b,2,m,2.0,agrees,1e-12\n", "")).unwrap();
        let values: Vec<(String, String)> = pairs.iter().map(RowPair::values).collect();
        assert_eq!(values, [("1.0".to_owned(), "1.0".to_owned()), ("2.0".to_owned(), String::new())]);
    }

    /// A part in a thousand of the greater number, whatever its size.
    #[test]
    fn a_tolerance_is_relative() {
        for (one, other, expected) in [
            ("100", "100.09", true),
            ("100", "100.2", false),
            ("1e-9", "1.0009e-9", true),
            ("1e-9", "1.002e-9", false),
        ] {
            assert_eq!(same("value", one, other, 1e-3), expected, "{one} {other}");
        }
        assert!(same("gap", "1e-9", "9e-9", 0.0) && !same("gap", "1e-9", "2e-8", 1.0));
    }
}
