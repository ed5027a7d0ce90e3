//! A graded table in words: each number with its interval and verdict, each claim, and the counts.

use crate::grade::{GradedNumber, NumberComparison, TableGrade, UnknownMetric};
use crate::table::verdict::NumberVerdict;
use crate::table::{plain_table, wrap_prose};
use dpgp_number::text::{count_with_noun, format_four_digits};
use dpgp_task::Experiment;

fn headings(experiment: &Experiment) -> Vec<&str> {
    let axes = experiment.axes.iter().map(|axis| axis.name.as_str());
    axes.chain(["metric", "theirs", "95 % of their runs", "published", "verdict"]).collect()
}

fn graded_number_row(number: &GradedNumber) -> Vec<String> {
    let GradedNumber { labels, metric, value, interval, published, verdict, reason, .. } = number;
    let reason = reason.iter().filter(|_| *verdict != NumberVerdict::NotJudged.name());
    let interval = interval.map(|[low, high]| format!("{} to {}", format_four_digits(low), format_four_digits(high)));
    let own = [
        metric.clone(),
        format_four_digits(*value),
        interval.unwrap_or_default(),
        format_four_digits(*published),
        std::iter::once(*verdict).chain(reason.map(String::as_str)).collect::<Vec<_>>().join(": "),
    ];
    labels.iter().cloned().chain(own).collect()
}

/// Says which rows, numbers and claims are not used, and why.
pub fn grading_notes(result: &TableGrade) -> Vec<String> {
    let others = [
        (result.unknown_rows, "row matches no cell of the experiment", "rows match no cell of the experiment"),
        (result.missing_numbers, "printed number has no row in the table", "printed numbers have no row in the table"),
        (result.missing_claims, "claim needs rows that the table lacks", "claims need rows that the table lacks"),
        (
            result.partial_claims,
            "claim needs more rows than the table has, so it can fail but not hold",
            "claims need more rows than the table has, so they can fail but not hold",
        ),
    ];
    let there = others.iter().filter(|(number, ..)| *number > 0);
    let mut notes: Vec<String> = there.map(|(number, one, several)| count_with_noun(*number, one, several)).collect();
    notes.extend(result.first_unknown.iter().map(|first| format!("first row that matches no cell: {first}")));
    notes.extend(result.unknown_metrics.iter().map(describe_unknown_metric));
    notes.extend(unjudged_number_notes(result));
    notes
}

fn describe_unknown_metric(unknown: &UnknownMetric) -> String {
    let UnknownMetric { metric, line, closest } = unknown;
    let meant = closest.iter().map(|closest| format!("; did you mean {closest:?}?")).collect::<String>();
    format!("line {line}: {metric:?} is not a metric of the experiment, so its rows are not compared{meant}")
}

/// Writes the counts, one sentence each.
fn grading_sentences(result: &TableGrade) -> Vec<String> {
    let (verdicts, outcomes) = (&result.verdicts, &result.outcomes);
    let mut sentences = vec![
        format!(
            "{} of {} printed numbers agree{}, {} {}",
            verdicts.agrees,
            verdicts.total(),
            match verdicts.fitted {
                0 => String::new(),
                fitted => format!(" (and {fitted} more, but our settings were chosen to match them)"),
            },
            verdicts.differs,
            if verdicts.differs == 1 { "differs" } else { "differ" }
        ),
        format!(
            "{} of {} claims hold, {} {}",
            outcomes.holds,
            outcomes.total(),
            outcomes.fails,
            if outcomes.fails == 1 { "fails" } else { "fail" }
        ),
    ];
    let others = [
        (verdicts.inconclusive, "number is inconclusive", "numbers are inconclusive"),
        (
            verdicts.stand_in,
            "number is from an experiment on data other than the paper's",
            "numbers are from an experiment on data other than the paper's",
        ),
        (outcomes.undecided, "claim is undecided", "claims are undecided"),
        (
            outcomes.stand_in,
            "claim is about an experiment on data other than the paper's",
            "claims are about an experiment on data other than the paper's",
        ),
    ];
    let there = others.iter().filter(|(number, ..)| *number > 0);
    sentences.extend(there.map(|(number, one, several)| count_with_noun(*number, one, several)));
    sentences.extend(grading_notes(result));
    sentences.extend(ratio_range_text(result));
    sentences
}

/// States the range of ratios to the printed numbers, without printed zeros.
fn ratio_range_text(result: &TableGrade) -> Option<String> {
    let printed = result.numbers.iter().filter(|number| number.published != 0.0);
    let mut ratios: Vec<f64> = printed.map(|number| number.value / number.published).collect();
    ratios.sort_by(f64::total_cmp);
    let (least, most) = (ratios.first()?, ratios.last()?);
    Some(format!("ratios of theirs to published: {} to {}", format_four_digits(*least), format_four_digits(*most)))
}

/// Counts the numbers that are not judged, by reason.
fn unjudged_number_notes(result: &TableGrade) -> Vec<String> {
    let unjudged = result.numbers.iter().filter(|number| number.verdict == NumberVerdict::NotJudged.name());
    let reasons: Vec<&str> = unjudged.filter_map(|number| number.reason.as_deref()).collect();
    let mut distinct = reasons.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let said = distinct.into_iter().map(|reason| {
        let number = reasons.iter().filter(|other| **other == reason).count();
        format!("{}: {reason}", count_with_noun(number, "number is not judged", "numbers are not judged"))
    });
    said.collect()
}

/// Lists each claim with its outcome.
fn claim_lines(result: &TableGrade) -> impl Iterator<Item = String> {
    result.claims.iter().map(|claim| format!("{}, {}: {}", claim.outcome.name(), claim.from.name(), claim.text))
}

/// Lays out theirs, ours and the printed numbers side by side. Returns `None` if the table of verdicts already shows every number.
fn comparison_table(experiment: &Experiment, result: &TableGrade) -> Option<String> {
    if result.beside.iter().all(|number| number.theirs.is_some() && number.published.is_some()) {
        return None;
    }
    let axes = experiment.axes.iter().map(|axis| axis.name.as_str());
    let headings: Vec<&str> = axes.chain(["metric", "theirs", "ours", "published"]).collect();
    let told = |number: Option<f64>| number.map(format_four_digits).unwrap_or_default();
    let rows = result.beside.iter().map(|NumberComparison { labels, metric, theirs, ours, published }| {
        let numbers = [metric.clone(), told(*theirs), told(*ours), told(*published)];
        labels.iter().cloned().chain(numbers).collect::<Vec<_>>()
    });
    Some(plain_table(&headings, rows))
}

/// Every number with its interval, every claim and the counts, for a terminal.
pub fn grade_text(experiment: &Experiment, result: &TableGrade) -> String {
    let mut table = plain_table(&headings(experiment), result.numbers.iter().map(graded_number_row));
    if let Some(beside) = comparison_table(experiment, result) {
        table += &format!("all numbers side by side\n{beside}");
    }
    let lines: Vec<String> = claim_lines(result).chain(grading_sentences(result)).collect();
    let title = wrap_prose(&format!("{}: {}\n", experiment.name, experiment.meta.title));
    format!("{title}{table}{}\n", wrap_prose(&lines.join("\n")))
}

/// The same in Markdown, for a review.
pub fn grade_markdown(experiment: &Experiment, result: &TableGrade) -> String {
    let mut text = format!("# {}: {}\n\n", experiment.name, experiment.meta.title);
    let headings: Vec<String> = headings(experiment).into_iter().map(str::to_owned).collect();
    text += &markdown_row(&headings);
    text += &markdown_row(&vec!["---".to_owned(); headings.len()]);
    result.numbers.iter().for_each(|number| text += &markdown_row(&graded_number_row(number)));
    text += "\n";
    claim_lines(result).chain(grading_sentences(result)).for_each(|said| text += &format!("- {said}\n"));
    text
}

fn markdown_row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}
