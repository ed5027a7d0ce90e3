//! `table.md`, the table for people: with claims, deviations and numbered guarantees, and in the layout of the paper. User
//! texts are escaped for Markdown.

use std::fmt::Write;

use super::constant::{jitter_effect_sentence, undefined_metric_sentences, worse_than_constant_sentence};
use super::csv::TableLines;
use super::terminal::{format_own_value, format_printed, outcome_text, spread_legend};
use crate::bibtex::report_caption;
use crate::report::{Report, ReportRow, label_with_axis};
use dpgp_data::escape_hidden_line;
use dpgp_run::Provenance;
use dpgp_spec::{BestDirection, DeviationKind, ErratumKind, ErratumWords, TableLayout};

/// The warning above exact numbers that were computed from the user's own rows.
pub const NOT_PRIVATE: &str = "These numbers are not private: errors are computed from the exact rows, and seeded noise can be subtracted. Do not \
    publish them. To publish results, use `dpgp predict` or `dpgp sum --release`.";

/// The table, how many targets were clipped, the claims and the deviations as Markdown.
pub fn table_page_markdown(report: &Report<'_>, provenance: &Provenance) -> String {
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
    }
    write_errata(&mut text, report);
    if report.experiment.layout.is_some() || !report.experiment.errata.is_empty() {
        text.push_str("## All rows\n\n");
    }
    write_table(&mut text, report);
    if let Some(worse) = worse_than_constant_sentence(report, usize::MAX) {
        let _ = writeln!(text, "\n{}", escape_markdown(&worse));
    }
    undefined_metric_sentences(report, usize::MAX)
        .iter()
        .for_each(|said| text.push_str(&format!("\n{}\n", escape_markdown(said))));
    text.extend(jitter_effect_sentence(report).map(|shows| format!("\n{}\n", escape_markdown(&shows))));
    write_failed_cells(&mut text, report);
    provenance
        .clipped
        .iter()
        .for_each(|clipped| text.push_str(&format!("\n{}\n", escape_markdown(&clipped.to_string()))));
    write_claims(&mut text, report);
    write_deviations(&mut text, report);
    text
}

fn write_table(text: &mut String, report: &Report<'_>) {
    let TableLines { headings, rows, notes } = TableLines::new(report, usize::MAX);
    write_table_line(text, &headings);
    write_table_line(text, &vec!["---".to_owned(); headings.len()]);
    rows.iter().for_each(|row| write_table_line(text, row));
    if !notes.texts.is_empty() {
        text.push_str("\nGuarantees:\n\n");
    }
    for (number, guarantee) in notes.texts.iter().enumerate() {
        let _ = writeln!(text, "- [{}] {}", number + 1, escape_markdown(guarantee));
    }
}

/// The errata in words, and what the metrics of their rows mean.
fn write_errata(text: &mut String, report: &Report<'_>) {
    if report.experiment.errata.is_empty() {
        return;
    }
    text.push_str("## The errata in words\n\n");
    for words in &report.experiment.errata {
        let ErratumWords { name, paper, kind, place, quote, statement, example, correction, effect } = words;
        let kind = match kind {
            ErratumKind::Error => "false as printed",
            ErratumKind::Loose => "true, but looser than necessary",
            ErratumKind::Gap => "not proved or not stated",
            ErratumKind::Remark => "not a statement of the paper",
        };
        let _ = writeln!(
            text,
            "- **{}** ({}, {}): {kind}.",
            escape_markdown(name),
            escape_markdown(paper),
            escape_markdown(place)
        );
        let quote = quote.iter().map(|quote| ("Quote", format!("“{quote}”")));
        let own = [("Statement", statement), ("Example", example), ("Correct", correction), ("Effect", effect)];
        for (title, words) in quote.chain(own.map(|(title, words)| (title, words.clone()))) {
            let _ = writeln!(text, "  - {title}: {}", escape_markdown(&words));
        }
    }
    text.push_str(
        "\nIn the rows, *claimed* is the number in the statement, *found* the one in the example, and *corrected* the one in the correct \
         statement. *holds* is 1 if the statement is true in the example. *factor* is *claimed* divided by *found*.\n\n",
    );
}

fn write_failed_cells(text: &mut String, report: &Report<'_>) {
    if !report.failed.is_empty() {
        text.push_str("\n## Cells that failed\n\n");
    }
    for failure in report.failure_sentences() {
        let _ = writeln!(text, "- {}", escape_markdown(&failure));
    }
}

fn write_table_line(text: &mut String, cells: &[String]) {
    text.push_str(&markdown_line(cells.iter().map(|cell| escape_markdown(cell))));
}

fn write_claims(text: &mut String, report: &Report<'_>) {
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

fn write_deviations(text: &mut String, report: &Report<'_>) {
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
    pub fn footnote_reference(&mut self, guarantee: &str) -> String {
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

/// A cell of the grid on some axes: their labels.
type GridLabels = Vec<String>;

/// The meaning of the marks behind a printed number.
const LEGEND: &str = "Ours ± spread, with the printed number below: ✓ agrees, ✗ differs, ~ inconclusive or not judged, \
    ≈ fitted, ○ other data.";

/// The tables of a layout, one for each combination of labels on the axes that it does not name.
fn layout_markdown(report: &Report<'_>, layout: &TableLayout) -> String {
    let [rows, columns] = [&layout.rows, &layout.columns].map(|names| axes(report, names));
    let others: Vec<usize> =
        (0..report.experiment.axes.len()).filter(|axis| !rows.contains(axis) && !columns.contains(axis)).collect();
    let shown: Vec<&ReportRow> = report.rows.iter().filter(|row| row.row.metric == layout.metric).collect();
    let mut text = String::new();
    for part in distinct_labels(&shown, &others) {
        let own: Vec<&ReportRow> = shown.iter().copied().filter(|row| labels(row, &others) == part).collect();
        let table = LayoutTable { report, layout, rows: &rows, columns: &columns, shown: own };
        text.push_str(&table.markdown(&heading(report, &others, &part)));
    }
    let beside = shown.iter().any(|row| row.published.is_some());
    if beside {
        let _ = writeln!(text, "{LEGEND}\n");
    }
    text
}

/// One table.
struct LayoutTable<'a> {
    report: &'a Report<'a>,
    layout: &'a TableLayout,
    rows: &'a [usize],
    columns: &'a [usize],
    shown: Vec<&'a ReportRow>,
}

impl LayoutTable<'_> {
    fn markdown(&self, title: &str) -> String {
        let columns = distinct_labels(&self.shown, self.columns);
        let names = self.rows.iter().map(|axis| escape_markdown(&self.report.experiment.axes[*axis].name));
        let tops = columns.iter().map(|labels| heading(self.report, self.columns, labels));
        let mut text = if title.is_empty() { String::new() } else { format!("{title}:\n\n") };
        text.push_str(&markdown_line(names.chain(tops)));
        text.push_str(&markdown_line((0..self.rows.len() + columns.len()).map(|_| "---".to_owned())));
        for left in distinct_labels(&self.shown, self.rows) {
            let cells = columns.iter().map(|top| self.cell(&left, top));
            text.push_str(&markdown_line(left.iter().map(|label| escape_markdown(label)).chain(cells)));
        }
        format!("{text}\n")
    }

    /// Ours, and what the paper prints, with a mark for the verdict; bold where ours is the best of its column.
    fn cell(&self, left: &GridLabels, top: &GridLabels) -> String {
        let Some(row) = self.find_row(left, top) else { return String::new() };
        let ours = format_own_value(row);
        let ours = if self.is_best(row, top) { format!("**{ours}**") } else { ours };
        match &row.published {
            None => ours,
            Some(judged) => {
                format!("{ours}<br>{} {}", format_printed(&judged.counterpart), judged.verdict.mark())
            }
        }
    }

    fn find_row(&self, left: &GridLabels, top: &GridLabels) -> Option<&ReportRow> {
        let is_there = |row: &&&ReportRow| labels(row, self.rows) == *left && labels(row, self.columns) == *top;
        self.shown.iter().find(is_there).copied()
    }

    /// Of the rows of a column; where some guarantee privacy, what guarantees none is there to compare with and is not best.
    fn is_best(&self, row: &ReportRow, top: &GridLabels) -> bool {
        let column = self.shown.iter().filter(|other| labels(other, self.columns) == *top);
        let (private, others): (Vec<&ReportRow>, Vec<&ReportRow>) =
            column.partition(|other| other.row.certificate.guarantee.is_some());
        let rivals = if private.is_empty() { &others } else { &private };
        let rivals: Vec<&ReportRow> = rivals.iter().copied().filter(|rival| rival.row.undefined.is_none()).collect();
        if !rivals.iter().any(|rival| std::ptr::eq(*rival, row)) {
            return false;
        }
        let mut values = rivals.iter().map(|rival| rival.row.value);
        match self.layout.best {
            None => false,
            Some(BestDirection::Least) => values.all(|value| row.row.value <= value),
            Some(BestDirection::Greatest) => values.all(|value| row.row.value >= value),
        }
    }
}

fn axes(report: &Report<'_>, names: &[String]) -> Vec<usize> {
    names.iter().filter_map(|name| report.axis_index(name)).collect()
}

fn labels(row: &ReportRow, axes: &[usize]) -> GridLabels {
    axes.iter().map(|axis| row.labels[*axis].clone()).collect()
}

/// The labels that rows have on some axes, in the order of the grid.
fn distinct_labels(rows: &[&ReportRow], axes: &[usize]) -> Vec<GridLabels> {
    let mut all: Vec<GridLabels> = Vec::new();
    for row in rows {
        let own = labels(row, axes);
        if !all.contains(&own) {
            all.push(own);
        }
    }
    all
}

fn heading(report: &Report<'_>, axes: &[usize], labels: &GridLabels) -> String {
    let named = axes.iter().zip(labels).map(|(axis, label)| label_with_axis(&report.experiment.axes[*axis], label));
    escape_markdown(&named.collect::<Vec<_>>().join(", "))
}

fn markdown_line(cells: impl Iterator<Item = String>) -> String {
    let escaped: Vec<String> = cells.map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", escaped.join(" | "))
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
