//! Files of rows.

use std::collections::BTreeMap;

use dpgp::data::rows::RowWriter;

use super::cli::Project;

/// The rows of a table.csv as column -> text.
pub fn table_rows(table: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(table.as_bytes()).deserialize().map(Result::unwrap).collect()
}

/// A column that looks random: the sine of the row number times a step.
pub fn wave(rows: usize, step: f64) -> Vec<f64> {
    (0..rows).map(|i| (i as f64 * step).sin()).collect()
}

/// Writes columns as the ending of the name says, CSV or Parquet.
pub fn write_rows(project: &Project, name: &str, names: &[&str], columns: &[Vec<f64>]) {
    let path = project.path(name);
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = RowWriter::new(file, &path, names).unwrap();
    writer.write(columns).unwrap();
    writer.finish().unwrap();
}
