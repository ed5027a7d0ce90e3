//! `dpgp audit` and `dpgp audit --end-to-end`.
//!
//! Also the types that `dpgp audit` prints with `--format json`. `dpgp schema outputs` is generated from them.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::CliError;
use super::audit_samples::{SampleAuditArguments, audit_samples};
use super::environment::this_program;
use super::interrupt::watch_signals;
use super::options::{
    ComputeArguments, DataLocationArguments, ExperimentSelection, OutputFormat, add_option_conflicts,
    experiment_completer,
};
use super::output::{print, print_json};
use dpgp_accounting::{Guarantee, Neighbours};
use dpgp_claim_audit::{AuditCheck, AuditFinding, AuditVerdict, RecomputedBound};
use dpgp_data::rows::{FileState, RowFile, find_row_files, resolve_in_folder};
use dpgp_release::{
    AnyPlannedSumsRelease, AttackDrawSetting, EndToEndCheck, FileCells, NeighbourRunPlan, NeighbourRunPoints,
    NeighbourRunVerb, NoisyColumnsOrFields, PointsFile, PredictionRequest, ReplacedCell, edge_case_neighbours,
    neighbour_run_situations, select_cells, select_release_cell,
};
use dpgp_report::{plain_table, wrap_prose};
use dpgp_run::{AuditOptions, AuditedCell, Project, audit as audit_experiment, create_watcher, report_outside_files};
use dpgp_task::{Cell, Experiment};

const EXAMPLES: &str = "\
Runs one replicate of each cell that claims privacy, and checks its noise. The checks are separate from the code that makes
the claim. They compute the exact delta of Gaussian noise from the factor used for sampling, over all columns and directions, in
higher precision. They also recompute the bounds of accountants, and attack mechanisms with pairs of neighbouring datasets. All
folds are audited. Cells that differ only in epsilon share one design, which is audited at each epsilon.

Verdicts:
  holds         the result is within the claim, for all neighbouring datasets
  caveat        the claim holds except for what the note says, such as targets normalised by private statistics
  not audited   nothing contradicts the claim, but no proof of it was recomputed
  broken        two neighbouring datasets can be distinguished more easily than claimed; prints the true delta or epsilon

Exit code 1 means that a cell is broken but its spec has no [[broken]] entry for it, or that a declared break was not found. Declared
breaks print `broken, as the spec says` and do not affect the exit code.

--samples attacks your own mechanism through its outputs on two neighbouring inputs. The files are CSV or Parquet, with one row
per output. Exit code 1 means that the samples refute the claim. If the attack finds nothing, that proves nothing. See docs/audit.md.

--end-to-end does not rely on what the code reports. It replaces records with extreme ones and compares the output. With the same
noise in both runs, the difference is the amount that the noise must hide. With separate noise, it tries to tell the releases apart by their values and the low-order bits of those values. It also runs the program itself on the file and its neighbours: output must be the same except for noise.
These releases are discarded, so they are not charged. Exit code 1 means that the audit found a fault.

Examples:
  dpgp audit smith2021/table1
  dpgp audit --all --format json
  dpgp audit smith2021/table1 --cell inputs=age
  dpgp audit my.toml --seed 7 --confidence 0.99
  dpgp audit --end-to-end energy.toml --at grid.csv
  dpgp audit --samples with.csv without.csv --epsilon 1 --delta 1e-5";

/// Arguments of `dpgp audit`.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("names", |names| names.required_unless_present_any(OTHER)),
    mut_args(|arg| add_option_conflicts(arg, &["at", "rows", "releases", "epsilon", "delta", "first_line"], &["names", "all", "quick"]))
)]
pub struct AuditArguments {
    #[command(flatten)]
    selection: ExperimentSelection,
    #[command(flatten)]
    samples: SampleAuditArguments,
    #[command(flatten)]
    end_to_end: EndToEndAuditArguments,
    /// Seed for runs and attacks [default: the spec's; 1 for --samples and --end-to-end]
    #[arg(long, value_name = "S")]
    seed: Option<u32>,
    /// Confidence of the bounds from attacks on samples [default: 0.95]
    #[arg(long, value_name = "P", value_parser = confidence, allow_negative_numbers = true)]
    confidence: Option<f64>,
    #[command(flatten)]
    work: ComputeArguments,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// Options that need no experiment.
const OTHER: [&str; 2] = ["samples", "end_to_end"];

/// Parses a probability between 0 and 1.
fn confidence(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x < 1.0 => Ok(x),
        _ => Err("must be a number between 0 and 1".to_owned()),
    }
}

/// Audits guarantees of experiments, a release path, or samples of a mechanism.
pub fn audit(arguments: &AuditArguments, format: OutputFormat) -> Result<(), CliError> {
    let AuditArguments { samples, seed, confidence, .. } = arguments;
    if let Some(spec) = arguments.end_to_end.attacked_spec() {
        return audit_end_to_end(spec, &arguments.end_to_end, seed.unwrap_or(1), &arguments.places, format);
    }
    match samples.audit_request() {
        Some(sampled) => audit_samples(&sampled, seed.unwrap_or(1), confidence.unwrap_or(0.95), format),
        None => audit_experiments(arguments, format),
    }
}

fn audit_experiments(arguments: &AuditArguments, format: OutputFormat) -> Result<(), CliError> {
    let project = arguments.places.project()?;
    let mut experiments = arguments.selection.experiments(&project)?;
    for experiment in &mut experiments {
        experiment.cells = select_cells(experiment, &arguments.end_to_end.cell)?.into_iter().cloned().collect();
    }
    let (pool, watcher, stop) = (arguments.work.pool()?, create_watcher(arguments.work.quiet), watch_signals()?);
    let (seed, confidence) = (arguments.seed, arguments.confidence.unwrap_or(0.95));
    let options = AuditOptions { pool: &pool, watcher: watcher.as_ref(), stop: &stop, seed, confidence };
    let (mut failed, mut all, mut printed) = (0, 0, Vec::new());
    for experiment in &experiments {
        let audited = audit_experiment(&project, experiment, &options)?;
        failed += audited.iter().filter(|cell| cell.has_unexpected_finding()).count();
        all += audited.len();
        match format {
            OutputFormat::Text => print(&text(experiment, &audited))?,
            OutputFormat::Json => printed.push(ExperimentAuditOutput {
                experiment: experiment.relative_results_folder(),
                cells: audited.iter().map(describe_audited_cell).collect(),
            }),
        }
    }
    if format == OutputFormat::Json {
        print_json(&json!(printed))?;
    }
    if failed == 0 { Ok(()) } else { Err(CliError::AuditFailed { failed, all }) }
}

fn text(experiment: &Experiment, audited: &[AuditedCell<'_>]) -> String {
    let name = experiment.relative_results_folder();
    if audited.is_empty() {
        return format!("{name}: no cell claims privacy\n\n");
    }
    let axes: Vec<&str> = experiment.axes.iter().map(|axis| axis.name.as_str()).collect();
    let cell = if axes.is_empty() { "cell".to_owned() } else { axes.join(", ") };
    let headings = [cell.as_str(), "claimed", "found", "verdict", "method and exceptions"];
    let table = plain_table(&headings, audited.iter().map(row));
    let mut counts = Vec::new();
    for verdict in [AuditVerdict::Holds, AuditVerdict::Caveat, AuditVerdict::NotAudited, AuditVerdict::Broken] {
        match audited.iter().filter(|cell| cell.finding.verdict == verdict).count() {
            0 => {}
            count => counts.push(format!("{count} {}", verdict.name())),
        }
    }
    let mut announced: Vec<&str> = audited.iter().filter_map(|cell| cell.announced).collect();
    announced.sort_unstable();
    announced.dedup();
    let announced: String = announced.iter().map(|why| wrap_prose(&format!("the spec says: {why}\n"))).collect();
    format!("{name}: {}\n{table}{announced}\n", counts.join(", "))
}

/// Makes a row: the cell, its claim, the result of the decisive check, the verdict and the method.
fn row(cell: &AuditedCell<'_>) -> Vec<String> {
    let AuditFinding { guarantee: Guarantee { epsilon, delta }, checks, reasons, .. } = &cell.finding;
    let reasons = reasons.join("; ");
    let (found, note) = match checks.first() {
        None => (String::new(), reasons),
        Some(check) if reasons.is_empty() => {
            (check.found.text(), check.note.clone() + &attack_bound_text(&cell.finding))
        }
        Some(check) => (check.found.text(), reasons + &attack_bound_text(&cell.finding)),
    };
    let claimed = format!("({epsilon:?}, {delta:?})");
    vec![cell.cell.joined_labels(), claimed, found, verdict(cell), note]
}

fn verdict(cell: &AuditedCell<'_>) -> String {
    match (cell.breaks_privacy_claim(), cell.announced) {
        (true, Some(_)) => "broken, as the spec says".to_owned(),
        (true, None) => "BROKEN".to_owned(),
        (false, Some(_)) => format!("{}, BUT THE SPEC SAYS BROKEN", cell.finding.verdict.name()),
        (false, None) => cell.finding.verdict.name().to_owned(),
    }
}

/// States the largest epsilon that an attack on samples proves.
fn attack_bound_text(finding: &AuditFinding) -> String {
    let mut most = f64::NEG_INFINITY;
    for check in finding.checks.iter().skip(1) {
        if let RecomputedBound::EpsilonAtLeast(epsilon) = check.found {
            most = most.max(epsilon);
        }
    }
    if most == f64::NEG_INFINITY {
        return String::new();
    }
    format!("; attacks: {}", RecomputedBound::EpsilonAtLeast(most).text())
}

fn describe_audited_cell(one: &AuditedCell<'_>) -> GuaranteeAuditOutput {
    let AuditFinding { claim, guarantee, checks, verdict, reasons } = &one.finding;
    GuaranteeAuditOutput {
        cell: one.cell.id().short(),
        labels: one.cell.labels().to_vec(),
        epsilon: guarantee.epsilon,
        delta: guarantee.delta,
        guarantee: claim.to_string(),
        delta_exact: claim.delta_exact,
        verdict: *verdict,
        checks: checks.clone(),
        reasons: reasons.clone(),
        announced: one.announced.map(str::to_owned),
        fails: one.has_unexpected_finding(),
    }
}

/// Options of an attack on the release path of a spec.
#[derive(Debug, Args)]
pub struct EndToEndAuditArguments {
    /// Attack the release path of a spec: replace records with extreme ones and compare the output
    #[arg(long, value_name = "SPEC", add = experiment_completer(), conflicts_with_all = ["names", "all", "quick", "samples"])]
    end_to_end: Option<String>,
    /// Predict at the points of this file [default: inputs from the data]
    #[arg(long, value_name = "GRID", requires = "end_to_end")]
    pub at: Option<PathBuf>,
    /// Audit only cells with this label; repeat for each axis. --end-to-end needs a single cell
    #[arg(long, value_name = "AXIS=VALUE", conflicts_with = "samples")]
    pub cell: Vec<String>,
    /// Files of rows to sum, for a `dpgp sum` spec [default: the file that the spec names]
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "end_to_end")]
    rows: Vec<PathBuf>,
    /// The number of releases from each of two neighbouring datasets; more can prove a larger epsilon [default: 100 to 1000]
    #[arg(long, value_name = "N", requires = "end_to_end")]
    releases: Option<NonZeroUsize>,
}

impl EndToEndAuditArguments {
    /// Returns the spec to attack, if there is one.
    pub fn attacked_spec(&self) -> Option<&str> {
        self.end_to_end.as_deref()
    }
}

/// Attacks the release path of a spec, and prints the result.
pub fn audit_end_to_end(
    spec: &str,
    arguments: &EndToEndAuditArguments,
    seed: u32,
    places: &DataLocationArguments,
    format: OutputFormat,
) -> Result<(), CliError> {
    let project = places.project()?;
    let experiment = project.find_one_experiment(spec)?;
    let draws = AttackDrawSetting { seed: u64::from(seed), releases: arguments.releases };
    let checks = run_end_to_end_checks(&project, &experiment, arguments, draws)?;
    let worst = checks.iter().map(|check| check.verdict).max().unwrap_or(AuditVerdict::NotAudited);
    match format {
        OutputFormat::Text => {
            let mut text = format!("{}: {}\n", experiment.relative_results_folder(), worst.name());
            for EndToEndCheck { verdict, note } in &checks {
                text.push_str(&format!("  {:<7} {note}\n", verdict.name()));
            }
            print(&text)?;
        }
        OutputFormat::Json => print_json(&json!(EndToEndAuditOutput {
            experiment: experiment.relative_results_folder(),
            verdict: worst,
            checks: checks.clone()
        }))?,
    }
    match checks.iter().filter(|check| check.verdict == AuditVerdict::Broken).count() {
        0 => Ok(()),
        failed => Err(CliError::CheckFailed { failed, all: checks.len() }),
    }
}

fn run_end_to_end_checks(
    project: &Project,
    experiment: &Experiment,
    arguments: &EndToEndAuditArguments,
    draws: AttackDrawSetting,
) -> Result<Vec<EndToEndCheck>, CliError> {
    let files = match arguments.rows.as_slice() {
        [] => {
            report_outside_files(experiment)?;
            row_file_path(experiment).into_iter().collect()
        }
        files => files.to_vec(),
    };
    let streamed = AnyPlannedSumsRelease::from_experiment(experiment).ok();
    // With a grid, audit predictions, even if the spec can also release sums.
    if let Some(streamed) = streamed.as_ref().filter(|_| arguments.at.is_none()) {
        let mut checks = attack_sums(streamed, &files, draws)?;
        checks.extend(run_sum_on_neighbours(experiment, streamed, &files)?);
        return Ok(checks);
    }
    let (cell, watcher) = (select_release_cell(experiment, &arguments.cell)?, create_watcher(true));
    let request = match &arguments.at {
        Some(at) => {
            let points = PointsFile { path: at, weights: None };
            PredictionRequest::read(project, experiment, cell, points, watcher.download_progress(), None)?
        }
        None => PredictionRequest::read_at_data_inputs(project, experiment, cell, watcher.download_progress())?,
    };
    let mut checks = request.attack(project, watcher.download_progress(), draws)?;
    // Predictions that are computed from noisy sums hide only what the sums hide.
    if let Some(streamed) = streamed.filter(|_| !files.is_empty()) {
        for EndToEndCheck { verdict, note } in attack_sums(&streamed, &files, draws)? {
            checks.push(EndToEndCheck::new(verdict, format!("the sums behind the predictions: {note}")));
        }
    }
    if let Some(file) = row_file_path(experiment) {
        checks.extend(run_predict_on_neighbours(experiment, &request, &file, arguments)?);
    }
    Ok(checks)
}

fn attack_sums(
    streamed: &AnyPlannedSumsRelease<'_>,
    files: &[PathBuf],
    draws: AttackDrawSetting,
) -> Result<Vec<EndToEndCheck>, CliError> {
    Ok(match streamed {
        AnyPlannedSumsRelease::Surface(streamed) => streamed.attack(files, draws)?,
        AnyPlannedSumsRelease::Moments(streamed) => streamed.attack(files, draws)?,
        AnyPlannedSumsRelease::Classes(streamed) => streamed.attack(files, draws)?,
        AnyPlannedSumsRelease::Counts(streamed) => streamed.attack(files, draws)?,
    })
}

/// Returns the file of rows that the spec names, relative to the spec.
fn row_file_path(experiment: &Experiment) -> Option<PathBuf> {
    let data = &experiment.cells.first()?.setting().data;
    let folder = experiment.source.file().parent()?;
    data.source.own_file().map(|path| resolve_in_folder(folder, path.as_ref()))
}

/// The noisy columns of predictions: if targets alone are private, and if all columns follow from noisy sums.
const OF_TARGETS: &[&str] = &["private_mean", "low", "high"];
const FROM_SUMS: &[&str] = &["private_mean", "gp_sd", "noise_sd", "low", "high"];

/// The most points to predict at by default.
const POINTS: usize = 30;

/// The most bytes of files of which copies are made for runs.
const LARGE: u64 = 200 << 20;

/// Runs `dpgp sum` on the rows and their neighbours. For counts, also runs `dpgp predict`, which estimates the counts.
pub fn run_sum_on_neighbours(
    experiment: &Experiment,
    streamed: &AnyPlannedSumsRelease<'_>,
    files: &[PathBuf],
) -> Result<Vec<EndToEndCheck>, CliError> {
    let files = find_row_files(Path::new(""), files)?;
    if are_too_large_to_copy(&files) {
        return Ok(vec![skipped_check()]);
    }
    let (rows, columns) = (FileCells::read(&files)?, streamed.distinct_columns_to_read());
    let Some(setting) = experiment.cells.first().map(Cell::setting) else { return Ok(Vec::new()) };
    let mut neighbours = edge_case_neighbours(setting, &rows, streamed.hides_row_count());
    for row in [0, rows.row_count().saturating_sub(1)] {
        let record: Option<Vec<f64>> = columns.iter().map(|name| rows.number(row, name)).collect();
        // Encoded words have numbers that are not in the file.
        let Some(record) = record else { continue };
        neighbours.extend(extreme_neighbours(&rows, row, streamed.replaced_cells(&record)));
    }
    let contexts = neighbour_run_situations(setting, &rows);
    let arguments = ["rows.csv", "--release", "release.json"].map(str::to_owned).to_vec();
    let verb =
        NeighbourRunVerb { name: "sum", arguments, noisy: NoisyColumnsOrFields::Fields(streamed.noisy_fields()) };
    let mut plan =
        NeighbourRunPlan { experiment, rows, neighbours, contexts, points: None, verb, program: this_program };
    let mut checks = vec![plan.run_and_compare()?];
    if matches!(streamed, AnyPlannedSumsRelease::Counts(_)) {
        let arguments = ["--grid", "auto", "--out", "counts.csv"].map(str::to_owned).to_vec();
        plan.verb = NeighbourRunVerb { name: "predict", arguments, noisy: NoisyColumnsOrFields::Columns(FROM_SUMS) };
        checks.push(plan.run_and_compare()?);
    }
    Ok(checks)
}

/// Runs `dpgp predict` on the user's file and its neighbours. Returns `None` if a target is not a number.
pub fn run_predict_on_neighbours(
    experiment: &Experiment,
    request: &PredictionRequest<'_>,
    file: &Path,
    arguments: &EndToEndAuditArguments,
) -> Result<Option<EndToEndCheck>, CliError> {
    let files = find_row_files(Path::new(""), &[file])?;
    if are_too_large_to_copy(&files) {
        return Ok(Some(skipped_check()));
    }
    let (rows, claim) = (FileCells::read(&files)?, request.claimed_certificate()?);
    let setting = request.release_spec().setting;
    let data = &setting.data;
    let mut neighbours = edge_case_neighbours(setting, &rows, request.hides_row_count());
    for row in [0, rows.row_count().saturating_sub(1)] {
        let Some(target) = rows.number(row, data.target_column()) else { return Ok(None) };
        neighbours.extend(extreme_neighbours(&rows, row, request.replaced_cells(claim.neighbours, target)));
    }
    let contexts = neighbour_run_situations(setting, &rows);
    let points = match &arguments.at {
        Some(at) => NeighbourRunPoints::File(at.clone()),
        None => NeighbourRunPoints::Text(rows.csv(Some(&data.inputs), rows.row_count().div_ceil(POINTS))?),
    };
    let mut others = ["--out", "predictions.csv"].map(str::to_owned).to_vec();
    others.extend(arguments.cell.iter().flat_map(|cell| ["--cell".to_owned(), cell.clone()]));
    let averaged = setting.model.as_deref().is_some_and(|model| model.averaged);
    let noisy = match claim.neighbours {
        Some(Neighbours::OneTargetChanges(_)) if !averaged => OF_TARGETS,
        _ => FROM_SUMS,
    };
    let verb = NeighbourRunVerb { name: "predict", arguments: others, noisy: NoisyColumnsOrFields::Columns(noisy) };
    let mut check =
        NeighbourRunPlan { experiment, rows, neighbours, contexts, points: Some(points), verb, program: this_program }
            .run_and_compare()?;
    // An exception that the certificate names, such as rows chosen by their target, does not break it.
    if check.verdict == AuditVerdict::Broken && !claim.caveats.is_empty() {
        check.verdict = AuditVerdict::Caveat;
    }
    Ok(Some(check))
}

/// Returns whether files are too large to copy for each neighbour.
fn are_too_large_to_copy(files: &[RowFile]) -> bool {
    let bytes = files.iter().filter_map(|file| FileState::read(&file.path).ok()).map(|file| file.bytes);
    bytes.sum::<u64>() > LARGE
}

fn skipped_check() -> EndToEndCheck {
    let note = format!("the program itself was not run on neighbours: the files are larger than {} MB", LARGE >> 20);
    EndToEndCheck::new(AuditVerdict::NotAudited, note)
}

/// Replaces a row in the first and the last way, at opposite ends of the range of a neighbour.
fn extreme_neighbours(rows: &FileCells, row: usize, mut ways: Vec<Vec<ReplacedCell>>) -> Vec<FileCells> {
    let last = ways.pop();
    let both = ways.into_iter().take(1).chain(last);
    both.map(|cells| rows.with_replaced_cells(row, &cells)).collect()
}

/// The guarantees of an experiment, with the findings.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ExperimentAuditOutput {
    /// The experiment.
    pub experiment: String,
    /// Its cells that claim privacy, in grid order.
    pub cells: Vec<GuaranteeAuditOutput>,
}

/// The guarantee of a cell, with the findings.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GuaranteeAuditOutput {
    /// The name of the cell.
    pub cell: String,
    /// Its label on each axis.
    pub labels: Vec<String>,
    /// The claimed epsilon.
    pub epsilon: f64,
    /// The claimed delta.
    pub delta: f64,
    /// The claim in words.
    pub guarantee: String,
    /// The exact delta that the cell claims at this epsilon.
    pub delta_exact: Option<f64>,
    /// The worst verdict.
    pub verdict: AuditVerdict,
    /// The checks; the decisive one comes first.
    pub checks: Vec<AuditCheck>,
    /// The reasons for the verdict.
    pub reasons: Vec<String>,
    /// The break that the spec declares; null if it declares none.
    pub announced: Option<String>,
    /// True for a break that is not declared, or a declared break that was not found.
    pub fails: bool,
}

/// The output of `dpgp audit --end-to-end`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EndToEndAuditOutput {
    /// The experiment.
    pub experiment: String,
    /// The worst verdict.
    pub verdict: AuditVerdict,
    /// The checks, in order.
    pub checks: Vec<EndToEndCheck>,
}

/// The output of `dpgp audit --samples`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SampleAuditOutput {
    /// The two files.
    pub files: [PathBuf; 2],
    /// Their columns.
    pub columns: Vec<String>,
    /// Columns with numbers that differ only beyond double precision; such numbers are read as equal.
    pub cut: Vec<String>,
    /// The number of outputs in each file.
    pub rows: [usize; 2],
    /// The claimed epsilon.
    pub epsilon: f64,
    /// The claimed delta.
    pub delta: f64,
    /// The joint confidence of the bounds.
    pub confidence: f64,
    /// Epsilon is at least this, at the claimed delta.
    pub epsilon_at_least: f64,
    /// The largest epsilon that this number of outputs can prove.
    pub epsilon_provable: f64,
    /// Delta is at least this, at the claimed epsilon.
    pub delta_at_least: f64,
    /// The set of outputs that proves the epsilon, in words.
    pub set: String,
    /// `violated` or `nothing found`.
    pub verdict: &'static str,
}
