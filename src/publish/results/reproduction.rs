//! `REPRODUCTION.md`: what of each paper is reproduced, on one page.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use super::committed::Committed;
use super::error::PublishError;
use crate::task::Experiment;

/// The name of the page in a results folder.
pub const REPRODUCTION: &str = "REPRODUCTION.md";

const LEGEND: &str = "\
*agree*, *differ*: rows beside a published value, within or outside the joint uncertainty or the stated tolerance; \
*inconclusive*: too few repeats to tell; *stand-in*: other data than the paper's. *claims*: statements of the paper that \
hold on our rows. *guarantees*: rows that claim a finite epsilon whose exact delta is known and within the claim.\n";

/// The page, from the results that stand in a folder.
///
/// # Errors
/// [`PublishError`] if a table there cannot be read.
pub fn reproduction_markdown(results: &Path, experiments: &[Experiment]) -> Result<String, PublishError> {
    let mut papers: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for experiment in experiments {
        let paper = experiment.meta.paper.as_deref().unwrap_or("other");
        let committed = Committed::read(&results.join(experiment.folder()))?;
        papers.entry(paper).or_default().push(line(experiment, committed.as_ref()));
    }
    let mut text =
        "# Reproduction\n\nWritten by `dpgp run --all`; `dpgp check --all` proves that it is fresh.\n"
            .to_owned();
    for (paper, lines) in papers {
        let _ = write!(
            text,
            "\n## {paper}\n\n| experiment | artefact | rows | agree | differ | inconclusive | stand-in | claims | guarantees |\n\
             |---|---|--:|--:|--:|--:|--:|--:|--:|\n{}",
            lines.concat()
        );
    }
    Ok(format!("{text}\n{LEGEND}"))
}

fn line(experiment: &Experiment, committed: Option<&Committed>) -> String {
    let name = &experiment.name;
    let artefact = experiment.meta.artefact.as_deref().unwrap_or("");
    let Some(committed) = committed else {
        return format!("| {name} | {artefact} | not run | | | | | | |\n");
    };
    let counts = committed.counts();
    let claims = committed.claims(experiment);
    let holding = claims.iter().filter(|claim| claim.holds).count();
    let guarantees = committed.guarantees();
    format!(
        "| [{name}]({name}/table.md) | {artefact} | {} | {} | {} | {} | {} | {} | {} |\n",
        committed.rows.len(),
        counts.agrees,
        counts.differs,
        counts.inconclusive,
        counts.stand_in,
        part_of(holding, claims.len()),
        part_of(guarantees.hold, guarantees.claimed),
    )
}

fn part_of(part: usize, all: usize) -> String {
    if all == 0 { String::new() } else { format!("{part} of {all}") }
}
