//! The two pages about all experiments.

use std::path::Path;

use super::CliError;
use super::options::ResultsPlace;
use dpgp_fs::write_atomically;
use dpgp_report::{CHECKS, REPRODUCTION, checks_markdown, reproduction_markdown, told_papers};
use dpgp_run::Project;
use dpgp_task::Experiment;

/// Makes the names and texts of the pages from the results in a folder: one about the reproduced papers, one about checks of this program. None in a project without papers.
pub fn pages(
    results: &Path,
    project: &Project,
    experiments: &[Experiment],
) -> Result<Vec<(&'static str, String)>, CliError> {
    let (coverage, told) = (project.coverage()?, project.pages()?);
    // A project that reproduces no paper by a page has nothing to say there.
    if coverage.is_empty() && told.is_empty() {
        return Ok(Vec::new());
    }
    let papers = told_papers(results, experiments, &coverage, &told)?;
    Ok(vec![
        (REPRODUCTION, reproduction_markdown(&papers)),
        (CHECKS, checks_markdown(results, experiments, &coverage)?),
    ])
}

/// Writes the pages into the folder of results.
pub fn write_pages(
    place: &ResultsPlace,
    project: &Project,
    experiments: &[Experiment],
) -> Result<(), CliError> {
    let results = place.folder(project);
    for (name, text) in pages(&results, project, experiments)? {
        let path = place.writable_page(project, name)?;
        let written = std::fs::create_dir_all(&results).and_then(|()| write_atomically(&path, &text));
        written.map_err(CliError::io(&path))?;
    }
    Ok(())
}
