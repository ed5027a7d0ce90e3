//! Sentences below a table: on predictions worse than a constant, visible jitter, undefined metrics, and the numbers after `±`.

use super::terminal::UNDEFINED;
use super::verdict::standard_error;
use crate::report::{Report, ReportRow};
use dpgp_gp::jitter_effect_bound;
use dpgp_number::text::format_four_digits;
use dpgp_spec::SpreadKind;

/// The metric that compares an error with that of a constant: `1 - MSE / MSE of the constant`.
const METRIC: &str = "r2";

/// Nearer to 0 is the constant itself.
const ROUNDING: f64 = 1e-9;

/// The sentence that names the cells whose predictions err more than the mean of the training targets does, the first `most` of
/// them; none if there are none, or the table does not compare.
pub(super) fn worse_than_constant_sentence(report: &Report<'_>, most: usize) -> Option<String> {
    let worse: Vec<&ReportRow> = report.rows.iter().filter(|row| is_worse_than_constant(row)).collect();
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

/// The sentence on the reduction of the root mean squared error below that of a constant, `1 - sqrt(1 - r2)`, in the
/// cells that have one; none if more than `most` cells are compared.
pub(super) fn rmse_reduction_sentence(report: &Report<'_>, most: usize) -> Option<String> {
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
    (!said.is_empty())
        .then(|| format!("Compared with a constant prediction, the rmse is lower by about {}.", said.join(", ")))
}

fn is_worse_than_constant(row: &ReportRow) -> bool {
    row.row.metric == METRIC && row.row.value < -ROUNDING
}

/// Four digits are shown: what is less moves none of them by more than a half.
const SHOWN: f64 = 5e-5;

/// The sentence on the largest share that jitter can have in a number; none if it is not visible.
///
/// A map of exact regression moves by at most `jitter / (noise variance + jitter)`, relative to its own norm ([`jitter_effect_bound`]); what is
/// predicted with it moves by no more, relative to the map times the targets.
pub(super) fn jitter_effect_sentence(report: &Report<'_>) -> Option<String> {
    let shares = report.rows.iter().filter_map(|row| JitterEffect::from_row(report, row));
    let JitterEffect { share, jitter, noise } = shares.max_by(|a, b| a.share.total_cmp(&b.share))?;
    Some(format!(
        "Jitter of up to {} was added to a covariance matrix that is numerically singular (noise variance {}). \
         Predictions may differ from those of the model by up to {} of their size.",
        format_four_digits(jitter),
        format_four_digits(noise),
        format_four_digits(share)
    ))
}

/// The jitter behind a row, beside the noise variance of its cell.
struct JitterEffect {
    share: f64,
    jitter: f64,
    noise: f64,
}

impl JitterEffect {
    /// The share in a row, if it is visible.
    fn from_row(report: &Report<'_>, row: &ReportRow) -> Option<Self> {
        let model = report.experiment.cells[row.row.cell].setting().model.as_deref()?;
        let (jitter, noise) = (row.row.jitter, model.noise_variance?.get());
        let share = jitter_effect_bound(jitter, noise);
        (share > SHOWN).then_some(Self { share, jitter, noise })
    }
}

/// A sentence for each metric and reason, which names the first `most` of its cells.
pub(super) fn undefined_metric_sentences(report: &Report<'_>, most: usize) -> Vec<String> {
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
        format!("{UNDEFINED}: {metric} is undefined{}: {reason}.", list_cells_in_brackets(report, &rows, most))
    });
    said.collect()
}

/// The first cells in brackets; a table of one cell names it by nothing.
fn list_cells_in_brackets(report: &Report<'_>, rows: &[&ReportRow], most: usize) -> String {
    let named = rows.iter().take(most).map(|row| report.labels(row).collect::<Vec<_>>().join(", "));
    let named = named.collect::<Vec<_>>().join("; ");
    let more = rows.len().saturating_sub(most);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    if named.is_empty() { named } else { format!(" ({named}{more})") }
}

/// The spread of a row that has one.
pub(super) struct SpreadDescription {
    pub kind: SpreadKind,
    /// Over how many folds or replicates.
    pub repeats: usize,
}

/// What stands after `±`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpreadForm {
    /// The spread as it is recorded.
    Recorded,
    /// The standard error of the mean: a standard deviation divided by the square root of its number of repeats.
    StandardError,
}

impl SpreadForm {
    /// The spread in this form.
    pub(super) fn convert(self, spread: f64, kind: SpreadKind, repeats: usize) -> f64 {
        match self {
            Self::Recorded => spread,
            Self::StandardError => standard_error(Some(spread), kind, repeats),
        }
    }
}

/// The legend of all spreads of a table; empty where there is none.
pub(super) fn spread_kinds_legend(spreads: &[SpreadDescription], form: SpreadForm) -> String {
    let kinds = [SpreadKind::SdFolds, SpreadKind::SdReplicates, SpreadKind::StandardError];
    let meanings: Vec<String> = kinds.into_iter().filter_map(|kind| spread_meaning(kind, spreads, form)).collect();
    if meanings.is_empty() { String::new() } else { format!("±: one {}", meanings.join(", or one ")) }
}

fn spread_meaning(kind: SpreadKind, spreads: &[SpreadDescription], form: SpreadForm) -> Option<String> {
    let mut repeats: Vec<usize> =
        spreads.iter().filter(|spread| spread.kind == kind).map(|spread| spread.repeats).collect();
    repeats.sort_unstable();
    repeats.dedup();
    let number = match repeats[..] {
        [] => return None,
        [one] => format!("{one} "),
        _ => String::new(),
    };
    let measure = match form {
        SpreadForm::Recorded => "standard deviation",
        SpreadForm::StandardError => "standard error of the mean",
    };
    Some(match (kind, form) {
        (SpreadKind::SdFolds, SpreadForm::StandardError) => {
            format!("{measure} over {number}folds (folds share rows, so the true error may be larger)")
        }
        (SpreadKind::SdFolds, SpreadForm::Recorded) => format!("{measure} over {number}folds"),
        (SpreadKind::SdReplicates, _) => format!("{measure} over {number}replicates"),
        (SpreadKind::StandardError | SpreadKind::None, _) => "standard error of the mean".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fabricated::{row, showing};

    /// An r2 of .75 leaves a quarter of the square, half of the error; .36 leaves .8 of it.
    #[test]
    fn cells_above_a_constant_say_by_how_much() {
        let experiment = showing(&["a", "b", "c"], "[bars]\nlabel = \"y\"\n");
        let rows = [0.75, 0.36, -0.5].into_iter().enumerate().map(|(cell, value)| row(cell, "r2", value, None));
        let report = Report::new(&experiment, rows.collect(), Vec::new());
        assert_eq!(
            rmse_reduction_sentence(&report, 3).unwrap(),
            "Compared with a constant prediction, the rmse is lower by about 50.0 % (a), 20.0 % (b)."
        );
        assert_eq!(rmse_reduction_sentence(&report, 2), None);
        let none = Report::new(&experiment, vec![row(0, "rmse", 0.5, None), row(1, "r2", -0.1, None)], Vec::new());
        assert_eq!(rmse_reduction_sentence(&none, 9), None);
    }

    #[test]
    fn cells_below_a_constant_are_named() {
        let experiment = showing(&["a", "b", "c", "d"], "[bars]\nlabel = \"y\"\n");
        let values = [-0.25, 0.5, -1e-16, -3.0];
        let rows = values.iter().enumerate().map(|(cell, value)| row(cell, "r2", *value, None));
        let others = (0..4).map(|cell| row(cell, "log-score", -4.0, None));
        let report = Report::new(&experiment, rows.chain(others).collect(), Vec::new());
        assert_eq!(worse_than_constant_sentence(&report, 9).unwrap(), "No better than a constant (r2 below 0): a; d.");
        assert!(worse_than_constant_sentence(&report, 1).unwrap().ends_with("(r2 below 0): a; and 1 more."));
        let fine = Report::new(&experiment, vec![row(1, "r2", 0.5, None)], Vec::new());
        assert_eq!(worse_than_constant_sentence(&fine, 9), None);
    }
}

#[cfg(test)]
mod jitter_tests {
    use super::*;
    use crate::figure::fabricated::{experiment, row};
    use dpgp_task::MetricSummary;

    /// Jitter relative to the noise variance.
    fn said(jitter: f64) -> Option<String> {
        let experiment = experiment(&["a"], "");
        let noise = experiment.cells[0].setting().model.as_deref().unwrap().noise_variance.unwrap().get();
        let rows = vec![MetricSummary { jitter: jitter * noise, ..row(0, "rmse", 0.5, None) }];
        jitter_effect_sentence(&Report::new(&experiment, rows, Vec::new()))
    }

    #[test]
    fn jitter_is_told_where_it_can_be_seen() {
        assert_eq!((said(0.0), said(4e-5)), (None, None));
        let seen = said(0.25).unwrap();
        assert!(seen.contains("by up to 0.2000 of their size"), "{seen}");
    }
}

#[cfg(test)]
mod undefined_tests {
    use super::*;
    use crate::figure::fabricated::{row, showing};
    use dpgp_task::MetricSummary;

    #[test]
    fn cells_of_one_reason_are_named_together() {
        let experiment = showing(&["a", "b", "c"], "[bars]\nlabel = \"y\"\n");
        let of = |cell, reason: Option<&str>| MetricSummary {
            undefined: reason.map(str::to_owned),
            ..row(cell, "r2", if reason.is_some() { f64::NAN } else { 0.5 }, None)
        };
        let rows = vec![of(0, Some("nothing varies")), of(1, None), of(2, Some("nothing varies"))];
        let report = Report::new(&experiment, rows, Vec::new());
        assert_eq!(undefined_metric_sentences(&report, 9), ["-: r2 is undefined (a; c): nothing varies."]);
        assert_eq!(undefined_metric_sentences(&report, 1), ["-: r2 is undefined (a; and 1 more): nothing varies."]);
    }
}

#[cfg(test)]
mod spreads_tests {
    use super::*;

    fn spread(kind: SpreadKind, repeats: usize) -> SpreadDescription {
        SpreadDescription { kind, repeats }
    }

    #[test]
    fn each_kind_is_said_once() {
        let folds = [spread(SpreadKind::SdFolds, 5), spread(SpreadKind::SdFolds, 5)];
        assert_eq!(spread_kinds_legend(&folds, SpreadForm::Recorded), "±: one standard deviation over 5 folds");
        let several = [spread(SpreadKind::SdReplicates, 3), spread(SpreadKind::SdReplicates, 4)];
        assert_eq!(spread_kinds_legend(&several, SpreadForm::Recorded), "±: one standard deviation over replicates");
        let both = [spread(SpreadKind::StandardError, 7), spread(SpreadKind::SdFolds, 2)];
        assert_eq!(
            spread_kinds_legend(&both, SpreadForm::Recorded),
            "±: one standard deviation over 2 folds, or one standard error of the mean"
        );
        assert_eq!(spread_kinds_legend(&[], SpreadForm::Recorded), "");
    }
}
