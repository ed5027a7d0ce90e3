//! One experiment on the page.

use serde::Serialize;
use serde_json::Value;

use super::errata::{PageErratum, errata};
use super::packed::packed;
use super::rows::{PageColumn, PageRow, table};
use super::strokes::joined;
use super::{Totals, anchor};
use crate::results::PublishError;
use crate::results::examined::Examined;
use crate::{ClaimOutcome, Committed, OutcomeCounts, VerdictCounts};
use dpgp_spec::{ClaimOwner, Deviation, Owner};
use dpgp_task::Experiment;

/// Rows of one experiment that are read without scripts; the others are packed, with the figure.
const READ_WITHOUT_SCRIPTS: usize = 24;

/// What the page shows of an experiment.
#[derive(Debug, Default, Serialize)]
pub(super) struct PageEntry {
    name: String,
    anchor: String,
    title: String,
    artefact: Option<String>,
    state: Standing,
    counts: VerdictCounts,
    others: VerdictCounts,
    claims: Vec<PageClaim>,
    statements: OutcomeCounts,
    has_figure: bool,
    errata: Vec<PageErratum>,
    columns: Vec<PageColumn>,
    /// The first rows.
    rows: Vec<PageRow>,
    /// How many there are.
    all_rows: usize,
    guarantees: Vec<String>,
    /// The figure and all rows.
    packed: String,
    deviations: Vec<Deviation>,
    manifest: Vec<Fact>,
}

/// A figure without what SVG, or the style of the page, takes for granted, and with few marks: half of a figure of many.
fn compact(svg: &str) -> String {
    let granted = [
        " opacity=\"1\"",
        " stroke=\"none\"",
        " stroke-width=\"1\"",
        " fill=\"#000000\"",
        " font-family=\"sans-serif\"",
    ];
    let plain = granted.into_iter().fold(svg.to_owned(), |svg, default| svg.replace(default, ""));
    let plain = plain.replace("<polyline fill=\"none\"", "<polyline");
    let plain = plain.replace("\n<polyline", "<polyline").replace("\n<circle", "<circle");
    joined(&short_sizes(&plain.replace(" \"/>", "\"/>")))
}

const FONT_SIZE: &str = "font-size=\"";

/// Sizes of letters with one decimal; figures have sixteen.
fn short_sizes(svg: &str) -> String {
    let mut parts = svg.split(FONT_SIZE);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (size, rest) = part.split_once('"').unwrap_or((part, ""));
        let short = size.parse::<f64>().map_or(size.to_owned(), |size| format!("{size:.1}"));
        text.extend([FONT_SIZE, &short, "\"", rest]);
    }
    text
}

/// Whether the results are here and of this version of the spec.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Standing {
    Present,
    Stale,
    #[default]
    Missing,
}

#[derive(Debug, Serialize)]
struct PageClaim {
    text: String,
    from: &'static str,
    place: String,
    quote: String,
    outcome: &'static str,
}

impl From<&ClaimOutcome> for PageClaim {
    fn from(claim: &ClaimOutcome) -> Self {
        Self {
            text: claim.text.clone(),
            from: claim.from.name(),
            place: claim.place.clone(),
            quote: claim.quote.clone(),
            outcome: claim.outcome.name(),
        }
    }
}

/// A line of the manifest.
#[derive(Debug, Serialize)]
struct Fact {
    key: String,
    value: String,
}

impl PageEntry {
    /// An experiment and its results, if there are any.
    ///
    /// # Errors
    /// [`PublishError`] if its rows cannot be packed.
    pub fn new(examined: &Examined<'_>) -> Result<Self, PublishError> {
        let experiment = examined.experiment;
        let mut entry = Self {
            name: experiment.name.clone(),
            anchor: anchor(&experiment.name),
            title: experiment.meta.title.clone(),
            artefact: experiment.meta.artefact.clone(),
            deviations: experiment.deviations.clone(),
            ..Self::default()
        };
        if let Some(committed) = &examined.committed {
            entry.fill(committed, experiment)?;
        }
        Ok(entry)
    }

    fn fill(&mut self, committed: &Committed, experiment: &Experiment) -> Result<(), PublishError> {
        self.state = if committed.is_stale(experiment) { Standing::Stale } else { Standing::Present };
        self.counts = committed.counts(Owner::Paper);
        self.counts.add(committed.spread_counts());
        self.others = committed.counts(Owner::Authors);
        self.others.add(committed.counts(Owner::Reference));
        self.statements = OutcomeCounts::of(&committed.claims, ClaimOwner::Paper);
        self.claims = committed.claims.iter().map(PageClaim::from).collect();
        self.errata = errata(committed, experiment);
        self.manifest = committed.manifest.as_ref().map(facts).unwrap_or_default();
        let figure = committed.figure.as_deref().map(compact);
        let mut table = table(committed, &self.anchor);
        self.has_figure = figure.is_some();
        self.all_rows = table.rows.len();
        self.packed = packed(figure.as_deref(), &table)?;
        table.rows.truncate(READ_WITHOUT_SCRIPTS);
        (self.columns, self.rows, self.guarantees) = (table.columns, table.rows, table.guarantees);
        Ok(())
    }

    /// Adds its counts to those of the page.
    pub fn add_to(&self, totals: &mut Totals) {
        totals.counts.add(self.counts);
        totals.statements.add(self.statements);
    }
}

/// The leaves of a manifest, each with its dotted key.
fn facts(manifest: &Value) -> Vec<Fact> {
    let mut facts = Vec::new();
    walk("", manifest, &mut facts);
    facts
}

fn walk(key: &str, value: &Value, facts: &mut Vec<Fact>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| walk(&inner(key, name), value, facts))
        }
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, value)| walk(&inner(key, &i.to_string()), value, facts));
        }
        Value::Null => {}
        Value::String(text) => facts.push(Fact { key: key.to_owned(), value: text.clone() }),
        other => facts.push(Fact { key: key.to_owned(), value: other.to_string() }),
    }
}

fn inner(key: &str, name: &str) -> String {
    if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") }
}
