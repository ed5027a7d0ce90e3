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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_told_that_there_is() {
        let verdicts =
            VerdictCounts { agrees: 1, differs: 2, inconclusive: 3, not_judged: 4, fitted: 5, stand_in: 6 };
        let outcomes = OutcomeCounts { holds: 1, fails: 2, undecided: 3 };
        let all = "1 of 21 printed values agree, 2 differ, 3 inconclusive, 4 not judged, 5 fitted, 6 of other data; 1 of 6 claims hold, \
                   2 fail, 3 undecided";
        assert_eq!(sentence(verdicts, outcomes).unwrap(), all);
        let one = VerdictCounts { differs: 1, ..VerdictCounts::default() };
        let failed = OutcomeCounts { fails: 1, ..OutcomeCounts::default() };
        assert_eq!(
            sentence(one, failed).unwrap(),
            "0 of 1 printed values agree, 1 differs; 0 of 1 claims hold, 1 fails"
        );
        assert_eq!(
            sentence(VerdictCounts { agrees: 2, ..VerdictCounts::default() }, OutcomeCounts::default())
                .unwrap(),
            "2 of 2 printed values agree"
        );
        assert_eq!(sentence(VerdictCounts::default(), OutcomeCounts::default()), None);
    }
}
