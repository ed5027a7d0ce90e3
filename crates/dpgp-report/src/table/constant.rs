//! What a table says of predictions that a constant would beat.

use crate::report::{Report, ReportRow};

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

/// How much less the root mean squared error is than that of a constant, `1 - sqrt(1 - r2)`, of the cells where it is less; none if they are
/// more than `most`.
pub(super) fn better_than_a_constant(report: &Report<'_>, most: usize) -> Option<String> {
    let compared: Vec<&ReportRow> = report.rows.iter().filter(|row| row.row.metric == METRIC).collect();
    if compared.len() > most {
        return None;
    }
    let better = compared.into_iter().filter(|row| row.row.value > ROUNDING && row.row.value <= 1.0);
    let said = better.map(|row| {
        let cell = report.labels(row).collect::<Vec<_>>().join(", ");
        let cell = if cell.is_empty() { cell } else { format!(" ({cell})") };
        format!("{:.1} %{cell}", 100.0 * (1.0 - (1.0 - row.row.value).sqrt()))
    });
    let said: Vec<String> = said.collect();
    (!said.is_empty()).then(|| format!("Less rmse than a constant by about {}.", said.join(", ")))
}

fn is_worse(row: &ReportRow) -> bool {
    row.row.metric == METRIC && row.row.value < -ROUNDING
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fabricated::{row, showing};

    /// An r2 of .75 leaves a quarter of the square, half of the error; .36 leaves .8 of it.
    #[test]
    fn cells_above_a_constant_say_by_how_much() {
        let experiment = showing(&["a", "b", "c"], "[bars]\nlabel = \"y\"\n");
        let rows =
            [0.75, 0.36, -0.5].into_iter().enumerate().map(|(cell, value)| row(cell, "r2", value, None));
        let report = Report::new(&experiment, rows.collect(), Vec::new());
        assert_eq!(
            better_than_a_constant(&report, 3).unwrap(),
            "Less rmse than a constant by about 50.0 % (a), 20.0 % (b)."
        );
        assert_eq!(better_than_a_constant(&report, 2), None);
        let none =
            Report::new(&experiment, vec![row(0, "rmse", 0.5, None), row(1, "r2", -0.1, None)], Vec::new());
        assert_eq!(better_than_a_constant(&none, 9), None);
    }

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
