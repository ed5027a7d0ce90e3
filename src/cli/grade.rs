//! `dpgp grade`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::json;

use super::CliError;
use super::options::counted;
use super::options::experiments;
use super::options::{Format, Places, ResultsPlace};
use super::output::GradedExperiment;
use super::output::{print, print_data, print_json};
use dpgp_data::whole_text;
use dpgp_report::{
    BesideNumber, Graded, GradedNumber, UnknownMetric, first_screen_graded, folded, grade as graded,
    plain_table, short,
};
use dpgp_task::Experiment;

const EXAMPLES: &str = "\
Grades another implementation's table as `dpgp run` grades ours: against the numbers in the paper, and against all claims of the experiment.
The table has the columns `metric` and `value` and one for each axis, like table.csv of our results. If it has a column `replicate`,
each row is one run. Otherwise `interval_low` and `interval_high` are the interval that contains the result of another run with
probability 0.95, or else `spread`, `spread_kind` (sd-replicates) and `repeats` state how much runs vary. With neither, or with a spread
of another kind (sd-folds, standard-error), a number is not graded and is not used for claims. The exception is a number for which our
results have no spread: it is not random, and is compared exactly as printed. Rows that match no cell, such as those of a method of
your own, get no verdict; `--rows` shows them beside our numbers and the published ones. The command computes nothing.

The experiment can be from any paper: a TOML file with [experiment], [published] and [[claim]], and no task. `dpgp new --from-table`
writes one.

Exit code 1 means that a number differs or a claim fails.

Examples:
  dpgp grade theirs.csv --experiment smith2021/table1
  dpgp grade theirs.csv --experiment smith2021/table1 --as md > grade.md
  dpgp grade runs.csv --experiment paper.toml                                      the numbers of any paper
  dpgp grade results/smith2021/table1/table.csv --experiment smith2021/table1      our own results, by the same rules";

/// Arguments of `dpgp grade`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct GradeArguments {
    /// The table, as CSV
    #[arg(value_name = "TABLE.csv")]
    table: PathBuf,
    /// The experiment that the table reproduces
    #[arg(long, value_name = "NAME", add = experiments())]
    experiment: String,
    /// The table was computed with the reduced settings of the spec
    #[arg(long)]
    quick: bool,
    /// Print every number with its interval, and every claim
    #[arg(long, short = 'v', visible_alias = "verbose")]
    rows: bool,
    /// Format of the verdicts
    #[arg(long = "as", value_enum, default_value = "text", value_name = "FORMAT")]
    form: GradeForm,
    #[command(flatten)]
    results: ResultsPlace,
    #[command(flatten)]
    places: Places,
}

/// Formats of verdicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GradeForm {
    /// For a terminal.
    Text,
    /// Markdown, for a review.
    Md,
}

/// Grades a table. Fails if a number differs or a claim fails.
pub fn grade(arguments: &GradeArguments, format: Format) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    project.only(&arguments.experiment)?;
    let experiment =
        project.selected(std::slice::from_ref(&arguments.experiment), arguments.quick)?.remove(0);
    let path = &arguments.table;
    let text = whole_text(path).map_err(CliError::io(path))?;
    let ours = match arguments.results.committed(&project, &experiment) {
        Ok(ours) => Some(ours),
        Err(CliError::NoTables(_)) => None,
        Err(error) => return Err(error),
    };
    let result = graded(&experiment, ours.as_ref(), &text)
        .map_err(|cause| CliError::Grade { path: path.clone(), cause })?;
    match (format, arguments.form) {
        (Format::Json, _) => {
            let (experiment, grade) = (experiment.name.clone(), result.clone());
            print_json(&json!(GradedExperiment { experiment, grade }))?
        }
        (_, GradeForm::Text) if arguments.rows => print(&plain(&experiment, &result))?,
        (_, GradeForm::Text) => print(&first_screen_graded(&experiment, &result, &notes(&result)))?,
        (_, GradeForm::Md) => print_data(&markdown(&experiment, &result))?,
    }
    if result.fails() {
        return Err(CliError::GradeFailed { differs: result.verdicts.differs, fails: result.outcomes.fails });
    }
    Ok(())
}

fn headings(experiment: &Experiment) -> Vec<&str> {
    let axes = experiment.axes.iter().map(|axis| axis.name.as_str());
    axes.chain(["metric", "theirs", "95 % of their runs", "published", "verdict"]).collect()
}

fn cells(number: &GradedNumber) -> Vec<String> {
    let GradedNumber { labels, metric, value, interval, published, verdict, .. } = number;
    let interval = interval.map(|[low, high]| format!("{} to {}", short(low), short(high)));
    let own = [
        metric.clone(),
        short(*value),
        interval.unwrap_or_default(),
        short(*published),
        (*verdict).to_owned(),
    ];
    labels.iter().cloned().chain(own).collect()
}

/// Says which rows, numbers and claims are not used, and why.
fn notes(result: &Graded) -> Vec<String> {
    let others = [
        (
            result.unknown_rows,
            "row matches no cell of the experiment",
            "rows match no cell of the experiment",
        ),
        (result.missing_numbers, "printed number has no row", "printed numbers have no row"),
        (
            result.missing_claims,
            "claim needs rows that the table lacks",
            "claims need rows that the table lacks",
        ),
    ];
    let there = others.iter().filter(|(number, ..)| *number > 0);
    let mut notes: Vec<String> = there.map(|(number, one, several)| counted(*number, one, several)).collect();
    notes.extend(result.first_unknown.iter().map(|first| format!("first row that matches no cell: {first}")));
    notes.extend(result.unknown_metrics.iter().map(unknown_metric));
    notes.extend(not_judged(result));
    notes
}

fn unknown_metric(unknown: &UnknownMetric) -> String {
    let UnknownMetric { metric, line, closest } = unknown;
    let meant = closest.iter().map(|closest| format!("; did you mean {closest:?}?")).collect::<String>();
    format!("line {line}: {metric:?} is not a metric of the experiment, so its rows are not compared{meant}")
}

/// Writes the counts, one sentence each.
fn sentences(result: &Graded) -> Vec<String> {
    let (verdicts, outcomes) = (&result.verdicts, &result.outcomes);
    let mut sentences = vec![
        format!(
            "{} of {} agree, {} {}",
            verdicts.agrees,
            counted(verdicts.total(), "printed number", "printed numbers"),
            verdicts.differs,
            if verdicts.differs == 1 { "differs" } else { "differ" }
        ),
        format!(
            "{} of {} hold, {} {}",
            outcomes.holds,
            counted(outcomes.total(), "claim", "claims"),
            outcomes.fails,
            if outcomes.fails == 1 { "fails" } else { "fail" }
        ),
    ];
    let others = [
        (verdicts.inconclusive, "number is inconclusive", "numbers are inconclusive"),
        (
            verdicts.fitted,
            "number agrees, but one of our settings was chosen to match it",
            "numbers agree, but our settings were chosen to match them",
        ),
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
    sentences.extend(there.map(|(number, one, several)| counted(*number, one, several)));
    sentences.extend(notes(result));
    sentences.extend(how_far(result));
    sentences
}

/// States the range of ratios to the printed numbers, without printed zeros.
fn how_far(result: &Graded) -> Option<String> {
    let printed = result.numbers.iter().filter(|number| number.published != 0.0);
    let mut ratios: Vec<f64> = printed.map(|number| number.value / number.published).collect();
    ratios.sort_by(f64::total_cmp);
    let (least, most) = (ratios.first()?, ratios.last()?);
    Some(format!("table / published: {} to {}", short(*least), short(*most)))
}

/// Counts the numbers that are not judged, by reason.
fn not_judged(result: &Graded) -> Vec<String> {
    let reasons: Vec<&str> = result.numbers.iter().filter_map(|number| number.reason).collect();
    let mut distinct = reasons.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let said = distinct.into_iter().map(|reason| {
        let number = reasons.iter().filter(|other| **other == reason).count();
        format!("{}: {reason}", counted(number, "number is not judged", "numbers are not judged"))
    });
    said.collect()
}

/// Lists each claim with its outcome.
fn claims(result: &Graded) -> impl Iterator<Item = String> {
    result
        .claims
        .iter()
        .map(|claim| format!("{}, {}: {}", claim.outcome.name(), claim.from.name(), claim.text))
}

/// Lays out theirs, ours and the printed numbers side by side. Returns `None` if the table of verdicts already shows every number.
fn beside(experiment: &Experiment, result: &Graded) -> Option<String> {
    if result.beside.iter().all(|number| number.theirs.is_some() && number.published.is_some()) {
        return None;
    }
    let axes = experiment.axes.iter().map(|axis| axis.name.as_str());
    let headings: Vec<&str> = axes.chain(["metric", "theirs", "ours", "published"]).collect();
    let told = |number: Option<f64>| number.map(short).unwrap_or_default();
    let rows = result.beside.iter().map(|BesideNumber { labels, metric, theirs, ours, published }| {
        let numbers = [metric.clone(), told(*theirs), told(*ours), told(*published)];
        labels.iter().cloned().chain(numbers).collect::<Vec<_>>()
    });
    Some(plain_table(&headings, rows))
}

fn plain(experiment: &Experiment, result: &Graded) -> String {
    let mut table = plain_table(&headings(experiment), result.numbers.iter().map(cells));
    if let Some(beside) = beside(experiment, result) {
        table += &format!("all numbers side by side\n{beside}");
    }
    let lines: Vec<String> = claims(result).chain(sentences(result)).collect();
    let title = folded(&format!("{}: {}\n", experiment.name, experiment.meta.title));
    format!("{title}{table}{}\n", folded(&lines.join("\n")))
}

fn markdown(experiment: &Experiment, result: &Graded) -> String {
    let mut text = format!("# {}: {}\n\n", experiment.name, experiment.meta.title);
    let headings: Vec<String> = headings(experiment).into_iter().map(str::to_owned).collect();
    text += &line(&headings);
    text += &line(&vec!["---".to_owned(); headings.len()]);
    result.numbers.iter().for_each(|number| text += &line(&cells(number)));
    text += "\n";
    claims(result).chain(sentences(result)).for_each(|said| text += &format!("- {said}\n"));
    text
}

fn line(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}
