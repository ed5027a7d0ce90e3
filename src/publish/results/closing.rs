//! What a run shows of an experiment, in one sentence.

use super::committed::Committed;
use super::counts::{OutcomeCounts, VerdictCounts};
use crate::publish::report::Report;
use crate::spec::{ClaimOwner, Owner};

/// How many printed numbers agree, and how many claims hold; none where nothing is printed and nothing is claimed.
pub fn closing_sentence(report: &Report<'_>) -> Option<String> {
    let verdicts = VerdictCounts::of(report.rows.iter().map(|row| row.verdict().name()));
    let mut outcomes = OutcomeCounts::of(&report.claims, ClaimOwner::Paper);
    outcomes.add(OutcomeCounts::of(&report.claims, ClaimOwner::Ours));
    sentence(verdicts, outcomes)
}

impl Committed {
    /// The same of results that were published before.
    pub fn closing_sentence(&self) -> Option<String> {
        let mut outcomes = OutcomeCounts::of(&self.claims, ClaimOwner::Paper);
        outcomes.add(OutcomeCounts::of(&self.claims, ClaimOwner::Ours));
        sentence(self.counts(Owner::Paper), outcomes)
    }
}

fn sentence(verdicts: VerdictCounts, outcomes: OutcomeCounts) -> Option<String> {
    let parts = [numbers(verdicts), claims(outcomes)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn numbers(counts: VerdictCounts) -> Option<String> {
    let VerdictCounts { agrees, differs, inconclusive, not_judged, fitted, stand_in } = counts;
    let others = [
        (differs, if differs == 1 { "differs" } else { "differ" }),
        (inconclusive, "inconclusive"),
        (not_judged, "not judged"),
        (fitted, "fitted"),
        (stand_in, "of other data"),
    ];
    let total = counts.total();
    (total > 0).then(|| format!("{agrees} of {total} printed values agree{}", listed(&others)))
}

fn claims(counts: OutcomeCounts) -> Option<String> {
    let OutcomeCounts { holds, fails, undecided } = counts;
    let others = [(fails, if fails == 1 { "fails" } else { "fail" }), (undecided, "undecided")];
    let total = counts.total();
    (total > 0).then(|| format!("{holds} of {total} claims hold{}", listed(&others)))
}

/// The other outcomes that there are.
fn listed(others: &[(usize, &str)]) -> String {
    let there = others.iter().filter(|(count, _)| *count > 0);
    there.map(|(count, outcome)| format!(", {count} {outcome}")).collect()
}
