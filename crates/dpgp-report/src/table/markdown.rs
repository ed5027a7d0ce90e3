//! `table.md`, the table for people: with claims, deviations and numbered guarantees. User texts are escaped for Markdown.

use std::fmt::Write;

use super::constant::{jitter_sentence, undefined_metric_sentences, worse_than_constant_sentence};
use super::csv::TableLines;
use super::laid_out::layout_markdown;
use super::terminal::{outcome_text, spread_legend};
use crate::bibtex::report_caption;
use crate::report::Report;
use dpgp_data::escape_hidden_line;
use dpgp_run::Provenance;
use dpgp_spec::DeviationKind;

/// The warning above exact numbers that were computed from the user's own rows.
pub const NOT_PRIVATE: &str = "These numbers are not private: they were computed from the rows without noise. Do not \
    publish them. To publish results, use `dpgp predict` or `dpgp sum --release`.";

/// The table, how many targets were clipped, the claims and the deviations as Markdown.
pub fn table_markdown(report: &Report<'_>, provenance: &Provenance) -> String {
    let meta = &report.experiment.meta;
    let mut text = format!("# {}: {}\n\n", escape_markdown(&report.experiment.name), escape_markdown(&meta.title));
    if provenance.own_rows {
        let _ = writeln!(text, "**{NOT_PRIVATE}**\n");
    }
    if let (Some(paper), Some(artefact)) = (&meta.paper, &meta.artefact) {
        let _ = writeln!(text, "Reproduces {} of {}.\n", escape_markdown(artefact), escape_markdown(paper));
    }
    let _ = writeln!(text, "{}\n", escape_markdown(&report_caption(report)));
    text.extend(spread_legend(report).map(|legend| format!("{legend}.\n\n")));
    if let Some(layout) = &report.experiment.layout {
        text.push_str(&layout_markdown(report, layout));
        text.push_str("## All rows\n\n");
    }
    table(&mut text, report);
    if let Some(worse) = worse_than_constant_sentence(report, usize::MAX) {
        let _ = writeln!(text, "\n{}", escape_markdown(&worse));
    }
    undefined_metric_sentences(report, usize::MAX)
        .iter()
        .for_each(|said| text.push_str(&format!("\n{}\n", escape_markdown(said))));
    text.extend(jitter_sentence(report).map(|shows| format!("\n{}\n", escape_markdown(&shows))));
    failures(&mut text, report);
    provenance
        .clipped
        .iter()
        .for_each(|clipped| text.push_str(&format!("\n{}\n", escape_markdown(&clipped.to_string()))));
    claims(&mut text, report);
    deviations(&mut text, report);
    text
}

fn table(text: &mut String, report: &Report<'_>) {
    let TableLines { headings, rows, notes } = TableLines::new(report, usize::MAX);
    line(text, &headings);
    line(text, &vec!["---".to_owned(); headings.len()]);
    rows.iter().for_each(|row| line(text, row));
    if !notes.texts.is_empty() {
        text.push_str("\nGuarantees:\n\n");
    }
    for (number, guarantee) in notes.texts.iter().enumerate() {
        let _ = writeln!(text, "- [{}] {}", number + 1, escape_markdown(guarantee));
    }
}

fn failures(text: &mut String, report: &Report<'_>) {
    if !report.failed.is_empty() {
        text.push_str("\n## Cells that failed\n\n");
    }
    for failure in report.failure_sentences() {
        let _ = writeln!(text, "- {}", escape_markdown(&failure));
    }
}

fn line(text: &mut String, cells: &[String]) {
    let escaped: Vec<String> = cells.iter().map(|cell| escape_markdown(cell).replace('|', "\\|")).collect();
    let _ = writeln!(text, "| {} |", escaped.join(" | "));
}

fn claims(text: &mut String, report: &Report<'_>) {
    if report.claims.is_empty() {
        return;
    }
    text.push_str("\n## Claims\n\n");
    for claim in &report.claims {
        let _ = writeln!(text, "- {}: {}", escape_markdown(&outcome_text(claim)), escape_markdown(&claim.text));
        if !claim.quote.is_empty() {
            let _ = writeln!(text, "  “{}”", escape_markdown(&claim.quote));
        }
    }
}

fn deviations(text: &mut String, report: &Report<'_>) {
    if report.experiment.deviations.is_empty() {
        return;
    }
    text.push_str("\n## Deviations\n\n");
    for deviation in &report.experiment.deviations {
        let kind = match deviation.kind {
            DeviationKind::Inferred => "inferred",
            DeviationKind::Corrected => "corrected",
            DeviationKind::StandIn => "stand-in",
            DeviationKind::Difference => "difference",
        };
        let _ =
            writeln!(text, "- {} ({kind}): {}", escape_markdown(&deviation.about), escape_markdown(&deviation.note));
    }
}

/// A text that makes no line, no link and no element of HTML of its own. Comparisons such as `a < b` stay as they are.
pub fn escape_markdown(text: &str) -> String {
    let mut neutral = String::with_capacity(text.len());
    let text = escape_hidden_line(text).replace("](", "]\\(");
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let begins = characters.peek().is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(*next));
        if c == '<' && begins {
            neutral.push_str("&lt;");
            continue;
        }
        neutral.push(c);
    }
    neutral
}

/// The distinct guarantees, in order of appearance.
#[derive(Debug, Default)]
pub struct GuaranteeNotes {
    pub texts: Vec<String>,
}

impl GuaranteeNotes {
    /// The reference to a guarantee in a row: its number in brackets, or `none`.
    pub fn reference(&mut self, guarantee: &str) -> String {
        if guarantee.is_empty() || guarantee == "none" {
            return guarantee.to_owned();
        }
        let known = self.texts.iter().position(|known| known == guarantee);
        let number = known.unwrap_or_else(|| {
            self.texts.push(guarantee.to_owned());
            self.texts.len() - 1
        });
        format!("[{}]", number + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_texts() {
        for (text, shown) in [
            ("a < b <= c <5", "a < b <= c <5"),
            ("<img src=x> </p> <!-- <?", "&lt;img src=x> &lt;/p> &lt;!-- &lt;?"),
            ("![x](y) [1]", "![x]\\(y) [1]"),
            ("a\n# b\u{1b}[0m", "a\\n# b\\u{1b}[0m"),
        ] {
            assert_eq!(escape_markdown(text), shown);
        }
    }
}
