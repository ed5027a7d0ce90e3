//! The table in a terminal.

use comfy_table::Table;
use comfy_table::presets::UTF8_BORDERS_ONLY;

use super::notes::GuaranteeNotes;
use super::number::{exact, short};
use super::plain::fit;
use crate::publish::report::{Report, ReportRow};
use crate::spec::Published;

/// The headings after the axes.
pub(super) const HEADINGS: [&str; 7] =
    ["epsilon", "metric", "published", "ours", "verdict", "exact delta", "gap"];

/// Rows that are printed; nobody reads more in a terminal.
const MOST_ROWS: usize = 500;

/// The table as text, with the claims and a legend of the guarantees below it.
pub fn table_terminal(report: &Report<'_>) -> String {
    let axes = report.axis_columns(&HEADINGS);
    let mut table = Table::new();
    fit(table.load_style(UTF8_BORDERS_ONLY));
    let names = axes.iter().map(|(_, name)| *name);
    table.set_header(names.chain(HEADINGS).chain(["guarantee"]));
    let mut notes = GuaranteeNotes::default();
    for row in report.rows.iter().take(MOST_ROWS) {
        let labels = axes.iter().map(|(axis, _)| row.labels[*axis].clone());
        table.add_row(labels.chain(cells(row)).chain([notes.reference(&row.row.certificate.to_string())]));
    }
    let mut text = format!("{}: {}\n{table}\n", report.experiment.name, report.experiment.meta.title);
    if let Some(more) = report.rows.len().checked_sub(MOST_ROWS).filter(|more| *more > 0) {
        text.push_str(&format!("... and {more} more rows in table.csv\n"));
    }
    for (number, guarantee) in notes.texts.iter().enumerate() {
        text.push_str(&format!("[{}] {guarantee}\n", number + 1));
    }
    if report.jitter() > 0.0 {
        text.push_str(&format!(
            "jitter of up to {} was added to a covariance matrix\n",
            short(report.jitter())
        ));
    }
    if report.experiment.left_out > 0 {
        text.push_str(&format!(
            "{} published values and claims are left out by [quick]\n",
            report.experiment.left_out
        ));
    }
    for claim in &report.claims {
        let mark = if claim.holds { "claim holds" } else { "CLAIM FAILS" };
        text.push_str(&format!("{mark}: {}\n", claim.text));
    }
    text
}

/// Epsilon, metric, published value, ours, verdict, exact delta and gap of a row.
pub(super) fn cells(row: &ReportRow) -> [String; 7] {
    let certificate = &row.row.certificate;
    let published = row.published.as_ref();
    [
        exact(certificate.epsilon()),
        row.row.metric.clone(),
        published.map(printed).unwrap_or_default(),
        with_spread(short(row.row.value), row.row.spread.map(short)),
        row.verdict.name().to_owned(),
        certificate.delta_exact.map(short).unwrap_or_default(),
        certificate.gap.map(short).unwrap_or_default(),
    ]
}

/// A published value and its spread with the digits that the paper prints.
fn printed(published: &Published) -> String {
    let digits = if published.precision > 0.0 { -published.precision.log10().floor() } else { 0.0 };
    let digits = digits.max(0.0) as usize;
    let [value, spread] = [Some(published.value), published.spread].map(|number| {
        number.map(|x| if published.precision > 0.0 { format!("{x:.digits$}") } else { exact(x) })
    });
    with_spread(value.unwrap_or_default(), spread)
}

fn with_spread(value: String, spread: Option<String>) -> String {
    match spread {
        Some(spread) => format!("{value} ± {spread}"),
        None => value,
    }
}
