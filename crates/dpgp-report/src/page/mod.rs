//! The report: every table, figure, claim and deviation on one self-contained HTML page.

mod board;
mod entry;
mod rows;

use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::results::committed::{BEYOND, ExperimentResults};
use super::results::covered::PaperCoverageSummary;
use super::results::unreproduced::UnreproducedResults;
use super::results::{ClaimOutcomeCounts, PaperFindings, PublishError, ResultsSource, VerdictCounts};
use board::PageLeaderboard;
use dpgp_spec::{PaperCoverage, PaperPage};
use dpgp_task::Experiment;
use entry::ExperimentEntry;

/// The input of the template.
#[derive(Debug, Serialize)]
struct ReportPage {
    css: &'static str,
    js: &'static str,
    version: &'static str,
    commit: Option<String>,
    told: Vec<FindingsPage>,
    totals: PageTotals,
    covered: Vec<PaperCoverageSummary>,
    chances: Vec<String>,
    boards: Vec<PageLeaderboard>,
    papers: Vec<PaperSection>,
}

/// A paper as the page shows it, each row with the address of its figure.
#[derive(Debug, Serialize)]
struct FindingsPage {
    paper: PaperFindings,
    anchors: Vec<String>,
    artefact_anchors: Vec<String>,
}

impl FindingsPage {
    fn new(paper: PaperFindings) -> Self {
        let anchors = paper.rows.iter().map(|row| anchor(&row.experiment)).collect();
        let artefact_anchors = paper.artefacts.iter().map(|one| anchor(&one.experiment)).collect();
        Self { paper, anchors, artefact_anchors }
    }
}

/// Facts about the papers beyond their experiments.
#[derive(Debug, Clone, Default)]
pub struct PaperFacts {
    /// The coverage of each paper.
    pub coverage: Vec<PaperCoverage>,
    /// The findings for their readers.
    pub pages: Vec<PaperPage>,
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
    of_papers: &PaperFacts,
    commit: Option<&str>,
) -> Result<String, PublishError> {
    let by_paper = ExperimentResults::read_by_paper(results, experiments)?;
    let PaperFacts { coverage, pages } = of_papers;
    let told = pages.iter().filter_map(|page| {
        Some(FindingsPage::new(PaperFindings::new(page, coverage, by_paper.get(page.paper.as_str())?)))
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
    papers.iter().flat_map(|paper| &paper.experiments).for_each(|entry| entry.add_to(&mut totals));
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
pub fn is_report(beginning: &str) -> bool {
    beginning.starts_with("<!DOCTYPE html>") && beginning.contains(GENERATOR)
}

/// A text as part of an address on the page.
fn anchor(text: &str) -> String {
    text.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}
