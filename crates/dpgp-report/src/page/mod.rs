//! The report: every table, figure, claim and deviation on one self-contained HTML page.

mod entry;

use std::collections::BTreeMap;

use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use crate::results::committed::{BEYOND, ExperimentResults};
use crate::results::covered::PaperCoverageSummary;
use crate::results::unreproduced::UnreproducedResults;
use crate::results::{ClaimOutcomeCounts, PaperFindings, PublishError, ResultsSource, VerdictCounts};
use crate::table::markdown::GuaranteeNotes;
use crate::{CommittedResults, RankedMethod, Ranking, RankingFilter, format_exact, format_four_digits};
use dpgp_spec::{FIXED_COLUMNS, PaperCoverage, PaperReportPage};
use dpgp_task::Experiment;
use entry::ExperimentEntry;

/// The input of the template.
#[derive(Debug, Serialize)]
struct ReportPage {
    css: &'static str,
    js: &'static str,
    version: &'static str,
    commit: Option<String>,
    told: Vec<FindingsWithAnchors>,
    totals: PageTotals,
    covered: Vec<PaperCoverageSummary>,
    chances: Vec<String>,
    boards: Vec<PageLeaderboard>,
    papers: Vec<PaperSection>,
}

/// A paper as the page shows it, each row with the address of its figure.
#[derive(Debug, Serialize)]
struct FindingsWithAnchors {
    paper: PaperFindings,
    anchors: Vec<String>,
    artefact_anchors: Vec<String>,
}

impl FindingsWithAnchors {
    fn new(paper: PaperFindings) -> Self {
        let anchors = paper.rows.iter().map(|row| anchor(&row.experiment)).collect();
        let artefact_anchors = paper.artefacts.iter().map(|one| anchor(&one.experiment)).collect();
        Self { paper, anchors, artefact_anchors }
    }
}

/// What the page tells of the papers beyond their experiments.
#[derive(Debug, Clone, Default)]
pub struct PaperCoverageAndPages {
    /// The coverage of each paper.
    pub coverage: Vec<PaperCoverage>,
    /// The findings for their readers.
    pub pages: Vec<PaperReportPage>,
}

#[derive(Debug, Default, Serialize)]
struct PageTotals {
    experiments: usize,
    counts: VerdictCounts,
    statements: ClaimOutcomeCounts,
}

#[derive(Debug, Serialize)]
struct PaperSection {
    key: String,
    unreproduced: Vec<UnreproducedResults>,
    experiments: Vec<ExperimentEntry>,
}

impl PaperSection {
    fn new(key: &str, examined: &[ExperimentResults<'_>]) -> Result<Self, PublishError> {
        Ok(Self {
            key: key.to_owned(),
            unreproduced: examined.iter().filter_map(UnreproducedResults::from_results).collect(),
            experiments: examined.iter().map(ExperimentEntry::new).collect::<Result<_, _>>()?,
        })
    }
}

/// The page, from the results in a folder and the coverage of the papers.
///
/// # Errors
/// [`PublishError`] if results there cannot be read, or the template is broken.
pub fn report_html(
    results: &ResultsSource<'_>,
    experiments: &[Experiment],
    of_papers: &PaperCoverageAndPages,
    commit: Option<&str>,
) -> Result<String, PublishError> {
    let by_paper = ExperimentResults::read_by_paper(results, experiments)?;
    let PaperCoverageAndPages { coverage, pages } = of_papers;
    let told = pages.iter().filter_map(|page| {
        Some(FindingsWithAnchors::new(PaperFindings::new(page, coverage, by_paper.get(page.paper.as_str())?)))
    });
    let covered: Vec<PaperCoverageSummary> = coverage
        .iter()
        .filter_map(|of_paper| Some(PaperCoverageSummary::new(of_paper, by_paper.get(of_paper.paper.as_str())?)))
        .collect();
    let papers = by_paper.iter().map(|(key, examined)| PaperSection::new(key, examined));
    let mut papers: Vec<PaperSection> = papers.collect::<Result<_, _>>()?;
    // Experiments that reproduce no paper come last.
    papers.sort_by_key(|paper| paper.key == BEYOND);
    let mut totals = PageTotals { experiments: experiments.len(), ..PageTotals::default() };
    papers.iter().flat_map(|paper| &paper.experiments).for_each(|entry| entry.add_counts_to(&mut totals));
    let page = ReportPage {
        css: include_str!("report.css"),
        js: include_str!("report.js"),
        version: env!("CARGO_PKG_VERSION"),
        commit: commit.map(|commit| commit.chars().take(12).collect()),
        told: told.collect(),
        totals,
        chances: covered.iter().filter_map(PaperCoverageSummary::chance_sentence).collect(),
        covered,
        boards: by_paper.values().flatten().filter_map(PageLeaderboard::from_results).collect(),
        papers,
    };
    let mut templates = Environment::new();
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    Ok(templates.render_str(include_str!("report.html"), Value::from(Serde(page)))?)
}

/// The mark of the program on every page, whatever its version.
const GENERATOR: &str = "<meta name=\"generator\" content=\"dpgp ";

/// Whether a text begins as a page of [`report_html`] does.
pub fn is_report_page(beginning: &str) -> bool {
    beginning.starts_with("<!DOCTYPE html>") && beginning.contains(GENERATOR)
}

/// A text as part of an address on the page.
fn anchor(text: &str) -> String {
    text.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

/// The tag of experiments that are leaderboards.
const TAG: &str = "leaderboard";

/// A leaderboard as the page shows it.
#[derive(Debug, Serialize)]
struct PageLeaderboard {
    title: String,
    anchor: String,
    metric: String,
    greatest: bool,
    columns: Vec<String>,
    methods: Vec<LeaderboardRow>,
}

/// A method.
#[derive(Debug, Serialize)]
struct LeaderboardRow {
    name: String,
    hides: String,
    /// One cell for each column; none if the method was not run there.
    cells: Vec<Option<LeaderboardCell>>,
}

/// The result of a method in a column.
#[derive(Debug, Serialize)]
struct LeaderboardCell {
    value: String,
    error: String,
    best: bool,
    level: bool,
}

impl PageLeaderboard {
    /// The leaderboard of an experiment; none if it is no leaderboard or was not run. Methods stand in the order of the column in
    /// the middle.
    fn from_results(examined: &ExperimentResults<'_>) -> Option<Self> {
        let (experiment, committed) = (examined.experiment, examined.committed.as_ref()?);
        if !experiment.meta.tags.iter().any(|tag| tag == TAG) {
            return None;
        }
        let rankings = Ranking::rank_all(experiment, committed, &RankingFilter::default(), &[]);
        let middle = rankings.get(rankings.len() / 2)?;
        let methods = middle.methods.iter().map(|method| leaderboard_row(method, &rankings));
        Some(Self {
            title: experiment.meta.title.clone(),
            anchor: anchor(&experiment.name),
            metric: middle.metric.clone(),
            greatest: middle.greatest,
            columns: rankings.iter().map(|ranking| ranking.column.clone()).collect(),
            methods: methods.collect(),
        })
    }
}

fn leaderboard_row(method: &RankedMethod, rankings: &[Ranking]) -> LeaderboardRow {
    let own = rankings.iter().map(|ranking| ranking.methods.iter().find(|m| m.method == method.method));
    LeaderboardRow {
        name: method.method.clone(),
        hides: method.protected_unit_text(),
        cells: own.map(|found| found.map(leaderboard_cell)).collect(),
    }
}

fn leaderboard_cell(method: &RankedMethod) -> LeaderboardCell {
    let best = method.place == Some(1);
    let error = method.standard_error;
    LeaderboardCell {
        value: format_four_digits(method.value),
        error: if error > 0.0 { format_four_digits(error) } else { String::new() },
        best,
        level: method.level_with_best && !best,
    }
}

/// A column of the page's table.
#[derive(Debug, Serialize)]
struct PageColumn {
    name: String,
    numeric: bool,
}

/// A row of the page's table.
#[derive(Debug, Serialize)]
struct PageRow {
    anchor: String,
    verdict: String,
    cells: Vec<PageCell>,
}

/// The content of a cell.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum PageCell {
    Text(String),
    /// A text, and the number that sorts it.
    Number(String, f64),
}

impl PageCell {
    fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Number(text, _) => text,
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Number(..)) || number(self.text()).is_some()
    }
}

/// The format of a number in the table.
type CellNumberFormat = fn(f64) -> String;

/// The columns after the axes: their name on the page, the column of the table, that of the spread beside it, and how
/// numbers are shown: as they were given, or rounded.
const AFTER_AXES: [(&str, &str, &str, CellNumberFormat); 17] = [
    ("epsilon", "epsilon", "", format_exact),
    ("metric", "metric", "", format_exact),
    ("ours", "value", "spread", format_four_digits),
    ("one run from", "interval_low", "", format_four_digits),
    ("to", "interval_high", "", format_four_digits),
    ("published", "published", "published_spread", format_exact),
    ("verdict", "verdict", "", format_exact),
    ("ours / print", "ratio_to_print", "", format_four_digits),
    ("z", "z", "", format_four_digits),
    ("its spread", "spread_verdict", "", format_exact),
    ("authors", "authors", "", format_exact),
    ("on authors", "authors_verdict", "", format_exact),
    ("reference", "reference", "reference_spread", format_exact),
    ("on reference", "reference_verdict", "", format_exact),
    ("exact delta", "delta_exact", "", format_four_digits),
    ("gap", "gap", "", format_four_digits),
    ("guarantee", "guarantee", "", format_exact),
];

/// The table of an experiment on the page.
#[derive(Debug, Default, Serialize)]
struct PageTable {
    pub columns: Vec<PageColumn>,
    pub rows: Vec<PageRow>,
    /// The guarantees, which the rows refer to by number.
    pub guarantees: Vec<String>,
}

/// The table of an experiment, whose rows have addresses that begin with `place`.
fn table(committed: &CommittedResults, place: &str) -> PageTable {
    let axes: Vec<&str> =
        committed.headings.iter().map(String::as_str).filter(|h| !FIXED_COLUMNS.contains(h)).collect();
    let mut guarantees = GuaranteeNotes::default();
    let mut anchors = BTreeMap::new();
    let mut rows = Vec::with_capacity(committed.rows.len());
    for row in &committed.rows {
        let mut cells: Vec<PageCell> =
            axes.iter().map(|axis| cell(committed.field(row, axis), "", format_exact)).collect();
        for (name, column, spread, shown) in AFTER_AXES {
            let (text, spread) = (committed.field(row, column), committed.field(row, spread));
            cells.push(if name == "guarantee" {
                PageCell::Text(guarantees.footnote_reference(text))
            } else {
                cell(text, spread, shown)
            });
        }
        let anchor = anchor(&format!("{place}-{}-{}", committed.field(row, "cell"), committed.field(row, "metric")));
        let seen: &mut usize = anchors.entry(anchor.clone()).or_default();
        *seen += 1;
        let anchor = if *seen == 1 { anchor } else { format!("{anchor}-{seen}") };
        rows.push(PageRow { anchor, verdict: committed.field(row, "verdict").to_owned(), cells });
    }
    let names = axes.iter().copied().chain(AFTER_AXES.iter().map(|(name, ..)| *name));
    let columns = names.enumerate().map(|(at, name)| PageColumn {
        name: name.to_owned(),
        numeric: rows.iter().any(|row| row.cells[at].is_number()),
    });
    let mut columns: Vec<PageColumn> = columns.collect();
    drop_empty_columns(&mut columns, &mut rows);
    PageTable { columns, rows, guarantees: guarantees.texts }
}

/// Leaves out the columns in which no row says anything.
fn drop_empty_columns(columns: &mut Vec<PageColumn>, rows: &mut [PageRow]) {
    let mut kept = vec![false; columns.len()];
    for row in rows.iter() {
        kept.iter_mut().zip(&row.cells).for_each(|(kept, cell)| *kept |= !cell.text().is_empty());
    }
    let mut of_column = kept.iter();
    columns.retain(|_| of_column.next() == Some(&true));
    for row in rows {
        let mut of_cell = kept.iter();
        row.cells.retain(|_| of_cell.next() == Some(&true));
    }
}

fn cell(text: &str, spread: &str, shown: CellNumberFormat) -> PageCell {
    let value = number(text);
    let mut text = value.map_or_else(|| text.to_owned(), shown);
    if !spread.is_empty() {
        text = format!("{text} ± {}", number(spread).map_or_else(|| spread.to_owned(), shown));
    }
    match value {
        Some(value) if number(&text) != Some(value) => PageCell::Number(text, value),
        _ => PageCell::Text(text),
    }
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.is_finite())
}
