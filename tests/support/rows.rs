//! Files of rows of numbers.

use dpgp::data::rows::RowWriter;

use super::cli::Project;

/// Writes columns as the ending of the name says, CSV or Parquet.
pub fn write_rows(project: &Project, name: &str, names: &[&str], columns: &[Vec<f64>]) {
    let path = project.path(name);
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = RowWriter::new(file, &path, names).unwrap();
    writer.write(columns).unwrap();
    writer.finish().unwrap();
}
