//! `dpgp cite`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::{DataLocationArguments, OutputFormat, experiment_completer};
use super::output::{print_json, print_raw_unless_terminal};
use dpgp_data::read_limited_text;
use dpgp_release::CertificateSummary;
use dpgp_report::{BibliographyEntry, RegistryEntry};
use dpgp_run::Project;

const EXAMPLES: &str = "\
Prints BibTeX for the program, and for the papers and data of the named experiments. Unknown fields are left out.

Examples:
  dpgp cite
  dpgp cite smith2021/table1 >> paper.bib
  dpgp cite beyond/leaderboard             the data of all leaderboards
  dpgp cite --registry predictions.csv.certificate.json > deployment.yaml";

/// Arguments of `dpgp cite`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CiteArguments {
    /// Experiments, a prefix, a tag, or the path of a spec
    #[arg(value_name = "NAME", add = experiment_completer())]
    names: Vec<String>,
    /// Instead of citations, print a YAML entry for a registry of deployments, from a certificate or from a release that contains
    /// one
    #[arg(long, value_name = "CERTIFICATE", conflicts_with = "names")]
    registry: Option<PathBuf>,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// Prints the entries.
pub fn cite(arguments: &CiteArguments, format: OutputFormat) -> Result<(), CliError> {
    if let Some(path) = &arguments.registry {
        let entry = read_registry_entry(path)?;
        return match format {
            OutputFormat::Json => print_json(&json!(entry)),
            OutputFormat::Text => print_raw_unless_terminal(&entry.yaml()),
        };
    }
    print_citations(&arguments.names, &arguments.places, format)
}

/// Reads the entry of a certificate of predictions, or of a release of sums, moments or counts. Fails if one of its checks fails.
fn read_registry_entry(path: &Path) -> Result<RegistryEntry, CliError> {
    let nothing = |why: String| CliError::NothingToRegister { path: path.to_path_buf(), why };
    let text = read_limited_text(path).map_err(CliError::io_error_at(path))?;
    let summary = CertificateSummary::parse(path, &text, None)?;
    let why = summary.said.join(" ");
    let certificate = serde_json::from_str(&text).map_err(|error| nothing(error.to_string()))?;
    RegistryEntry::from_certificate(summary, &certificate).ok_or_else(|| nothing(why))
}

/// Prints the entry of the program, and those of the papers and data of experiments.
pub(super) fn print_citations(
    names: &[String],
    places: &DataLocationArguments,
    format: OutputFormat,
) -> Result<(), CliError> {
    let mut entries = vec![BibliographyEntry::for_program()];
    if !names.is_empty() {
        entries.extend(collect_citations(&places.project()?, names)?);
    }
    if format == OutputFormat::Json {
        return print_json(&json!(entries));
    }
    let texts: Vec<String> = entries.iter().map(BibliographyEntry::text).collect();
    print_raw_unless_terminal(&texts.join("\n"))
}

/// Lists each paper and each dataset once, in the order of the experiments.
fn collect_citations(project: &Project, names: &[String]) -> Result<Vec<BibliographyEntry>, CliError> {
    let papers = project.coverage()?;
    let (mut cited, mut data) = (Vec::new(), Vec::new());
    for experiment in project.select_experiments(names, false)? {
        let paper = papers.iter().find(|paper| Some(&paper.paper) == experiment.meta.paper.as_ref());
        cited.extend(paper.map(BibliographyEntry::paper));
        for name in experiment.datasets() {
            data.push(BibliographyEntry::dataset(project.manifest.get(name)?));
        }
    }
    let mut entries: Vec<BibliographyEntry> = Vec::new();
    for entry in cited.into_iter().chain(data) {
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    Ok(entries)
}
