//! What a figure or a table is of, in one line: rows, replicates, epsilon, delta and data.

use super::report::{Report, ReportRow};
use dpgp_number::text::exact;
use dpgp_spec::DeviationKind;
use dpgp_spec::setting::SourceSetting;

/// So many different numbers are named; of more the least and the largest.
const NAMED: usize = 6;

/// The caption of a report.
pub fn caption(report: &Report<'_>) -> String {
    let meta = &report.experiment.meta;
    let replicates = match meta.replicates {
        1 => "1 replicate".to_owned(),
        several => format!("{several} replicates"),
    };
    let epsilons = numbers(report, |row| Some(row.row.certificate.epsilon()));
    let deltas = numbers(report, |row| row.row.certificate.delta());
    let parts = [
        meta.rows.as_ref().map(|rows| format!("n: {rows}")),
        Some(replicates),
        epsilons.map(|epsilons| format!("epsilon: {epsilons}")),
        deltas.map(|deltas| format!("delta: {deltas}")),
        Some(format!("data: {}", data(report))),
    ];
    format!("{}.", parts.into_iter().flatten().collect::<Vec<_>>().join("; "))
}

/// The different numbers of all rows, by size; none without any.
fn numbers(report: &Report<'_>, of: impl Fn(&ReportRow) -> Option<f64>) -> Option<String> {
    let mut all: Vec<f64> = report.rows.iter().filter_map(of).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    match all[..] {
        [] => None,
        [least, .., most] if all.len() > NAMED => Some(format!("{} to {}", shown(least), shown(most))),
        _ => Some(all.iter().map(|one| shown(*one)).collect::<Vec<_>>().join(", ")),
    }
}

fn shown(number: f64) -> String {
    if number == f64::INFINITY { "none (no privacy)".to_owned() } else { exact(number) }
}

/// The data of all cells, and whether they are the paper's.
fn data(report: &Report<'_>) -> String {
    let experiment = report.experiment;
    let mut names: Vec<String> = Vec::new();
    for cell in &experiment.cells {
        let name = source(&cell.setting().data.source);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let stand_in = experiment.deviations.iter().any(|deviation| deviation.kind == DeviationKind::StandIn);
    let of_paper = if stand_in { ", a stand-in for the paper's" } else { "" };
    format!("{}{of_paper}", names.join(", "))
}

fn source(source: &SourceSetting) -> String {
    match source {
        SourceSetting::Dataset(name) => name.clone(),
        SourceSetting::Images(images) => images.dataset.clone(),
        SourceSetting::Trips(trips) => trips.dataset.clone(),
        SourceSetting::Csv { .. } | SourceSetting::Parquet { .. } => "rows of the user's own".to_owned(),
        SourceSetting::Inline(_) => "points in the spec".to_owned(),
        SourceSetting::Synthetic(_) => "simulated, anew in each replicate".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fabricated;

    #[test]
    fn all_that_a_figure_is_of_stands_in_one_line() {
        let mut experiment = fabricated::experiment(&["a", "b"], "");
        experiment.meta.rows = Some("4 points".to_owned());
        let rows = vec![fabricated::row(0, "rmse", 1.0, None)];
        let said = caption(&Report::new(&experiment, rows, Vec::new()));
        assert_eq!(said, "n: 4 points; 1 replicate; epsilon: none (no privacy); data: points in the spec.");
    }
}
