//! What of a paper does not reproduce, in sentences.

use serde::Serialize;

use super::committed::Committed;
use super::examined::Examined;
use crate::table::{ClaimOutcome, Outcome, Verdict, short};
use dpgp_spec::{ClaimOwner, DeviationKind, FIXED_COLUMNS};

/// Numbers of one experiment that are told; more are in its table.
const MOST: usize = 6;

/// What of one experiment does not reproduce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unreproduced {
    /// The experiment.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Whether it uses other data than the paper's.
    pub other_data: bool,
    /// The sentences: numbers that differ, statements that do not hold, and what is known of the reasons.
    pub points: Vec<String>,
}

impl Unreproduced {
    /// Of an experiment in which a number differs or a statement does not hold.
    pub fn of(examined: &Examined<'_>) -> Option<Self> {
        let committed = examined.committed.as_ref()?;
        let (experiment, mut points) = (examined.experiment, Vec::new());
        points.extend(differing(
            committed,
            "authors",
            "authors_verdict",
            "the authors' files (not printed) say",
        ));
        points.extend(differing(
            committed,
            "reference",
            "reference_verdict",
            "our own reference (not printed) is",
        ));
        points.extend(spreads(committed));
        let statements = committed.claims.iter().filter(|claim| claim.from == ClaimOwner::Paper);
        points.extend(statements.filter_map(statement));
        if points.is_empty() {
            return None;
        }
        let why =
            experiment.deviations.iter().filter(|deviation| deviation.kind == DeviationKind::Difference);
        points.extend(why.map(|deviation| format!("Why, {}: {}", deviation.about, deviation.note)));
        Some(Self {
            name: experiment.name.clone(),
            title: experiment.meta.title.clone(),
            other_data: experiment
                .deviations
                .iter()
                .any(|deviation| deviation.kind == DeviationKind::StandIn),
            points,
        })
    }
}

/// A sentence for each of the first numbers that differ, and how many more there are.
fn differing(committed: &Committed, column: &str, verdict: &str, who: &str) -> Vec<String> {
    let rows: Vec<&Vec<String>> = differing_rows(committed, verdict).collect();
    let mut points: Vec<String> = Vec::new();
    for row in rows.iter().take(MOST) {
        let [low, high] = ["interval_low", "interval_high"].map(|end| rounded(committed.field(row, end)));
        points.push(format!(
            "{}: {who} {}, one run of ours gives {low} to {high}.",
            place(committed, row),
            committed.field(row, column)
        ));
    }
    if rows.len() > MOST {
        points.push(format!("{} more of these numbers differ.", rows.len() - MOST));
    }
    points
}

/// The rows whose verdict in a column is that they differ.
fn differing_rows<'c>(committed: &'c Committed, verdict: &str) -> impl Iterator<Item = &'c Vec<String>> {
    committed.rows.iter().filter(move |row| committed.field(row, verdict) == Verdict::Differs.name())
}

/// One sentence on all printed spreads that differ.
fn spreads(committed: &Committed) -> Option<String> {
    let differs = differing_rows(committed, "spread_verdict");
    let judged =
        committed.rows.iter().filter(|row| !committed.field(row, "spread_verdict").is_empty()).count();
    let places: Vec<String> = differs.map(|row| place(committed, row)).collect();
    let first = places.first()?;
    Some(format!(
        "{} of {judged} printed spreads differ from those of our runs (first: {first}).",
        places.len()
    ))
}

/// A statement of the paper that our rows contradict or leave open.
fn statement(claim: &ClaimOutcome) -> Option<String> {
    let outcome = match claim.outcome {
        Outcome::Holds | Outcome::StandIn => return None,
        Outcome::Fails => "fails",
        Outcome::Undecided => "is undecided",
    };
    let error = claim.error.filter(|error| *error > 0.0);
    let error = error.map(|error| format!(", standard error {}", short(error))).unwrap_or_default();
    let numbers = match (claim.left, claim.right) {
        (Some(left), Some(right)) => format!(" (ours: {} against {}{error})", short(left), short(right)),
        _ => String::new(),
    };
    let at = if claim.at.is_empty() { String::new() } else { format!(" at {}", claim.at) };
    Some(format!("{}: “{}” {outcome}{at}{numbers}: {}.", claim.place, claim.quote, claim.text))
}

/// The labels and the metric of a row.
fn place(committed: &Committed, row: &[String]) -> String {
    let axes = committed.headings.iter().filter(|heading| !FIXED_COLUMNS.contains(&heading.as_str()));
    let labels = axes.map(|axis| format!("{axis} = {}", committed.field(row, axis)));
    let epsilon = committed.field(row, "epsilon");
    let epsilon = (!epsilon.is_empty()).then(|| format!("epsilon = {epsilon}"));
    let metric = committed.field(row, "metric").to_owned();
    labels.chain(epsilon).chain([metric]).collect::<Vec<_>>().join(", ")
}

fn rounded(text: &str) -> String {
    text.parse().map_or_else(|_| text.to_owned(), short)
}
