//! The report: every table, figure, claim and deviation on one self-contained HTML page.

mod board;
mod entry;
mod rows;

use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

use super::results::committed::{BEYOND, Examined};
use super::results::covered::Covered;
use super::results::unreproduced::Unreproduced;
use super::results::{OutcomeCounts, PublishError, ResultsSource, ToldPaper, VerdictCounts};
use board::PageBoard;
use dpgp_spec::{Coverage, PaperPage};
use dpgp_task::Experiment;
use entry::PageEntry;

/// The input of the template.
#[derive(Debug, Serialize)]
struct ReportPage {
    css: &'static str,
    js: &'static str,
    version: &'static str,
    commit: Option<String>,
    told: Vec<ToldPage>,
    totals: Totals,
    covered: Vec<Covered>,
    chances: Vec<String>,
    boards: Vec<PageBoard>,
    papers: Vec<Paper>,
}

/// A paper as the page shows it, each row with the address of its figure.
#[derive(Debug, Serialize)]
struct ToldPage {
    paper: ToldPaper,
    anchors: Vec<String>,
    artefact_anchors: Vec<String>,
}

impl ToldPage {
    fn new(paper: ToldPaper) -> Self {
        let anchors = paper.rows.iter().map(|row| anchor(&row.experiment)).collect();
        let artefact_anchors = paper.artefacts.iter().map(|one| anchor(&one.experiment)).collect();
        Self { paper, anchors, artefact_anchors }
    }
}

/// Facts about the papers beyond their experiments.
#[derive(Debug, Clone, Default)]
pub struct OfPapers {
    /// The coverage of each paper.
    pub coverage: Vec<Coverage>,
    /// The findings for their readers.
    pub pages: Vec<PaperPage>,
}

#[derive(Debug, Default, Serialize)]
struct Totals {
    experiments: usize,
    counts: VerdictCounts,
    statements: OutcomeCounts,
}

#[derive(Debug, Serialize)]
struct Paper {
    key: String,
    unreproduced: Vec<Unreproduced>,
    experiments: Vec<PageEntry>,
}

impl Paper {
    fn new(key: &str, examined: &[Examined<'_>]) -> Result<Self, PublishError> {
        Ok(Self {
            key: key.to_owned(),
            unreproduced: examined.iter().filter_map(Unreproduced::from_examined).collect(),
            experiments: examined.iter().map(PageEntry::new).collect::<Result<_, _>>()?,
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
    of_papers: &OfPapers,
    commit: Option<&str>,
) -> Result<String, PublishError> {
    let by_paper = Examined::by_paper(results, experiments)?;
    let OfPapers { coverage, pages } = of_papers;
    let told = pages.iter().filter_map(|page| {
        Some(ToldPage::new(ToldPaper::new(page, coverage, by_paper.get(page.paper.as_str())?)))
    });
    let covered: Vec<Covered> = coverage
        .iter()
        .filter_map(|of_paper| Some(Covered::new(of_paper, by_paper.get(of_paper.paper.as_str())?)))
        .collect();
    let papers = by_paper.iter().map(|(key, examined)| Paper::new(key, examined));
    let mut papers: Vec<Paper> = papers.collect::<Result<_, _>>()?;
    // Experiments that reproduce no paper come last.
    papers.sort_by_key(|paper| paper.key == BEYOND);
    let mut totals = Totals { experiments: experiments.len(), ..Totals::default() };
    papers.iter().flat_map(|paper| &paper.experiments).for_each(|entry| entry.add_to(&mut totals));
    let page = ReportPage {
        css: include_str!("report.css"),
        js: include_str!("report.js"),
        version: env!("CARGO_PKG_VERSION"),
        commit: commit.map(|commit| commit.chars().take(12).collect()),
        told: told.collect(),
        totals,
        chances: covered.iter().filter_map(Covered::chance).collect(),
        covered,
        boards: by_paper.values().flatten().filter_map(PageBoard::from_examined).collect(),
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
