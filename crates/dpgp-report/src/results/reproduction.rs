//! `REPRODUCTION.md`: what each paper says beside ours, for its readers.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use super::error::PublishError;
use super::examined::Examined;
use super::shelf::Shelf;
use super::tally::Tally;
use super::told::{Told, ToldRow};
use crate::table::markdown_text;
use dpgp_spec::{Coverage, PaperPage};
use dpgp_task::Experiment;

/// The name of the page in a results folder.
pub const REPRODUCTION: &str = "REPRODUCTION.md";

const HEAD: &str = "\
# What the papers say, and what ours is

- **same**: the printed number lies in the central 95 % of runs of ours (of 20 or more a few may lie outside by chance), or the statement holds by more \
than two standard errors.
- **same with settings we chose**: so it does, with unprinted settings of ours, often chosen by these numbers: that shows less.
- **different**, **cannot be told**: with the reason, or what was tried.

Tables say how far ours are from print (`ours / print`, `z`); [Checks of our program](CHECKS.md) has references, claims of ours, guarantees and power.
";

const COUNTS: &str = "\
\n## Printed numbers\n\n\
A value and its spread are two. In brackets: numbers in intervals wider than what matters, told by the many beside them; zeros that agree. Apart: \
exact zeros, spreads of means that chose a setting, numbers of a toy.\n\n\
|paper|printed|entered|same|same, chosen|different, reason or chance|unknown|cannot be told|apart: zeros|spreads|toy|\n\
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

const MORE_ERRORS: &str =
    "- Bounds and formulas, with counter-examples: [beyond/errata](beyond/errata/table.md).\n";

const COLUMNS: &str = "\
|where|the paper says|ours|same data?|chosen by us?|verdict|\n|---|---|---|---|---|---|\n";

/// What is told of one paper.
#[derive(Debug, Clone, Serialize)]
pub struct ToldPaper {
    /// Its key.
    pub key: String,
    /// Authors, title and year.
    pub reference: String,
    /// What was found, in one sentence.
    pub sentence: String,
    /// A row for each of its places.
    pub rows: Vec<ToldRow>,
    /// Its printed numbers, counted.
    pub tally: Tally,
    /// Errors in it that a reader meets.
    pub errors: Vec<String>,
    /// What cannot be had.
    pub unavailable: Vec<String>,
}

impl ToldPaper {
    /// Of a paper whose experiments have these results.
    pub fn new(page: &PaperPage, coverage: &[Coverage], examined: &[Examined<'_>]) -> Self {
        let told = Told::new(examined);
        let rows: Vec<ToldRow> = page.rows.iter().map(|row| told.row(row)).collect();
        let coverage = coverage.iter().find(|one| one.paper == page.paper);
        Self {
            key: page.paper.clone(),
            reference: coverage.map_or_else(|| page.paper.clone(), |one| one.reference.clone()),
            sentence: page.sentence.clone(),
            tally: Tally::of(coverage, examined, &rows),
            rows,
            errors: page.errors.clone(),
            unavailable: page.unavailable.clone(),
        }
    }
}

/// What is told of each paper, from the results that stand in a folder.
///
/// # Errors
/// [`PublishError`] if a table there cannot be read.
pub fn told_papers(
    results: &Path,
    experiments: &[Experiment],
    coverage: &[Coverage],
    pages: &[PaperPage],
) -> Result<Vec<ToldPaper>, PublishError> {
    let papers = Examined::by_paper(&Shelf { folder: results, is_shipped: false }, experiments)?;
    let examined = |page: &PaperPage| papers.get(page.paper.as_str()).map_or(&[][..], Vec::as_slice);
    Ok(pages.iter().map(|page| ToldPaper::new(page, coverage, examined(page))).collect())
}

/// The page for readers of the papers.
pub fn reproduction_markdown(papers: &[ToldPaper]) -> String {
    let mut text = format!("{HEAD}\n## In one sentence\n\n");
    for paper in papers {
        let _ = writeln!(text, "- [{}](#{}): {}", paper.key, paper.key, paper.sentence);
    }
    text.push_str(COUNTS);
    papers.iter().for_each(|paper| text.push_str(&counts(paper)));
    for paper in papers {
        let _ = write!(text, "\n## {}\n\n{}\n\n{COLUMNS}", paper.key, paper.reference);
        paper.rows.iter().for_each(|row| text.push_str(&line(row)));
    }
    listed(&mut text, "Errors in the papers that a reader meets", papers, |paper| &paper.errors);
    text.push_str(MORE_ERRORS);
    listed(&mut text, "What cannot be had", papers, |paper| &paper.unavailable);
    text
}

fn counts(ToldPaper { key, tally, .. }: &ToldPaper) -> String {
    let Tally {
        printed,
        entered,
        same,
        wide,
        with_settings,
        with_reason,
        unknown,
        untold,
        zeros,
        agreeing_zeros,
        fitted_spreads,
        toy,
    } = tally;
    let same = if *wide == 0 { same.to_string() } else { format!("{same} ({wide})") };
    let zeros = if *zeros == 0 { "0".to_owned() } else { format!("{zeros} ({agreeing_zeros})") };
    format!(
        "|{key}|{printed}|{entered}|{same}|{with_settings}|{with_reason}|{unknown}|{untold}|{zeros}|{fitted_spreads}|{toy}|\n"
    )
}

fn line(row: &ToldRow) -> String {
    let ToldRow { place, experiment, says, ours, data, chosen, words, .. } = row;
    let place = cell(place);
    let place = if experiment.is_empty() { place } else { format!("[{place}]({experiment}/table.md)") };
    let cells = [says, ours, data, chosen, words].map(|text| cell(text));
    format!("|{place}|{}|\n", cells.join("|"))
}

fn cell(text: &str) -> String {
    markdown_text(text).replace('|', "\\|")
}

fn listed(text: &mut String, heading: &str, papers: &[ToldPaper], of: fn(&ToldPaper) -> &Vec<String>) {
    let _ = write!(text, "\n## {heading}\n\n");
    for paper in papers {
        for one in of(paper) {
            let _ = writeln!(text, "- {}: {one}", paper.key);
        }
    }
}
