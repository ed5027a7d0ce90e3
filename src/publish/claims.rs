//! Claims, checked against rows.

use crate::spec::{Claim, Relation, Selector};

/// A claim and whether the rows bear it out.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimOutcome {
    /// The statement.
    pub text: String,
    /// Whether it holds for all pairs of rows that it is about.
    pub holds: bool,
    /// The pair that comes closest to breaking it, or breaks it most.
    pub values: Option<(f64, f64)>,
}

/// What a claim looks at in a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClaimRow<'a> {
    pub labels: &'a [String],
    pub metric: &'a str,
    pub value: f64,
}

/// Checks a claim: every selected row on the left against every one on the right. The worst pair decides.
pub(super) fn check(claim: &Claim, rows: &[ClaimRow<'_>]) -> ClaimOutcome {
    let values = |selector: &Selector| -> Vec<f64> {
        let about = |row: &&ClaimRow<'_>| row.metric == claim.metric && selector.selects(row.labels);
        rows.iter().filter(about).map(|row| row.value).collect()
    };
    let left = values(&claim.cells);
    let right = match &claim.other {
        Ok(selector) => values(selector),
        Err(number) => vec![*number],
    };
    let least = |values: &[f64]| values.iter().copied().min_by(f64::total_cmp);
    let greatest = |values: &[f64]| values.iter().copied().max_by(f64::total_cmp);
    let worst = match claim.is {
        Relation::Below => greatest(&left).zip(least(&right)),
        Relation::Above => least(&left).zip(greatest(&right)),
    };
    let holds = worst.is_some_and(|(left, right)| claim.is.holds(left, right));
    ClaimOutcome { text: claim.text.clone(), holds, values: worst }
}
