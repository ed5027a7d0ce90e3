//! What a table says of metrics that are undefined.

use super::terminal::UNDEFINED;
use crate::report::{Report, ReportRow};

/// A sentence for each metric and reason, which names the first `most` of its cells.
pub(super) fn undefined(report: &Report<'_>, most: usize) -> Vec<String> {
    let mut groups: Vec<(&str, &str, Vec<&ReportRow>)> = Vec::new();
    for row in &report.rows {
        let Some(reason) = row.row.undefined.as_deref() else { continue };
        let metric = row.row.metric.as_str();
        match groups.iter_mut().find(|(of, why, _)| *of == metric && *why == reason) {
            Some((_, _, rows)) => rows.push(row),
            None => groups.push((metric, reason, vec![row])),
        }
    }
    let said = groups.into_iter().map(|(metric, reason, rows)| {
        format!("{UNDEFINED}: {metric} is undefined{}: {reason}.", cells(report, &rows, most))
    });
    said.collect()
}

/// The first cells in brackets; a table of one cell names it by nothing.
fn cells(report: &Report<'_>, rows: &[&ReportRow], most: usize) -> String {
    let named = rows.iter().take(most).map(|row| report.labels(row).collect::<Vec<_>>().join(", "));
    let named = named.collect::<Vec<_>>().join("; ");
    let more = rows.len().saturating_sub(most);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    if named.is_empty() { named } else { format!(" ({named}{more})") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fabricated::{row, showing};
    use dpgp_task::Row;

    #[test]
    fn cells_of_one_reason_are_named_together() {
        let experiment = showing(&["a", "b", "c"], "[bars]\nlabel = \"y\"\n");
        let of = |cell, reason: Option<&str>| Row {
            undefined: reason.map(str::to_owned),
            ..row(cell, "r2", if reason.is_some() { f64::NAN } else { 0.5 }, None)
        };
        let rows = vec![of(0, Some("nothing varies")), of(1, None), of(2, Some("nothing varies"))];
        let report = Report::new(&experiment, rows, Vec::new());
        assert_eq!(undefined(&report, 9), ["-: r2 is undefined (a; c): nothing varies."]);
        assert_eq!(undefined(&report, 1), ["-: r2 is undefined (a; and 1 more): nothing varies."]);
    }
}
