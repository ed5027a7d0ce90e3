//! What is run on a file and its neighbours for `dpgp audit --end-to-end`.

use std::path::{Path, PathBuf};

use super::CliError;
use super::audit_end_to_end::EndToEndArguments;
use super::paired_contexts::{contexts, odd_neighbours};
use super::paired_files::NoisyParts;
use super::paired_runs::{PairedPlan, PairedVerb, Points};
use dpgp_accounting::Neighbours;
use dpgp_data::rows::{FileState, RowFile, row_files};
use dpgp_evidence::AuditVerdict;
use dpgp_release::FileCells;
use dpgp_release::{EndToEndCheck, PredictionRequest, ReplacedCell, StreamedRelease};
use dpgp_task::{Cell, Experiment};

/// The columns of predictions that are noisy where targets alone are private, and where all follow from noisy sums.
const OF_TARGETS: &[&str] = &["private_mean", "low", "high"];
const FROM_SUMS: &[&str] = &["private_mean", "gp_sd", "noise_sd", "low", "high"];

/// The most points where none are named.
const POINTS: usize = 30;

/// Bytes of files beyond which the program is not run on copies of them.
const LARGE: u64 = 200 << 20;

/// Runs `dpgp stats` on the rows and their neighbours.
pub fn run_stats(
    experiment: &Experiment,
    streamed: &StreamedRelease<'_>,
    files: &[PathBuf],
) -> Result<Option<EndToEndCheck>, CliError> {
    let files = row_files(Path::new(""), files)?;
    if are_large(&files) {
        return Ok(Some(not_run()));
    }
    let (rows, columns) = (FileCells::read(&files)?, streamed.columns());
    let Some(setting) = experiment.cells.first().map(Cell::setting) else { return Ok(None) };
    let mut neighbours = odd_neighbours(setting, &rows, streamed.hides_rows());
    for row in [0, rows.count().saturating_sub(1)] {
        let record: Option<Vec<f64>> = columns.iter().map(|name| rows.number(row, name)).collect();
        // Words have codes, whose numbers stand in no file.
        let Some(record) = record else { continue };
        neighbours.extend(ends(&rows, row, streamed.replaced_cells(&record)));
    }
    let contexts = contexts(setting, &rows);
    let arguments = ["rows.csv", "--release", "release.json"].map(str::to_owned).to_vec();
    let verb = PairedVerb { name: "stats", arguments, noisy: NoisyParts::Fields(streamed.noisy_fields()) };
    PairedPlan { experiment, rows, neighbours, contexts, points: None, verb }.check().map(Some)
}

/// Runs `dpgp predict` on the user's file and its neighbours; nothing where a target is no number.
pub fn run_predict(
    experiment: &Experiment,
    request: &PredictionRequest<'_>,
    file: &Path,
    arguments: &EndToEndArguments,
) -> Result<Option<EndToEndCheck>, CliError> {
    let files = row_files(Path::new(""), &[file])?;
    if are_large(&files) {
        return Ok(Some(not_run()));
    }
    let (rows, claim) = (FileCells::read(&files)?, request.claim()?);
    let setting = request.subject().setting;
    let data = &setting.data;
    let mut neighbours = odd_neighbours(setting, &rows, request.hides_rows());
    for row in [0, rows.count().saturating_sub(1)] {
        let Some(target) = rows.number(row, &data.target) else { return Ok(None) };
        neighbours.extend(ends(&rows, row, request.replaced_cells(claim.neighbours, target)));
    }
    let contexts = contexts(setting, &rows);
    let points = match &arguments.at {
        Some(at) => Points::File(at.clone()),
        None => Points::Text(rows.csv(Some(&data.inputs), rows.count().div_ceil(POINTS))?),
    };
    let mut others = ["--out", "predictions.csv"].map(str::to_owned).to_vec();
    others.extend(arguments.cell.iter().flat_map(|cell| ["--cell".to_owned(), cell.clone()]));
    let noisy = match claim.neighbours {
        Some(Neighbours::OneTargetChanges(_)) => OF_TARGETS,
        _ => FROM_SUMS,
    };
    let verb = PairedVerb { name: "predict", arguments: others, noisy: NoisyParts::Columns(noisy) };
    let mut check =
        PairedPlan { experiment, rows, neighbours, contexts, points: Some(points), verb }.check()?;
    // What the certificate excepts, such as rows that are chosen by their target, is no break of it.
    if check.verdict == AuditVerdict::Broken && !claim.caveats.is_empty() {
        check.verdict = AuditVerdict::Caveat;
    }
    Ok(Some(check))
}

/// Whether files are too large for a copy of them for each neighbour.
fn are_large(files: &[RowFile]) -> bool {
    let bytes = files.iter().filter_map(|file| FileState::of(&file.path).ok()).map(|file| file.bytes);
    bytes.sum::<u64>() > LARGE
}

fn not_run() -> EndToEndCheck {
    let note =
        format!("the program itself was not run on neighbours: the files have more than {} MB", LARGE >> 20);
    EndToEndCheck::new(AuditVerdict::NotAudited, note)
}

/// The first and the last way to replace a row: opposite ends of what a neighbour may have.
fn ends(rows: &FileCells, row: usize, mut ways: Vec<Vec<ReplacedCell>>) -> Vec<FileCells> {
    let last = ways.pop();
    let both = ways.into_iter().take(1).chain(last);
    both.map(|cells| rows.with(row, &cells)).collect()
}
