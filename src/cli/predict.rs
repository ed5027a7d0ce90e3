//! `dpgp predict`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;

use super::CliError;
use super::ledger_options::{LedgerArguments, balance};
use super::options::{Format, Places};
use super::output::{complain, print, print_json};
use super::predict_from::FromArguments;
use super::preview::{PreviewArguments, preview};
use super::targets::distinct;
use crate::data::rows::ensure_addresses;
use crate::publish::short;
use crate::release::{
    Charged, PointsFile, PredictionFiles, PredictionForm, PredictionRequest, PrivatePredictions,
    ReleaseError, SigningKey, chosen_cell,
};
use crate::run::{Clipped, watcher, with_ending};

const EXAMPLES: &str = "\
The model of the spec is fitted to all rows. The noise comes from the operating system, so that nobody can subtract it,
and no two calls give the same numbers: each call is one more release, and what they cost adds up. A ledger counts them,
known by the rows whatever file they stand in, and written before the predictions are. It is kept in the state folder
(DPGP_STATE) unless --ledger names another place. With a budget it refuses what the budget does not hold.

FILE.csv holds the inputs of the grid and private_mean, gp_sd, noise_sd, low, high (95 % interval of the function);
FILE.csv.certificate.json says what is guaranteed and what is not. FILE.parquet has the same columns, FILE.json a list of records.

Examples:
  dpgp predict my.toml --at grid.csv --preview                what each epsilon is worth; nothing is spent
  dpgp predict my.toml --at grid.csv --preview --figure worth.svg --error 5     drawn, with the epsilon that errs by 5
  dpgp predict my.toml --at grid.csv --out predictions.csv
  dpgp predict my.toml --at grid.csv --weights visits --out p0.csv      the column visits says how much each point counts
  dpgp predict my.toml --at grid.csv --out p1.csv --budget-epsilon 2 --budget-delta 1e-5     a budget from now on
  dpgp predict my.toml --at grid.csv --out p2.csv --ledger my-data.ledger.toml
  dpgp predict my.toml --at grid.csv --out p3.csv --sign ~/.ssh/id_ed25519
  dpgp predict my.toml --at grid.csv --cell epsilon=0.5 --cell method=sparse > predictions.csv
  dpgp predict --from surface.json --at other.csv --kernel 'eq = { variance = 0.5, lengthscale = 20.0 }'     from released moments
  dpgp ledger show my.toml";

/// `dpgp predict`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PredictArguments {
    /// The path of a spec (or the name of an experiment) with task.regression, task.prediction or task.surface
    #[arg(value_name = "SPEC", required_unless_present = "from")]
    spec: Option<String>,
    /// A CSV or Parquet file with the inputs to predict at, a column for each input of the spec; public
    #[arg(long, value_name = "GRID")]
    at: PathBuf,
    /// The column of GRID with a public weight for each point: the objective risk then minimises the weighted sum of squared errors
    /// [default: all points count alike]
    #[arg(long, value_name = "COLUMN")]
    weights: Option<String>,
    /// Which cell, where the spec has several; once for each axis
    #[arg(long, value_name = "AXIS=VALUE")]
    cell: Vec<String>,
    /// Where the predictions are written, as .csv, .parquet or .json; never over a file that is there [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    released: FromArguments,
    #[command(flatten)]
    preview: PreviewArguments,
    /// Sign the certificate with this SSH key, private or held by an agent: FILE.certificate.json.sig is what
    /// `ssh-keygen -Y sign -n dpgp-release` makes
    #[arg(long, value_name = "KEY", requires = "out")]
    sign: Option<PathBuf>,
    #[command(flatten)]
    ledger: LedgerArguments,
    /// Release in spite of exceptions to the guarantee, for example statistics of private targets in the spec, or a delta that
    /// is not below one over the number of rows
    #[arg(long)]
    allow_caveats: bool,
    /// Say how many targets were clipped, which is private: for the holder of the data alone
    #[arg(long)]
    for_holder: bool,
    /// No progress bars
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    places: Places,
}

/// Releases predictions: everything is computed first, then the ledger is charged, then the file is written.
pub fn predict(arguments: &PredictArguments, format: Format) -> Result<(), CliError> {
    // Before any row is read or a state folder made.
    arguments.out.as_deref().map(PredictionForm::of).transpose()?;
    if let Some(from) = &arguments.released.from {
        return arguments.released.predict(from, &arguments.at, arguments.out.as_deref(), format);
    }
    let project = arguments.places.project()?;
    let experiment = project.only(arguments.spec.as_deref().unwrap_or_default())?;
    let cell = chosen_cell(&experiment, &arguments.cell)?;
    let source = cell.setting().data.source.own_file().map(Path::new);
    ensure_addresses(source.into_iter().chain([arguments.at.as_path()]))?;
    let watcher = watcher(arguments.quiet);
    let points = PointsFile { path: &arguments.at, weights: arguments.weights.as_deref() };
    if arguments.preview.preview {
        // Without a key the rows are not told apart: nothing is written, not even to the state folder.
        let downloads = watcher.downloads();
        let request = PredictionRequest::read(&project, &experiment, cell, points, downloads, None)?;
        return preview(&request, &experiment.meta.title, &arguments.preview, format);
    }
    distinct(&targets(arguments))?;
    let (place, downloads) = (arguments.ledger.place()?, watcher.downloads());
    let key = place.as_ref().map(|place| place.state.key());
    let signing = arguments.sign.as_deref().map(SigningKey::tried).transpose();
    let signing = signing.map_err(ReleaseError::CannotSign)?;
    // A file that cannot be written is refused before anything is computed.
    let files = arguments.out.as_deref().map(|out| PredictionFiles::open(out, signing.as_ref()));
    let files = files.transpose()?;
    let request = PredictionRequest::read(&project, &experiment, cell, points, downloads, key)?;
    let drawn = request.draw(arguments.allow_caveats)?;
    let charged = drawn.charge(place.as_ref(), &request.subject(), request.fingerprint())?;
    let clipped = request.clipped().filter(|_| arguments.for_holder);
    let shown = show(&charged, files, clipped, arguments, format);
    shown.map_err(|cause| cause.after_charge(charged.receipt()))
}

/// Writes what was charged, and says what it is.
fn show(
    charged: &Charged<PrivatePredictions<'_>>,
    files: Option<PredictionFiles<'_>>,
    clipped: Option<Clipped>,
    arguments: &PredictArguments,
    format: Format,
) -> Result<(), CliError> {
    let written = files.map(|files| files.write(charged)).transpose()?;
    let summary = summary(charged, clipped, arguments);
    match (written, format) {
        (Some(_), Format::Text) => print(&summary),
        (Some(certificate), Format::Json) => {
            print_json(&json!({ "written": arguments.out, "certificate": certificate }))
        }
        (None, Format::Json) => {
            let certificate = charged.certificate_json(charged.csv()?.as_bytes());
            print_json(&json!({ "certificate": certificate, "predictions": charged.json() }))
        }
        (None, Format::Text) => {
            print(&charged.csv()?)?;
            complain(summary.trim_end());
            Ok(())
        }
    }
}

/// What is said of a release: the guarantee, what it leaves out, what is left of the budget, and, to the holder of the data, how
/// many targets were clipped.
fn summary(
    charged: &Charged<PrivatePredictions<'_>>,
    clipped: Option<Clipped>,
    arguments: &PredictArguments,
) -> String {
    let certificate = charged.certificate();
    let points =
        if charged.points() == 1 { "1 point".to_owned() } else { format!("{} points", charged.points()) };
    let mut text =
        format!("predictions at {points}{}\n", arguments.out.as_deref().map(written).unwrap_or_default());
    if arguments.sign.is_some() {
        text.push_str("the certificate is signed: its name and .sig\n");
    }
    text.push_str(&format!("guarantee: {certificate}\n"));
    let delta = certificate.delta_exact.map(short).unwrap_or_default();
    text.push_str(&format!("exact delta at that epsilon: {delta}; randomness of the operating system\n"));
    if let Some(wider) = charged.whole_width() {
        text.push_str(&format!("{wider}\n"));
    }
    for line in charged.warnings() {
        text.push_str(&format!("warning: {line}\n"));
    }
    for line in charged.not_covered() {
        text.push_str(&format!("not covered: {line}\n"));
    }
    if let Some(delta) = certificate.delta() {
        text.push_str(&balance(charged.receipt(), delta));
    }
    if let Some(clipped) = clipped {
        text.push_str(&format!("{clipped}\n"));
    }
    text
}

/// The files that are written.
fn targets(arguments: &PredictArguments) -> Vec<PathBuf> {
    let mut targets = arguments.ledger.files();
    if let Some(out) = &arguments.out {
        let endings = ["", ".certificate.json", ".certificate.json.sig"];
        targets.extend(endings.map(|ending| with_ending(out, ending)));
    }
    targets
}

fn written(out: &Path) -> String {
    let out = out.display();
    format!(", written to {out}; what they guarantee stands in {out}.certificate.json")
}
