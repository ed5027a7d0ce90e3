//! `dpgp report`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::CliError;
use super::arguments::{Format, Places, ResultsPlace};
use super::output::{print, print_json, write_file};
use super::workspace::Workspace;
use crate::publish::{commit, report_html};

const EXAMPLES: &str = "\
The page shows what stands in the results folder; nothing is computed. It is one file that needs no network and no script
to be read; with scripts its tables sort and filter.

Examples:
  dpgp report                           writes report.html
  dpgp report --out /tmp/r.html --results /tmp/other-seed";

/// `dpgp report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArguments {
    /// Experiments, prefixes, tags or paths of specs [default: all shipped experiments]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    #[command(flatten)]
    results: ResultsPlace,
    #[command(flatten)]
    places: Places,
}

/// Writes the report on the experiments named, or on all of the project.
///
/// # Errors
/// [`CliError`] if there is no project, or a file cannot be read or written.
pub fn report(arguments: &ReportArguments, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.places)?;
    let mut experiments = Vec::new();
    for name in &arguments.names {
        experiments.extend(workspace.find(name)?);
    }
    if arguments.names.is_empty() {
        experiments = workspace.experiments()?;
    }
    let results = workspace.results(&arguments.results);
    if arguments.results.directory.is_some() && !results.is_dir() {
        return Err(CliError::NotAFolder { path: results });
    }
    let html = report_html(&results, &experiments, commit(workspace.root()).as_deref())?;
    let path = &arguments.out;
    write_file(path, &html)?;
    if format == Format::Json {
        return print_json(
            &json!({ "written": path, "bytes": html.len(), "experiments": experiments.len() }),
        );
    }
    print(&format!("{} experiments; written to {}\n", experiments.len(), path.display()))
}
