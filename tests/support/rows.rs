//! Files of rows.

use std::collections::BTreeMap;

use dpgp::data::rows::RowWriter;

use super::cli::Project;

/// The rows of a table.csv as column -> text.
pub fn table_rows(table: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(table.as_bytes()).deserialize().map(Result::unwrap).collect()
}

/// Writes columns as the ending of the name says, CSV or Parquet.
pub fn write_rows(project: &Project, name: &str, names: &[&str], columns: &[Vec<f64>]) {
    let path = project.path(name);
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = RowWriter::new(file, &path, names).unwrap();
    writer.write(columns).unwrap();
    writer.finish().unwrap();
}
