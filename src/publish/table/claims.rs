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
pub struct ClaimRow<'a> {
    pub labels: &'a [String],
    pub metric: &'a str,
    pub value: f64,
}

/// Checks a claim: every selected row on the left against every one on the right that agrees with it on the claim's
/// axes. The worst pair decides.
pub fn check(claim: &Claim, rows: &[ClaimRow<'_>]) -> ClaimOutcome {
    let left = selected(claim, &claim.cells, rows);
    let mut pairs: Vec<(f64, f64)> = Vec::new();
    match &claim.other {
        Err(number) => pairs.extend(left.iter().map(|row| (row.value, *number))),
        Ok(other) => {
            let right = selected(claim, other, rows);
            for row in left {
                let agreeing = right.iter().filter(|other| agree(claim, row, other));
                pairs.extend(agreeing.map(|other| (row.value, other.value)));
            }
        }
    }
    let worst = pairs.into_iter().max_by(|a, b| excess(claim.is, *a).total_cmp(&excess(claim.is, *b)));
    let holds = worst.is_some_and(|(left, right)| claim.is.holds(left, right));
    ClaimOutcome { text: claim.text.clone(), holds, values: worst }
}

fn selected<'a>(claim: &Claim, selector: &Selector, rows: &'a [ClaimRow<'a>]) -> Vec<&'a ClaimRow<'a>> {
    rows.iter().filter(|row| row.metric == claim.metric && selector.selects(row.labels)).collect()
}

fn agree(claim: &Claim, a: &ClaimRow<'_>, b: &ClaimRow<'_>) -> bool {
    claim.agree.iter().all(|&axis| a.labels[axis] == b.labels[axis])
}

/// How far a pair breaks a claim; negative if it does not.
fn excess(is: Relation, pair: (f64, f64)) -> f64 {
    match is {
        Relation::Below => pair.0 - pair.1,
        Relation::Above => pair.1 - pair.0,
    }
}
