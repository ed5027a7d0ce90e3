//! What a run shows of an experiment, in one sentence.

use super::committed::Committed;
use super::counts::{OutcomeCounts, VerdictCounts};
use crate::report::Report;
use crate::table::{Verdict, hundredths};
use dpgp_spec::ClaimOwner;

/// A printed number beside ours.
struct Beside {
    verdict: Verdict,
    published: f64,
    ratio: Option<f64>,
    z: Option<f64>,
}

/// How many printed numbers agree, how far ours are from them, and how many claims hold; none where nothing is printed and nothing is
/// claimed. Exact zeros are counted apart, which show little.
pub fn closing_sentence(report: &Report<'_>) -> Option<String> {
    let rows = report.rows.iter().filter_map(|row| {
        let judged = row.published.as_ref()?;
        let (published, ratio) = (judged.counterpart.value, judged.ratio(row.row.value));
        Some(Beside { verdict: judged.verdict, published, ratio, z: judged.z() })
    });
    let mut outcomes = OutcomeCounts::of(&report.claims, ClaimOwner::Paper);
    outcomes.add(OutcomeCounts::of(&report.claims, ClaimOwner::Ours));
    sentence(&rows.collect::<Vec<_>>(), outcomes)
}

impl Committed {
    /// The same of results that were published before.
    pub fn closing_sentence(&self) -> Option<String> {
        let rows = self.rows.iter().filter_map(|row| {
            let number = |column| self.field(row, column).parse::<f64>().ok();
            Some(Beside {
                verdict: Verdict::named(self.field(row, "verdict"))?,
                published: number("published")?,
                ratio: number("ratio_to_print"),
                z: number("z"),
            })
        });
        let mut outcomes = OutcomeCounts::of(&self.claims, ClaimOwner::Paper);
        outcomes.add(OutcomeCounts::of(&self.claims, ClaimOwner::Ours));
        sentence(&rows.collect::<Vec<_>>(), outcomes)
    }
}

fn sentence(rows: &[Beside], outcomes: OutcomeCounts) -> Option<String> {
    let (zeros, others): (Vec<&Beside>, Vec<&Beside>) = rows.iter().partition(|one| one.published == 0.0);
    let verdicts = VerdictCounts::of(others.iter().map(|one| one.verdict.name()));
    let ratio = span("ours / print", others.iter().filter_map(|one| one.ratio));
    let z = span("z", others.iter().filter_map(|one| one.z));
    let parts = [numbers(verdicts), ratio, z, printed_zeros(&zeros), claims(outcomes)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The least and the largest of some numbers; the one that there is.
fn span(name: &str, numbers: impl Iterator<Item = f64>) -> Option<String> {
    let mut all: Vec<f64> = numbers.collect();
    all.sort_by(f64::total_cmp);
    match all[..] {
        [] => None,
        [one] => Some(format!("{name} {}", hundredths(one))),
        [least, .., most] => Some(format!("{name} {} to {}", hundredths(least), hundredths(most))),
    }
}

fn printed_zeros(zeros: &[&Beside]) -> Option<String> {
    let agree = zeros.iter().filter(|one| one.verdict == Verdict::Agrees).count();
    (!zeros.is_empty()).then(|| format!("apart, {agree} of {} printed zeros agree", zeros.len()))
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
    let OutcomeCounts { holds, fails, undecided, stand_in } = counts;
    let others = [
        (fails, if fails == 1 { "fails" } else { "fail" }),
        (undecided, "undecided"),
        (stand_in, "of other data"),
    ];
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

    fn beside(verdict: Verdict, published: f64, ours: f64, z: Option<f64>) -> Beside {
        let ratio = (published != 0.0).then_some(ours / published);
        Beside { verdict, published, ratio, z }
    }

    #[test]
    fn every_outcome_is_told_that_there_is() {
        let all = [
            Verdict::Agrees,
            Verdict::Differs,
            Verdict::Differs,
            Verdict::Inconclusive,
            Verdict::NotJudged,
            Verdict::Fitted,
            Verdict::StandIn,
        ];
        let rows: Vec<Beside> = all.into_iter().map(|verdict| beside(verdict, 2.0, 3.0, None)).collect();
        let outcomes = OutcomeCounts { holds: 1, fails: 2, undecided: 3, stand_in: 4 };
        let said = "1 of 7 printed values agree, 2 differ, 1 inconclusive, 1 not judged, 1 fitted, 1 of other data; \
                    ours / print 1.50 to 1.50; 1 of 10 claims hold, 2 fail, 3 undecided, 4 of other data";
        assert_eq!(sentence(&rows, outcomes).unwrap(), said);
        let one = [beside(Verdict::Differs, 4.0, 2.0, Some(-3.25))];
        let failed = OutcomeCounts { fails: 1, ..OutcomeCounts::default() };
        assert_eq!(
            sentence(&one, failed).unwrap(),
            "0 of 1 printed values agree, 1 differs; ours / print 0.50; z -3.25; 0 of 1 claims hold, 1 fails"
        );
        assert_eq!(sentence(&[], OutcomeCounts::default()), None);
    }

    /// Zeros are no values that agree, and have no ratio.
    #[test]
    fn zeros_are_counted_apart() {
        let zeros =
            [Verdict::Agrees, Verdict::Agrees, Verdict::Differs].map(|one| beside(one, 0.0, 1e-30, None));
        let said = sentence(&zeros, OutcomeCounts::default()).unwrap();
        assert_eq!(said, "apart, 2 of 3 printed zeros agree");
    }
}
