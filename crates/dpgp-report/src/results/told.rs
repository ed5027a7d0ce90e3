//! The rows of `REPRODUCTION.md`: of a table, figure or statement of a paper, with the paper's result beside ours, and of the
//! first table, where a table or figure has how far ours is from print, and a verdict in a word.

use serde::Serialize;

use super::committed::{CommittedResults, ExperimentResults};
use super::counts::{ReproductionVerdict, VerdictEvidence};
use crate::table::{ClaimOutcome, ClaimOutcomeKind, NumberVerdict, format_four_digits};
use dpgp_spec::{ClaimOwner, DeviationKind, OurNumberSelector, PaperReportRow, PrintedNumberSelector, cell_has_labels};

/// A row of the page.
#[derive(Debug, Clone, Serialize)]
pub struct FindingRow {
    /// Its place in the paper.
    pub place: String,
    /// The experiment that it links to; empty if there is none.
    pub experiment: String,
    /// The paper's statement.
    pub says: String,
    /// Our result.
    pub ours: String,
    /// Whether the data are the paper's.
    pub data: String,
    /// The settings that we chose.
    pub chosen: String,
    /// The verdict.
    pub verdict: ReproductionVerdict,
    /// A note for readers if the result is the same.
    pub note: Option<String>,
    /// The verdict and the note in words.
    pub words: String,
    /// The numbers that it is about.
    #[serde(skip)]
    pub numbers: Vec<ResultTableLocation>,
}

/// A printed number, or its spread, in a table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResultTableLocation {
    /// The experiment.
    pub experiment: String,
    /// The row of its table.
    pub row: usize,
    /// Whether it is the spread.
    pub spread: bool,
}

/// The experiments of a paper, to look up what a row names.
#[derive(Debug, Clone, Copy)]
pub struct PaperExperimentLookup<'a> {
    examined: &'a [ExperimentResults<'a>],
}

/// A printed number that a row is about.
#[derive(Debug, Clone, Copy)]
struct PrintedNumber<'a> {
    committed: &'a CommittedResults,
    experiment: &'a str,
    at: usize,
    spread: bool,
}

impl PrintedNumber<'_> {
    fn field(&self, column: &str) -> &str {
        self.committed.field(&self.committed.rows[self.at], column)
    }

    fn number(&self, column: &str) -> Option<f64> {
        self.field(column).parse().ok()
    }

    fn verdict(&self) -> NumberVerdict {
        let column = if self.spread { "spread_verdict" } else { "verdict" };
        match NumberVerdict::from_name(self.field(column)) {
            Some(NumberVerdict::None) | None => NumberVerdict::NotJudged,
            Some(verdict) => verdict,
        }
    }

    fn is_zero(&self) -> bool {
        !self.spread && self.number("published") == Some(0.0)
    }

    fn evidence(&self) -> VerdictEvidence {
        let mut evidence = VerdictEvidence::default();
        match self.verdict() {
            NumberVerdict::Agrees => evidence.same += 1,
            NumberVerdict::Fitted => (evidence.same, evidence.fitted) = (1, 1),
            NumberVerdict::Differs => evidence.outside += 1,
            NumberVerdict::StandIn => evidence.stand_in += 1,
            NumberVerdict::Inconclusive => evidence.wide += 1,
            NumberVerdict::NotJudged | NumberVerdict::None => evidence.open += 1,
        }
        evidence
    }
}

impl<'a> PaperExperimentLookup<'a> {
    /// Takes the experiments of a paper.
    pub fn new(examined: &'a [ExperimentResults<'a>]) -> Self {
        Self { examined }
    }

    /// Builds the row of a table, figure or statement, with its verdict.
    pub fn build_finding_row(&self, row: &PaperReportRow) -> FindingRow {
        let numbers: Vec<PrintedNumber<'a>> =
            row.numbers.iter().flat_map(|chosen| self.printed_numbers(row, chosen)).collect();
        let claims = self.claims(row);
        let mut evidence = VerdictEvidence::default();
        numbers.iter().for_each(|number| evidence.add(number.evidence()));
        claims.iter().for_each(|claim| evidence.add(claim_evidence(claim)));
        let verdict = verdict(row, evidence);
        FindingRow {
            place: row.place.clone(),
            experiment: row.experiment.clone().unwrap_or_default(),
            says: row.says.clone(),
            ours: match &row.ours {
                Some(ours) => self.fill_in_placeholders(row, ours),
                None => summarise_results(&numbers, &claims),
            },
            data: row.data.clone().unwrap_or_else(|| self.same_data_text(row)),
            chosen: row.chosen.clone().unwrap_or_else(|| "no".to_owned()),
            words: verdict_text(&verdict, row.note.as_deref()),
            note: row.note.clone(),
            verdict,
            numbers: numbers
                .iter()
                .map(|one| ResultTableLocation {
                    experiment: one.experiment.to_owned(),
                    row: one.at,
                    spread: one.spread,
                })
                .collect(),
        }
    }

    fn find_experiment(&self, name: Option<&str>) -> Option<&'a ExperimentResults<'a>> {
        self.examined.iter().find(|one| Some(one.experiment.name.as_str()) == name)
    }

    fn printed_numbers(&self, row: &PaperReportRow, chosen: &PrintedNumberSelector) -> Vec<PrintedNumber<'a>> {
        let name = chosen.experiment.as_deref().or(row.experiment.as_deref());
        let Some(examined) = self.find_experiment(name) else { return Vec::new() };
        let Some(committed) = &examined.committed else { return Vec::new() };
        let axes = &examined.experiment.axes;
        let column = if chosen.spreads { "published_spread" } else { "published" };
        let wanted = committed.rows.iter().enumerate().filter(|(_, row)| {
            !committed.field(row, column).is_empty()
                && chosen.matches_metric(committed.field(row, "metric"))
                && cell_has_labels(&chosen.cells, axes, |axis| committed.label(row, axis))
        });
        let experiment = examined.experiment.name.as_str();
        wanted.map(|(at, _)| PrintedNumber { committed, experiment, at, spread: chosen.spreads }).collect()
    }

    fn claims(&self, row: &PaperReportRow) -> Vec<&'a ClaimOutcome> {
        let all = self.examined.iter().filter_map(|one| one.committed.as_ref());
        let all = all.flat_map(|committed| &committed.claims).filter(|claim| claim.from == ClaimOwner::Paper);
        let is_meant = |claim: &&ClaimOutcome| {
            let mut chosen = row.claims.iter();
            chosen.any(|chosen| claim.quote.contains(&chosen.quote) && claim.text.contains(&chosen.text))
        };
        all.filter(is_meant).collect()
    }

    /// Replaces each `{name}` in a text by our number of this name, or by `?` if there is none.
    fn fill_in_placeholders(&self, row: &PaperReportRow, text: &str) -> String {
        let named = row.values.iter();
        named.fold(text.to_owned(), |text, (name, chosen)| {
            let number = self.format_selected_value(row, chosen).unwrap_or_else(|| "?".to_owned());
            text.replace(&format!("{{{name}}}"), &number)
        })
    }

    fn format_selected_value(&self, row: &PaperReportRow, chosen: &OurNumberSelector) -> Option<String> {
        let examined = self.find_experiment(chosen.experiment.as_deref().or(row.experiment.as_deref()))?;
        let committed = examined.committed.as_ref()?;
        let axes = &examined.experiment.axes;
        let found = committed.rows.iter().find(|row| {
            committed.field(row, "metric") == chosen.metric
                && cell_has_labels(&chosen.cells, axes, |axis| committed.label(row, axis))
        })?;
        let text = committed.field(found, chosen.column.as_deref().unwrap_or("value"));
        let number: f64 = text.parse().ok()?;
        Some(match chosen.decimals {
            Some(decimals) => format!("{number:.decimals$}"),
            None => format_four_digits(number),
        })
    }

    fn same_data_text(&self, row: &PaperReportRow) -> String {
        let Some(examined) = self.find_experiment(row.experiment.as_deref()) else { return "–".to_owned() };
        let mut deviations = examined.experiment.deviations.iter();
        let other = deviations.any(|deviation| deviation.kind == DeviationKind::StandIn);
        if other { "no" } else { "yes" }.to_owned()
    }
}

/// The verdict on a place from its evidence.
fn verdict(row: &PaperReportRow, evidence: VerdictEvidence) -> ReproductionVerdict {
    let VerdictEvidence { fitted, stand_in, .. } = evidence;
    let untold =
        |otherwise: &str| ReproductionVerdict::Untold(row.untold.clone().unwrap_or_else(|| otherwise.to_owned()));
    if stand_in > 0 {
        return untold("the data are not the paper's");
    }
    if evidence.is_different() {
        return match (&row.because, &row.tried, &row.untold) {
            (Some(because), ..) => ReproductionVerdict::Different(because.clone()),
            // The difference depends on something that is not printed, or on chance.
            (None, None, Some(untold)) => ReproductionVerdict::Untold(untold.clone()),
            (None, tried, _) => ReproductionVerdict::Unknown(tried.clone().unwrap_or_else(|| "nothing yet".to_owned())),
        };
    }
    if evidence.is_undecided() {
        return untold("our results leave it open");
    }
    if fitted > 0 || row.chosen.is_some() { ReproductionVerdict::SameWithSettings } else { ReproductionVerdict::Same }
}

/// The verdict in words, with the note on what is the same.
fn verdict_text(verdict: &ReproductionVerdict, note: Option<&str>) -> String {
    match (verdict, note) {
        (ReproductionVerdict::Same | ReproductionVerdict::SameWithSettings, Some(note)) => {
            format!("{}: {note}", verdict.to_markdown())
        }
        _ => verdict.to_markdown(),
    }
}

fn claim_evidence(claim: &ClaimOutcome) -> VerdictEvidence {
    let none = VerdictEvidence::default();
    match claim.outcome {
        ClaimOutcomeKind::Holds => VerdictEvidence { same: 1, ..none },
        ClaimOutcomeKind::Fails => VerdictEvidence { fails: 1, ..none },
        ClaimOutcomeKind::Undecided => VerdictEvidence { open: 1, ..none },
        ClaimOutcomeKind::StandIn => VerdictEvidence { stand_in: 1, ..none },
    }
}

/// The most numbers listed one by one.
const FEW: usize = 2;

/// Our results in a few words: numbers one by one, or the count inside and the distance from print; and tests.
fn summarise_results(numbers: &[PrintedNumber<'_>], claims: &[&ClaimOutcome]) -> String {
    let mut parts = Vec::new();
    let (zeros, others): (Vec<&PrintedNumber<'_>>, Vec<&PrintedNumber<'_>>) =
        numbers.iter().partition(|one| one.is_zero());
    if others.len() <= FEW {
        parts.extend(others.iter().filter_map(|one| format_own_result(one)));
    } else {
        parts.push(summarise_numbers(&others));
    }
    if !zeros.is_empty() {
        let agree = zeros.iter().filter(|one| one.verdict() == NumberVerdict::Agrees).count();
        parts.push(format!("{agree} of {} zeros", zeros.len()));
    }
    match claims {
        [] => {}
        [one] => parts.extend(format_claim_sides(one)),
        several => {
            let held = several.iter().filter(|claim| claim.outcome == ClaimOutcomeKind::Holds).count();
            parts.push(format!("{held} of {} tests hold", several.len()));
        }
    }
    parts.join("; ")
}

fn format_own_result(one: &PrintedNumber<'_>) -> Option<String> {
    let (value, spread) = (one.number("value")?, one.number("spread").filter(|spread| *spread > 0.0));
    if one.spread {
        return spread.map(format_four_digits);
    }
    Some(match spread {
        Some(spread) => format!("{} ± {}", format_four_digits(value), format_four_digits(spread)),
        None => format_four_digits(value),
    })
}

fn summarise_numbers(others: &[&PrintedNumber<'_>]) -> String {
    let count = |wanted: fn(NumberVerdict) -> bool| others.iter().filter(|one| wanted(one.verdict())).count();
    let inside =
        count(|verdict| matches!(verdict, NumberVerdict::Agrees | NumberVerdict::Fitted | NumberVerdict::Inconclusive));
    let judged = inside + count(|verdict| verdict == NumberVerdict::Differs);
    let mut ratios: Vec<f64> = others.iter().filter_map(|one| one.number("ratio_to_print")).collect();
    ratios.sort_by(f64::total_cmp);
    let ratio = match ratios[..] {
        [least, .., most] if others.iter().all(|one| !one.spread) => {
            format!("ours / print {least:.2} to {most:.2}, median {:.2}", median(&ratios))
        }
        _ => String::new(),
    };
    let inside = if judged > 0 { format!("{inside} of {judged} inside 95 % intervals") } else { String::new() };
    [inside, ratio].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// The median of sorted numbers; there must be at least one.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { 0.5 * (sorted[middle - 1] + sorted[middle]) }
}

fn format_claim_sides(claim: &ClaimOutcome) -> Option<String> {
    Some(format!("{} against {}", format_four_digits(claim.left?), format_four_digits(claim.right?)))
}

/// A table or figure of a paper, with the experiments that compute it.
#[derive(Debug, Clone, Serialize)]
pub struct PaperArtefact {
    /// Its name in the paper.
    pub name: String,
    /// The first experiment that computes it.
    pub experiment: String,
    /// Whether this experiment draws a figure.
    pub figure: bool,
    /// How many of its printed numbers are entered, without spreads.
    pub numbers: usize,
    /// The least, median and largest ratio of our number to the printed one, to two decimals, zeros left out.
    pub ratios: Option<[String; 3]>,
    /// The verdict on its statements and numbers, in a word or two.
    pub verdict: String,
}

impl PaperArtefact {
    /// Lists the artefacts of a paper that the rows of its page are about, in the order of these rows.
    pub fn list_artefacts(examined: &[ExperimentResults<'_>], rows: &[FindingRow]) -> Vec<Self> {
        let mut names: Vec<&str> = Vec::new();
        for row in rows {
            let one = examined.iter().find(|one| one.experiment.name == row.experiment);
            let name = one.and_then(|one| one.experiment.meta.artefact.as_deref());
            names.extend(name.filter(|name| !names.contains(name)));
        }
        names.into_iter().filter_map(|name| Self::from_name(name, examined, rows)).collect()
    }

    fn from_name(name: &str, examined: &[ExperimentResults<'_>], rows: &[FindingRow]) -> Option<Self> {
        let own = examined.iter().filter(|one| one.experiment.meta.artefact.as_deref() == Some(name));
        let own: Vec<&ExperimentResults<'_>> = own.collect();
        let is_own = |row: &&FindingRow| own.iter().any(|one| one.experiment.name == row.experiment);
        let rows: Vec<&FindingRow> = rows.iter().filter(is_own).collect();
        let first = rows.first()?.experiment.clone();
        let drawn = own.iter().find(|one| one.experiment.name == first)?.experiment.figure.as_ref();
        let committed: Vec<_> = own.iter().filter_map(|one| one.committed.as_ref()).collect();
        let printed = committed.iter().flat_map(|committed| {
            let own = committed.rows.iter().filter(|row| !committed.field(row, "published").is_empty());
            own.map(|row| committed.field(row, "ratio_to_print").parse::<f64>().ok())
        });
        let printed: Vec<Option<f64>> = printed.collect();
        let mut ratios: Vec<f64> = printed.iter().copied().flatten().collect();
        ratios.sort_by(f64::total_cmp);
        let ratios = match ratios[..] {
            [] => None,
            [only] => Some([only; 3]),
            [least, .., most] => Some([least, median(&ratios), most]),
        }
        .map(|ratios| ratios.map(|ratio| format!("{ratio:.2}")));
        let verdict = summarise_verdicts(&rows.iter().map(|row| &row.verdict).collect::<Vec<_>>());
        Some(Self {
            name: name.to_owned(),
            experiment: first,
            figure: drawn.is_some(),
            numbers: printed.len(),
            ratios,
            verdict,
        })
    }
}

/// The verdict on several places: the one of all of them, else how many are the same.
fn summarise_verdicts(verdicts: &[&ReproductionVerdict]) -> String {
    let word = |verdict: &ReproductionVerdict| match verdict {
        ReproductionVerdict::Same => "same",
        ReproductionVerdict::SameWithSettings => "same, chosen",
        ReproductionVerdict::Different(_) | ReproductionVerdict::Unknown(_) => "different",
        ReproductionVerdict::Untold(_) => "cannot tell",
    };
    let words: Vec<&str> = verdicts.iter().map(|verdict| word(verdict)).collect();
    match words.first() {
        Some(first) if words.iter().all(|word| word == first) => (*first).to_owned(),
        _ => {
            let same = words.iter().filter(|word| word.starts_with("same")).count();
            let chosen = match words.iter().filter(|word| **word == "same, chosen").count() {
                0 => String::new(),
                chosen => format!(", {chosen} chosen"),
            };
            format!("{same}/{} same{chosen}", words.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_for_several_places() {
        let (same, chosen) = (ReproductionVerdict::Same, ReproductionVerdict::SameWithSettings);
        let (different, open) =
            (ReproductionVerdict::Different("x".to_owned()), ReproductionVerdict::Untold("y".to_owned()));
        assert_eq!(summarise_verdicts(&[&same, &same]), "same");
        assert_eq!(summarise_verdicts(&[&chosen]), "same, chosen");
        assert_eq!(summarise_verdicts(&[&same, &chosen, &different]), "2/3 same, 1 chosen");
        assert_eq!(summarise_verdicts(&[&same, &open]), "1/2 same");
        assert_eq!(summarise_verdicts(&[&open]), "cannot tell");
    }
}
