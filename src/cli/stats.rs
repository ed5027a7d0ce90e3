//! `dpgp stats`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use serde_json::{Value, json};

use super::CliError;
use super::arguments::{Format, Places, Work};
use super::ledger::LedgerArguments;
use super::output::{ensure_writable, print, print_json, write_file};
use super::surface_release::SurfaceRelease;
use super::workspace::Workspace;
use crate::data::Digest;
use crate::data::rows::{Files, Rows};
use crate::run::{RunError, Shard};
use crate::spec::{Cell, Experiment, Identity, PrivacySetting, Setting, SourceSetting};
use crate::stream::{BLOCK, FileRecord, Forest, Record, Sums, collect};
use crate::task::SurfaceModel;

const EXAMPLES: &str = "\
The spec says what is summed: inputs, target, filters, public bounds, kernel and inducing inputs of a task.surface. Rows
come from the files named here, CSV with a header or Parquet, in constant memory. Sums do not depend on the number of
threads or shards, to the last bit. They are exact, and as private as the rows; only --release writes what may be shared.

Examples:
  dpgp stats beyond/citibike-scale trips.parquet --out sums.json
  dpgp stats my.toml a.csv b.csv --shard 2/8 --out part2.json     the second of eight parts, on any machine
  dpgp stats my.toml --add part*.json --out sums.json             all parts together
  dpgp stats my.toml --add sums.json --release surface.json --epsilon 1
  dpgp stats my.toml --add sums.json --release surface.json --epsilon 1 --ledger my.ledger.toml \\
    --budget-epsilon 3 --budget-delta 1e-6         counted among all releases; the files are known by names, sizes and rows";

/// `dpgp stats`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("ledger", |ledger| ledger.requires("release")))]
pub struct StatsArguments {
    /// An experiment with task.surface, or the path of a spec
    #[arg(value_name = "NAME")]
    name: String,
    /// Files of rows, CSV or Parquet, in the order of their rows
    #[arg(value_name = "FILE", required_unless_present = "add")]
    files: Vec<PathBuf>,
    /// Sum only part I of N of the rows
    #[arg(long, value_name = "I/N", conflicts_with_all = ["add", "release"])]
    shard: Option<Shard>,
    /// Add the sums of these files instead of rows
    #[arg(long, value_name = "SUMS", num_args = 1.., conflicts_with = "files")]
    add: Vec<PathBuf>,
    /// Write the sums to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the sums with privacy noise, and the posterior from them, to this file
    #[arg(long, value_name = "FILE")]
    release: Option<PathBuf>,
    /// Release for this epsilon instead of the spec's
    #[arg(long, value_name = "E", requires = "release")]
    epsilon: Option<f64>,
    #[command(flatten)]
    ledger: LedgerArguments,
    /// Say how long it took
    #[arg(long)]
    timings: bool,
    #[command(flatten)]
    work: Work,
    #[command(flatten)]
    places: Places,
}

/// Sums rows or adds sums; writes the sums and a release of them.
///
/// # Errors
/// [`CliError`] if the spec has no surface, rows cannot be read, or sums do not belong together.
pub fn stats(arguments: &StatsArguments, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.places)?;
    let experiment = only(&workspace, &arguments.name)?;
    let cell = surface_cell(&experiment)?;
    let setting = cell.setting();
    let not_a_surface = || CliError::NotASurface { name: experiment.name.clone() };
    let model = SurfaceModel::new(setting).ok_or_else(not_a_surface)?;
    let privacy = arguments.release.as_ref().map(|_| privacy(&experiment, arguments.epsilon)).transpose()?;
    let start = Instant::now();
    let (files, forest) = match arguments.add.as_slice() {
        [] => summed(arguments, setting, &model)?,
        parts => added(parts, setting, &model)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    let fingerprint = Digest::of(json!(files).to_string().as_bytes()).to_string();
    let record = Record::new(summand(setting), files, &forest);
    if let Some(path) = &arguments.out {
        let text = serde_json::to_string(&record)
            .map_err(|error| CliError::Io { path: path.clone(), cause: std::io::Error::other(error) })?;
        write_file(path, &text)?;
    }
    let total = forest.total(model.summand().kernel.size());
    let mut balance = String::new();
    if let (Some(path), Some(privacy)) = (&arguments.release, &privacy) {
        ensure_writable(path)?;
        let release = SurfaceRelease::draw((&experiment, setting), privacy, &model, &total)?;
        let account = arguments.ledger.charge(&release.next(), || Ok(fingerprint))?;
        release.write(path, account.as_ref())?;
        balance = arguments.ledger.balance(account.as_ref(), privacy.delta);
    }
    report(arguments, &total, (seconds, &balance), format)
}

/// The experiment that a name means.
fn only(workspace: &Workspace, name: &str) -> Result<Experiment, CliError> {
    let mut found = workspace.find(name)?;
    match (found.pop(), found.len()) {
        (Some(experiment), 0) => Ok(experiment),
        (_, others) => Err(CliError::NotOne { name: name.to_owned(), count: others + 1 }),
    }
}

/// The guarantee of a release: that of the cells, if they have one epsilon, or with the epsilon that was named.
fn privacy(experiment: &Experiment, epsilon: Option<f64>) -> Result<PrivacySetting, CliError> {
    let mut found: Vec<PrivacySetting> =
        experiment.cells.iter().map(|cell| (*cell.setting().privacy).clone()).collect();
    found.dedup_by_key(|privacy| privacy.epsilon);
    let private: Vec<f64> = found.iter().map(|privacy| privacy.epsilon).collect();
    let privacy = match (epsilon, found.pop()) {
        (Some(epsilon), Some(privacy)) => PrivacySetting { epsilon, ..privacy },
        (None, Some(privacy)) if found.is_empty() => privacy,
        _ => return Err(CliError::SeveralEpsilons { epsilons: format!("{private:?}") }),
    };
    let finite = privacy.epsilon > 0.0 && privacy.epsilon.is_finite();
    if finite { Ok(privacy) } else { Err(CliError::NoGuarantee) }
}

/// The first cell, if all cells sum the same.
fn surface_cell(experiment: &Experiment) -> Result<&Cell, CliError> {
    let Some(first) = experiment.cells.first() else {
        return Err(CliError::NotASurface { name: experiment.name.clone() });
    };
    let same = |cell: &&Cell| summand(cell.setting()) == summand(first.setting());
    if experiment.cells.iter().all(|cell| same(&cell)) {
        return Ok(first);
    }
    let what = "columns, bounds, kernel or inducing inputs";
    Err(CliError::SeveralSums { name: experiment.name.clone(), what })
}

/// The identity of what is summed: all of the setting that the sums depend on.
fn summand(setting: &Setting) -> String {
    let (data, model) = (&setting.data, setting.model.as_deref());
    let inducing = match &*setting.task {
        crate::spec::TaskSetting::Surface(task) => json!(task.inducing),
        _ => Value::Null,
    };
    let bound = match &setting.privacy.mechanism {
        crate::spec::MechanismSetting::Sums(sums) => json!(sums.target_bound),
        _ => Value::Null,
    };
    let all = json!({
        "inputs": data.inputs, "target": data.target, "filter": data.filter, "normalise": *setting.normalise,
        "kernel": model.map(|model| &model.kernel), "inducing": inducing, "bound": bound,
    });
    Identity::of(&all.to_string()).to_string()
}

/// Sums the rows of the files, or those of a shard.
fn summed(
    arguments: &StatsArguments,
    setting: &Setting,
    model: &SurfaceModel,
) -> Result<(Vec<FileRecord>, Forest), CliError> {
    let data = &setting.data;
    let filters = data.filter.iter().map(|filter| &filter.column);
    let columns: Vec<String> =
        data.inputs.iter().chain(std::iter::once(&data.target)).chain(filters).cloned().collect();
    let separator = match data.source {
        SourceSetting::Csv { separator, .. } => u8::try_from(separator).unwrap_or(b','),
        _ => b',',
    };
    let mut files = Files::open(&arguments.files, separator, &columns)?;
    let counted = arguments.shard.map(|_| files.count()).transpose()?;
    let blocks = match (arguments.shard, &counted) {
        (Some(shard), Some(rows)) => shard.run(rows.iter().sum::<u64>().div_ceil(BLOCK as u64)),
        _ => 0..u64::MAX,
    };
    files.skip(blocks.start * BLOCK as u64)?;
    let jobs = arguments.work.jobs();
    let threads = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let threads = threads.map_err(|cause| RunError::Threads { jobs, cause })?;
    let forest = collect(&mut files, blocks, model.summand(), &threads)?;
    let rows = counted.unwrap_or_else(|| files.rows().to_vec());
    let record = |(path, rows): (&PathBuf, u64)| {
        let bytes = std::fs::metadata(path).map(|found| found.len());
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        bytes
            .map(|bytes| FileRecord { name, bytes, rows })
            .map_err(|cause| CliError::Io { path: path.clone(), cause })
    };
    let records: Result<Vec<FileRecord>, CliError> = arguments.files.iter().zip(rows).map(record).collect();
    Ok((records?, forest))
}

/// Adds the sums of shards, which must make the whole.
fn added(
    parts: &[PathBuf],
    setting: &Setting,
    model: &SurfaceModel,
) -> Result<(Vec<FileRecord>, Forest), CliError> {
    let read = |path: &PathBuf| Ok((path.clone(), read(path, model)?));
    let parts: Result<Vec<(PathBuf, Record)>, CliError> = parts.iter().map(read).collect();
    let parts = parts?;
    let Some((first, record)) = parts.first() else { return Ok((Vec::new(), Forest::default())) };
    if record.summand != summand(setting) {
        let cause = "they are of other columns, bounds, inducing inputs or another kernel".to_owned();
        return Err(CliError::NotSums { path: first.clone(), cause });
    }
    for (path, other) in &parts {
        let differs = |what| CliError::SumsDiffer { what, first: first.clone(), second: path.clone() };
        if other.summand != record.summand {
            return Err(differs("summands"));
        }
        if other.files != record.files {
            return Err(differs("files"));
        }
    }
    let mut nodes: Vec<_> = parts.iter().flat_map(|(_, part)| &part.nodes).collect();
    nodes.sort_by_key(|node| node.first);
    if let Some(pair) = nodes.windows(2).find(|pair| pair[0].node().end() > pair[1].first) {
        return Err(CliError::SumsOverlap { row: pair[1].first * BLOCK as u64 + 1 });
    }
    let (found, all) = (nodes.iter().map(|node| 1u64 << node.level).sum::<u64>(), record.blocks());
    if found != all {
        return Err(CliError::SumsIncomplete { missing: all.saturating_sub(found), all });
    }
    let mut forest = Forest::default();
    nodes.iter().for_each(|node| forest.insert(node.node(), node.sums()));
    Ok((record.files.clone(), forest))
}

fn read(path: &Path, model: &SurfaceModel) -> Result<Record, CliError> {
    let text =
        std::fs::read_to_string(path).map_err(|cause| CliError::Io { path: path.to_owned(), cause })?;
    let wrong = |cause: String| CliError::NotSums { path: path.to_owned(), cause };
    let record: Record = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if record.is_sound(model.summand().kernel.size()) {
        return Ok(record);
    }
    Err(wrong("they are of another version, or of another number of inducing inputs".to_owned()))
}

fn report(
    arguments: &StatsArguments,
    total: &Sums,
    (seconds, balance): (f64, &str),
    format: Format,
) -> Result<(), CliError> {
    let m = total.a.len();
    if format == Format::Json {
        let mut value = json!({
            "rows": total.rows, "clipped": total.clipped, "inducing_inputs": m,
            "out": arguments.out, "release": arguments.release,
        });
        if arguments.timings {
            value["seconds"] = json!(seconds);
        }
        return print_json(&value);
    }
    let mut text = format!("{} rows, {} of them clipped; {m} inducing inputs\n", total.rows, total.clipped);
    if arguments.timings {
        let speed = total.rows as f64 * (m * m) as f64 / seconds / 1e9;
        text += &format!("{seconds:.3} s, {speed:.1} GFLOP/s counted as rows times {m}^2\n");
    }
    for path in arguments.out.iter().chain(&arguments.release) {
        text += &format!("written to {}\n", path.display());
    }
    print(&(text + balance))
}
