//! `REPRODUCTION.md`: what of each paper is reproduced, on one page.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use super::committed::Committed;
use super::confused::Confused;
use super::counts::{OutcomeCounts, VerdictCounts};
use super::covered::{Covered, Examined};
use super::error::PublishError;
use super::uniformity::Uniformity;
use super::unreproduced::unreproduced;
use crate::spec::{ClaimOwner, Coverage, Owner};
use crate::task::Experiment;

/// The name of the page in a results folder.
pub const REPRODUCTION: &str = "REPRODUCTION.md";

const HEAD: &str = "# Reproduction\n\nWritten by `dpgp run --all`; `dpgp check --all` compares its numbers with fresh ones; the words \
    of notes are their authors'.\n";

const COVERED: &str = "\
\n## What is covered\n\n\
A *printed number* stands in the text, a table or a figure of a paper and is about results; a value and its spread are two. It *agrees* \
if it lies within the central 95 % of what one run of our procedure gives, widened by half a unit of the last printed digit; it *differs* \
outside. It is *inconclusive* where that interval is wider than the effect in question, *not judged* where our replicates do not tell \
how far it may move, *fitted* where a setting was chosen so that it agrees, and *stand-in* where other data are used. A *statement* about \
results is tested by one or more comparisons, which are counted: a test *holds* if every difference has the stated sign by more than two \
standard errors, *fails* if one has the other sign by as much (exact numbers by any difference), and is *undecided* else. Statements on \
other data are tested all the same.\n\n\
| paper | printed numbers | agree | differ | inconclusive | not judged | fitted | stand-in | not entered | tests of statements | hold | fail | undecided | not entered |\n\
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n";

const EXPERIMENTS: &str = "\
\n## Experiments\n\n\
Only *published* numbers are a paper's; *authors* are of its authors' files or code, *references* of independent computations of ours. \
*our claims* are statements that no paper makes. *power*: of the printed numbers beside which another method stands, those for which \
that method's number would agree as well (fewer is better). *guarantees*: rows that claim a finite epsilon whose exact delta is known \
and within the claim; exceptions that the tables list beside a guarantee are not counted against it. Counts are agree / differ / other.\n";

/// The page, from the results that stand in a folder.
///
/// # Errors
/// [`PublishError`] if a table there cannot be read.
pub fn reproduction_markdown(
    results: &Path,
    experiments: &[Experiment],
    coverage: &[Coverage],
) -> Result<String, PublishError> {
    let mut papers: BTreeMap<&str, Vec<Examined<'_>>> = BTreeMap::new();
    for experiment in experiments {
        let committed = Committed::read(&results.join(experiment.folder()))?;
        papers.entry(paper(experiment)).or_default().push(Examined { experiment, committed });
    }
    let mut text = format!("{HEAD}{COVERED}");
    let mut checks = String::new();
    for of_paper in coverage {
        let examined: Vec<&Examined<'_>> =
            papers.get(of_paper.paper.as_str()).into_iter().flatten().collect();
        let covered = Covered::new(of_paper, &examined);
        text.push_str(&covered_line(of_paper, &covered));
        checks.push_str(&chance(of_paper, &covered));
    }
    let _ = write!(
        text,
        "\n{checks}\n## What does not reproduce, and why\n\nAlso where our own references or the authors' files disagree with ours, which says nothing of what is printed.\n"
    );
    for (paper, examined) in &papers {
        text.push_str(&unreproduced(paper, examined));
    }
    text.push_str(&not_checked(coverage));
    text.push_str(EXPERIMENTS);
    for (paper, examined) in &papers {
        let lines: String = examined.iter().map(line).collect();
        let _ = write!(
            text,
            "\n### {paper}\n\n| experiment | artefact | rows | published | authors | references | claims of the paper | our claims | \
             power | guarantees |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n{lines}"
        );
    }
    Ok(text)
}

/// The paper of an experiment; what reproduces none goes beyond them.
fn paper(experiment: &Experiment) -> &str {
    experiment.meta.paper.as_deref().unwrap_or("beyond")
}

fn covered_line(coverage: &Coverage, covered: &Covered) -> String {
    let Covered { numbers, entered, statements, claims, .. } = covered;
    format!(
        "| {} | {numbers} | {} | {} | {} | {} | {} | {} | {} | {statements} | {} | {} | {} | {} |\n",
        coverage.paper,
        entered.agrees,
        entered.differs,
        entered.inconclusive,
        entered.not_judged,
        entered.fitted,
        entered.stand_in,
        covered.unchecked(),
        claims.holds,
        claims.fails,
        claims.undecided,
        statements.saturating_sub(claims.total()),
    )
}

/// How much of the disagreement may be chance.
fn chance(coverage: &Coverage, covered: &Covered) -> String {
    let Some(share) = covered.share_outside() else { return String::new() };
    let outside = format!(
        "- {}: {} printed numbers are random in our replicates, on the paper's data and not fitted; {:.0} % of them lie outside the \
         central 95 % (5 % are expected of a paper that reproduces)",
        coverage.paper,
        covered.p_values.len(),
        100.0 * share
    );
    match Uniformity::of(&covered.p_values) {
        Some(test) => format!(
            "{outside}; if they were independent, which numbers of one table are not, the test of uniform p-values would have {} \
             (Kolmogorov and Smirnov, D = {:.2}).\n",
            at_least_told(test.p_value),
            test.distance
        ),
        // Fewer tell nothing.
        None => String::new(),
    }
}

/// A p-value as far as it can be told.
fn at_least_told(p_value: f64) -> String {
    if p_value < 0.01 { "p < 0.01".to_owned() } else { format!("p = {p_value:.2}") }
}

/// What of the papers is not checked.
fn not_checked(coverage: &[Coverage]) -> String {
    let mut text = "\n## What is not checked, and why\n\n".to_owned();
    for paper in coverage {
        for item in &paper.items {
            if let Some(why) = &item.why_not {
                let _ = writeln!(text, "- {}, {} ({}): {why}", paper.paper, item.place, item.what);
            }
        }
    }
    text
}

fn line(examined: &Examined<'_>) -> String {
    let experiment = examined.experiment;
    let name = &experiment.name;
    let artefact = experiment.meta.artefact.as_deref().unwrap_or("");
    let Some(committed) = &examined.committed else {
        return format!("| {name} | {artefact} | not run | | | | | | | |\n");
    };
    let [published, authors, references] = Owner::ALL.map(|owner| counted(committed.counts(owner)));
    let [of_paper, ours] = [ClaimOwner::Paper, ClaimOwner::Ours]
        .map(|owner| claims(OutcomeCounts::of(&committed.claims, owner)));
    let Confused { swapped, rows } = Confused::of(experiment, committed);
    let guarantees = committed.guarantees();
    format!(
        "| [{name}]({name}/table.md) | {artefact} | {} | {published} | {authors} | {references} | {of_paper} | {ours} | {} | {} |\n",
        committed.rows.len(),
        part_of(swapped, rows),
        part_of(guarantees.hold, guarantees.claimed),
    )
}

fn counted(counts: VerdictCounts) -> String {
    match counts.total() {
        0 => String::new(),
        all => format!("{} / {} / {}", counts.agrees, counts.differs, all - counts.agrees - counts.differs),
    }
}

fn claims(counts: OutcomeCounts) -> String {
    match counts.total() {
        0 => String::new(),
        _ => format!("{} / {} / {}", counts.holds, counts.fails, counts.undecided),
    }
}

fn part_of(part: usize, all: usize) -> String {
    if all == 0 { String::new() } else { format!("{part} of {all}") }
}
