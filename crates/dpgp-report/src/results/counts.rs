//! Counts verdicts and outcomes, and puts the outcome of a run or of one place in a paper into words.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::committed::{CommittedResults, ExperimentResults};
use super::told::{FindingRow, ResultTableLocation};
use crate::report::Report;
use crate::table::{ClaimOutcome, ClaimOutcomeKind, NumberVerdict, format_hundredths_or_exponent};
use dpgp_spec::{ClaimOwner, PaperCoverage};

/// The number of results with each verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerdictCounts {
    /// Inside the interval of one of our runs.
    pub agrees: usize,
    /// Outside.
    pub differs: usize,
    /// Judged by an interval that is too wide.
    pub inconclusive: usize,
    /// Without an interval, because replicates do not determine it.
    pub not_judged: usize,
    /// Inside, because a setting was chosen to make it so.
    pub fitted: usize,
    /// On other data.
    pub stand_in: usize,
}

impl VerdictCounts {
    /// Counts verdicts by name, and ignores all other names.
    pub fn count<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let mut counts = Self::default();
        for name in names {
            match NumberVerdict::from_name(name) {
                Some(NumberVerdict::Agrees) => counts.agrees += 1,
                Some(NumberVerdict::Differs) => counts.differs += 1,
                Some(NumberVerdict::Inconclusive) => counts.inconclusive += 1,
                Some(NumberVerdict::NotJudged) => counts.not_judged += 1,
                Some(NumberVerdict::Fitted) => counts.fitted += 1,
                Some(NumberVerdict::StandIn) => counts.stand_in += 1,
                Some(NumberVerdict::None) | None => {}
            }
        }
        counts
    }

    /// All together.
    pub fn total(&self) -> usize {
        self.agrees + self.differs + self.inconclusive + self.not_judged + self.fitted + self.stand_in
    }

    /// Adds the counts of other rows.
    pub fn add(&mut self, other: Self) {
        self.agrees += other.agrees;
        self.differs += other.differs;
        self.inconclusive += other.inconclusive;
        self.not_judged += other.not_judged;
        self.fitted += other.fitted;
        self.stand_in += other.stand_in;
    }
}

/// The number of claims with each outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClaimOutcomeCounts {
    /// Borne out.
    pub holds: usize,
    /// Contradicted.
    pub fails: usize,
    /// Neither.
    pub undecided: usize,
    /// On other data.
    pub stand_in: usize,
}

impl ClaimOutcomeCounts {
    /// Counts the claims of one owner.
    pub fn count(claims: &[ClaimOutcome], owner: ClaimOwner) -> Self {
        let mut counts = Self::default();
        for claim in claims.iter().filter(|claim| claim.from == owner) {
            match claim.outcome {
                ClaimOutcomeKind::Holds => counts.holds += 1,
                ClaimOutcomeKind::Fails => counts.fails += 1,
                ClaimOutcomeKind::Undecided => counts.undecided += 1,
                ClaimOutcomeKind::StandIn => counts.stand_in += 1,
            }
        }
        counts
    }

    /// All together.
    pub fn total(&self) -> usize {
        self.holds + self.fails + self.undecided + self.stand_in
    }

    /// Adds the counts of other experiments.
    pub fn add(&mut self, other: Self) {
        self.holds += other.holds;
        self.fails += other.fails;
        self.undecided += other.undecided;
        self.stand_in += other.stand_in;
    }
}

/// The tag of toy experiments: a few points that nobody measured.
const TOY: &str = "toy";

/// The numbers of a paper by verdict. Numbers that show little are counted apart: exact zeros, numbers of a toy
/// experiment, and spreads whose means were used to choose a setting.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PaperNumberCounts {
    /// All numbers that the paper prints about results.
    pub printed: usize,
    /// Printed numbers that are entered.
    pub entered: usize,
    /// Inside the interval of one of our runs.
    pub same: usize,
    /// The part of `same` whose intervals are wider than the effect in question.
    pub wide: usize,
    /// The part of `with_settings` whose intervals are wider than the effect in question.
    pub wide_with_settings: usize,
    /// Inside, with a setting that we chose.
    pub with_settings: usize,
    /// Outside, for a known reason, or no more often than by chance.
    pub with_reason: usize,
    /// Outside, for an unknown reason.
    pub unknown: usize,
    /// Undecided.
    pub untold: usize,
    /// Exact zeros.
    pub zeros: usize,
    /// Of `zeros`, those that agree.
    pub agreeing_zeros: usize,
    /// Spreads whose means were used to choose a setting.
    pub fitted_spreads: usize,
    /// Numbers of a toy experiment.
    pub toy: usize,
}

impl PaperNumberCounts {
    /// Counts the numbers of a paper by the verdicts on its places.
    pub fn count(coverage: Option<&PaperCoverage>, examined: &[ExperimentResults<'_>], rows: &[FindingRow]) -> Self {
        let mut tally = Self {
            printed: coverage.map_or(0, |paper| paper.items.iter().map(|item| item.numbers).sum()),
            ..Self::default()
        };
        let places: BTreeMap<&ResultTableLocation, &ReproductionVerdict> =
            rows.iter().flat_map(|row| row.numbers.iter().map(move |number| (number, &row.verdict))).collect();
        for one in examined {
            let Some(committed) = &one.committed else { continue };
            let is_toy = one.experiment.meta.tags.iter().any(|tag| tag == TOY);
            for (at, row) in committed.rows.iter().enumerate() {
                for spread in [false, true] {
                    let [print, verdict] =
                        if spread { ["published_spread", "spread_verdict"] } else { ["published", "verdict"] };
                    let print = committed.field(row, print);
                    if print.is_empty() {
                        continue;
                    }
                    tally.entered += 1;
                    let place = ResultTableLocation { experiment: one.experiment.name.clone(), row: at, spread };
                    let is_fitted = committed.field(row, "verdict") == NumberVerdict::Fitted.name();
                    if is_toy {
                        tally.toy += 1;
                    } else if spread && is_fitted {
                        tally.fitted_spreads += 1;
                    } else if !spread && print.parse() == Ok(0.0) {
                        tally.zeros += 1;
                        tally.agreeing_zeros +=
                            usize::from(committed.field(row, verdict) == NumberVerdict::Agrees.name());
                    } else {
                        tally.add(NumberVerdict::from_name(committed.field(row, verdict)), places.get(&place).copied());
                    }
                }
            }
        }
        tally
    }

    fn add(&mut self, verdict: Option<NumberVerdict>, place: Option<&ReproductionVerdict>) {
        match (verdict, place) {
            (Some(NumberVerdict::Inconclusive), Some(ReproductionVerdict::SameWithSettings)) => {
                (self.with_settings, self.wide_with_settings) = (self.with_settings + 1, self.wide_with_settings + 1);
            }
            (Some(NumberVerdict::Agrees), Some(ReproductionVerdict::SameWithSettings))
            | (Some(NumberVerdict::Fitted), _) => {
                self.with_settings += 1;
            }
            (Some(NumberVerdict::Agrees), _) => self.same += 1,
            // Inside, as are the numbers beside it.
            (Some(NumberVerdict::Inconclusive), Some(ReproductionVerdict::Same)) => {
                (self.same, self.wide) = (self.same + 1, self.wide + 1);
            }
            (Some(NumberVerdict::Differs), Some(ReproductionVerdict::Unknown(_)) | None) => self.unknown += 1,
            (Some(NumberVerdict::Differs), Some(_)) => self.with_reason += 1,
            _ => self.untold += 1,
        }
    }
}

/// A printed number beside ours.
struct PrintedComparison {
    verdict: NumberVerdict,
    published: f64,
    ratio: Option<f64>,
    z: Option<f64>,
}

/// A sentence with the number of printed numbers that agree, their distance from ours, and the number of claims that
/// hold. None if nothing is printed or claimed. Exact zeros show little, so the sentence says how many there are.
pub fn agreement_summary(report: &Report<'_>) -> Option<String> {
    let rows = report.rows.iter().filter_map(|row| {
        let judged = row.published.as_ref()?;
        let (published, ratio) = (judged.counterpart.value, judged.ratio(row.row.value));
        Some(PrintedComparison { verdict: judged.verdict, published, ratio, z: judged.z_score_of_ours() })
    });
    let mut outcomes = ClaimOutcomeCounts::count(&report.claims, ClaimOwner::Paper);
    outcomes.add(ClaimOutcomeCounts::count(&report.claims, ClaimOwner::Ours));
    let others = report.rows.iter().flat_map(|row| [&row.authors, &row.reference]).flatten();
    let others = VerdictCounts::count(others.map(|judged| judged.verdict.name()));
    agreement_sentence(&rows.collect::<Vec<_>>(), others, outcomes)
}

impl CommittedResults {
    /// The same sentence for results that are already published.
    pub fn agreement_summary(&self) -> Option<String> {
        let rows = self.rows.iter().filter_map(|row| {
            let number = |column| self.field(row, column).parse::<f64>().ok();
            Some(PrintedComparison {
                verdict: NumberVerdict::from_name(self.field(row, "verdict"))?,
                published: number("published")?,
                ratio: number("ratio_to_print"),
                z: number("z"),
            })
        });
        let mut outcomes = ClaimOutcomeCounts::count(&self.claims, ClaimOwner::Paper);
        outcomes.add(ClaimOutcomeCounts::count(&self.claims, ClaimOwner::Ours));
        let others = ["authors_verdict", "reference_verdict"]
            .map(|column| self.rows.iter().map(move |row| self.field(row, column)));
        let others = VerdictCounts::count(others.into_iter().flatten());
        agreement_sentence(&rows.collect::<Vec<_>>(), others, outcomes)
    }
}

fn agreement_sentence(
    rows: &[PrintedComparison],
    others: VerdictCounts,
    outcomes: ClaimOutcomeCounts,
) -> Option<String> {
    let verdicts = VerdictCounts::count(rows.iter().map(|one| one.verdict.name()));
    let not_zero = || rows.iter().filter(|one| one.published != 0.0);
    let ratio = format_range("ours / print", not_zero().filter_map(|one| one.ratio));
    let z = format_range("z", not_zero().filter_map(|one| one.z));
    let differing = (others.total() > 0)
        .then(|| format!("{} of {} numbers from other sources differ", others.differs, others.total()));
    let parts = [verdict_counts_text(verdicts, rows), ratio, z, differing, outcome_counts_text(outcomes)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The least and the largest of some numbers, or the only one.
fn format_range(name: &str, numbers: impl Iterator<Item = f64>) -> Option<String> {
    let mut all: Vec<f64> = numbers.collect();
    all.sort_by(f64::total_cmp);
    match all[..] {
        [] => None,
        [one] => Some(format!("{name} {}", format_hundredths_or_exponent(one))),
        [least, .., most] => {
            Some(format!("{name} {} to {}", format_hundredths_or_exponent(least), format_hundredths_or_exponent(most)))
        }
    }
}

fn verdict_counts_text(counts: VerdictCounts, rows: &[PrintedComparison]) -> Option<String> {
    let VerdictCounts { agrees, differs, inconclusive, not_judged, fitted, stand_in } = counts;
    let zeros = rows.iter().filter(|one| one.published == 0.0 && one.verdict == NumberVerdict::Agrees).count();
    let zeros = if zeros == 0 { String::new() } else { format!(" ({zeros} of them zeros)") };
    let verb = |n: usize, many: &'static str, one: &'static str| if n == 1 { one } else { many };
    let agree = format!("{}{zeros}", verb(agrees, "agree", "agrees"));
    let fitted_verb = verb(fitted, "agree after fitting a setting", "agrees after fitting a setting");
    let others = [
        (agrees, agree.as_str()),
        (fitted, fitted_verb),
        (differs, verb(differs, "differ", "differs")),
        (inconclusive, "inconclusive (inside a 95 % interval too wide to tell)"),
        (not_judged, "not judged"),
        (stand_in, "on other data"),
    ];
    let total = counts.total();
    let noun = verb(total, "printed numbers", "printed number");
    (total > 0).then(|| format!("{total} {noun}: {}", list_positive_counts(&others).trim_start_matches(", ")))
}

fn outcome_counts_text(counts: ClaimOutcomeCounts) -> Option<String> {
    let ClaimOutcomeCounts { holds, fails, undecided, stand_in } = counts;
    let others =
        [(fails, if fails == 1 { "fails" } else { "fail" }), (undecided, "undecided"), (stand_in, "on other data")];
    let total = counts.total();
    (total > 0).then(|| format!("{holds} of {total} claims hold{}", list_positive_counts(&others)))
}

/// The other outcomes with a positive count.
fn list_positive_counts(others: &[(usize, &str)]) -> String {
    let there = others.iter().filter(|(count, _)| *count > 0);
    there.map(|(count, outcome)| format!(", {count} {outcome}")).collect()
}

/// One of the five verdicts on a table, a figure or a statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind", content = "words")]
pub enum ReproductionVerdict {
    /// Our result agrees with the paper.
    Same,
    /// It agrees, but with settings that we chose because the paper does not print them.
    SameWithSettings,
    /// It differs, for this reason.
    Different(String),
    /// It differs, for an unknown reason. The text says what was tried.
    Unknown(String),
    /// Undecided, for this reason.
    Untold(String),
}

impl ReproductionVerdict {
    /// The verdict in words.
    pub fn to_markdown(&self) -> String {
        match self {
            Self::Same => "**same**".to_owned(),
            Self::SameWithSettings => "**same, chosen**".to_owned(),
            Self::Different(because) => format!("**different**: because {because}"),
            Self::Unknown(tried) => format!("**different**: reason unknown; tried: {tried}"),
            Self::Untold(why) => format!("**cannot tell**: {why}"),
        }
    }
}

/// The evidence for the verdict on a place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VerdictEvidence {
    /// Printed numbers inside the interval of one run, and statements that hold.
    pub same: usize,
    /// Of these, numbers that were used to choose a setting.
    pub fitted: usize,
    /// Printed numbers outside.
    pub outside: usize,
    /// Statements that fail.
    pub fails: usize,
    /// Printed numbers inside an interval of one run that is wider than the effect that matters.
    pub wide: usize,
    /// Numbers and statements that our results leave open.
    pub open: usize,
    /// Numbers and statements on other data.
    pub stand_in: usize,
}

/// From this many numbers on, a few may lie outside their 95 % interval by chance.
const MANY: usize = 20;

/// The largest share of numbers that chance alone calls different, in a place that reproduces and has at least [`MANY`] of them.
const LEVEL: f64 = 0.05;

impl VerdictEvidence {
    /// Adds other evidence.
    pub fn add(&mut self, other: Self) {
        self.same += other.same;
        self.fitted += other.fitted;
        self.outside += other.outside;
        self.fails += other.fails;
        self.wide += other.wide;
        self.open += other.open;
        self.stand_in += other.stand_in;
    }

    /// Whether there are at least [`MANY`] numbers, and chance explains those outside: if intervals are independent, at least so many
    /// of them miss their number with a probability of 5 % or more.
    pub fn is_within_chance(&self) -> bool {
        self.has_many_numbers() && binomial_tail_at_5_percent(self.number_count(), self.outside) >= LEVEL
    }

    /// Whether the evidence leaves the verdict open. One wide interval says nothing about its number, but many together do.
    pub fn is_undecided(&self) -> bool {
        let wide = if self.has_many_numbers() { 0 } else { self.wide };
        let told = self.same + self.outside + self.wide - wide;
        self.open + wide > told || told == 0
    }

    fn has_many_numbers(&self) -> bool {
        self.number_count() >= MANY
    }

    fn number_count(&self) -> usize {
        self.same + self.wide + self.outside
    }

    /// Whether our result differs.
    pub fn is_different(&self) -> bool {
        self.fails > 0 || (self.outside > 0 && !self.is_within_chance())
    }
}

/// The probability of at least `least` of `count`, each with a probability of .05.
fn binomial_tail_at_5_percent(count: usize, least: usize) -> f64 {
    let outside: f64 = 0.05;
    let mut term = (1.0 - outside).powi(i32::try_from(count).unwrap_or(i32::MAX));
    let mut below = 0.0;
    for k in 0..least {
        below += term;
        term *= (count - k) as f64 / (k + 1) as f64 * outside / (1.0 - outside);
    }
    1.0 - below
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up() {
        let one = VerdictCounts { agrees: 1, differs: 2, inconclusive: 3, not_judged: 4, fitted: 5, stand_in: 6 };
        let mut sum = VerdictCounts::default();
        (0..3).for_each(|_| sum.add(one));
        let thrice = VerdictCounts { agrees: 3, differs: 6, inconclusive: 9, not_judged: 12, fitted: 15, stand_in: 18 };
        assert_eq!((sum, sum.total()), (thrice, 63));
        let mut outcomes = ClaimOutcomeCounts::default();
        (0..3).for_each(|_| outcomes.add(ClaimOutcomeCounts { holds: 1, fails: 2, undecided: 3, stand_in: 4 }));
        let all = ClaimOutcomeCounts { holds: 3, fails: 6, undecided: 9, stand_in: 12 };
        assert_eq!((outcomes, outcomes.total()), (all, 30));
    }

    /// Each name as often as its place from the front.
    #[test]
    fn names_are_counted() {
        let verdicts = [
            NumberVerdict::Agrees,
            NumberVerdict::Differs,
            NumberVerdict::Inconclusive,
            NumberVerdict::NotJudged,
            NumberVerdict::Fitted,
            NumberVerdict::StandIn,
        ];
        let names = verdicts.iter().zip(1..).flat_map(|(verdict, times)| [verdict.name()].repeat(times));
        let counts = VerdictCounts::count(names.chain(["", "unknown"]));
        let expected = VerdictCounts { agrees: 1, differs: 2, inconclusive: 3, not_judged: 4, fitted: 5, stand_in: 6 };
        assert_eq!(counts, expected);
    }
}

#[cfg(test)]
mod closing_tests {
    use super::*;

    fn beside(verdict: NumberVerdict, published: f64, ours: f64, z: Option<f64>) -> PrintedComparison {
        let ratio = (published != 0.0).then_some(ours / published);
        PrintedComparison { verdict, published, ratio, z }
    }

    #[test]
    fn every_outcome_is_told_that_there_is() {
        let all = [
            NumberVerdict::Agrees,
            NumberVerdict::Differs,
            NumberVerdict::Differs,
            NumberVerdict::Inconclusive,
            NumberVerdict::NotJudged,
            NumberVerdict::Fitted,
            NumberVerdict::StandIn,
        ];
        let rows: Vec<PrintedComparison> = all.into_iter().map(|verdict| beside(verdict, 2.0, 3.0, None)).collect();
        let outcomes = ClaimOutcomeCounts { holds: 1, fails: 2, undecided: 3, stand_in: 4 };
        let said = "7 printed numbers: 1 agrees, 1 agrees after fitting a setting, 2 differ, \
                    1 inconclusive (inside a 95 % interval too wide to tell), \
                    1 not judged, 1 on other data; \
                    ours / print 1.50 to 1.50; 1 of 10 claims hold, 2 fail, 3 undecided, 4 on other data";
        assert_eq!(agreement_sentence(&rows, VerdictCounts::default(), outcomes).unwrap(), said);
        let one = [beside(NumberVerdict::Differs, 4.0, 2.0, Some(-3.25))];
        let failed = ClaimOutcomeCounts { fails: 1, ..ClaimOutcomeCounts::default() };
        assert_eq!(
            agreement_sentence(&one, VerdictCounts { agrees: 3, differs: 2, ..VerdictCounts::default() }, failed)
                .unwrap(),
            "1 printed number: 1 differs; ours / print 0.50; z -3.25; 2 of 5 numbers from other sources differ; \
             0 of 1 claims hold, 1 fails"
        );
        assert_eq!(agreement_sentence(&[], VerdictCounts::default(), ClaimOutcomeCounts::default()), None);
    }

    /// The sentence says how many of the numbers that agree are zeros, which have no ratio.
    #[test]
    fn zeros_are_named() {
        let zeros = [NumberVerdict::Agrees, NumberVerdict::Agrees, NumberVerdict::Differs]
            .map(|one| beside(one, 0.0, 1e-30, None));
        let said = agreement_sentence(&zeros, VerdictCounts::default(), ClaimOutcomeCounts::default()).unwrap();
        assert_eq!(said, "3 printed numbers: 2 agree (2 of them zeros), 1 differs");
    }
}

#[cfg(test)]
mod reason_tests {
    use super::*;

    fn evidence(same: usize, outside: usize) -> VerdictEvidence {
        VerdictEvidence { same, outside, ..VerdictEvidence::default() }
    }

    /// One of one is different; of 80 numbers four are expected, and seven or more happen in 11 % of cases, eight in 4.7 %.
    #[test]
    fn a_few_of_many_may_be_chance() {
        for (same, outside, different) in
            [(0, 1, true), (18, 1, true), (19, 1, false), (73, 7, false), (72, 8, true), (80, 0, false)]
        {
            assert_eq!(evidence(same, outside).is_different(), different, "{same} {outside}");
        }
        assert!(VerdictEvidence { fails: 1, ..evidence(80, 0) }.is_different());
    }

    /// Eight agree, 71 lie in intervals that are wide, one outside: together they are 80 numbers. Of three alone nothing can be told.
    #[test]
    fn many_wide_intervals_tell_together() {
        let many = VerdictEvidence { wide: 71, ..evidence(8, 1) };
        assert!(!many.is_different() && !many.is_undecided());
        let few = VerdictEvidence { wide: 3, ..evidence(2, 0) };
        assert!(!few.is_different() && few.is_undecided());
        assert!(!VerdictEvidence { wide: 1, ..evidence(3, 0) }.is_undecided());
        assert!(VerdictEvidence { open: 1, ..evidence(0, 0) }.is_undecided() && evidence(0, 0).is_undecided());
    }

    /// 1 - .95^20 = .6415; 1 - .95^20 - 20 .05 .95^19 = .2642.
    #[test]
    fn the_tail_is_that_of_the_binomial() {
        for (count, least, expected) in [(20, 1, 0.641_514), (20, 2, 0.264_161), (5, 0, 1.0)] {
            assert!((binomial_tail_at_5_percent(count, least) - expected).abs() < 1e-6, "{count} {least}");
        }
    }
}
