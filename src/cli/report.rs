//! `dpgp report`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::counted;
use super::options::experiments;
use super::options::{Format, Places, ResultsPlace};
use super::output::WrittenReport;
use super::output::{print, print_json, write_new};
use super::pages::write_pages;
use super::waiting::Waiting;
use dpgp_fs::write_atomically;
use dpgp_report::{OfPapers, is_report, report_html};
use dpgp_run::commit;

const EXAMPLES: &str = "\
The page shows what stands in the results folder; nothing is computed. It is one file that needs no network. Words, claims and
the first rows are read without its script, which unpacks figures and all rows, and sorts and filters the tables.

Examples:
  dpgp report                           writes report.html
  dpgp report --out /tmp/r.html --results /tmp/other-seed
  dpgp report --pages                   also results/REPRODUCTION.md and results/CHECKS.md";

/// `dpgp report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArguments {
    /// Experiments, prefixes, tags or paths of specs [default: all shipped experiments]
    #[arg(value_name = "NAME", add = experiments())]
    names: Vec<String>,
    /// The file to write, or the pipe; over an earlier report, never over another file
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// Also write the pages REPRODUCTION.md and CHECKS.md into the results folder, of all experiments
    #[arg(long, conflicts_with = "names")]
    pages: bool,
    #[command(flatten)]
    results: ResultsPlace,
    #[command(flatten)]
    places: Places,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
}

/// Writes the report on the experiments named, or on all of the project.
pub fn report(arguments: &ReportArguments, format: Format) -> Result<(), CliError> {
    let path = &arguments.out;
    let waiting = Waiting::on("writing the page", arguments.quiet);
    let earlier = earlier_report(path)?;
    let project = arguments.places.project()?;
    let mut experiments = Vec::new();
    for name in &arguments.names {
        experiments.extend(project.find(name)?);
    }
    if arguments.names.is_empty() {
        experiments = project.experiments()?;
    }
    let results = arguments.results.folder(&project);
    if arguments.results.directory.is_some() && !results.is_dir() {
        return Err(CliError::NotAFolder(results));
    }
    // The standing of a paper is that of all its experiments.
    let coverage = if arguments.names.is_empty() { project.coverage()? } else { Vec::new() };
    let told = if arguments.names.is_empty() { project.pages()? } else { Vec::new() };
    if arguments.pages {
        write_pages(&arguments.results, &project, &experiments)?;
    }
    let shelf = arguments.results.shelf(&results, &project);
    let commit = commit(project.root());
    let html = report_html(&shelf, &experiments, &OfPapers { coverage, pages: told }, commit.as_deref())?;
    match earlier {
        Some(page) => write_atomically(&page, &html).map_err(CliError::io(path))?,
        None => write_new(path, &html)?,
    }
    drop(waiting);
    if format == Format::Json {
        let (bytes, experiments) = (html.len(), experiments.len());
        return print_json(&json!(WrittenReport { written: path.to_path_buf(), bytes, experiments }));
    }
    let shown = counted(experiments.len(), "experiment", "experiments");
    print(&format!("{shown}; written to {}\n", path.display()))
}

/// How much of a file tells a report.
const BEGINNING: u64 = 4096;

/// The file behind links that this program wrote as a report, and may replace; none where nothing is there, or a pipe. Another file
/// is refused before anything is read.
fn earlier_report(path: &Path) -> Result<Option<PathBuf>, CliError> {
    if !path.is_file() {
        return Ok(None);
    }
    let mut beginning = Vec::new();
    let file = File::open(path).map_err(CliError::io(path))?;
    file.take(BEGINNING).read_to_end(&mut beginning).map_err(CliError::io(path))?;
    if !is_report(&String::from_utf8_lossy(&beginning)) {
        return Err(CliError::Exists(path.to_path_buf()));
    }
    path.canonicalize().map(Some).map_err(CliError::io(path))
}
