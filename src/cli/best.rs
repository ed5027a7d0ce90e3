//! `dpgp best`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::{DataLocationArguments, OutputFormat, ResultsArguments, experiment_completer};
use super::output::{print, print_json};
use dpgp_data::read_limited_text;
use dpgp_report::{
    AddedMethod, ProtectedUnit, RankedMethod, Ranking, RankingFilter, format_four_digits, plain_table,
    read_added_methods, wrap_prose,
};
use dpgp_run::Project;
use dpgp_task::Experiment;

const EXAMPLES: &str = "\
Ranks methods by the committed tables of experiments whose spec says whether higher or lower is better. Computes nothing. Outside a
project, it uses the tables shipped with dpgp if the results folder has none. Methods within two standard errors of the best are level
with it and are marked with =, because another run may change their order. Methods without a guarantee are shown but not ranked.

Examples:
  dpgp best --epsilon 1                    the best methods of every leaderboard
  dpgp best houses --epsilon 1 --all       all methods, in their order
  dpgp best --hides records                methods that also keep inputs private
  dpgp best beyond/leaderboard/kung --epsilon 1 --with mine.csv    with methods of your own";

/// Arguments of `dpgp best`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct BestArguments {
    /// Experiments, a prefix (beyond/leaderboard), or a tag (houses) [default: the tag leaderboard]
    #[arg(value_name = "NAME", add = experiment_completer())]
    names: Vec<String>,
    #[command(flatten)]
    filter: RankingArguments,
    #[command(flatten)]
    results: ResultsArguments,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// Which methods a ranking has.
#[derive(Debug, Args)]
pub(super) struct RankingArguments {
    /// The privacy parameter, or inf for no privacy [default: every epsilon in the tables]
    #[arg(long, value_name = "E", value_parser = epsilon, allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Show only methods that protect targets, whole records, or all records of a person
    #[arg(long, value_name = "targets|records|persons")]
    hides: Option<ProtectedUnit>,
    /// All methods, not only the best
    #[arg(long)]
    all: bool,
    /// Also rank methods of your own, from a CSV file with the columns metric and value and a column for each axis of the experiment (such
    /// as method and epsilon); rows with equal labels are repeated runs, or folds if there is a column `fold`
    #[arg(long, value_name = "TABLE.csv")]
    with: Option<PathBuf>,
}

fn epsilon(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(epsilon) if epsilon > 0.0 => Ok(epsilon),
        _ if text == "none" => Ok(f64::INFINITY),
        _ => Err("must be a number above 0, or inf (or none) for no privacy".to_owned()),
    }
}

/// Prints a ranking of methods.
pub fn best(arguments: &BestArguments, format: OutputFormat) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    print_ranking(&project, &arguments.names, &arguments.filter, &arguments.results, format)
}

/// Prints the ranking of the named experiments, else of all leaderboards.
pub(super) fn print_ranking(
    project: &Project,
    names: &[String],
    form: &RankingArguments,
    results: &ResultsArguments,
    format: OutputFormat,
) -> Result<(), CliError> {
    let filter = RankingFilter { epsilon: form.epsilon, hides: form.hides };
    let (mut rankings, mut known) = (Vec::new(), Vec::new());
    let ranked = ranked_experiments(project, names)?;
    if form.with.is_some() && ranked.len() != 1 {
        return Err(CliError::OneLeaderboard);
    }
    for experiment in ranked {
        let committed = results.read_committed_warning_if_stale(project, &experiment)?;
        let others = form.with.as_deref().map(|table| read_added_methods_file(table, &experiment)).transpose()?;
        rankings.extend(Ranking::rank_all(&experiment, &committed, &filter, &others.unwrap_or_default()));
        known.extend(Ranking::ranked_row_epsilons(&experiment, &committed));
    }
    if rankings.is_empty() {
        return Err(empty_ranking_error(form.epsilon, known));
    }
    if let Some(path) = form.with.clone().filter(|_| !rankings.iter().any(Ranking::has_added_method)) {
        return Err(CliError::NothingAdded { path, epsilon: form.epsilon });
    }
    if !form.all {
        rankings.iter_mut().for_each(keep_best_methods);
    }
    if format == OutputFormat::Json {
        return print_json(&json!(rankings));
    }
    let texts: Vec<String> = rankings.iter().map(text).collect();
    let legend = wrap_prose(&legend(&rankings));
    print(&format!("{}{legend}", texts.join("\n")))
}

/// Reads the user's own methods.
fn read_added_methods_file(table: &Path, experiment: &Experiment) -> Result<Vec<AddedMethod>, CliError> {
    let text = read_limited_text(table).map_err(CliError::io_error_at(table))?;
    let metric = experiment.layout.as_ref().map_or("", |layout| layout.metric.as_str());
    read_added_methods(&text, experiment, metric).map_err(|cause| CliError::Grade { path: table.to_path_buf(), cause })
}

/// Makes the error for an empty ranking: no table has the epsilon, or no table is a ranking.
fn empty_ranking_error(epsilon: Option<f64>, mut known: Vec<f64>) -> CliError {
    known.sort_by(f64::total_cmp);
    known.dedup();
    match epsilon {
        Some(epsilon) if !known.is_empty() && !known.contains(&epsilon) => CliError::NoSuchEpsilon { epsilon, known },
        _ => CliError::NothingRanked,
    }
}

fn ranked_experiments(project: &Project, names: &[String]) -> Result<Vec<Experiment>, CliError> {
    if names.is_empty() {
        return Ok(project.find_experiments("leaderboard")?);
    }
    Ok(project.select_experiments(names, false)?)
}

/// Keeps the best method, those level with it, the reference and the user's own.
fn keep_best_methods(ranking: &mut Ranking) {
    let reference = ranking.nonprivate_reference().cloned();
    ranking.methods.retain(|method| method.level_with_best || method.added || reference.as_ref() == Some(method));
}

fn text(ranking: &Ranking) -> String {
    let Ranking { experiment, column, metric, greatest, methods } = ranking;
    let place = if column.is_empty() { experiment.clone() } else { format!("{experiment}, {column}") };
    let order = if *greatest { "highest" } else { "lowest" };
    let reference = ranking.nonprivate_reference();
    let against = reference.map_or(String::new(), |method| format!("against {}", method.method));
    let headings = ["", "method", metric.as_str(), "hides", against.as_str()];
    let rows = methods.iter().map(|method| ranking_row(method, reference));
    let title = wrap_prose(&format!("{place}: {order} {metric} is best\n"));
    let table = plain_table(&headings, rows);
    let Some(reference) = reference.filter(|_| ranking.lacks_gain_over_nonprivate()) else {
        return format!("{title}{table}");
    };
    let note = format!("the best method beats {} by at most two standard errors of the difference\n", reference.method);
    format!("{title}{table}{}", wrap_prose(&note))
}

/// Explains `±` and `=`, if they appear. The metric is in the units of its name, else of the target.
fn legend(rankings: &[Ranking]) -> String {
    let mut methods = rankings.iter().flat_map(|ranking| &ranking.methods);
    if !methods.any(|method| method.standard_error > 0.0) {
        return String::new();
    }
    wrap_prose(
        "±: one standard error of the mean over folds, or over replicates if there are five or more replicates or no folds (`dpgp show --table` shows the spread itself; if \
         there are folds, the row METRIC-replicates shows the spread over replicates); =: level with the best, if errors are treated as independent. All methods see the same folds, so a paired comparison may find more differences\n",
    )
}

fn ranking_row(method: &RankedMethod, reference: Option<&RankedMethod>) -> Vec<String> {
    let RankedMethod { place, method: name, value, standard_error, level_with_best, .. } = method;
    let mark = if *level_with_best && *place != Some(1) { "=" } else { "" };
    let error =
        if *standard_error > 0.0 { format!(" ± {}", format_four_digits(*standard_error)) } else { String::new() };
    let against = reference.filter(|other| *other != method).map(|other| value / other.value - 1.0);
    vec![
        format!("{mark}{}", place.map_or("-".to_owned(), |place| place.to_string())),
        name.clone(),
        format!("{}{error}", format_four_digits(*value)),
        method.protected_unit_text(),
        against.map_or(String::new(), |share| format!("{:+.1} %", 100.0 * share)),
    ]
}
