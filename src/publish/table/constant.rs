//! What a table says of predictions that a constant would beat.

use crate::publish::report::{Report, ReportRow};

/// The metric that compares an error with that of a constant: `1 - MSE / MSE of the constant`.
const METRIC: &str = "r2";

/// Nearer to 0 is the constant itself.
const ROUNDING: f64 = 1e-9;

/// The sentence that names the cells whose predictions err more than the mean of the training targets does, the first `most` of
/// them; none if there are none, or the table does not compare.
pub(super) fn worse_than_a_constant(report: &Report<'_>, most: usize) -> Option<String> {
    let worse: Vec<&ReportRow> = report.rows.iter().filter(|row| is_worse(row)).collect();
    if worse.is_empty() {
        return None;
    }
    let named = worse.iter().take(most).map(|row| report.labels(row).collect::<Vec<_>>().join(", "));
    let named = named.collect::<Vec<_>>().join("; ");
    // A table of one cell names it by nothing.
    if named.is_empty() {
        return Some(format!("No better than a constant ({METRIC} below 0)."));
    }
    let more = worse.len().saturating_sub(most);
    let others = if more == 0 { String::new() } else { format!("; and {more} more") };
    Some(format!("No better than a constant ({METRIC} below 0): {named}{others}."))
}

fn is_worse(row: &ReportRow) -> bool {
    row.row.metric == METRIC && row.row.value < -ROUNDING
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::figure::fabricated::{row, showing};

    #[test]
    fn cells_below_a_constant_are_named() {
        let experiment = showing(&["a", "b", "c", "d"], "[bars]\nlabel = \"y\"\n");
        let values = [-0.25, 0.5, -1e-16, -3.0];
        let rows = values.iter().enumerate().map(|(cell, value)| row(cell, "r2", *value, None));
        let others = (0..4).map(|cell| row(cell, "log-score", -4.0, None));
        let report = Report::new(&experiment, rows.chain(others).collect(), Vec::new());
        assert_eq!(
            worse_than_a_constant(&report, 9).unwrap(),
            "No better than a constant (r2 below 0): a; d."
        );
        assert!(worse_than_a_constant(&report, 1).unwrap().ends_with("(r2 below 0): a; and 1 more."));
        let fine = Report::new(&experiment, vec![row(1, "r2", 0.5, None)], Vec::new());
        assert_eq!(worse_than_a_constant(&fine, 9), None);
    }
}
