//! Tables and prose in a terminal: aligned columns, wrapping, and notes on surfaces that fit the rows worse without privacy than with it.

use comfy_table::presets::{NOTHING, UTF8_BORDERS_ONLY};
use terminal_size::terminal_size_of;
use unicode_width::UnicodeWidthStr;

use super::claims::{ClaimOutcome, ClaimOutcomeKind};
use super::constant::{
    SpreadDescription, SpreadForm, jitter_effect_sentence, rmse_reduction_sentence, spread_kinds_legend,
    undefined_metric_sentences, worse_than_constant_sentence,
};
use super::csv::TableLines;
use super::fitted::WidthFittedTable;
use super::predictive::PredictiveInterval;
use super::verdict::{NumberVerdict, ReferenceComparison};
use crate::report::{Report, ReportRow};
use dpgp_data::escape_hidden_line;
use dpgp_number::text::{format_exact, format_four_digits};
use dpgp_spec::{ClaimOwner, DeviationKind, ProtocolDeviation, ReferenceValue, SpreadKind};

/// The headings after the axes.
pub(super) const HEADINGS: [&str; 11] = [
    "epsilon",
    "metric",
    "ours",
    "95 % of our runs",
    "published",
    "verdict",
    "other numbers",
    "exact delta",
    "gap",
    "ours / print",
    "z",
];

/// The headings of what a narrow terminal can do without: table.csv has them all.
const SPARE: [&str; 6] = ["gap", "exact delta", "95 % of our runs", "other numbers", "z", "ours / print"];

/// The most rows printed; nobody reads more in a terminal.
const MOST_ROWS: usize = 500;

/// Cells that a sentence names.
const MOST_NAMED: usize = 8;

/// The table as text, with the claims and a legend of the guarantees below it.
pub fn table_terminal(report: &Report<'_>) -> String {
    let lines = TableLines::new(report, MOST_ROWS);
    let (headings, rows) = (&lines.headings, &lines.rows);
    let table = WidthFittedTable { headings, rows, style: UTF8_BORDERS_ONLY, bordered: true, spare: &SPARE }.text();
    let (name, title) = (&report.experiment.name, &report.experiment.meta.title);
    let title = format!("{}: {}\n", escape_hidden_line(name), escape_hidden_line(title));
    format!("{}{table}{}", wrap_prose(&title), wrap_prose(&text_below_table(report, &lines)))
}

/// The metrics of a surface.
const OF_SURFACES: &str = "rmse and r2: deviations of single rows from the surface; difference: distance from the surface \
    without privacy, at the inputs of the rows; noise-sd: the expected difference, computed from the release alone\n";

/// The meaning of `r2`.
const OF_CONSTANTS: &str = "r2: 1 for exact predictions, 0 for a constant (the mean of the training targets)\n";

/// The spread after `±` in a row.
fn spread(row: &ReportRow) -> Option<SpreadDescription> {
    let (kind, repeats) = (row.row.spread_kind, row.row.repeats);
    row.row.spread.filter(|spread| *spread > 0.0 && kind != SpreadKind::None)?;
    Some(SpreadDescription { kind, repeats })
}

/// What `±` means in the rows; none without spreads.
pub(super) fn spread_legend(report: &Report<'_>) -> Option<String> {
    let spreads = report.rows.iter().filter_map(spread).collect::<Vec<_>>();
    (!spreads.is_empty()).then(|| spread_kinds_legend(&spreads, SpreadForm::Recorded))
}

/// The text below the table.
fn text_below_table(report: &Report<'_>, lines: &TableLines) -> String {
    let mut text = String::new();
    if let Some(more) = report.rows.len().checked_sub(MOST_ROWS).filter(|more| *more > 0) {
        text.push_str(&format!("... and {more} more rows in table.csv\n"));
    }
    for (number, guarantee) in lines.notes.texts.iter().enumerate() {
        text.push_str(&format!("[{}] {}\n", number + 1, escape_hidden_line(guarantee)));
    }
    if report.rows.iter().any(|row| row.row.metric == "noise-sd") {
        text.push_str(OF_SURFACES);
        text.extend(worse_without_privacy_sentence(report).map(|worse| format!("{worse}\n")));
    } else if report.rows.iter().any(|row| row.row.metric == "r2") {
        text.push_str(OF_CONSTANTS);
    }
    text.extend(spread_legend(report).map(|legend| format!("{legend}\n")));
    text.extend(rmse_reduction_sentence(report, MOST_NAMED).map(|better| format!("{}\n", escape_hidden_line(&better))));
    if let Some(worse) = worse_than_constant_sentence(report, MOST_NAMED) {
        text.push_str(&format!("{}\n", escape_hidden_line(&worse)));
    }
    undefined_metric_sentences(report, MOST_NAMED)
        .iter()
        .for_each(|said| text.push_str(&format!("{}\n", escape_hidden_line(said))));
    match jitter_effect_sentence(report) {
        Some(shows) => text.push_str(&format!("{shows}\n")),
        None if report.largest_jitter() > 0.0 => text.push_str(&format!(
            "jitter of up to {} was added to a covariance matrix\n",
            format_four_digits(report.largest_jitter())
        )),
        None => {}
    }
    if report.experiment.left_out > 0 {
        let experiment = &report.experiment;
        let why = if experiment.quick { "[quick]" } else { "changed settings" };
        let are = if experiment.left_out == 1 { "number or claim is" } else { "numbers and claims are" };
        text.push_str(&format!("{} {are} left out because of {why}\n", experiment.left_out));
    }
    for claim in &report.claims {
        text.push_str(&format!("{}: {}\n", escape_hidden_line(&outcome_text(claim)), escape_hidden_line(&claim.text)));
    }
    for known in explained_differences(report) {
        text.push_str(&format!(
            "why {} differs: {}\n",
            escape_hidden_line(&known.about),
            escape_hidden_line(&known.note)
        ));
    }
    text
}

/// The differences from print that the spec explains; none if every printed number agrees.
pub fn explained_differences<'r>(report: &'r Report<'_>) -> Vec<&'r ProtocolDeviation> {
    if !report.rows.iter().any(|row| row.verdict() == NumberVerdict::Differs) {
        return Vec::new();
    }
    report.experiment.deviations.iter().filter(|one| one.kind == DeviationKind::Difference).collect()
}

/// The owner and outcome of a claim.
pub(super) fn outcome_text(claim: &ClaimOutcome) -> String {
    let whose = match claim.from {
        ClaimOwner::Paper => format!("the paper ({})", claim.place),
        ClaimOwner::Ours => "ours".to_owned(),
    };
    let outcome = claim.outcome.name();
    let outcome = if claim.outcome == ClaimOutcomeKind::Fails { outcome.to_uppercase() } else { outcome.to_owned() };
    // What holds needs no numbers to be believed.
    let numbers = match claim.outcome {
        ClaimOutcomeKind::Fails | ClaimOutcomeKind::Undecided => claim.decisive_pair_text(),
        ClaimOutcomeKind::Holds | ClaimOutcomeKind::StandIn => String::new(),
    };
    format!("{outcome}{numbers}, {whose}")
}

/// The cells of a row under the headings after the axes.
pub(super) fn cells(row: &ReportRow) -> [String; 11] {
    let certificate = &row.row.certificate;
    let interval = row.reference_comparisons().next().and_then(|judged| judged.predictive.as_ref());
    let others = [("authors", &row.authors), ("reference", &row.reference)];
    let others = others.into_iter().filter_map(|(whose, judged)| Some(reference_text(whose, judged.as_ref()?)));
    [
        format_exact(certificate.epsilon()),
        row.row.metric.clone(),
        format_own_value(row),
        interval
            .map(|PredictiveInterval { low, high, .. }| {
                format!("{} to {}", format_four_digits(*low), format_four_digits(*high))
            })
            .unwrap_or_default(),
        row.published.as_ref().map(|judged| format_printed(&judged.counterpart)).unwrap_or_default(),
        row.published.as_ref().map(verdicts_text).unwrap_or_default(),
        others.collect::<Vec<String>>().join("; "),
        certificate.delta_exact.map(format_four_digits).unwrap_or_default(),
        certificate.gap.map(format_four_digits).unwrap_or_default(),
        row.published
            .as_ref()
            .and_then(|judged| judged.ratio(row.row.value))
            .map(format_hundredths_or_exponent)
            .unwrap_or_default(),
        row.published
            .as_ref()
            .and_then(ReferenceComparison::z_score_of_ours)
            .map(format_hundredths_or_exponent)
            .unwrap_or_default(),
    ]
}

/// Two decimals, or more digits of what is less than a tenth.
pub fn format_hundredths_or_exponent(x: f64) -> String {
    if x.abs() < 0.1 || x.abs() >= 1e4 { format!("{x:.1e}") } else { format!("{x:.2}") }
}

/// The sign for an undefined number.
pub(super) const UNDEFINED: &str = "-";

/// The number of a row with its spread.
pub(super) fn format_own_value(row: &ReportRow) -> String {
    match row.row.undefined {
        Some(_) => UNDEFINED.to_owned(),
        None => with_spread(format_four_digits(row.row.value), row.row.spread.map(format_four_digits)),
    }
}

/// The verdicts on a number and on its spread.
fn verdicts_text(judged: &ReferenceComparison) -> String {
    match judged.spread_verdict {
        NumberVerdict::None => judged.verdict.name().to_owned(),
        spread => format!("{}, its spread {}", judged.verdict.name(), spread.name()),
    }
}

/// A number that the paper does not print, with its owner and verdict.
fn reference_text(whose: &str, judged: &ReferenceComparison) -> String {
    format!("{whose} {}: {}", format_printed(&judged.counterpart), judged.verdict.name())
}

/// A number and its spread with the digits that are printed.
pub(super) fn format_printed(published: &ReferenceValue) -> String {
    let digits = if published.precision > 0.0 { -published.precision.log10().floor() } else { 0.0 };
    let digits = digits.max(0.0) as usize;
    let value = published.value;
    let value = if published.precision > 0.0 { format!("{value:.digits$}") } else { format_exact(value) };
    // A spread may be printed with more digits than its value.
    let spread = published.spread.map(|spread| {
        let (plain, rounded) = (format_exact(spread), format!("{spread:.digits$}"));
        if plain.len() > rounded.len() { plain } else { rounded }
    });
    with_spread(value, spread)
}

pub(super) fn with_spread(value: String, spread: Option<String>) -> String {
    match spread {
        Some(spread) => format!("{value} ± {spread}"),
        None => value,
    }
}

/// The error of single rows about a surface.
const METRIC: &str = "rmse";
/// The least ratio of two errors that counts; smaller ones may be chance.
const LARGER: f64 = 1.003;

/// The sentence on the first two cells that differ only in epsilon where the one without privacy errs more; none
/// without such cells.
///
/// A model trusts sums without noise to the last digit, even if its function varies less than the true one. Noise then
/// keeps it from following them.
fn worse_without_privacy_sentence(report: &Report<'_>) -> Option<String> {
    let place = report.axis_index("epsilon")?;
    let rows = report.rows.iter().filter(|row| row.row.metric == METRIC);
    let errors: Vec<CellRmse> = rows.map(|row| CellRmse::from_row(row, place)).collect();
    let [exactly, private] = find_worse_nonprivate_pair(&errors)?;
    Some(format!(
        "Without privacy the surface fits the rows worse ({METRIC} {} against {} at epsilon {}): the function varies \
         faster than the lengthscales allow. Try shorter ones; until then `difference` does not measure the cost of privacy.",
        format_four_digits(exactly.value),
        format_four_digits(private.value),
        format_exact(private.epsilon),
    ))
}

/// The error of a cell.
#[derive(Debug, PartialEq)]
struct CellRmse<'a> {
    /// Infinite without privacy.
    epsilon: f64,
    /// Its labels on the other axes.
    others: Vec<&'a str>,
    value: f64,
}

impl<'a> CellRmse<'a> {
    fn from_row(row: &'a ReportRow, place: usize) -> Self {
        let labels = row.labels.iter().enumerate().filter(|(axis, _)| *axis != place);
        Self {
            epsilon: row.row.certificate.epsilon(),
            others: labels.map(|(_, label)| label.as_str()).collect(),
            value: row.row.value,
        }
    }

    /// Whether it is that of another cell without privacy, and larger.
    fn is_nonprivate_and_worse_than(&self, private: &Self) -> bool {
        self.epsilon.is_infinite()
            && private.epsilon.is_finite()
            && self.others == private.others
            && self.value > LARGER * private.value
    }
}

/// The first that is worse without privacy, and the private one.
fn find_worse_nonprivate_pair<'e, 'a>(errors: &'e [CellRmse<'a>]) -> Option<[&'e CellRmse<'a>; 2]> {
    errors.iter().find_map(|exactly| {
        let private = errors.iter().find(|private| exactly.is_nonprivate_and_worse_than(private))?;
        Some([exactly, private])
    })
}

/// A table without lines, its columns aligned, fitted to the terminal where there is one.
pub fn plain_table(headings: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    plain_table_dropping_columns(headings, rows, &[])
}

/// The same without columns of these headings, in this order, where all would not fit.
pub fn plain_table_dropping_columns(
    headings: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
    spare: &[&str],
) -> String {
    let headings: Vec<String> = headings.iter().map(|heading| (*heading).to_owned()).collect();
    // A line end in a name would look like a row of its own.
    let rows = rows.map(|row| row.iter().map(|cell| escape_hidden_line(cell).into_owned()).collect());
    let rows: Vec<Vec<String>> = rows.collect();
    WidthFittedTable { headings: &headings, rows: &rows, style: NOTHING, bordered: false, spare }.text()
}

/// The indent of continuation lines.
pub(super) const INDENT: usize = 2;

/// The available columns: `COLUMNS` if it is set, else those of the terminal; none if unlimited.
pub(super) fn available_text_width() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    said.filter(|width| *width > 0).or_else(terminal_width)
}

/// The columns of the terminal; none without a terminal, or if it reports a width of 0.
fn terminal_width() -> Option<usize> {
    terminal_size_of(std::io::stdout()).map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0)
}

/// Prose with lines no wider than there are columns, broken between words. What goes on in the next line is indented; a word that is
/// wider than a line is left whole.
pub fn wrap_prose(prose: &str) -> String {
    match available_text_width() {
        Some(width) => prose.split_inclusive('\n').map(|line| wrap_line(line, width)).collect(),
        None => prose.to_owned(),
    }
}

fn wrap_line(line: &str, width: usize) -> String {
    let mut text = WordWrapper { indent: INDENT + (line.len() - line.trim_start().len()), ..WordWrapper::default() };
    line.trim_end_matches('\n').split(' ').for_each(|word| text.push_word(word, width));
    if line.ends_with('\n') {
        text.text.push('\n');
    }
    text.text
}

/// Words one after the other, and the column that the last one ends at.
#[derive(Debug, Default)]
pub(super) struct WordWrapper {
    pub text: String,
    pub at: usize,
    pub indent: usize,
    begun: bool,
}

impl WordWrapper {
    /// After a text that is there already.
    pub fn from_text(text: String, indent: usize) -> Self {
        Self { at: text.width(), begun: !text.is_empty(), text, indent }
    }

    /// Adds a word, in the next line where it does not fit.
    pub fn push_word(&mut self, word: &str, width: usize) {
        if self.at > self.indent && self.at + 1 + word.width() > width {
            self.text.push_str(&format!("\n{}", " ".repeat(self.indent)));
            self.at = self.indent;
        } else if self.begun {
            self.text.push(' ');
            self.at += 1;
        }
        self.begun = true;
        self.text.push_str(word);
        self.at += word.width();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(epsilon: f64, other: &str, value: f64) -> CellRmse<'_> {
        CellRmse { epsilon, others: vec![other], value }
    }

    #[test]
    fn cells_that_differ_in_epsilon_alone_are_compared() {
        let errors = [
            error(1.0, "a", 11.02),
            error(f64::INFINITY, "b", 11.2),
            error(1.0, "b", 11.19),
            error(f64::INFINITY, "a", 11.2),
        ];
        assert_eq!(find_worse_nonprivate_pair(&errors), Some([&errors[3], &errors[0]]));
        assert_eq!(find_worse_nonprivate_pair(&errors[..3]), None);
        // More privacy may err less by chance.
        assert_eq!(find_worse_nonprivate_pair(&[error(2.0, "a", 12.0), error(1.0, "a", 11.0)]), None);
    }
}

#[cfg(test)]
mod plain_tests {
    use super::*;

    #[test]
    fn a_row_is_one_line() {
        let table = plain_table(&["name", "n"], [vec!["a\n99  b".to_owned(), "1".to_owned()]].into_iter());
        assert_eq!(table.lines().count(), 2);
        assert!(table.contains("a\\n99  b"), "{table}");
    }
}

#[cfg(test)]
mod width_tests {
    use super::*;

    #[test]
    fn prose_is_broken_between_words() {
        let lines = ["results:  0 of 12 values agree\n", "  a = one, two, three\n", "", "averylongword it\n"];
        let folded: String = lines.iter().map(|line| wrap_line(line, 16)).collect();
        let expected = "results:  0 of\n  12 values\n  agree\n  a = one, two,\n    three\naverylongword it\n";
        assert_eq!(folded, expected);
        assert_eq!(wrap_line("averylongword it", 10), "averylongword\n  it");
    }
}
