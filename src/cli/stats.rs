//! `dpgp stats`.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::json;

use super::CliError;
use super::ledger_options::LedgerArguments;
use super::options::{Format, Places, Work};
use super::output::{print, print_json};
use crate::release::{Streamed, StreamedRelease, StreamedTotal, SumsDescription, SumsModel, ensure_writable};
use crate::run::Shard;
use crate::setting::PrivacySetting;

const EXAMPLES: &str = "\
The spec says what is summed: by a task.surface, covariances with its inducing inputs, times the target and squared; by
a task.dirichlet with release = \"class-sums\", the same over the rows of each class; by a task.density with
mechanism.histogram, how many records lie in each bin, where the target says for how many a row stands. All rows of the
files named here that pass the filters count, whatever `train` says: CSV with a header or Parquet, in constant memory.
Sums do not depend on the number of threads or shards, to the last bit. They are exact, and as private as the rows; only
--release writes what may be shared.

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
    /// An experiment with task.surface, task.dirichlet or task.density, or the path of a spec
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
    /// Write the sums with privacy noise, and the posteriors from them, to this file
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
pub fn stats(arguments: &StatsArguments, format: Format) -> Result<(), CliError> {
    let experiment = arguments.places.project()?.only(&arguments.name)?;
    match StreamedRelease::of(&experiment)? {
        StreamedRelease::Surface(streamed) => answer(&streamed, arguments, format),
        StreamedRelease::Classes(streamed) => answer(&streamed, arguments, format),
        StreamedRelease::Counts(streamed) => answer(&streamed, arguments, format),
    }
}

fn answer<M: SumsModel>(
    streamed: &Streamed<'_, M>,
    arguments: &StatsArguments,
    format: Format,
) -> Result<(), CliError> {
    // An epsilon that cannot be released for is refused before hours of sums.
    let privacy = arguments.release.as_ref().map(|_| streamed.privacy(arguments.epsilon)).transpose()?;
    let start = Instant::now();
    let total = match arguments.add.as_slice() {
        [] => streamed.sum(&arguments.files, arguments.shard, &arguments.work.pool()?)?,
        parts => streamed.add(parts)?,
    };
    let seconds = start.elapsed().as_secs_f64();
    arguments.out.as_deref().map(|path| total.write(path)).transpose()?;
    let balance = privacy.map(|privacy| release(streamed, &total, &privacy, arguments)).transpose()?;
    let SumsDescription { mut facts, mut text, rows, inducing } = streamed.described(&total);
    if format == Format::Json {
        facts["out"] = json!(arguments.out);
        facts["release"] = json!(arguments.release);
        if arguments.timings {
            facts["seconds"] = json!(seconds);
        }
        return print_json(&facts);
    }
    if arguments.timings {
        text += &timing(seconds, rows, inducing);
    }
    for path in arguments.out.iter().chain(&arguments.release) {
        text += &format!("written to {}\n", path.display());
    }
    print(&(text + &balance.unwrap_or_default()))
}

/// Draws a release, charges the ledger and writes the file; returns what the ledger holds. Nothing is spent on a file that
/// cannot be written.
fn release<M: SumsModel>(
    streamed: &Streamed<'_, M>,
    total: &StreamedTotal<M>,
    privacy: &PrivacySetting,
    arguments: &StatsArguments,
) -> Result<String, CliError> {
    let Some(path) = &arguments.release else { return Ok(String::new()) };
    ensure_writable(path)?;
    let (drawn, ledger) = (streamed.draw(total, privacy)?, arguments.ledger.file());
    let charged = drawn.charge(ledger.as_ref(), &streamed.subject(privacy), || Ok(total.data_sha256()))?;
    charged.write(path)?;
    Ok(arguments.ledger.balance(charged.account(), privacy.delta.get()))
}

fn timing(seconds: f64, rows: u64, inducing: Option<usize>) -> String {
    let Some(m) = inducing else { return format!("{seconds:.3} s\n") };
    let speed = rows as f64 * (m * m) as f64 / seconds / 1e9;
    format!("{seconds:.3} s, {speed:.1} GFLOP/s counted as rows times {m}^2\n")
}
