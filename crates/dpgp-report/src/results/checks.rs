//! `CHECKS.md`, the page about the checks of our program: references, our own claims, guarantees and the power of verdicts. Also the
//! errors that can occur when results are published.
//!
//! The power of verdicts is the share of printed numbers for which the number of another method would also agree.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::committed::{CommittedResults, DeltaCheckCounts, ExperimentResults, ResultsSource};
use super::counts::{ClaimOutcomeCounts, VerdictCounts};
use super::covered::PaperCoverageSummary;
use super::unreproduced::UnreproducedResults;
use crate::figure::FigureError;
use dpgp_spec::{ClaimOwner, PaperCoverage, ReferenceValueOwner};
use dpgp_task::Experiment;

/// The name of the page in a results folder.
pub const CHECKS: &str = "CHECKS.md";

const HEAD: &str = "# Checks of our program\n\n[REPRODUCTION.md](REPRODUCTION.md) compares each paper with our \
    results. `dpgp run --all` writes this page, and `dpgp check --all` compares its numbers with fresh ones. Notes are \
    in the words of their authors.\n";

const COVERED: &str = "\
\n## Coverage\n\n\
A *printed number* is a result in the text, a table or a figure of a paper. A value and its spread \
count as two. It *agrees* if it lies within the central 95 % of the distribution of one run of our procedure, widened \
by half a unit of the last printed digit. Outside that range, it *differs*. It is *inconclusive* if the interval is wider than \
the effect in question, and *not judged* if our replicates do not determine the interval. It is *fitted* if it would \
agree, but we chose a setting to make it agree. It is *stand-in* if we used other data. The column *used to choose* counts \
all numbers that we used to choose a setting, whatever their verdict. We test a *statement* about results by one or more \
comparisons, and count these tests. A test *holds* if every difference has the stated sign by more than two standard \
errors. It *fails* if one difference has the opposite sign by as much (for exact numbers, by any amount). Otherwise it \
is *undecided*. We test only signs, not words such as “much”. Statements tested on other data are not decided.\n\n\
REPRODUCTION.md judges a whole table, figure or statement by these numbers and tests: it is *different* if more of them \
differ or fail than chance explains, *cannot tell* if our data are other data, if something that is not printed or chance \
decides, or if most are undecided, and otherwise *same*. It is *same, chosen* if we chose any setting \
that the paper does not print, so that verdict covers more numbers than are *fitted* here.\n\n\
| paper | printed numbers | agree | differ | inconclusive | not judged | fitted | stand-in | not entered | used to choose | tests of statements | hold | fail | undecided | stand-in | not entered |\n\
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

const UNREPRODUCED: &str = "\
\n## Where others disagree with us\n\nNumbers from our own references and the authors' files that differ \
from ours, printed spreads that differ, statements that our results contradict or leave open, and the known reasons.\n";

const EXPERIMENTS: &str = "\
\n## Experiments\n\n\
Only *published* numbers come from a paper. *authors* come from its authors' files or code, and *references* from our \
own independent computations. *our claims* are statements that no paper makes. *power* takes the printed numbers that \
stand beside another method's number, and counts those for which that other number would also agree with our result (fewer is \
better). *guarantees* counts rows that claim a finite epsilon: those whose exact delta is within the claim / \
exceeds it / is not known. Exceptions that the tables list beside a guarantee do not count against it. Wrong bounds in \
the papers are in [beyond/errata](beyond/errata/table.md). Counts are given as agree / differ / other, or hold / fail / other. \
Printed spreads are counted with their numbers.\n";

/// The second page, from the results that stand in a folder.
///
/// # Errors
/// [`PublishError`] if a table there cannot be read.
pub fn checks_markdown(
    results: &Path,
    experiments: &[Experiment],
    coverage: &[PaperCoverage],
) -> Result<String, PublishError> {
    let papers = ExperimentResults::read_by_paper(&ResultsSource { folder: results, is_shipped: false }, experiments)?;
    let covered: Vec<PaperCoverageSummary> = coverage
        .iter()
        .map(|of_paper| {
            PaperCoverageSummary::new(of_paper, papers.get(of_paper.paper.as_str()).map_or(&[], Vec::as_slice))
        })
        .collect();
    let lines: String = covered.iter().map(covered_line).collect();
    let mut text = format!("{HEAD}{COVERED}{lines}\n");
    for sentence in covered.iter().filter_map(PaperCoverageSummary::chance_sentence) {
        let _ = writeln!(text, "- {sentence}");
    }
    text.push_str(UNREPRODUCED);
    for (paper, examined) in &papers {
        let sections: String = examined
            .iter()
            .filter_map(UnreproducedResults::from_results)
            .map(|section| section_text(&section))
            .collect();
        if !sections.is_empty() {
            let _ = write!(text, "\n### {paper}\n\n{sections}");
        }
    }
    text.push_str(&unchecked_items(coverage));
    text.push_str(EXPERIMENTS);
    for (paper, examined) in &papers {
        let lines: String = examined.iter().map(experiment_line).collect();
        let _ = write!(
            text,
            "\n### {paper}\n\n| experiment | artefact | rows | published | authors | references | claims of the paper | our claims | \
             power | guarantees |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n{lines}"
        );
    }
    Ok(text)
}

fn covered_line(covered: &PaperCoverageSummary) -> String {
    let PaperCoverageSummary {
        paper, numbers, entered, not_entered, chosen_by, statements, claims, not_claimed, ..
    } = covered;
    format!(
        "| {paper} | {numbers} | {} | {} | {} | {} | {} | {} | {not_entered} | {chosen_by} | {statements} | {} | {} | {} | {} | {not_claimed} |\n",
        entered.agrees,
        entered.differs,
        entered.inconclusive,
        entered.not_judged,
        entered.fitted,
        entered.stand_in,
        claims.holds,
        claims.fails,
        claims.undecided,
        claims.stand_in,
    )
}

fn section_text(section: &UnreproducedResults) -> String {
    let UnreproducedResults { name, title, other_data, points } = section;
    let data = if *other_data { " (on data other than the paper's)" } else { "" };
    let points: String = points.iter().map(|point| format!("- {point}\n")).collect();
    format!("[{name}]({name}/table.md): {title}{data}\n\n{points}\n")
}

/// The items of the papers that are not checked.
fn unchecked_items(coverage: &[PaperCoverage]) -> String {
    let mut text = "\n## Not checked, and why\n\n".to_owned();
    for paper in coverage {
        for item in &paper.items {
            if let Some(why) = &item.why_not {
                let _ = writeln!(text, "- {}, {} ({}): {why}", paper.paper, item.place, item.what);
            }
        }
    }
    text
}

fn experiment_line(examined: &ExperimentResults<'_>) -> String {
    let experiment = examined.experiment;
    let name = &experiment.name;
    let artefact = experiment.meta.artefact.as_deref().unwrap_or("");
    let Some(committed) = &examined.committed else {
        return format!("| {name} | {artefact} | not run | | | | | | | |\n");
    };
    let [authors, references] = [ReferenceValueOwner::Authors, ReferenceValueOwner::Reference]
        .map(|owner| verdict_counts_text(committed.verdict_counts(owner)));
    let [of_paper, ours] = [ClaimOwner::Paper, ClaimOwner::Ours]
        .map(|owner| outcome_counts_text(ClaimOutcomeCounts::count(&committed.claims, owner)));
    let SwappedMethodCounts { swapped, rows } = SwappedMethodCounts::count_swapped_methods(experiment, committed);
    let DeltaCheckCounts { within, exceeded, unknown } = committed.guarantee_counts();
    let guarantees = match within + exceeded + unknown {
        0 => String::new(),
        _ => format!("{within} / {exceeded} / {unknown}"),
    };
    let mut published = committed.verdict_counts(ReferenceValueOwner::Paper);
    published.add(committed.spread_verdict_counts());
    format!(
        "| [{name}]({name}/table.md) | {artefact} | {} | {} | {authors} | {references} | {of_paper} | {ours} | {} | {guarantees} |\n",
        committed.rows.len(),
        verdict_counts_text(published),
        fraction_text(swapped, rows),
    )
}

fn verdict_counts_text(counts: VerdictCounts) -> String {
    match counts.total() {
        0 => String::new(),
        all => format!("{} / {} / {}", counts.agrees, counts.differs, all - counts.agrees - counts.differs),
    }
}

fn outcome_counts_text(counts: ClaimOutcomeCounts) -> String {
    match counts.total() {
        0 => String::new(),
        _ => format!("{} / {} / {}", counts.holds, counts.fails, counts.undecided + counts.stand_in),
    }
}

fn fraction_text(part: usize, all: usize) -> String {
    if all == 0 { String::new() } else { format!("{part} of {all}") }
}

/// Counts of numbers that would still agree if they were another method's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SwappedMethodCounts {
    /// Rows where another method's number would agree.
    pub swapped: usize,
    /// Rows with another method beside them.
    pub rows: usize,
}

impl SwappedMethodCounts {
    /// Compares rows of an experiment that differ only in the first named axis, the axis of methods.
    pub fn count_swapped_methods(experiment: &Experiment, committed: &CommittedResults) -> Self {
        let Some(lines) = RowsWithPrintedNumbers::from_committed(experiment, committed) else { return Self::default() };
        let mut confused = Self::default();
        for row in &lines.printed {
            let others = lines.other_method_numbers(row);
            let [Ok(low), Ok(high)] =
                ["interval_low", "interval_high"].map(|end| committed.field(row, end).parse::<f64>())
            else {
                continue;
            };
            if !others.is_empty() {
                confused.rows += 1;
                confused.swapped += usize::from(others.iter().any(|value| (low..=high).contains(value)));
            }
        }
        confused
    }
}

/// The printed rows of an experiment, and the columns that the rows of one line share.
struct RowsWithPrintedNumbers<'a> {
    committed: &'a CommittedResults,
    printed: Vec<&'a [String]>,
    /// The columns other than the methods.
    common: Vec<&'a str>,
}

impl<'a> RowsWithPrintedNumbers<'a> {
    /// None without an axis of methods.
    fn from_committed(experiment: &'a Experiment, committed: &'a CommittedResults) -> Option<Self> {
        let methods = experiment.axes.iter().find(|axis| axis.is_bundle())?;
        let names = experiment.axes.iter().map(|axis| axis.name.as_str());
        let common = names.filter(|name| *name != methods.name).chain(["metric"]).collect();
        let rows = committed.rows.iter().map(Vec::as_slice);
        let printed = rows.filter(|row| !committed.field(row, "published").is_empty()).collect();
        Some(Self { committed, printed, common })
    }

    /// The printed numbers of the other methods in the line of a row.
    fn other_method_numbers(&self, row: &[String]) -> Vec<f64> {
        let line = self.printed.iter().filter(|other| **other != row && self.is_same_except_method(other, row));
        line.filter_map(|other| self.committed.field(other, "published").parse().ok()).collect()
    }

    fn is_same_except_method(&self, one: &[String], other: &[String]) -> bool {
        let mut columns = self.common.iter();
        columns.all(|column| self.committed.field(one, column) == self.committed.field(other, column))
    }
}

/// Reasons why results could not be published.
#[derive(Debug, Error)]
pub enum PublishError {
    /// A file could not be written.
    #[error("{path}: {cause}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
    /// A file there is not a table.
    #[error("{path} is not a table of results: {cause}")]
    NotATable {
        /// The file, or the subject of the comparison.
        path: PathBuf,
        /// The reader's error.
        cause: csv::Error,
    },
    /// The table could not be put into CSV.
    #[error("table.csv: {0}")]
    Csv(#[from] csv::Error),
    /// The page could not be put together.
    #[error("report: {0}")]
    Template(#[from] minijinja::Error),
    /// The rows of the page could not be compressed.
    #[error("report: {0}")]
    Packing(std::io::Error),
    /// The figure could not be drawn.
    #[error("figure.svg: {0}")]
    Figure(#[from] FigureError),
}

impl PublishError {
    pub(super) fn io(path: &Path, cause: std::io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), cause }
    }
}
