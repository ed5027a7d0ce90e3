//! What a table says of jitter that may be seen in its numbers.

use crate::report::{Report, ReportRow};
use dpgp_gp::jitter_share;
use dpgp_number::text::short;

/// Four digits are shown: what is less moves none of them by more than a half.
const SHOWN: f64 = 5e-5;

/// The sentence on the largest share that jitter can have in a number; none where it cannot be seen.
///
/// A map of exact regression moves by at most `jitter / (noise variance + jitter)`, relative to its own norm ([`jitter_share`]); what is
/// predicted with it moves by no more, relative to the map times the targets.
pub(super) fn jitter_that_shows(report: &Report<'_>) -> Option<String> {
    let shares = report.rows.iter().filter_map(|row| JitterShare::of(report, row));
    let JitterShare { share, jitter, noise } = shares.max_by(|a, b| a.share.total_cmp(&b.share))?;
    Some(format!(
        "Jitter of up to {} was added to a covariance matrix that is singular to rounding, beside a noise variance of {}: predictions \
         may differ from those of the model by {} of their size.",
        short(jitter),
        short(noise),
        short(share)
    ))
}

/// The jitter behind a row, beside the noise variance of its cell.
struct JitterShare {
    share: f64,
    jitter: f64,
    noise: f64,
}

impl JitterShare {
    /// That of a row, if it can be seen.
    fn of(report: &Report<'_>, row: &ReportRow) -> Option<Self> {
        let model = report.experiment.cells[row.row.cell].setting().model.as_deref()?;
        let (jitter, noise) = (row.row.jitter, model.noise_variance?.get());
        let share = jitter_share(jitter, noise);
        (share > SHOWN).then_some(Self { share, jitter, noise })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::fabricated::{experiment, row};
    use dpgp_task::Row;

    /// Jitter relative to the noise variance.
    fn said(jitter: f64) -> Option<String> {
        let experiment = experiment(&["a"], "");
        let noise = experiment.cells[0].setting().model.as_deref().unwrap().noise_variance.unwrap().get();
        let rows = vec![Row { jitter: jitter * noise, ..row(0, "rmse", 0.5, None) }];
        jitter_that_shows(&Report::new(&experiment, rows, Vec::new()))
    }

    #[test]
    fn jitter_is_told_where_it_can_be_seen() {
        assert_eq!((said(0.0), said(4e-5)), (None, None));
        let seen = said(0.25).unwrap();
        assert!(seen.contains("by 0.2000 of their size"), "{seen}");
    }
}
