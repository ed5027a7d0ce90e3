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

/// Checks a claim: every selected row on the left against every one on the right that agrees with it on the claim's
/// axes. The worst pair decides.
pub(super) fn check(claim: &Claim, rows: &[ClaimRow<'_>]) -> ClaimOutcome {
    let selected = |selector: &Selector| -> Vec<&ClaimRow<'_>> {
        let about = |row: &&ClaimRow<'_>| row.metric == claim.metric && selector.selects(row.labels);
        rows.iter().filter(about).collect()
    };
    let left = selected(&claim.cells);
    let pairs: Vec<(f64, f64)> = match &claim.other {
        Err(number) => left.iter().map(|row| (row.value, *number)).collect(),
        Ok(other) => {
            let right = selected(other);
            let pairs = left.iter().flat_map(|a| right.iter().map(move |b| (a, b)));
            let agree = |(a, b): &(&&ClaimRow<'_>, &&ClaimRow<'_>)| {
                claim.agree.iter().all(|&axis| a.labels[axis] == b.labels[axis])
            };
            pairs.filter(agree).map(|(a, b)| (a.value, b.value)).collect()
        }
    };
    let excess = |(left, right): &(f64, f64)| match claim.is {
        Relation::Below => left - right,
        Relation::Above => right - left,
    };
    let worst = pairs.into_iter().max_by(|a, b| excess(a).total_cmp(&excess(b)));
    let holds = worst.is_some_and(|(left, right)| claim.is.holds(left, right));
    ClaimOutcome { text: claim.text.clone(), holds, values: worst }
}
