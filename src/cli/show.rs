//! `dpgp show`.

use clap::{ArgGroup, Args};
use serde_json::{Value, json};

use super::CliError;
use super::best::{RankingArguments, print_ranking};
use super::cite::print_citations;
use super::emit::quote_for_shell;
use super::list::{data_status_name, describe_experiment};
use super::options::{DataLocationArguments, OutputFormat, ResultsArguments, experiment_completer};
use super::output::{ExperimentShowOutput, ShownAxis, print, print_json};
use super::table::{TableLayoutArguments, print_table};
use dpgp_number::text::count_with_noun;
use dpgp_report::{CommittedResults, wrap_prose};
use dpgp_run::Project;
use dpgp_spec::ReferenceValueOwner;
use dpgp_task::Experiment;

const EXAMPLES: &str = "\
Examples:
  dpgp show smith2021/table1               its paper, its axes, and a summary of its results
  dpgp show smith2021/table1 --table --as latex > table1.tex
  dpgp show smith2021/toy --table --tidy > rows.csv       its rows and those of `dpgp run --set`, in one file
  dpgp show houses --best --epsilon 1      the best methods of the leaderboards with this tag
  dpgp show --best --hides records         on every leaderboard, methods that also keep inputs private
  dpgp show beyond/leaderboard/kung --best --epsilon 1 --with mine.csv     with methods of your own
  dpgp show smith2021/table1 --cite >> paper.bib";

/// The most labels of an axis to list.
const MOST_LABELS: usize = 16;

/// Arguments of `dpgp show`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("layout").args(["metric", "rows", "columns", "language", "standard_errors", "tidy"]).multiple(true).requires("table")))]
#[command(group(ArgGroup::new("choice").args(["epsilon", "hides", "all", "with"]).multiple(true).requires("best")))]
pub struct ShowArguments {
    /// The experiment, or the path of a spec; --best and --cite also accept several names, a prefix or a tag, or no name at all
    #[arg(value_name = "NAME", required_unless_present_any = ["best", "cite"], add = experiment_completer())]
    names: Vec<String>,
    /// Print our committed numbers for one metric, in the layout of the paper; `dpgp run` shows the paper's beside them
    #[arg(long, conflicts_with_all = ["best", "cite"])]
    table: bool,
    /// Rank the methods in the committed table of each experiment
    #[arg(long, conflicts_with = "cite")]
    best: bool,
    /// Print BibTeX for the program, the paper and the data
    #[arg(long)]
    cite: bool,
    #[command(flatten, next_help_heading = "Options for --table")]
    form: TableLayoutArguments,
    #[command(flatten, next_help_heading = "Options for --best")]
    ranking: RankingArguments,
    #[command(flatten, next_help_heading = "Options")]
    results: ResultsArguments,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// Prints an experiment and a summary of its results.
pub fn show(arguments: &ShowArguments, format: OutputFormat) -> Result<(), CliError> {
    if arguments.cite {
        return print_citations(&arguments.names, &arguments.places, format);
    }
    let project = arguments.places.project()?;
    if arguments.best {
        return print_ranking(&project, &arguments.names, &arguments.ranking, &arguments.results, format);
    }
    let name = match arguments.names.as_slice() {
        [name] => name,
        _ => return Err(CliError::OneExperiment),
    };
    if arguments.table {
        return print_table(&project, name, &arguments.form, &arguments.results, format);
    }
    let experiment = project.find_one_experiment(name)?;
    let committed = match arguments.results.read_committed(&project, &experiment) {
        Ok(committed) => Some(committed),
        Err(CliError::NoTables(_)) => None,
        Err(error) => return Err(error),
    };
    // A spec outside the project is run by its path.
    let path = name.ends_with(".toml").then_some(name.as_str());
    let shown = ExperimentOverview { project: &project, experiment: &experiment, committed, path };
    match format {
        OutputFormat::Json => print_json(&shown.json()),
        OutputFormat::Text => print(&wrap_prose(&shown.text())),
    }
}

/// An experiment and its results.
struct ExperimentOverview<'a> {
    project: &'a Project,
    experiment: &'a Experiment,
    committed: Option<CommittedResults>,
    path: Option<&'a str>,
}

impl ExperimentOverview<'_> {
    fn text(&self) -> String {
        let Experiment { name, meta, axes, cells, claims, .. } = self.experiment;
        let mut lines = vec![format!("{name}: {}", meta.title)];
        if let (Some(paper), Some(artefact)) = (&meta.paper, &meta.artefact) {
            lines.push(format!("paper:    {paper}, {artefact}"));
        }
        let data = self.experiment.datasets().join(", ");
        let presence = data_status_name(self.experiment, self.project);
        let own_file = self.experiment.cells.first().and_then(|cell| cell.setting().data.source.own_file());
        lines.push(match (data.is_empty(), own_file) {
            (true, Some(file)) => format!("data:     {file}"),
            (true, None) => "data:     in the spec, or generated".to_owned(),
            (false, _) => format!("data:     {data} ({presence})"),
        });
        let times = if meta.replicates == 1 { "once".to_owned() } else { format!("{} times", meta.replicates) };
        lines.push(format!("cells:    {}, each {times}", cells.len()));
        for axis in axes {
            let more = axis.labels.len().saturating_sub(MOST_LABELS);
            let more = if more == 0 { String::new() } else { format!(", and {more} more") };
            let labels = axis.labels[..axis.labels.len().min(MOST_LABELS)].join(", ");
            lines.push(format!("  {} = {labels}{more}", axis.name));
        }
        let [paper, others] = self.paper_and_other_counterpart_counts();
        let printed = count_with_noun(paper, "printed number", "printed numbers");
        let claims = count_with_noun(claims.len(), "claim", "claims");
        lines.push(format!("compared: {printed}, {others} from other sources, {claims}"));
        lines.push(format!("results:  {}", self.results_status()));
        lines.push(format!("run it:   dpgp run {}", quote_for_shell(self.path.unwrap_or(name))));
        lines.join("\n") + "\n"
    }

    fn json(&self) -> Value {
        let Experiment { axes, claims, .. } = self.experiment;
        let axes = axes.iter().map(|axis| ShownAxis {
            name: axis.name.clone(),
            path: axis.path.clone(),
            labels: axis.labels.clone(),
        });
        let [printed_numbers, other_numbers] = self.paper_and_other_counterpart_counts();
        json!(ExperimentShowOutput {
            listed: describe_experiment(self.experiment, self.project),
            axes: axes.collect(),
            printed_numbers,
            other_numbers,
            claims: claims.len(),
            results: self.results_status(),
        })
    }

    /// Counts the numbers of the paper, and of others, that stand beside ours.
    fn paper_and_other_counterpart_counts(&self) -> [usize; 2] {
        let all = &self.experiment.counterparts;
        let paper = all.iter().filter(|one| one.owner == ReferenceValueOwner::Paper).count();
        [paper, all.len() - paper]
    }

    fn results_status(&self) -> String {
        match &self.committed {
            None => "not run".to_owned(),
            Some(committed) if committed.is_stale(self.experiment) => "from another version of the spec".to_owned(),
            Some(committed) => {
                committed.agreement_summary().unwrap_or_else(|| "no other numbers to compare with".to_owned())
            }
        }
    }
}
