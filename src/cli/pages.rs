//! The two pages about all experiments.

use std::path::Path;

use super::CliError;
use super::options::ResultsArguments;
use dpgp_fs::write_atomically;
use dpgp_report::{CHECKS, REPRODUCTION, checks_markdown, collect_findings, reproduction_markdown};
use dpgp_run::Project;
use dpgp_task::Experiment;

/// Makes the names and texts of the pages from the results in a folder: one about the reproduced papers, one about checks of this program. None in a project without papers.
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

/// Writes the pages into the folder of results.
pub fn write_pages(place: &ResultsArguments, project: &Project, experiments: &[Experiment]) -> Result<(), CliError> {
    let results = place.folder(project);
    for (name, text) in summary_pages(&results, project, experiments)? {
        let path = place.output_page_path(project, name)?;
        let written = std::fs::create_dir_all(&results).and_then(|()| write_atomically(&path, &text));
        written.map_err(CliError::io(&path))?;
    }
    Ok(())
}
