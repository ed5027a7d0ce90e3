//! The first screen of an experiment: its table in the layout of the paper, how close our numbers are, failed claims and the guarantee.
//!
//! It has at most [`LINES`] lines and is no wider than the terminal. The long table and the files have all rows.

use unicode_width::UnicodeWidthStr;

use super::claims::{ClaimOutcome, ClaimOutcomeKind};
use super::terminal::{available_text_width, spread_legend};
use super::verdict::NumberVerdict;
use crate::grade::{GradedNumber, TableGrade};
use crate::report::{Report, ReportRow, label_with_axis};
use dpgp_number::text::format_four_digits;
use dpgp_spec::{ClaimOwner, DeviationKind, ReferenceValue};
use dpgp_task::Experiment;

/// The most lines, those of the caller about files and time included.
const LINES: usize = 24;
/// The lines of the table, its head aside.
const BODY: usize = LINES - 16;
/// The most columns of a table across.
const ACROSS: usize = 8;
/// Endings of metrics that follow from others.
const FOLLOWING: [&str; 3] = ["-replicates", "-low", "-high"];

/// The screen of a run, for the width of the terminal, at most 100 columns. Notes about files and time close it.
pub fn run_summary_screen(report: &Report<'_>, notes: &[String]) -> String {
    let guarantees = report.rows.iter().map(|row| &row.row.certificate);
    let guarantees = guarantees.filter(|certificate| certificate.guarantee.is_some());
    let guarantees: Vec<String> = guarantees.map(ToString::to_string).collect();
    // An exception is a line of its own, so that no narrow terminal cuts it off.
    let split =
        guarantees.iter().map(|all| all.split_once(EXCEPT).map_or((all.as_str(), None), |(of, why)| (of, Some(why))));
    let (guarantees, exceptions): (Vec<&str>, Vec<Option<&str>>) = split.unzip();
    let judged: Vec<ComparedNumber> =
        report.rows.iter().map(ComparedNumber::from_row).filter(|item| item.printed.is_some()).collect();
    let lines = [
        failures_line(report),
        agreement_line(&judged, "ours").map(|line| line + &quick_note(report.experiment)),
        claims_line(&report.claims),
        guarantee_line(&distinct(guarantees.into_iter())),
        guarantee_caveats_line(&exceptions),
    ];
    let table = TerminalTable {
        experiment: report.experiment,
        items: &select_numbers(report),
        whose: "ours",
        spread: spread_legend(report),
    };
    let mut lines: Vec<String> = lines.into_iter().flatten().collect();
    let differs = judged.iter().any(|item| item.verdict == NumberVerdict::Differs);
    let mut text = assemble_screen(&table, lines.clone(), notes);
    for further in
        [difference_reasons_line(report.experiment).filter(|_| differs), chosen_settings_line(report.experiment)]
            .into_iter()
            .flatten()
    {
        lines.push(further);
        let longer = assemble_screen(&table, lines.clone(), notes);
        if longer.lines().count() >= LINES {
            break;
        }
        text = longer;
    }
    text
}

/// The screen of a graded table, with the same parts. Notes about its rows close it.
pub fn graded_summary_screen(experiment: &Experiment, graded: &TableGrade, notes: &[String]) -> String {
    let items: Vec<ComparedNumber> = graded.numbers.iter().map(ComparedNumber::from_graded).collect();
    let lines = [agreement_line(&items, "theirs"), claims_line(&graded.claims)];
    let table = TerminalTable { experiment, items: &items, whose: "theirs", spread: None };
    assemble_screen(&table, lines.into_iter().flatten().collect(), notes)
}

fn assemble_screen(table: &TerminalTable<'_>, lines: Vec<String>, notes: &[String]) -> String {
    let width = available_text_width().unwrap_or(80).min(100);
    let experiment = table.experiment;
    let mut text = wrapped(&format!("{}  {}", experiment.name, experiment.meta.title), width, 2) + "\n";
    let shown = table.text(width);
    let spread = table.spread.as_deref().filter(|_| shown.contains('±'));
    match (&distinct(table.items.iter().map(ComparedNumber::metric))[..], spread) {
        ([only], Some(spread)) => text.push_str(&wrapped(&format!(" {only} ({spread})"), width, 2)),
        ([only], None) => text.push_str(&format!(" {only}\n")),
        (_, Some(spread)) => text.push_str(&wrapped(&format!(" {spread}"), width, 2)),
        (_, None) => {}
    }
    text.push_str(&shown);
    if !lines.is_empty() {
        text.push('\n');
    }
    for line in lines {
        text.push_str(&wrapped(&format!(" {line}"), width, 2));
    }
    let notes = notes.iter().map(|note| wrapped(&format!(" {note}"), width, usize::MAX));
    format!("{text}\n{}", notes.collect::<String>())
}

/// A number of the table beside the printed one.
struct ComparedNumber {
    /// Its labels on the axes, then its metric.
    labels: Vec<String>,
    /// None if it is undefined.
    value: Option<f64>,
    spread: Option<f64>,
    printed: Option<ReferenceValue>,
    verdict: NumberVerdict,
    /// Whether runs of ours show how far chance moves the number.
    is_random: bool,
}

impl ComparedNumber {
    fn from_row(row: &ReportRow) -> Self {
        Self {
            labels: row.labels.iter().chain([&row.row.metric]).cloned().collect(),
            value: row.row.undefined.is_none().then_some(row.row.value),
            spread: row.row.spread,
            printed: row.published.as_ref().map(|judged| judged.counterpart.clone()),
            verdict: row.verdict(),
            is_random: row.row.replicates.len() > 1,
        }
    }

    fn from_graded(number: &GradedNumber) -> Self {
        Self {
            labels: number.labels.iter().chain([&number.metric]).cloned().collect(),
            value: Some(number.value),
            spread: None,
            printed: Some(number.printed.clone()),
            verdict: number.judged,
            is_random: true,
        }
    }

    fn metric(&self) -> &str {
        self.labels.last().map_or("", String::as_str)
    }

    /// The number, to the digits of the paper if it prints one.
    fn format_number(&self, form: NumberDetail) -> String {
        let Some(value) = self.value else { return "undefined".to_owned() };
        let decimals = self.printed.as_ref().map(decimals);
        let text = |x: f64| decimals.map_or_else(|| format_four_digits(x), |decimals| format!("{x:.decimals$}"));
        match self.spread.filter(|_| form != NumberDetail::Marks) {
            Some(spread) => format!("{} ± {}", text(value), text(spread)),
            None => text(value),
        }
    }

    /// The printed number, and whether the other differs by more than chance.
    fn printed_number_with_mark(&self) -> String {
        let Some(printed) = &self.printed else { return String::new() };
        let decimals = decimals(printed);
        let text = |x: f64| format!("{x:.decimals$}");
        let spread = printed.spread.map_or(String::new(), |spread| format!(" ± {}", text(spread)));
        format!("{}{spread}  {}", text(printed.value), self.verdict.mark()).trim_end().to_owned()
    }
}

/// The rows of the first screen: those of the layout's metric, else those that the paper prints, else those of the first metric.
fn select_numbers(report: &Report<'_>) -> Vec<ComparedNumber> {
    let metric = |row: &'_ ReportRow| row.row.metric.clone();
    let layout = report.experiment.layout.as_ref();
    let printed: Vec<String> = report.rows.iter().filter(|row| row.published.is_some()).map(metric).collect();
    let first = report.rows.iter().map(metric).find(|name| !FOLLOWING.iter().any(|end| name.ends_with(end)));
    let only_printed = layout.is_none() && !printed.is_empty();
    let wanted: Vec<String> = match layout {
        Some(layout) => vec![layout.metric.clone()],
        None if printed.is_empty() => first.into_iter().collect(),
        None => printed,
    };
    let rows = report.rows.iter().filter(|row| wanted.contains(&row.row.metric));
    rows.filter(|row| !only_printed || row.published.is_some()).map(ComparedNumber::from_row).collect()
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// The numbers of a table, and whose they are.
struct TerminalTable<'a> {
    experiment: &'a Experiment,
    items: &'a [ComparedNumber],
    whose: &'static str,
    /// What `±` means; none without spreads.
    spread: Option<String>,
}

impl TerminalTable<'_> {
    /// The table, in the first form that fits.
    fn text(&self, width: usize) -> String {
        let items = self.items;
        let mut names: Vec<String> = self.experiment.axes.iter().map(|axis| axis.name.clone()).collect();
        names.push("metric".to_owned());
        let values = |axis: usize| distinct(items.iter().map(|item| item.labels[axis].as_str()));
        let varying: Vec<usize> = (0..names.len()).filter(|axis| values(*axis).len() > 1).collect();
        let across = match &self.experiment.layout {
            Some(layout) => names.iter().position(|name| layout.columns.contains(name)),
            None => varying.iter().rev().copied().find(|axis| (2..=ACROSS).contains(&values(*axis).len())),
        };
        let across = across.filter(|axis| varying.contains(axis));
        let down: Vec<usize> = varying.iter().copied().filter(|axis| Some(*axis) != across).collect();
        let grid = TerminalLayout { table: self, names: &names, down: &down, across };
        let forms = [NumberDetail::WithPrint, NumberDetail::Spreads, NumberDetail::Marks];
        let fitting = forms
            .into_iter()
            .filter(|_| across.is_some())
            .map(|form| grid.lines(form))
            .find(|lines| fits(lines, width) && lines.len() <= BODY + 1);
        let marks = || Some(grid.lines(NumberDetail::Marks)).filter(|lines| across.is_some() && fits(lines, width));
        let long =
            || TerminalLayout { table: self, names: &names, down: &varying, across: None }.lines(NumberDetail::Spreads);
        render_truncated_table(fitting.or_else(marks).unwrap_or_else(long), width)
    }
}

fn fits(lines: &[Vec<String>], width: usize) -> bool {
    column_widths(lines).iter().sum::<usize>() + 2 * column_widths(lines).len() <= width
}

/// How much of a number is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberDetail {
    /// With its spread, what the paper prints on a line below.
    WithPrint,
    /// With its spread.
    Spreads,
    /// Itself.
    Marks,
}

/// A table with labels of some axes at the left and, perhaps, those of one at the top.
struct TerminalLayout<'a> {
    table: &'a TerminalTable<'a>,
    names: &'a [String],
    down: &'a [usize],
    across: Option<usize>,
}

impl TerminalLayout<'_> {
    /// The cells, line by line, the head first.
    fn lines(&self, form: NumberDetail) -> Vec<Vec<String>> {
        let tops = match self.across {
            Some(axis) => distinct(self.table.items.iter().map(|item| item.labels[axis].as_str())),
            None => vec![""],
        };
        let mut head: Vec<String> = self.down.iter().map(|axis| self.names[*axis].clone()).collect();
        if let (Some(last), Some(axis)) = (head.last_mut(), self.numeric_column_axis(&tops)) {
            *last = format!("{last} / {}", self.names[axis]);
        }
        head.extend(tops.iter().map(|top| self.column_heading(top, &tops)));
        let prints = form == NumberDetail::WithPrint && self.table.items.iter().any(|item| item.printed.is_some());
        let beside = form != NumberDetail::WithPrint
            && self.across.is_none()
            && self.table.items.iter().any(|item| item.printed.is_some());
        if prints {
            head.insert(self.down.len(), String::new());
        }
        if beside {
            head.push("paper".to_owned());
        }
        let mut lines = vec![head];
        let mut lefts: Vec<Vec<&str>> = Vec::new();
        for item in self.table.items {
            let left: Vec<&str> = self.down.iter().map(|axis| item.labels[*axis].as_str()).collect();
            if !lefts.contains(&left) {
                lefts.push(left);
            }
        }
        for left in lefts {
            let found: Vec<Option<&ComparedNumber>> = tops.iter().map(|top| self.find_number(&left, top)).collect();
            let labels: Vec<String> = left.iter().map(|label| label_infinity_as_none(label)).collect();
            let ours = |item: &Option<&ComparedNumber>| item.map_or(String::new(), |item| item.format_number(form));
            if prints {
                let mut line = labels.clone();
                line.push(self.table.whose.to_owned());
                line.extend(found.iter().map(ours));
                lines.push(line);
                let mut line = vec![String::new(); labels.len()];
                line.push("paper".to_owned());
                line.extend(
                    found.iter().map(|item| item.map_or(String::new(), ComparedNumber::printed_number_with_mark)),
                );
                lines.push(line);
            } else {
                let mut line = labels;
                let marked = |item: &Option<&ComparedNumber>| {
                    let mark = item.filter(|_| !beside).map_or("", |item| item.verdict.mark());
                    format!("{} {mark}", ours(item)).trim_end().to_owned()
                };
                line.extend(found.iter().map(marked));
                if beside {
                    line.extend(
                        found.iter().map(|item| item.map_or(String::new(), ComparedNumber::printed_number_with_mark)),
                    );
                }
                lines.push(line);
            }
        }
        lines
    }

    fn find_number(&self, left: &[&str], top: &str) -> Option<&ComparedNumber> {
        self.table.items.iter().find(|item| {
            self.across.is_none_or(|axis| item.labels[axis] == top)
                && self.down.iter().zip(left).all(|(axis, label)| item.labels[*axis] == *label)
        })
    }

    /// The axis across whose labels are numbers, which its name in the corner explains.
    fn numeric_column_axis(&self, tops: &[&str]) -> Option<usize> {
        let axis = self.across.filter(|_| !self.down.is_empty())?;
        tops.iter().any(|top| top.parse::<f64>().is_ok()).then_some(axis)
    }

    fn column_heading(&self, label: &str, tops: &[&str]) -> String {
        if self.numeric_column_axis(tops).is_some() {
            return label_infinity_as_none(label);
        }
        match self.across.and_then(|axis| self.table.experiment.axes.get(axis)) {
            Some(axis) => label_with_axis(axis, &label_infinity_as_none(label)),
            None if label.is_empty() => self.table.whose.to_owned(),
            None => label.to_owned(),
        }
    }
}

/// An infinite epsilon is none.
fn label_infinity_as_none(label: &str) -> String {
    if label == "inf" { "none".to_owned() } else { label.to_owned() }
}

fn decimals(printed: &ReferenceValue) -> usize {
    (-printed.precision.log10()).round().clamp(0.0, 6.0) as usize
}

/// The lines of a table, no wider than the terminal, and those that are left out counted.
fn render_truncated_table(lines: Vec<Vec<String>>, width: usize) -> String {
    let widths = column_widths(&lines);
    let total = lines.len();
    let mut text = String::new();
    let (most, left) = if total > BODY + 1 { (BODY, total - BODY) } else { (total, 0) };
    for line in lines.into_iter().take(most) {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!("{cell}{}", " ".repeat(width - cell.width())));
        let cells: Vec<String> = cells.collect();
        text.push_str(&(cut(&format!(" {}", cells.join("  ")), width) + "\n"));
    }
    if left > 0 {
        text.push_str(&format!(" ... and {left} more lines (use --rows)\n"));
    }
    text
}

fn column_widths(lines: &[Vec<String>]) -> Vec<usize> {
    let columns = lines.iter().map(Vec::len).max().unwrap_or_default();
    (0..columns)
        .map(|i| lines.iter().filter_map(|line| line.get(i)).map(|cell| cell.width()).max().unwrap_or(0))
        .collect()
}

/// A sentence on so many lines at most, the later ones indented.
fn wrapped(text: &str, width: usize, most: usize) -> String {
    let (indent, mut rest) = (" ".repeat(3), text.to_owned());
    let mut lines = Vec::new();
    while lines.len() + 1 < most && rest.width() > width {
        let end = rest.char_indices().take_while(|(at, _)| rest[..*at].width() <= width);
        let end = end.filter(|(at, letter)| *letter == ' ' && *at > indent.len()).last();
        let Some((end, _)) = end else { break };
        let next = format!("{indent}{}", rest[end..].trim_start());
        rest.truncate(end);
        lines.push(std::mem::replace(&mut rest, next));
    }
    // Without a limit nothing is left out: a path may be longer than a line.
    lines.push(if most == usize::MAX { rest } else { cut(&rest, width) });
    lines.join("\n") + "\n"
}

/// A line that ends in an ellipsis where it is too long.
fn cut(line: &str, width: usize) -> String {
    let line = line.trim_end();
    if line.width() <= width {
        return line.to_owned();
    }
    let mut text = String::new();
    for letter in line.chars() {
        if text.width() + 4 > width {
            break;
        }
        text.push(letter);
    }
    text.trim_end().to_owned() + "..."
}

/// The cells that could not be computed.
fn failures_line(report: &Report<'_>) -> Option<String> {
    let first = report.failure_sentences().next()?;
    let n = report.failed.len();
    let noun = if n == 1 { "cell" } else { "cells" };
    Some(format!("FAILED: {n} {noun} could not be computed; the first: {first}"))
}

/// How far the numbers lie from the printed ones, and which differ by more than chance.
fn agreement_line(judged: &[ComparedNumber], whose: &str) -> Option<String> {
    if judged.is_empty() {
        return None;
    }
    let far = judged.iter().filter_map(|item| {
        let printed = item.printed.as_ref()?.value;
        Some((item.value? / printed - 1.0).abs()).filter(|far| printed != 0.0 && far.is_finite())
    });
    let far = far.fold(f64::NAN, f64::max);
    let count = |wanted: NumberVerdict| judged.iter().filter(|item| item.verdict == wanted).count();
    let beyond_chance = judged.iter().filter(|item| item.verdict == NumberVerdict::Differs && item.is_random).count();
    let parts = [
        (count(NumberVerdict::Agrees), "agree ✓"),
        (count(NumberVerdict::Fitted), "agree after fitting a setting ≈"),
        (beyond_chance, "differ by more than chance ✗"),
        (count(NumberVerdict::Differs) - beyond_chance, "differ by more than rounding ✗"),
        (count(NumberVerdict::Inconclusive), "inconclusive ~"),
        (count(NumberVerdict::NotJudged), "not judged ~"),
        (count(NumberVerdict::StandIn), "on other data ○"),
    ];
    let said = |(n, what): (usize, &str)| match (n, what.split_once(' ')) {
        (1, Some((verb @ ("agree" | "differ"), rest))) => format!("1 {verb}s {rest}"),
        _ => format!("{n} {what}"),
    };
    let parts: Vec<String> = parts.into_iter().filter(|(n, _)| *n > 0).map(said).collect();
    let all = judged.len();
    let noun = if all == 1 { "printed number" } else { "printed numbers" };
    let far = if far.is_finite() { format!(", {whose} within {}", percent_rounded_up(far)) } else { String::new() };
    Some(format!("{all} {noun}{far}: {}", parts.join(", ")))
}

/// Why a quick run judges few numbers; empty for a full one.
fn quick_note(experiment: &Experiment) -> String {
    match (experiment.quick, experiment.meta.replicates) {
        (false, _) => String::new(),
        (true, 1) => " (--quick: 1 replicate)".to_owned(),
        (true, replicates) => format!(" (--quick: {replicates} replicates)"),
    }
}

/// A share, rounded up.
fn percent_rounded_up(share: f64) -> String {
    match 100.0 * share {
        percent if percent >= 10.0 => format!("{:.0} %", percent.ceil()),
        percent => format!("{:.1} %", (10.0 * percent).ceil() / 10.0),
    }
}

/// How many claims hold, those of the paper and ours apart, and the first that does not.
fn claims_line(claims: &[ClaimOutcome]) -> Option<String> {
    let of = |owner: ClaimOwner| claims.iter().filter(|claim| claim.from == owner).collect::<Vec<_>>();
    let (paper, ours) = (of(ClaimOwner::Paper), of(ClaimOwner::Ours));
    let mut text = match (paper.len(), ours.len()) {
        (0, 0) => return None,
        (n, 0) => tally_outcomes(&format!("{n} {} of the paper", if n == 1 { "claim" } else { "claims" }), &paper),
        (0, n) => tally_outcomes(&format!("{n} {} of ours", if n == 1 { "claim" } else { "claims" }), &ours),
        (1, n) => {
            format!(
                "{}; {}",
                tally_outcomes("1 claim of the paper", &paper),
                tally_outcomes(&format!("{n} of ours"), &ours)
            )
        }
        (m, n) => {
            format!(
                "{}; {}",
                tally_outcomes(&format!("{m} claims of the paper"), &paper),
                tally_outcomes(&format!("{n} of ours"), &ours)
            )
        }
    };
    let mut failing = paper.iter().chain(&ours).filter(|claim| claim.outcome == ClaimOutcomeKind::Fails);
    if let Some(first) = failing.next() {
        let more = failing.count();
        let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
        text.push_str(&format!(". Fails{more}: {}", shortened_claim(&first.text)));
    }
    Some(text)
}

/// The outcomes of some claims, after their number.
fn tally_outcomes(of: &str, claims: &[&ClaimOutcome]) -> String {
    let count = |wanted: ClaimOutcomeKind| claims.iter().filter(|claim| claim.outcome == wanted).count();
    let parts = [
        (count(ClaimOutcomeKind::Holds), "hold"),
        (count(ClaimOutcomeKind::Fails), "fail"),
        (count(ClaimOutcomeKind::Undecided), "undecided"),
        (count(ClaimOutcomeKind::StandIn), "on other data"),
    ];
    let said = |(n, word): (usize, &str)| match (n, word) {
        (1, "hold" | "fail") => format!("1 {word}s"),
        _ => format!("{n} {word}"),
    };
    let parts: Vec<String> = parts.into_iter().filter(|(n, _)| *n > 0).map(said).collect();
    format!("{of}: {}", parts.join(", "))
}

/// The most characters of a failing claim: what it turns on often comes last, so a longer one is cut in the middle.
const CLAIM: usize = 90;

fn shortened_claim(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= CLAIM {
        return text.to_owned();
    }
    let (head, tail) = (&letters[..CLAIM / 2], &letters[letters.len() - (CLAIM / 2 - 5)..]);
    format!("{} ... {}", head.iter().collect::<String>().trim_end(), tail.iter().collect::<String>().trim_start())
}

/// What is known of the reasons why numbers differ.
fn difference_reasons_line(experiment: &Experiment) -> Option<String> {
    let known = experiment.deviations.iter().filter(|one| one.kind == DeviationKind::Difference);
    let known: Vec<&str> = known.map(|one| one.about.as_str()).collect();
    (!known.is_empty()).then(|| format!("explained in table.md: {}", known.join(", ")))
}

/// What the paper leaves open and the spec chooses.
fn chosen_settings_line(experiment: &Experiment) -> Option<String> {
    let open = experiment.deviations.iter().filter(|one| one.kind == DeviationKind::Inferred);
    let open: Vec<&str> = open.map(|one| one.about.as_str()).collect();
    let of_paper = experiment.meta.paper.as_deref().is_some_and(|paper| paper != OWN);
    (of_paper && !open.is_empty()).then(|| format!("not in the paper, chosen by us: {}", open.join(", ")))
}

/// The experiments of no paper.
const OWN: &str = "beyond";

/// What separates a guarantee from its exceptions.
const EXCEPT: &str = "; except: ";

/// The exceptions of all guarantees.
fn guarantee_caveats_line(all: &[Option<&str>]) -> Option<String> {
    let some = if all.iter().all(Option::is_some) { "" } else { ", for some rows" };
    let exceptions = distinct(all.iter().flatten().copied());
    (!exceptions.is_empty()).then(|| format!("except{some}: {}", exceptions.join("; ")))
}

/// The guarantee of the private rows, the first of several.
fn guarantee_line(all: &[&str]) -> Option<String> {
    let first = all.first()?;
    Some(match all.len() {
        1 => format!("guarantee: {first}"),
        n => format!("{n} guarantees; the first: {first}"),
    })
}
