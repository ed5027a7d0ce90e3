//! Two versions of a `table.csv`, compared cell by cell.

use std::collections::BTreeMap;
use std::fmt;

use csv::{ReaderBuilder, StringRecord};

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
            None => write!(f, "{row}: row was {committed}, is {fresh}")?,
        }
        match (committed.parse::<f64>(), fresh.parse::<f64>()) {
            (Ok(a), Ok(b)) if a != 0.0 => write!(f, " ({:+.1e} relative)", b / a - 1.0),
            _ => Ok(()),
        }
    }
}

/// Compares two tables row by row (rows are known by cell and metric, so their order does not matter);
/// numbers may differ by `tolerance`, relative. The `gap` column is a bound near rounding: it is compared
/// with an absolute tolerance of 1e-8.
pub fn compare_tables(committed: &str, fresh: &str, tolerance: f64) -> Vec<Difference> {
    let (committed, fresh) = (rows(committed), rows(fresh));
    let mut differences = Vec::new();
    for (key, row) in &committed {
        match fresh.get(key) {
            None => differences.push(whole(key, "there", "missing")),
            Some(other) => differences.extend(compare_rows(key, row, other, tolerance)),
        }
    }
    let added = fresh.keys().filter(|key| !committed.contains_key(*key));
    differences.extend(added.map(|key| whole(key, "missing", "new")));
    differences
}

type Columns = BTreeMap<String, String>;

fn rows(text: &str) -> BTreeMap<String, Columns> {
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let headings = reader.headers().cloned().unwrap_or_default();
    let columns = |record: StringRecord| -> Columns {
        headings.iter().zip(record.iter()).map(|(h, v)| (h.to_owned(), v.to_owned())).collect()
    };
    let name = |row: &Columns| {
        let field = |key: &str| row.get(key).cloned().unwrap_or_default();
        format!("{} {}", field("cell"), field("metric"))
    };
    reader.records().flatten().map(columns).map(|row| (name(&row), row)).collect()
}

fn whole(row: &str, committed: &str, fresh: &str) -> Difference {
    Difference { row: row.to_owned(), column: None, committed: committed.to_owned(), fresh: fresh.to_owned() }
}

fn compare_rows(key: &str, committed: &Columns, fresh: &Columns, tolerance: f64) -> Vec<Difference> {
    let names: std::collections::BTreeSet<&String> = committed.keys().chain(fresh.keys()).collect();
    let mut differences = Vec::new();
    for name in names {
        let text = |row: &Columns| row.get(name).cloned().unwrap_or_default();
        let (before, after) = (text(committed), text(fresh));
        if !same(name, &before, &after, tolerance) {
            let column = Some(name.clone());
            differences.push(Difference { row: key.to_owned(), column, committed: before, fresh: after });
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

    const TABLE: &str = "cell,metric,value,verdict,gap\na,m,1.0,agrees,1e-12\nb,m,2.0,agrees,1e-12\n";

    #[test]
    fn order_and_rounding_do_not_matter() {
        let other = "cell,metric,value,verdict,gap\nb,m,2.0000000001,agrees,3e-10\na,m,1.0,agrees,0\n";
        assert_eq!(compare_tables(TABLE, other, 1e-9), []);
    }

    #[test]
    fn one_digit_is_found_and_named() {
        let found = compare_tables(TABLE, &TABLE.replace("2.0", "2.1"), 1e-9);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].to_string(), "b m: value was \"2.0\", is \"2.1\" (+5.0e-2 relative)");
        assert_eq!(compare_tables(TABLE, &TABLE.replace("a,m,1.0,agrees", "a,m,1.0,differs"), 1e-9).len(), 1);
    }

    #[test]
    fn missing_and_new_rows_are_found() {
        let found = compare_tables(TABLE, &TABLE.replace("b,m", "c,m"), 1e-9);
        assert_eq!(found.len(), 2);
    }
}
