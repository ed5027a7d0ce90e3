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
use dpgp_report::{Graded, GradedNumber, folded, grade as graded, plain_table, short};
use dpgp_task::Experiment;

const EXAMPLES: &str = "\
Judges a table that somebody else computed as `dpgp run` judges ours: by the numbers that the paper prints and by all claims of the
experiment. The table has the columns metric, value and one for each axis, as table.csv of our results; spread, spread_kind
(sd-folds, sd-replicates, standard-error), repeats, interval_low and interval_high say how far another run would lie. A number without
them is not judged and decides no claim, unless nothing is random in it: then our results have no spread for it, and it is compared as
it is printed. Rows of no cell are counted and left alone. Computes nothing.

The exit code is 1 where a number differs or a claim fails.

Examples:
  dpgp grade theirs.csv --experiment smith2021/table1
  dpgp grade theirs.csv --experiment smith2021/table1 --as md > grade.md
  dpgp grade results/smith2021/table1/table.csv --experiment smith2021/table1      our own, by the same rules";

/// `dpgp grade`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct GradeArguments {
    /// The table, as CSV
    #[arg(value_name = "TABLE.csv")]
    table: PathBuf,
    /// The experiment that it is of
    #[arg(long, value_name = "NAME", add = experiments())]
    experiment: String,
    /// It was computed with the reduced settings of the spec
    #[arg(long)]
    quick: bool,
    /// What the verdicts are written in
    #[arg(long = "as", value_enum, default_value = "text", value_name = "FORM")]
    form: GradeForm,
    #[command(flatten)]
    results: ResultsPlace,
    #[command(flatten)]
    places: Places,
}

/// What verdicts are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GradeForm {
    /// For a terminal.
    Text,
    /// Markdown, for a review.
    Md,
}

/// Judges a table.
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
        (_, GradeForm::Text) => print(&plain(&experiment, &result))?,
        (_, GradeForm::Md) => print_data(&markdown(&experiment, &result))?,
    }
    if result.fails() {
        return Err(CliError::GradeFailed { differs: result.verdicts.differs, fails: result.outcomes.fails });
    }
    Ok(())
}

fn headings(experiment: &Experiment) -> Vec<&str> {
    let axes = experiment.axes.iter().map(|axis| axis.name.as_str());
    axes.chain(["metric", "theirs", "one run of theirs", "published", "verdict"]).collect()
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

/// What is counted, a sentence each.
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
            "number is one that a setting of ours was chosen for; it agrees",
            "numbers are ones that a setting of ours was chosen for; they agree",
        ),
        (
            verdicts.stand_in,
            "number is of an experiment on other data than the paper's",
            "numbers are of an experiment on other data than the paper's",
        ),
        (outcomes.undecided, "claim is undecided", "claims are undecided"),
        (
            outcomes.stand_in,
            "claim is of an experiment on other data than the paper's",
            "claims are of an experiment on other data than the paper's",
        ),
        (result.unknown_rows, "row is of no cell of the experiment", "rows are of no cell of the experiment"),
        (result.missing_numbers, "printed number has no row", "printed numbers have no row"),
        (
            result.missing_claims,
            "claim is about rows that the table has not",
            "claims are about rows that the table has not",
        ),
    ];
    let there = others.iter().filter(|(number, ..)| *number > 0);
    sentences.extend(there.map(|(number, one, several)| counted(*number, one, several)));
    sentences.extend(result.first_unknown.iter().map(|first| format!("the first row of no cell: {first}")));
    sentences.extend(not_judged(result));
    sentences.extend(how_far(result));
    sentences
}

/// How far the numbers are from print, exact zeros apart.
fn how_far(result: &Graded) -> Option<String> {
    let printed = result.numbers.iter().filter(|number| number.published != 0.0);
    let mut ratios: Vec<f64> = printed.map(|number| number.value / number.published).collect();
    ratios.sort_by(f64::total_cmp);
    let (least, most) = (ratios.first()?, ratios.last()?);
    Some(format!("table / print: {} to {}", short(*least), short(*most)))
}

/// How many numbers are not judged, for each reason.
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

/// Each claim with its outcome.
fn claims(result: &Graded) -> impl Iterator<Item = String> {
    result
        .claims
        .iter()
        .map(|claim| format!("{}, {}: {}", claim.outcome.name(), claim.from.name(), claim.text))
}

fn plain(experiment: &Experiment, result: &Graded) -> String {
    let table = plain_table(&headings(experiment), result.numbers.iter().map(cells));
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
