//! Claims, checked against rows.

use super::report::ReportRow;
use crate::spec::{Claim, Selector};

/// A claim and whether the rows bear it out.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimOutcome {
    /// The statement.
    pub text: String,
    /// Whether it holds for all pairs of rows that it is about.
    pub holds: bool,
    /// The values of the first pair that breaks it, or of the closest pair if none does.
    pub values: Option<(f64, f64)>,
}

/// Checks a claim: every selected row on the left against every one on the right.
pub(super) fn check(claim: &Claim, rows: &[ReportRow]) -> ClaimOutcome {
    let values = |selector: &Selector| -> Vec<f64> {
        let about = |row: &&ReportRow| row.row.metric == claim.metric && selector.selects(&row.labels);
        rows.iter().filter(about).map(|row| row.row.value).collect()
    };
    let left = values(&claim.cells);
    let right = match &claim.other {
        Ok(selector) => values(selector),
        Err(number) => vec![*number],
    };
    let mut pairs: Vec<(f64, f64)> = left.iter().flat_map(|&l| right.iter().map(move |&r| (l, r))).collect();
    pairs.sort_by(|a, b| (a.0 - a.1).abs().total_cmp(&(b.0 - b.1).abs()));
    let broken = pairs.iter().copied().find(|&(l, r)| !claim.is.holds(l, r));
    ClaimOutcome {
        text: claim.text.clone(),
        holds: broken.is_none() && !pairs.is_empty(),
        values: broken.or(pairs.first().copied()),
    }
}
