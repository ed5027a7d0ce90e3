//! One row of `REPRODUCTION.md`: a table, figure or statement of a paper, with the paper's result beside ours.

use serde::Serialize;

use super::committed::Committed;
use super::committed::Examined;
use super::counts::{Evidence, PlaceVerdict};
use crate::table::{ClaimOutcome, Outcome, Verdict, short};
use dpgp_spec::{ClaimOwner, DeviationKind, NumbersChosen, PlaceRow, ValueChosen, has_labels};

/// A row of the page.
#[derive(Debug, Clone, Serialize)]
pub struct ToldRow {
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
    pub verdict: PlaceVerdict,
    /// A note for readers if the result is the same.
    pub note: Option<String>,
    /// The verdict and the note in words.
    pub words: String,
    /// The numbers that it is about.
    #[serde(skip)]
    pub numbers: Vec<NumberPlace>,
}

/// A printed number, or its spread, in a table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumberPlace {
    /// The experiment.
    pub experiment: String,
    /// The row of its table.
    pub row: usize,
    /// Whether it is the spread.
    pub spread: bool,
}

/// The experiments of a paper, to look up what a row names.
#[derive(Debug, Clone, Copy)]
pub struct Told<'a> {
    examined: &'a [Examined<'a>],
}

/// A printed number that a row is about.
#[derive(Debug, Clone, Copy)]
struct Printed<'a> {
    committed: &'a Committed,
    experiment: &'a str,
    at: usize,
    spread: bool,
}

impl Printed<'_> {
    fn field(&self, column: &str) -> &str {
        self.committed.field(&self.committed.rows[self.at], column)
    }

    fn number(&self, column: &str) -> Option<f64> {
        self.field(column).parse().ok()
    }

    fn verdict(&self) -> Verdict {
        let column = if self.spread { "spread_verdict" } else { "verdict" };
        match Verdict::named(self.field(column)) {
            Some(Verdict::None) | None => Verdict::NotJudged,
            Some(verdict) => verdict,
        }
    }

    fn is_zero(&self) -> bool {
        !self.spread && self.number("published") == Some(0.0)
    }

    fn evidence(&self) -> Evidence {
        let mut evidence = Evidence::default();
        match self.verdict() {
            Verdict::Agrees => evidence.same += 1,
            Verdict::Fitted => (evidence.same, evidence.fitted) = (1, 1),
            Verdict::Differs => evidence.outside += 1,
            Verdict::StandIn => evidence.stand_in += 1,
            Verdict::Inconclusive => evidence.wide += 1,
            Verdict::NotJudged | Verdict::None => evidence.open += 1,
        }
        evidence
    }
}

impl<'a> Told<'a> {
    /// Takes the experiments of a paper.
    pub fn new(examined: &'a [Examined<'a>]) -> Self {
        Self { examined }
    }

    /// The row of a place.
    pub fn row(&self, row: &PlaceRow) -> ToldRow {
        let numbers: Vec<Printed<'a>> =
            row.numbers.iter().flat_map(|chosen| self.printed(row, chosen)).collect();
        let claims = self.claims(row);
        let mut evidence = Evidence::default();
        numbers.iter().for_each(|number| evidence.add(number.evidence()));
        claims.iter().for_each(|claim| evidence.add(of_claim(claim)));
        let verdict = verdict(row, evidence);
        ToldRow {
            place: row.place.clone(),
            experiment: row.experiment.clone().unwrap_or_default(),
            says: row.says.clone(),
            ours: match &row.ours {
                Some(ours) => self.filled(row, ours),
                None => made_of(&numbers, &claims),
            },
            data: row.data.clone().unwrap_or_else(|| self.same_data(row)),
            chosen: row.chosen.clone().unwrap_or_else(|| "no".to_owned()),
            words: words(&verdict, row.note.as_deref()),
            note: row.note.clone(),
            verdict,
            numbers: numbers
                .iter()
                .map(|one| NumberPlace {
                    experiment: one.experiment.to_owned(),
                    row: one.at,
                    spread: one.spread,
                })
                .collect(),
        }
    }

    fn named(&self, name: Option<&str>) -> Option<&'a Examined<'a>> {
        self.examined.iter().find(|one| Some(one.experiment.name.as_str()) == name)
    }

    fn printed(&self, row: &PlaceRow, chosen: &NumbersChosen) -> Vec<Printed<'a>> {
        let name = chosen.experiment.as_deref().or(row.experiment.as_deref());
        let Some(examined) = self.named(name) else { return Vec::new() };
        let Some(committed) = &examined.committed else { return Vec::new() };
        let axes = &examined.experiment.axes;
        let column = if chosen.spreads { "published_spread" } else { "published" };
        let wanted = committed.rows.iter().enumerate().filter(|(_, row)| {
            !committed.field(row, column).is_empty()
                && chosen.means(committed.field(row, "metric"))
                && has_labels(&chosen.cells, axes, |axis| committed.label(row, axis))
        });
        let experiment = examined.experiment.name.as_str();
        wanted.map(|(at, _)| Printed { committed, experiment, at, spread: chosen.spreads }).collect()
    }

    fn claims(&self, row: &PlaceRow) -> Vec<&'a ClaimOutcome> {
        let all = self.examined.iter().filter_map(|one| one.committed.as_ref());
        let all = all.flat_map(|committed| &committed.claims).filter(|claim| claim.from == ClaimOwner::Paper);
        let is_meant = |claim: &&ClaimOutcome| {
            let mut chosen = row.claims.iter();
            chosen.any(|chosen| claim.quote.contains(&chosen.quote) && claim.text.contains(&chosen.text))
        };
        all.filter(is_meant).collect()
    }

    /// A text with the numbers that it names.
    fn filled(&self, row: &PlaceRow, text: &str) -> String {
        let named = row.values.iter();
        named.fold(text.to_owned(), |text, (name, chosen)| {
            let number = self.value(row, chosen).unwrap_or_else(|| "?".to_owned());
            text.replace(&format!("{{{name}}}"), &number)
        })
    }

    fn value(&self, row: &PlaceRow, chosen: &ValueChosen) -> Option<String> {
        let examined = self.named(chosen.experiment.as_deref().or(row.experiment.as_deref()))?;
        let committed = examined.committed.as_ref()?;
        let axes = &examined.experiment.axes;
        let found = committed.rows.iter().find(|row| {
            committed.field(row, "metric") == chosen.metric
                && has_labels(&chosen.cells, axes, |axis| committed.label(row, axis))
        })?;
        let text = committed.field(found, chosen.column.as_deref().unwrap_or("value"));
        let number: f64 = text.parse().ok()?;
        Some(match chosen.decimals {
            Some(decimals) => format!("{number:.decimals$}"),
            None => short(number),
        })
    }

    fn same_data(&self, row: &PlaceRow) -> String {
        let Some(examined) = self.named(row.experiment.as_deref()) else { return "–".to_owned() };
        let mut deviations = examined.experiment.deviations.iter();
        let other = deviations.any(|deviation| deviation.kind == DeviationKind::StandIn);
        if other { "no" } else { "yes" }.to_owned()
    }
}

/// The verdict on a place from its evidence.
fn verdict(row: &PlaceRow, evidence: Evidence) -> PlaceVerdict {
    let Evidence { fitted, stand_in, .. } = evidence;
    let untold =
        |otherwise: &str| PlaceVerdict::Untold(row.untold.clone().unwrap_or_else(|| otherwise.to_owned()));
    if stand_in > 0 {
        return untold("the data are not the paper's");
    }
    if evidence.is_different() {
        return match (&row.because, &row.tried, &row.untold) {
            (Some(because), ..) => PlaceVerdict::Different(because.clone()),
            // The difference depends on something that is not printed, or on chance.
            (None, None, Some(untold)) => PlaceVerdict::Untold(untold.clone()),
            (None, tried, _) => {
                PlaceVerdict::Unknown(tried.clone().unwrap_or_else(|| "nothing yet".to_owned()))
            }
        };
    }
    if evidence.is_open() {
        return untold("our results leave it open");
    }
    if fitted > 0 || row.chosen.is_some() { PlaceVerdict::SameWithSettings } else { PlaceVerdict::Same }
}

/// The verdict in words, with the note on what is the same.
fn words(verdict: &PlaceVerdict, note: Option<&str>) -> String {
    match (verdict, note) {
        (PlaceVerdict::Same | PlaceVerdict::SameWithSettings, Some(note)) => {
            format!("{}: {note}", verdict.words())
        }
        _ => verdict.words(),
    }
}

fn of_claim(claim: &ClaimOutcome) -> Evidence {
    let none = Evidence::default();
    match claim.outcome {
        Outcome::Holds => Evidence { same: 1, ..none },
        Outcome::Fails => Evidence { fails: 1, ..none },
        Outcome::Undecided => Evidence { open: 1, ..none },
        Outcome::StandIn => Evidence { stand_in: 1, ..none },
    }
}

/// The most numbers listed one by one.
const FEW: usize = 2;

/// Our results in a few words: numbers one by one, or the count inside and the distance from print; and tests.
fn made_of(numbers: &[Printed<'_>], claims: &[&ClaimOutcome]) -> String {
    let mut parts = Vec::new();
    let (zeros, others): (Vec<&Printed<'_>>, Vec<&Printed<'_>>) =
        numbers.iter().partition(|one| one.is_zero());
    if others.len() <= FEW {
        parts.extend(others.iter().filter_map(|one| one_number(one)));
    } else {
        parts.push(many_numbers(&others));
    }
    if !zeros.is_empty() {
        let agree = zeros.iter().filter(|one| one.verdict() == Verdict::Agrees).count();
        parts.push(format!("{agree} of {} zeros", zeros.len()));
    }
    match claims {
        [] => {}
        [one] => parts.extend(one_claim(one)),
        several => {
            let held = several.iter().filter(|claim| claim.outcome == Outcome::Holds).count();
            parts.push(format!("{held} of {} tests hold", several.len()));
        }
    }
    parts.join("; ")
}

fn one_number(one: &Printed<'_>) -> Option<String> {
    let (value, spread) = (one.number("value")?, one.number("spread").filter(|spread| *spread > 0.0));
    if one.spread {
        return spread.map(short);
    }
    Some(match spread {
        Some(spread) => format!("{} ± {}", short(value), short(spread)),
        None => short(value),
    })
}

fn many_numbers(others: &[&Printed<'_>]) -> String {
    let count = |wanted: fn(Verdict) -> bool| others.iter().filter(|one| wanted(one.verdict())).count();
    let inside =
        count(|verdict| matches!(verdict, Verdict::Agrees | Verdict::Fitted | Verdict::Inconclusive));
    let judged = inside + count(|verdict| verdict == Verdict::Differs);
    let mut ratios: Vec<f64> = others.iter().filter_map(|one| one.number("ratio_to_print")).collect();
    ratios.sort_by(f64::total_cmp);
    let ratio = match ratios[..] {
        [least, .., most] if others.iter().all(|one| !one.spread) => {
            format!("ours / print {least:.2} to {most:.2}, median {:.2}", median(&ratios))
        }
        _ => String::new(),
    };
    let inside = if judged > 0 { format!("{inside} of {judged} inside 95 %") } else { String::new() };
    [inside, ratio].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// The median of sorted numbers; there must be at least one.
pub(super) fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { 0.5 * (sorted[middle - 1] + sorted[middle]) }
}

fn one_claim(claim: &ClaimOutcome) -> Option<String> {
    Some(format!("{} against {}", short(claim.left?), short(claim.right?)))
}
