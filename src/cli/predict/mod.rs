//! `dpgp predict`.

mod output;
mod source;
mod summary;

use std::path::PathBuf;

use clap::Args;
use rand::TryRng;
use rand::rand_core::UnwrapErr;
use rand::rngs::SysRng;
use serde_json::json;

use super::CliError;
use super::arguments::{Format, Places};
use super::ledger::LedgerArguments;
use super::output::{print, print_json};
use super::workspace::Workspace;
use crate::publish::{PublishError, ReleasedPredictions};
use crate::run::{Clipped, clipped_targets, load_points};
use crate::task::{Predictions, PreparedRelease};
use output::Output;
use source::Source;
use summary::summary;

const EXAMPLES: &str = "\
The model of the spec is fitted to all rows. The noise comes from the operating system, so that nobody can subtract it,
and no two calls give the same numbers: each call is one more release, and what they cost adds up. A ledger counts them
and refuses one that the budget does not hold; it is written before the predictions are.

FILE.csv holds the inputs of the grid and private_mean, gp_sd, noise_sd, low, high (95 % interval of the function);
FILE.csv.certificate.json says what is guaranteed and what is not.

Examples:
  dpgp predict my.toml --at grid.csv --out predictions.csv
  dpgp predict my.toml --at grid.csv --out p1.csv --ledger my-data.ledger.toml --budget-epsilon 2 --budget-delta 1e-5
  dpgp predict my.toml --at grid.csv --out p2.csv --ledger my-data.ledger.toml
  dpgp predict my.toml --at grid.csv --cell epsilon=0.5 --cell method=sparse > predictions.csv";

/// `dpgp predict`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PredictArguments {
    /// The path of a spec (or the name of an experiment) with task.regression, task.prediction or task.surface
    #[arg(value_name = "SPEC")]
    spec: String,
    /// A CSV or Parquet file with the inputs to predict at, a column for each input of the spec; public
    #[arg(long, value_name = "GRID")]
    at: PathBuf,
    /// Which cell, where the spec has several; once for each axis
    #[arg(long, value_name = "AXIS=VALUE")]
    cell: Vec<String>,
    /// Where the predictions are written; never over a file that is there [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    ledger: LedgerArguments,
    /// Release in spite of exceptions to the guarantee, for example statistics of private targets in the spec
    #[arg(long, conflicts_with = "ledger")]
    allow_caveats: bool,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    places: Places,
}

/// Releases predictions: everything is computed first, then the ledger is charged, then the file is written.
///
/// # Errors
/// [`CliError`]; a release that fails before the ledger is charged changes nothing on disk.
pub fn predict(arguments: &PredictArguments, format: Format) -> Result<(), CliError> {
    let workspace = Workspace::open(&arguments.places)?;
    let source = Source::new(&workspace, arguments)?;
    let cell = source.cell(&arguments.cell)?;
    let points = load_points(&arguments.at, &cell.setting().data)?;
    if points.nrows() == 0 {
        return Err(CliError::NoPoints { path: arguments.at.clone() });
    }
    let sample = source.sample(cell)?;
    let prepared = source.prepare(cell, &sample, &points)?;
    refuse_caveats(&prepared, arguments.allow_caveats)?;
    let predictions = draw(&prepared)?;
    let output = arguments.out.as_deref().map(Output::open).transpose()?;
    let account = source.charge(cell, &prepared)?;
    let released = ReleasedPredictions {
        setting: cell.setting(),
        spec: source.experiment.source.text(),
        points: &points,
        predictions: &predictions,
        certificate: &prepared.certificate,
        mu: prepared.mu,
        account: account.as_ref(),
    };
    let clipped = clipped_targets(cell.setting(), &sample);
    finish(&released, clipped, output, arguments, format)
}

/// Refuses a guarantee with exceptions, unless they are allowed.
fn refuse_caveats(prepared: &PreparedRelease, allowed: bool) -> Result<(), CliError> {
    let caveats = &prepared.certificate.caveats;
    if caveats.is_empty() || allowed {
        return Ok(());
    }
    let list = caveats.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Err(CliError::Caveats { list })
}

/// Draws the noise from the operating system.
fn draw(prepared: &PreparedRelease) -> Result<Predictions, CliError> {
    // A system without randomness says so here, not in the middle of a draw.
    SysRng.try_next_u64().map_err(|cause| CliError::Randomness { cause: cause.to_string() })?;
    Ok(prepared.draw(&mut UnwrapErr(SysRng))?)
}

fn finish(
    released: &ReleasedPredictions<'_>,
    clipped: Option<Clipped>,
    output: Option<Output>,
    arguments: &PredictArguments,
    format: Format,
) -> Result<(), CliError> {
    let csv = released.csv().map_err(PublishError::from)?;
    let certificate = released.certificate(&csv);
    let summary = summary(released, clipped, arguments);
    match (output, format) {
        (Some(output), Format::Text) => {
            output.write(&csv, &certificate)?;
            print(&summary)
        }
        (Some(output), Format::Json) => {
            output.write(&csv, &certificate)?;
            print_json(&json!({ "written": arguments.out, "certificate": certificate }))
        }
        (None, Format::Json) => {
            print_json(&json!({ "certificate": certificate, "predictions": released.json() }))
        }
        (None, Format::Text) => {
            print(&csv)?;
            eprint!("{summary}");
            Ok(())
        }
    }
}
