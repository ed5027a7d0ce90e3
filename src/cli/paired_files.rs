//! The files of a run that is compared with another.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::CliError;
use dpgp_data::rows::RowFile;
use dpgp_data::{DataError, Table, is_parquet, read_own};
use dpgp_release::{ReleaseError, ReplacedCell};

/// All columns of some files as text, row by row.
#[derive(Debug, Clone)]
pub struct FileCells {
    names: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl FileCells {
    /// The rows of files with the same columns, one after the other.
    pub fn read(files: &[RowFile]) -> Result<Self, CliError> {
        let mut all = Self { names: Vec::new(), rows: Vec::new() };
        for file in files {
            let path = &file.path;
            let table =
                if is_parquet(path) { Table::read_whole_parquet(path, &[]) } else { read_own(path, &[]) };
            let table = table?.with_partitions(file)?;
            if all.names.is_empty() {
                all.names = table.columns();
            }
            all.append(&table)?;
        }
        Ok(all)
    }

    fn append(&mut self, table: &Table) -> Result<(), DataError> {
        let mut rows = vec![Vec::with_capacity(self.names.len()); table.rows()];
        for name in &self.names {
            let cells = table.text(name)?;
            rows.iter_mut().zip(cells).for_each(|(row, cell)| row.push(cell.unwrap_or_default()));
        }
        self.rows.append(&mut rows);
        Ok(())
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// A cell as a number; none if it is not one.
    pub fn number(&self, row: usize, column: &str) -> Option<f64> {
        let place = self.names.iter().position(|name| name == column)?;
        self.rows.get(row)?.get(place)?.parse().ok()
    }

    /// The same rows but for some cells of one.
    #[must_use]
    pub fn with(&self, row: usize, cells: &[ReplacedCell]) -> Self {
        cells
            .iter()
            .fold(self.clone(), |rows, cell| rows.with_text(row, &cell.column, &format!("{:?}", cell.value)))
    }

    /// The same rows but for one cell.
    #[must_use]
    pub fn with_text(mut self, row: usize, column: &str, text: &str) -> Self {
        let place = self.names.iter().position(|name| name == column);
        if let Some(cell) = place.and_then(|place| self.rows.get_mut(row)?.get_mut(place)) {
            text.clone_into(cell);
        }
        self
    }

    /// The same rows without one.
    #[must_use]
    pub fn without(&self, row: usize) -> Self {
        let mut other = self.clone();
        if row < other.rows.len() {
            other.rows.remove(row);
        }
        other
    }

    /// The greatest number of a column; none if a cell is not one.
    pub fn greatest(&self, column: &str) -> Option<f64> {
        let numbers = (0..self.len()).map(|row| self.number(row, column));
        numbers.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
    }

    /// Some columns of some rows, as the text of a file.
    pub fn csv(&self, columns: Option<&[String]>, step: usize) -> Result<String, CliError> {
        let mut places: Vec<usize> = (0..self.names.len()).collect();
        if let Some(columns) = columns {
            places.retain(|place| columns.contains(&self.names[*place]));
        }
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(places.iter().map(|place| &self.names[*place]))?;
        for row in self.rows.iter().step_by(step) {
            writer.write_record(places.iter().map(|place| &row[*place]))?;
        }
        let bytes = writer.into_inner().map_err(csv::IntoInnerError::into_error);
        let bytes = bytes.map_err(|error| CliError::Release(ReleaseError::Csv(error.into())))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Which numbers of the files that a verb writes are noisy.
#[derive(Debug, Clone, Copy)]
pub enum NoisyParts {
    /// These columns of CSV files.
    Columns(&'static [&'static str]),
    /// These fields of JSON files.
    Fields(&'static [&'static str]),
}

/// The files of a folder by their names, with a sign in the place of each noisy number.
pub fn files_without_noise(
    folder: &Path,
    apart: &[&str],
    noisy: NoisyParts,
) -> Result<BTreeMap<String, String>, CliError> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).map_err(CliError::io(folder))? {
        let path = entry.map_err(CliError::io(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !path.is_dir() && !apart.contains(&name.as_str()) {
            let text = std::fs::read_to_string(&path).map_err(CliError::io(&path))?;
            files.insert(name, without_noise(&text, noisy));
        }
    }
    Ok(files)
}

fn without_noise(text: &str, noisy: NoisyParts) -> String {
    if let Ok(mut value) = serde_json::from_str::<Value>(text) {
        // What is there beside the value: blanks at the end.
        let beside = text.len() as i64 - format!("{value:#}").len() as i64;
        blank_fields(&mut value, noisy);
        return format!("{value:#}\n{beside} bytes");
    }
    match noisy {
        NoisyParts::Columns(names) => blank_columns(text, names).unwrap_or_else(|_| text.to_owned()),
        NoisyParts::Fields(_) => text.to_owned(),
    }
}

/// What a ledger knows a release by is random; the digests of noisy predictions, and of a file of noisy numbers, are as noisy as they are.
fn blank_fields(value: &mut Value, noisy: NoisyParts) {
    let names = if let NoisyParts::Fields(names) = noisy { names } else { &["predictions_sha256"] };
    for name in names.iter().chain(&["release_id", "content_sha256"]) {
        if let Some(field) = value.get_mut(name) {
            blank(field);
        }
    }
}

/// Lists stay as long as they are.
fn blank(value: &mut Value) {
    match value {
        Value::Array(all) => all.iter_mut().for_each(blank),
        Value::Object(all) => all.values_mut().for_each(blank),
        other => *other = Value::from("#"),
    }
}

fn blank_columns(text: &str, names: &[&str]) -> Result<String, csv::Error> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers()?.clone();
    let (mut lines, mut beside) = (format!("{headers:?}\n"), text.len());
    for record in reader.records() {
        let record = record?;
        let noisy = headers.iter().zip(&record).filter(|(name, _)| names.contains(name));
        beside -= noisy.map(|(_, cell)| cell.len()).sum::<usize>();
        let cells = headers.iter().zip(&record);
        let cells: Vec<&str> =
            cells.map(|(name, cell)| if names.contains(&name) { "#" } else { cell }).collect();
        lines.push_str(&format!("{cells:?}\n"));
    }
    // Empty lines are no records.
    Ok(format!("{lines}{beside} bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: NoisyParts = NoisyParts::Columns(&["mean"]);

    #[test]
    fn noisy_numbers_alone_are_taken_out() {
        let shown = without_noise("x,mean\n1,2.5\n2,-0.125\n", COLUMNS);
        assert_eq!(shown, without_noise("x,mean\n1,7\n2,1e300\n", COLUMNS));
        for other in ["x,mean\n1,2.5\n3,-0.125\n", "x,mean\n1,2.5\n", "x,mean\n1,2.5\n2,-0.125\n\n"] {
            assert_ne!(without_noise(other, COLUMNS), shown, "{other:?}");
        }
    }

    #[test]
    fn lists_of_noisy_numbers_keep_their_length() {
        let noisy = NoisyParts::Fields(&["counts"]);
        let shown = without_noise(r#"{"counts": [1, 23], "sd": 4.5}"#, noisy);
        assert!(shown.contains("\"sd\": 4.5") && !shown.contains("23"), "{shown}");
        assert_ne!(without_noise(r#"{"counts": [1, 23, 4], "sd": 4.5}"#, noisy), shown);
        assert_ne!(without_noise("{\"counts\": [1, 23], \"sd\": 4.5} ", noisy), shown);
        let digest =
            |digest: &str| without_noise(&format!(r#"{{"predictions_sha256": "{digest}"}}"#), COLUMNS);
        assert_eq!(digest("00"), digest("ff"));
    }

    #[test]
    fn cells_are_replaced_by_name() {
        let rows = FileCells {
            names: ["x", "y"].map(str::to_owned).to_vec(),
            rows: vec![vec!["1".into(), "2".into()], vec!["3".into(), "a,b".into()]],
        };
        assert_eq!((rows.number(0, "y"), rows.number(1, "y"), rows.number(2, "x")), (Some(2.0), None, None));
        let other = rows.with(1, &[ReplacedCell { column: "y".to_owned(), value: f64::MAX }]);
        assert_eq!(other.csv(None, 1).unwrap(), "x,y\n1,2\n3,1.7976931348623157e308\n");
        assert_eq!(rows.csv(Some(&["y".to_owned()]), 2).unwrap(), "y\n2\n");
    }
}
