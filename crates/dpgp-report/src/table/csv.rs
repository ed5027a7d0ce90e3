//! `table.csv`: long form, one row per cell and metric.

use super::verdict::{Judged, Verdict};
use crate::report::{Report, ReportRow};
use dpgp_data::csv_cell;
use dpgp_number::text::exact;
use dpgp_spec::FIXED_COLUMNS;

/// Columns before the axes.
const BEFORE_AXES: usize = 2;

/// The table as CSV text.
///
/// # Errors
/// The CSV writer's error; none is expected when writing to memory.
pub fn table_csv(report: &Report<'_>) -> Result<String, csv::Error> {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    let axes = report.axis_columns(&FIXED_COLUMNS);
    let names = axes.iter().map(|(_, name)| csv_cell(name).into_owned());
    let (before, after) = FIXED_COLUMNS.split_at(BEFORE_AXES);
    writer.write_record(fixed(before).chain(names).chain(fixed(after)))?;
    for row in &report.rows {
        let labels = axes.iter().map(|(axis, _)| csv_cell(&row.labels[*axis]).into_owned());
        let identity = [csv_cell(&report.experiment.name).into_owned(), row.cell_id.clone()];
        writer.write_record(identity.into_iter().chain(labels).chain(values(row)))?;
    }
    let bytes = writer.into_inner().map_err(|error| error.into_error())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn fixed(names: &[&str]) -> impl Iterator<Item = String> {
    names.iter().map(|name| (*name).to_owned())
}

fn values(row: &ReportRow) -> [String; 24] {
    let certificate = &row.row.certificate;
    let [published, authors, reference] = [&row.published, &row.authors, &row.reference].map(Option::as_ref);
    // The interval is that of the number that counts most.
    let interval = row.beside().next().and_then(|judged| judged.predictive);
    let p_value = published.and_then(Judged::p_value);
    [
        csv_cell(&row.row.metric).into_owned(),
        optional(row.row.undefined.is_none().then_some(row.row.value)),
        optional(row.row.spread),
        row.row.spread_kind.name().to_owned(),
        row.row.repeats.to_string(),
        optional(value(published)),
        optional(spread(published)),
        verdict(published),
        csv_cell(&certificate.to_string()).into_owned(),
        exact(certificate.epsilon()),
        optional(certificate.delta()),
        optional(certificate.delta_exact),
        optional(certificate.gap),
        optional(interval.map(|interval| interval.low)),
        optional(interval.map(|interval| interval.high)),
        optional(p_value),
        published.map_or(Verdict::None, |judged| judged.spread_verdict).name().to_owned(),
        optional(value(authors)),
        verdict(authors),
        optional(value(reference)),
        optional(spread(reference)),
        verdict(reference),
        optional(published.and_then(|judged| judged.ratio(row.row.value))),
        optional(published.and_then(Judged::z)),
    ]
}

fn value(judged: Option<&Judged>) -> Option<f64> {
    judged.map(|judged| judged.counterpart.value)
}

fn spread(judged: Option<&Judged>) -> Option<f64> {
    judged.and_then(|judged| judged.counterpart.spread)
}

fn verdict(judged: Option<&Judged>) -> String {
    judged.map_or(Verdict::None, |judged| judged.verdict).name().to_owned()
}

fn optional(x: Option<f64>) -> String {
    x.map(exact).unwrap_or_default()
}
