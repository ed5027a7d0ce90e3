//! `figure.json`: what a figure shows beyond the rows of the table.

use serde_json::{Map, Value, json};

use crate::report::Report;
use dpgp_task::Frame;

/// Significant digits of a number, which is more than a figure shows.
const DIGITS: usize = 7;

/// One line per frame: its cell, the cell's labels, its name and its columns; none if no cell has a frame.
pub fn figure_json(report: &Report<'_>) -> Option<String> {
    let lines: Vec<String> = report.frames.iter().map(|(cell, frame)| line(report, *cell, frame)).collect();
    (!lines.is_empty()).then(|| format!("[\n{}\n]\n", lines.join(",\n")))
}

fn line(report: &Report<'_>, cell: usize, frame: &Frame) -> String {
    let cell = &report.experiment.cells[cell];
    let axes = report.experiment.axes.iter().zip(cell.labels());
    let labels: Map<String, Value> = axes.map(|(axis, label)| (axis.name.clone(), json!(label))).collect();
    let columns = frame.columns.iter();
    let columns: Map<String, Value> = columns
        .map(|(name, values)| (name.clone(), values.iter().map(|value| rounded(*value)).collect()))
        .collect();
    json!({ "cell": cell.id().short(), "labels": labels, "frame": frame.name, "columns": columns })
        .to_string()
}

fn rounded(value: f64) -> Value {
    let rounded: f64 = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    if rounded == rounded.trunc() && rounded.abs() < 1e15 { json!(rounded as i64) } else { json!(rounded) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let texts = [1.0 / 3.0, 2.0, -0.0, 1.234_567_89e-9].map(|x| rounded(x).to_string());
        assert_eq!(texts, ["0.3333333", "2", "0", "1.234568e-9"]);
    }
}
