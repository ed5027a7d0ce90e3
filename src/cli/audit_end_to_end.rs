//! `dpgp audit --end-to-end`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::CliError;
use super::audit_types::AttackedRelease;
use super::completed::experiments;
use super::options::{Format, Places};
use super::output::{print, print_json};
use super::paired_verbs::{run_predict, run_stats};
use dpgp_data::rows::beside;
use dpgp_evidence::AuditVerdict;
use dpgp_release::{EndToEndCheck, PointsFile, PredictionRequest, StreamedRelease, chosen_cell};
use dpgp_run::{Project, tell_own_files, watcher};
use dpgp_task::Experiment;

/// An attack on what a spec would release.
#[derive(Debug, Args)]
pub struct EndToEndArguments {
    /// Attack the release path of a spec: replace records by extremes and compare what would be written
    #[arg(long, value_name = "SPEC", add = experiments(), conflicts_with_all = ["names", "all", "quick", "samples"])]
    end_to_end: Option<String>,
    /// Predict at the points of this file [default: at inputs of the data]
    #[arg(long, value_name = "GRID", requires = "end_to_end")]
    pub at: Option<PathBuf>,
    /// Which cell, where the spec has several; once for each axis
    #[arg(long, value_name = "AXIS=VALUE", requires = "end_to_end")]
    pub cell: Vec<String>,
    /// Sum these files of rows, for a spec of `dpgp stats` [default: the file of the spec]
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "end_to_end")]
    rows: Vec<PathBuf>,
}

impl EndToEndArguments {
    /// The spec to attack, if there is one.
    pub fn asked_for(&self) -> Option<&str> {
        self.end_to_end.as_deref()
    }
}

/// Attacks what a spec would release, and says what was found.
pub fn audit_end_to_end(
    spec: &str,
    arguments: &EndToEndArguments,
    seed: u32,
    places: &Places,
    format: Format,
) -> Result<(), CliError> {
    let project = places.project()?;
    let experiment = project.only(spec)?;
    let checks = checks(&project, &experiment, arguments, u64::from(seed))?;
    let worst = checks.iter().map(|check| check.verdict).max().unwrap_or(AuditVerdict::NotAudited);
    match format {
        Format::Text => {
            let mut text = format!("{}: {}\n", experiment.folder(), worst.name());
            for EndToEndCheck { verdict, note } in &checks {
                text.push_str(&format!("  {:<7} {note}\n", verdict.name()));
            }
            print(&text)?;
        }
        Format::Json => print_json(&json!(AttackedRelease {
            experiment: experiment.folder(),
            verdict: worst,
            checks: checks.clone()
        }))?,
    }
    match checks.iter().filter(|check| check.verdict == AuditVerdict::Broken).count() {
        0 => Ok(()),
        failed => Err(CliError::CheckFailed { failed, all: checks.len() }),
    }
}

fn checks(
    project: &Project,
    experiment: &Experiment,
    arguments: &EndToEndArguments,
    seed: u64,
) -> Result<Vec<EndToEndCheck>, CliError> {
    let files = match arguments.rows.as_slice() {
        [] => {
            tell_own_files(experiment)?;
            own_file(experiment).into_iter().collect()
        }
        files => files.to_vec(),
    };
    let streamed = StreamedRelease::of(experiment).ok();
    // A grid asks for predictions, also of a spec whose sums can be released.
    if let Some(streamed) = streamed.as_ref().filter(|_| arguments.at.is_none()) {
        let mut checks = attack_sums(streamed, &files, seed)?;
        checks.extend(run_stats(experiment, streamed, &files)?);
        return Ok(checks);
    }
    let (cell, watcher) = (chosen_cell(experiment, &arguments.cell)?, watcher(true));
    let request = match &arguments.at {
        Some(at) => {
            let points = PointsFile { path: at, weights: None };
            PredictionRequest::read(project, experiment, cell, points, watcher.downloads(), None)?
        }
        None => PredictionRequest::at_inputs(project, experiment, cell, watcher.downloads())?,
    };
    let mut checks = request.attack(project, watcher.downloads(), seed)?;
    // Predictions that follow from noisy sums hide what the sums hide.
    if let Some(streamed) = streamed.filter(|_| !files.is_empty()) {
        for EndToEndCheck { verdict, note } in attack_sums(&streamed, &files, seed)? {
            checks.push(EndToEndCheck::new(verdict, format!("sums that they follow from: {note}")));
        }
    }
    if let Some(file) = own_file(experiment) {
        checks.extend(run_predict(experiment, &request, &file, arguments)?);
    }
    Ok(checks)
}

fn attack_sums(
    streamed: &StreamedRelease<'_>,
    files: &[PathBuf],
    seed: u64,
) -> Result<Vec<EndToEndCheck>, CliError> {
    Ok(match streamed {
        StreamedRelease::Surface(streamed) => streamed.attack(files, &streamed.privacy(None)?, seed)?,
        StreamedRelease::Moments(streamed) => streamed.attack(files, &streamed.privacy(None)?, seed)?,
        StreamedRelease::Classes(streamed) => streamed.attack(files, &streamed.privacy(None)?, seed)?,
        StreamedRelease::Counts(streamed) => streamed.attack(files, &streamed.privacy(None)?, seed)?,
    })
}

/// The file of rows that the spec names, beside it.
fn own_file(experiment: &Experiment) -> Option<PathBuf> {
    let data = &experiment.cells.first()?.setting().data;
    let folder = experiment.source.file().parent()?;
    data.source.own_file().map(|path| beside(folder, path.as_ref()))
}
