//! `table.csv`: long form, one row per cell and metric.

use super::number::exact;
use crate::publish::report::{Report, ReportRow};
use crate::spec::FIXED_COLUMNS;

/// Columns before the axes.
const BEFORE_AXES: usize = 2;

/// The table as CSV text.
///
/// # Errors
/// The CSV writer's error; none is expected when writing to memory.
pub fn table_csv(report: &Report<'_>) -> Result<String, csv::Error> {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    let axes = report.axis_columns(&FIXED_COLUMNS);
    let names = axes.iter().map(|(_, name)| *name);
    let (before, after) = FIXED_COLUMNS.split_at(BEFORE_AXES);
    writer.write_record(before.iter().copied().chain(names).chain(after.iter().copied()))?;
    for row in &report.rows {
        let labels = axes.iter().map(|(axis, _)| row.labels[*axis].clone());
        let identity = [report.experiment.name.clone(), row.cell_id.clone()];
        writer.write_record(identity.into_iter().chain(labels).chain(values(row)))?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn values(row: &ReportRow) -> [String; 13] {
    let certificate = &row.row.certificate;
    [
        row.row.metric.clone(),
        exact(row.row.value),
        optional(row.row.spread),
        row.row.spread_kind.name().to_owned(),
        row.row.repeats.to_string(),
        optional(row.published.as_ref().map(|p| p.value)),
        optional(row.published.as_ref().and_then(|p| p.spread)),
        row.verdict.name().to_owned(),
        certificate.to_string(),
        exact(certificate.epsilon()),
        optional(certificate.delta()),
        optional(certificate.delta_exact),
        optional(certificate.gap),
    ]
}

fn optional(x: Option<f64>) -> String {
    x.map(exact).unwrap_or_default()
}
