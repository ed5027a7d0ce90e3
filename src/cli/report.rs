//! `dpgp report`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::{DataLocationArguments, OutputFormat, ResultsArguments, experiment_completer};
use super::output::Spinner;
use super::output::{ReportOutput, print, print_json, write_new_with_access};
use dpgp_fs::{ReadAccess, write_atomically, write_atomically_with_access};
use dpgp_number::text::count_with_noun;
use dpgp_report::{
    CHECKS, PaperCoverageAndPages, REPRODUCTION, checks_markdown, collect_findings, is_report_page, report_html,
    reproduction_markdown,
};
use dpgp_run::{Project, find_commit};
use dpgp_task::Experiment;

const EXAMPLES: &str = "\
The page is one file that needs no network. It shows the contents of the results folder and computes nothing. Text, claims and the
first rows are readable without its script. The script unpacks figures and all rows, and sorts and filters the tables.

Examples:
  dpgp report                           writes report.html
  dpgp report --out /tmp/r.html --results /tmp/other-seed
  dpgp report --pages                   also writes results/REPRODUCTION.md and results/CHECKS.md";

/// Arguments of `dpgp report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArguments {
    /// Experiments, prefixes, tags or paths of specs [default: all shipped experiments]
    #[arg(value_name = "NAME", add = experiment_completer())]
    names: Vec<String>,
    /// The file or pipe to write; replaces an earlier report, but never another file
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// Also write REPRODUCTION.md and CHECKS.md, which cover all experiments, to the results folder
    #[arg(long, conflicts_with = "names")]
    pages: bool,
    #[command(flatten)]
    results: ResultsArguments,
    #[command(flatten)]
    places: DataLocationArguments,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
}

/// Writes the report about the named experiments, or about all experiments of the project.
pub fn report(arguments: &ReportArguments, format: OutputFormat) -> Result<(), CliError> {
    let path = &arguments.out;
    let waiting = Spinner::start("writing the page", arguments.quiet);
    let earlier = earlier_report(path)?;
    let project = arguments.places.project()?;
    let mut experiments = Vec::new();
    for name in &arguments.names {
        experiments.extend(project.find_experiments(name)?);
    }
    if arguments.names.is_empty() {
        experiments = project.experiments()?;
    }
    let results = arguments.results.folder(&project);
    if arguments.results.directory.is_some() && !results.is_dir() {
        return Err(CliError::NotAFolder(results));
    }
    // The summary of a paper needs all of its experiments.
    let coverage = if arguments.names.is_empty() { project.coverage()? } else { Vec::new() };
    let told = if arguments.names.is_empty() { project.pages()? } else { Vec::new() };
    if arguments.pages {
        write_summary_pages(&arguments.results, &project, &experiments)?;
    }
    let shelf = arguments.results.folder_with_shipped_fallback(&results, &project);
    let commit = find_commit(project.root());
    let html = report_html(&shelf, &experiments, &PaperCoverageAndPages { coverage, pages: told }, commit.as_deref())?;
    let is_private = experiments.iter().any(|experiment| project.reads_own_rows(experiment));
    let readers = if is_private { ReadAccess::Holder } else { ReadAccess::All };
    match earlier {
        Some(page) => {
            write_atomically_with_access(readers, &page, &html).map_err(CliError::io_error_at(path))?;
        }
        None => write_new_with_access(readers, path, &html)?,
    }
    drop(waiting);
    if format == OutputFormat::Json {
        let (bytes, experiments) = (html.len(), experiments.len());
        return print_json(&json!(ReportOutput { written: path.to_path_buf(), bytes, experiments }));
    }
    let shown = count_with_noun(experiments.len(), "experiment", "experiments");
    print(&format!("{shown}; written to {}\n", path.display()))
}

/// The number of bytes that identify a report.
const BEGINNING: u64 = 4096;

/// Returns the path, with links resolved, of an earlier report that may be replaced; `None` for a new file or a pipe. Refuses any other
/// file before anything is computed.
fn earlier_report(path: &Path) -> Result<Option<PathBuf>, CliError> {
    if !path.is_file() {
        return Ok(None);
    }
    let mut beginning = Vec::new();
    let file = File::open(path).map_err(CliError::io_error_at(path))?;
    file.take(BEGINNING).read_to_end(&mut beginning).map_err(CliError::io_error_at(path))?;
    if !is_report_page(&String::from_utf8_lossy(&beginning)) {
        return Err(CliError::Exists(path.to_path_buf()));
    }
    path.canonicalize().map(Some).map_err(CliError::io_error_at(path))
}

/// Builds two pages, as pairs of name and text, from the results in a folder: one about the reproduced papers, one about checks of
/// this program. Empty for a project that reproduces no paper.
pub fn summary_pages(
    results: &Path,
    project: &Project,
    experiments: &[Experiment],
) -> Result<Vec<(&'static str, String)>, CliError> {
    let (coverage, told) = (project.coverage()?, project.pages()?);
    // A project that reproduces no paper by a page has nothing to say there.
    if coverage.is_empty() && told.is_empty() {
        return Ok(Vec::new());
    }
    let papers = collect_findings(results, experiments, &coverage, &told)?;
    Ok(vec![
        (REPRODUCTION, reproduction_markdown(&papers)),
        (CHECKS, checks_markdown(results, experiments, &coverage)?),
    ])
}

/// Writes the summary pages to the results folder.
pub fn write_summary_pages(
    place: &ResultsArguments,
    project: &Project,
    experiments: &[Experiment],
) -> Result<(), CliError> {
    let results = place.folder(project);
    for (name, text) in summary_pages(&results, project, experiments)? {
        let path = place.output_page_path(project, name)?;
        let written = std::fs::create_dir_all(&results).and_then(|()| write_atomically(&path, &text));
        written.map_err(CliError::io_error_at(&path))?;
    }
    Ok(())
}
