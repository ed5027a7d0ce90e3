//! `REPRODUCTION.md`, the page about each paper's results beside ours, and sentences on results that do not reproduce.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use super::checks::PublishError;
use super::committed::{CommittedResults, ExperimentResults, ResultsSource};
use super::counts::PaperNumberCounts;
use super::told::{FindingRow, PaperArtefact, PaperExperimentLookup};
use crate::table::{ClaimOutcome, ClaimOutcomeKind, NumberVerdict, escape_markdown, format_four_digits};
use dpgp_spec::{ClaimOwner, DeviationKind, FIXED_COLUMNS, PaperCoverage, PaperReportPage};
use dpgp_task::Experiment;

/// The most numbers listed of one experiment; its table has the rest.
const MOST: usize = 6;

/// Results of one experiment that do not reproduce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreproducedResults {
    /// The experiment.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Whether it uses other data than the paper's.
    pub other_data: bool,
    /// The sentences: numbers that differ, statements that do not hold, and the known reasons.
    pub points: Vec<String>,
}

impl UnreproducedResults {
    /// Collects them for an experiment; none if every number agrees and every statement holds.
    pub fn from_results(examined: &ExperimentResults<'_>) -> Option<Self> {
        let committed = examined.committed.as_ref()?;
        let (experiment, mut points) = (examined.experiment, Vec::new());
        points.extend(describe_differing_numbers(
            committed,
            "authors",
            "authors_verdict",
            "the authors' files (not the paper) say",
        ));
        points.extend(describe_differing_numbers(
            committed,
            "reference",
            "reference_verdict",
            "our own reference (not in the paper) is",
        ));
        points.extend(describe_differing_spreads(committed));
        let statements = committed.claims.iter().filter(|claim| claim.from == ClaimOwner::Paper);
        points.extend(statements.filter_map(describe_unconfirmed_claim));
        if points.is_empty() {
            return None;
        }
        let why = experiment.deviations.iter().filter(|deviation| deviation.kind == DeviationKind::Difference);
        points.extend(why.map(|deviation| format!("Reason ({}): {}", deviation.about, deviation.note)));
        Some(Self {
            name: experiment.name.clone(),
            title: experiment.meta.title.clone(),
            other_data: experiment.deviations.iter().any(|deviation| deviation.kind == DeviationKind::StandIn),
            points,
        })
    }
}

/// A sentence for each of the first numbers that differ, and how many more there are.
fn describe_differing_numbers(committed: &CommittedResults, column: &str, verdict: &str, who: &str) -> Vec<String> {
    let rows: Vec<&Vec<String>> = differing_rows(committed, verdict).collect();
    let mut points: Vec<String> = Vec::new();
    for row in rows.iter().take(MOST) {
        let [low, high] = ["interval_low", "interval_high"].map(|end| shorten_number(committed.field(row, end)));
        points.push(format!(
            "{}: {who} {}; our interval for a single run is {low} to {high}.",
            describe_row(committed, row),
            committed.field(row, column)
        ));
    }
    if rows.len() > MOST {
        points.push(format!("{} more of these numbers differ.", rows.len() - MOST));
    }
    points
}

/// The rows with the verdict `differs` in a column.
fn differing_rows<'c>(committed: &'c CommittedResults, verdict: &str) -> impl Iterator<Item = &'c Vec<String>> {
    committed.rows.iter().filter(move |row| committed.field(row, verdict) == NumberVerdict::Differs.name())
}

/// One sentence on all printed spreads that differ.
fn describe_differing_spreads(committed: &CommittedResults) -> Option<String> {
    let differs = differing_rows(committed, "spread_verdict");
    let judged = committed.rows.iter().filter(|row| !committed.field(row, "spread_verdict").is_empty()).count();
    let places: Vec<String> = differs.map(|row| describe_row(committed, row)).collect();
    let first = places.first()?;
    Some(format!("{} of {judged} printed spreads differ from those of our runs (first: {first}).", places.len()))
}

/// A statement of the paper that our rows contradict or leave open.
fn describe_unconfirmed_claim(claim: &ClaimOutcome) -> Option<String> {
    let outcome = match claim.outcome {
        ClaimOutcomeKind::Holds | ClaimOutcomeKind::StandIn => return None,
        ClaimOutcomeKind::Fails => "fails",
        ClaimOutcomeKind::Undecided => "is undecided",
    };
    Some(format!("{}: “{}” {outcome}{}: {}.", claim.place, claim.quote, claim.decisive_pair_text(), claim.text))
}

/// The labels and the metric of a row.
fn describe_row(committed: &CommittedResults, row: &[String]) -> String {
    let axes = committed.headings.iter().filter(|heading| !FIXED_COLUMNS.contains(&heading.as_str()));
    let labels = axes.map(|axis| format!("{axis} = {}", committed.field(row, axis)));
    let epsilon = committed.field(row, "epsilon");
    let epsilon = (!epsilon.is_empty()).then(|| format!("epsilon = {epsilon}"));
    let metric = committed.field(row, "metric").to_owned();
    labels.chain(epsilon).chain([metric]).collect::<Vec<_>>().join(", ")
}

fn shorten_number(text: &str) -> String {
    text.parse().map_or_else(|_| text.to_owned(), format_four_digits)
}

/// The name of the page in a results folder.
pub const REPRODUCTION: &str = "REPRODUCTION.md";

const HEAD: &str = "\
# What the papers say, and what we find

- **same**: the printed number lies in the central 95 % of our runs (of 20 or more numbers, a few may lie outside by chance), \
or the statement holds by more than two standard errors.
- **same, chosen**: likewise, but we chose a setting that the paper does not print, often to match \
these numbers.
- **different**: the reason follows, or what we tried.
- **cannot tell**: the reason follows, such as other data or wide intervals.

See also [our checks](CHECKS.md).
";

const ARTEFACTS: &str = "\
\n## Tables and figures\n\n\
|paper|table or figure|picture|printed numbers|ours / print: median|range|verdict|\n|---|---|---|--:|--:|--:|---|\n";

const COUNTS: &str = "\
\n## Printed numbers, counted\n\n\
A value and its spread count as two. Brackets count those with an interval wider than the effect in question or, for zeros, those that agree.\n\n\
|paper|printed|entered|same|same, chosen|different: known reason or chance|different: unknown reason|cannot tell|separate: zeros|separate: fitted spreads|separate: toy data|\n\
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

const MORE_ERRORS: &str = "- Bounds and formulas, with counter-examples: [beyond/errata](beyond/errata/table.md).\n";

const COLUMNS: &str = "\
|where|the paper says|ours|same data?|chosen by us?|verdict|\n|---|---|---|---|---|---|\n";

/// The findings about one paper.
#[derive(Debug, Clone, Serialize)]
pub struct PaperFindings {
    /// Its key.
    pub key: String,
    /// Authors, title and year.
    pub reference: String,
    /// The finding, in one sentence.
    pub sentence: String,
    /// A row for each of its tables and figures.
    pub artefacts: Vec<PaperArtefact>,
    /// A row for each of its places.
    pub rows: Vec<FindingRow>,
    /// Its printed numbers, counted.
    pub tally: PaperNumberCounts,
    /// Errors in it that readers meet.
    pub errors: Vec<String>,
    /// Results that are not available.
    pub unavailable: Vec<String>,
}

impl PaperFindings {
    /// Collects the findings about a paper from the results of its experiments.
    pub fn new(page: &PaperReportPage, coverage: &[PaperCoverage], examined: &[ExperimentResults<'_>]) -> Self {
        let told = PaperExperimentLookup::new(examined);
        let rows: Vec<FindingRow> = page.rows.iter().map(|row| told.build_finding_row(row)).collect();
        let coverage = coverage.iter().find(|one| one.paper == page.paper);
        Self {
            key: page.paper.clone(),
            reference: coverage.map_or_else(|| page.paper.clone(), |one| one.reference.clone()),
            sentence: page.sentence.clone(),
            tally: PaperNumberCounts::count(coverage, examined, &rows),
            artefacts: PaperArtefact::list_artefacts(examined, &rows),
            rows,
            errors: page.errors.clone(),
            unavailable: page.unavailable.clone(),
        }
    }
}

/// Collects the findings about each paper from the results in a folder.
///
/// # Errors
/// [`PublishError`] if a table there cannot be read.
pub fn collect_findings(
    results: &Path,
    experiments: &[Experiment],
    coverage: &[PaperCoverage],
    pages: &[PaperReportPage],
) -> Result<Vec<PaperFindings>, PublishError> {
    let papers = ExperimentResults::read_by_paper(&ResultsSource { folder: results, is_shipped: false }, experiments)?;
    let examined = |page: &PaperReportPage| papers.get(page.paper.as_str()).map_or(&[][..], Vec::as_slice);
    Ok(pages.iter().map(|page| PaperFindings::new(page, coverage, examined(page))).collect())
}

/// The page for readers of the papers.
pub fn reproduction_markdown(papers: &[PaperFindings]) -> String {
    let mut text = format!("{HEAD}\n## In one sentence\n\n");
    for paper in papers {
        let _ = writeln!(text, "- [{}](#{}): {}", paper.key, paper.key, paper.sentence);
    }
    text.push_str(ARTEFACTS);
    for PaperFindings { key, artefacts, .. } in papers {
        artefacts.iter().for_each(|one| text.push_str(&artefact_line(key, one)));
    }
    for paper in papers {
        let _ = write!(text, "\n## {}\n\n{}\n\n{COLUMNS}", paper.key, paper.reference);
        paper.rows.iter().for_each(|row| text.push_str(&finding_line(row)));
    }
    text.push_str(COUNTS);
    papers.iter().for_each(|paper| text.push_str(&counts_line(paper)));
    write_list_section(&mut text, "Errors in the papers", papers, |paper| &paper.errors);
    text.push_str(MORE_ERRORS);
    write_list_section(&mut text, "Not available", papers, |paper| &paper.unavailable);
    text
}

fn artefact_line(paper: &str, artefact: &PaperArtefact) -> String {
    let PaperArtefact { name, experiment, figure, numbers, ratios, verdict } = artefact;
    let name = markdown_cell(name);
    let picture = if *figure { format!("[picture]({experiment}/figure.svg)") } else { String::new() };
    let numbers = if *numbers == 0 { String::new() } else { numbers.to_string() };
    let [median, range] = match ratios {
        Some([least, median, most]) => [median.clone(), format!("{least}–{most}")],
        None => [String::new(), String::new()],
    };
    format!("|{paper}|[{name}]({experiment}/table.md)|{picture}|{numbers}|{median}|{range}|{verdict}|\n")
}

fn counts_line(PaperFindings { key, tally, .. }: &PaperFindings) -> String {
    let PaperNumberCounts {
        printed,
        entered,
        same,
        wide,
        wide_with_settings,
        with_settings,
        with_reason,
        unknown,
        untold,
        zeros,
        agreeing_zeros,
        fitted_spreads,
        toy,
    } = tally;
    let of_these = |all: &usize, some: &usize| if *some == 0 { all.to_string() } else { format!("{all} ({some})") };
    let (same, chosen) = (of_these(same, wide), of_these(with_settings, wide_with_settings));
    let zeros = if *zeros == 0 { "0".to_owned() } else { format!("{zeros} ({agreeing_zeros})") };
    format!(
        "|{key}|{printed}|{entered}|{same}|{chosen}|{with_reason}|{unknown}|{untold}|{zeros}|{fitted_spreads}|{toy}|\n"
    )
}

fn finding_line(row: &FindingRow) -> String {
    let FindingRow { place, experiment, says, ours, data, chosen, words, .. } = row;
    let place = markdown_cell(place);
    let place = if experiment.is_empty() { place } else { format!("[{place}]({experiment}/table.md)") };
    let cells = [says, ours, data, chosen, words].map(|text| markdown_cell(text));
    format!("|{place}|{}|\n", cells.join("|"))
}

fn markdown_cell(text: &str) -> String {
    escape_markdown(text).replace('|', "\\|")
}

fn write_list_section(
    text: &mut String,
    heading: &str,
    papers: &[PaperFindings],
    of: fn(&PaperFindings) -> &Vec<String>,
) {
    let _ = write!(text, "\n## {heading}\n\n");
    for paper in papers {
        for one in of(paper) {
            let _ = writeln!(text, "- {}: {one}", paper.key);
        }
    }
}
