//! `dpgp sum`: exact sums of rows, and a private release of them.
//!
//! The order of the steps is part of the privacy argument: refuse, read, charge, draw, write. See [`sum_and_release`].

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::{
    ComputeArguments, DataLocationArguments, OutputFormat, ReleaseLedgerArguments, add_option_conflicts, balance_text,
    ensure_distinct_paths, experiment_completer,
};
use super::output::{print, print_json};
use super::predict::warn_of_clip_inside_bounds;
use super::release_types::SumOutput;
use dpgp_data::HmacKey;
use dpgp_data::rows::ensure_readable_addresses;
use dpgp_fs::{SigningKey, append_suffix};
use dpgp_mechanisms::PrivacySetting;
use dpgp_release::ledger::{ChargeReceipt, LedgerOptions};
use dpgp_release::{
    AfterChargeError, AnyPlannedSumsRelease, DataHolderDescription, ExactSums, NewExactSumsFile, NewSumsFile,
    PlannedSumsRelease, ReleaseError, ReleaseOptions, ShownSumsDescription, SumsReleaseMethod, SumsRequest,
    charge_draw_and_write,
};
use dpgp_run::{RunError, Shard, StateError, StateFolder};

const EXAMPLES: &str = "\
The spec chooses the sums. For task.surface with mechanism.moments, they are counts and targets, by cell or as Fourier moments. With
mechanism.sums, they are products of a row's covariances with the inducing inputs, with the target and with each other. For
task.dirichlet with release = \"class-sums\", they are the same products over the rows of each class. For task.density with
mechanism.histogram, dpgp counts the records in each bin. A target is then the number of records that a row stands for.

Every row of the named files that passes the filters is used, whatever `train` says. Files are Parquet or CSV. A CSV file needs a header,
or its columns listed in the spec, and may be gzipped. Memory use is constant. A build with the feature `cloud` also reads s3://,
gs://, az:// and https:// (docs/rows.md).

A folder means all files below it that end in .parquet, .csv, .tsv, .csv.gz or .tsv.gz. A pattern in quotes (*, ?, [a-z], ** for
folders) means all files that match. Files are read in the order of their paths; names that begin with . or _ are skipped. Folders
named NAME=VALUE on the path of such a file become columns of its rows. A file that you name directly gets no such columns.

A row with a required cell missing is an error, unless data.missing = \"drop\" leaves the row out (docs/rows.md). The number of rows
left out is not reported.

Sums are the same to the last bit for any number of threads or shards. They are exact, and as sensitive as the rows: only their owner
can read the file, and only --for-holder prints counts of rows. Share only the file that --release writes. A ledger records the
release. dpgp finds the ledger by its rows, whichever files hold them. Use the same DPGP_STATE wherever shards run. Output never replaces an
existing file, and a release that fails leaves no file.

Examples:
  dpgp sum beyond/citibike-scale trips.parquet --out sums.json
  dpgp sum my.toml a.csv b.csv --shard 2/8 --out part2.json       the second of eight parts, on any machine
  dpgp sum my.toml --add part*.json --out sums.json               add all parts
  dpgp sum my.toml 'trips/year=2017/month=*/*.parquet' --out sums.json      year and month are columns
  dpgp sum my.toml --add sums.json --release surface.json --epsilon 1
  dpgp sum my.toml --add sums.json --release surface.json --epsilon 1 --budget-epsilon 3 --budget-delta 1e-6
  dpgp sum my.toml rows.csv --release surface.json --sign ~/.ssh/id_ed25519
  dpgp ledger show                                                all known ledgers, with their releases";

/// Options that need --release.
const OF_RELEASES: &[&str] =
    &["ledger", "no_ledger", "budget_epsilon", "budget_delta", "other_people", "epsilon", "sign", "allow_caveats"];

/// Arguments of `dpgp sum`.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("ledger", |ledger| ledger.requires("release")),
    mut_arg("no_ledger", |ledger| ledger.requires("release")),
    mut_arg("budget_epsilon", |budget| budget.requires("release")),
    mut_arg("other_people", |other| other.requires("release")),
    mut_args(|arg| add_option_conflicts(arg, OF_RELEASES, &["shard"]))
)]
pub struct SumArguments {
    /// An experiment with task.surface, task.dirichlet or task.density, or the path of a spec
    #[arg(value_name = "NAME", add = experiment_completer())]
    name: String,
    /// Files of rows, read in the given order: CSV (also .csv.gz) or Parquet files, folders of such files, or patterns in quotes
    #[arg(value_name = "FILE", required_unless_present = "add")]
    files: Vec<PathBuf>,
    /// Sum only the rows of part I of N
    #[arg(long, value_name = "I/N", conflicts_with_all = ["add", "release"])]
    shard: Option<Shard>,
    /// Add up the sums in these files instead of summing rows
    #[arg(long, value_name = "SUMS", num_args = 1.., conflicts_with = "files")]
    add: Vec<PathBuf>,
    /// Write the exact sums to this new file or pipe; never overwrites an existing file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the sums with privacy noise, and posteriors computed from them, to this new file or pipe; never overwrites an existing file
    #[arg(long, value_name = "FILE")]
    release: Option<PathBuf>,
    /// Release with this epsilon instead of the spec's
    #[arg(long, value_name = "E", requires = "release", allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Sign the release with this SSH key (a private key file, or a key in ssh-agent); writes FILE.sig, as
    /// `ssh-keygen -Y sign -n dpgp-release` does
    #[arg(long, value_name = "KEY", requires = "release")]
    sign: Option<PathBuf>,
    #[command(flatten)]
    ledger: ReleaseLedgerArguments,
    /// Release despite exceptions to the guarantee, or a delta that is not below 1 / (number of rows)
    #[arg(long, requires = "release")]
    allow_caveats: bool,
    /// For the holder of the data only: print the number of rows, of clipped rows and of rows in each class. These counts are exact: do
    /// not publish them
    #[arg(long)]
    for_holder: bool,
    /// Print how long the sums took
    #[arg(long)]
    timings: bool,
    #[command(flatten)]
    work: ComputeArguments,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// Sums rows or adds sums, and writes the exact sums, a private release of them, or both.
pub fn sum(arguments: &SumArguments, format: OutputFormat) -> Result<(), CliError> {
    ensure_readable_addresses(arguments.files.iter().map(PathBuf::as_path))?;
    let experiment = arguments.places.project()?.find_one_experiment(&arguments.name)?;
    let planned = AnyPlannedSumsRelease::from_experiment(&experiment)?;
    experiment.cells.first().into_iter().for_each(|cell| warn_of_clip_inside_bounds(cell.setting()));
    match planned {
        AnyPlannedSumsRelease::Surface(streamed) => sum_and_release(&streamed, arguments, format),
        AnyPlannedSumsRelease::Moments(streamed) => sum_and_release(&streamed, arguments, format),
        AnyPlannedSumsRelease::Classes(streamed) => sum_and_release(&streamed, arguments, format),
        AnyPlannedSumsRelease::Counts(streamed) => sum_and_release(&streamed, arguments, format),
    }
}

/// Runs the steps in the order that privacy needs.
///
/// 1. Refuse: check all that needs no row. Such an error reveals nothing about rows and spends no budget.
/// 2. Read: sum the rows, or add the sums of files. Exact sums are as private as the rows.
/// 3. Charge: [`charge_draw_and_write`] asks for the cost of the release and enters it in the ledger. A spent budget refuses here, before any
///    noise exists.
/// 4. Draw: [`charge_draw_and_write`] draws the noise from the operating system, once.
/// 5. Write: the release, then the exact sums for their owner, then the report on standard output.
///
/// An error after the charge says that the budget was spent.
fn sum_and_release<M: SumsReleaseMethod>(
    streamed: &PlannedSumsRelease<'_, M>,
    arguments: &SumArguments,
    format: OutputFormat,
) -> Result<(), CliError> {
    // Refuse: an epsilon that cannot be released, a missing state folder, a key that cannot sign, two equal output paths, and output
    // files that exist or cannot be written. All this comes before the sums, which can take hours.
    let privacy =
        arguments.release.as_ref().map(|_| streamed.resolve_privacy_setting(arguments.epsilon)).transpose()?;
    let place = privacy.as_ref().map(|_| arguments.ledger.open_ledger_place()).transpose()?.flatten();
    let signing = arguments.sign.as_deref().map(SigningKey::from_tested_file).transpose();
    let signing = signing.map_err(ReleaseError::CannotSign)?;
    ensure_distinct_paths(&output_paths(arguments))?;
    let mut sums = arguments.out.as_deref().map(NewExactSumsFile::open).transpose()?;
    let file = arguments.release.as_deref().map(|path| NewSumsFile::open(path, signing.as_ref())).transpose()?;
    // Read: exact sums, from rows or from files of sums.
    let start = Instant::now();
    let total = compute_exact_sums(streamed, arguments, place.as_ref())?;
    let unchecked = total.files_without_checksum().iter();
    let notes: String = unchecked
        .map(|path| {
            format!("{}: not verified, because an earlier version wrote it without a checksum\n", path.display())
        })
        .collect();
    let seconds = start.elapsed().as_secs_f64();
    // The exact sums are kept aside. They reach the output only in `finish` below.
    sums.as_mut().map(|sums| sums.write_sums(&total)).transpose()?;
    // Charge, draw and write the release, in this order.
    let SumsReleaseSummary { mut release_text, receipt } = match (&privacy, file) {
        (Some(privacy), Some(file)) => {
            let to = SumsReleaseOptions { privacy, place: place.as_ref(), file };
            release_sums(streamed, &total, to, arguments.allow_caveats)?
        }
        _ => SumsReleaseSummary::default(),
    };
    if let (Some(path), Some(_)) = (&arguments.release, &signing) {
        release_text = format!("signed: {}.sig\n{release_text}", path.display());
    }
    // Write the exact sums. A release that failed has returned above, and leaves no sums either.
    let finished = sums.map(NewExactSumsFile::finish).transpose().map_err(CliError::from);
    let spoken = SumMessages { seconds, notes, release_text };
    let shown = finished.and_then(|_| print_sums(streamed.describe_sums(&total), arguments, &spoken, format));
    shown.map_err(|cause| cause.with_charge_receipt(receipt.as_ref()))
}

/// Sums the rows of files, or adds the sums of files.
fn compute_exact_sums<M: SumsReleaseMethod>(
    streamed: &PlannedSumsRelease<'_, M>,
    arguments: &SumArguments,
    place: Option<&LedgerOptions>,
) -> Result<ExactSums<M>, CliError> {
    if !arguments.add.is_empty() {
        return Ok(streamed.combine_shard_sums(&arguments.add)?);
    }
    let key = hmac_key_for_rows(arguments, place)?;
    let pool = arguments.work.pool()?.with_row_progress(!arguments.work.quiet);
    Ok(streamed.sum(&arguments.files, arguments.shard, &pool, key.as_ref())?)
}

/// The text printed beside the sums.
struct SumMessages {
    /// The time of the sums, in seconds.
    seconds: f64,
    /// Notes about files that were added.
    notes: String,
    /// What a release leaves to print after the sums: the risk in words, warnings, and what is left in the ledger.
    release_text: String,
}

/// Prints a description of the sums. Facts that depend on private rows are included only with --for-holder.
fn print_sums(
    description: DataHolderDescription,
    arguments: &SumArguments,
    spoken: &SumMessages,
    format: OutputFormat,
) -> Result<(), CliError> {
    let ShownSumsDescription { facts, mut text } = if arguments.for_holder {
        description.into_data_holder_description()
    } else {
        description.into_public_description()
    };
    if format == OutputFormat::Json {
        return print_json(&json!(SumOutput {
            facts,
            out: arguments.out.clone(),
            release: arguments.release.clone(),
            seconds: arguments.timings.then_some(spoken.seconds),
        }));
    }
    if arguments.timings {
        let rows = facts.private.as_ref().map(|held| held.rows);
        text += &timing(spoken.seconds, rows, facts.public.inducing_inputs);
    }
    for path in arguments.out.iter().chain(&arguments.release) {
        text += &format!("written to {}\n", path.display());
    }
    print(&(text + &spoken.notes + &spoken.release_text))
}

/// The guarantee of a release, its ledger, and its output file.
struct SumsReleaseOptions<'a> {
    privacy: &'a PrivacySetting,
    place: Option<&'a LedgerOptions>,
    file: NewSumsFile<'a>,
}

/// Lists the output files.
fn output_paths(arguments: &SumArguments) -> Vec<PathBuf> {
    let mut targets = arguments.ledger.ledger_and_lock_files();
    targets.extend(arguments.out.clone());
    if let Some(release) = &arguments.release {
        targets.push(release.clone());
        targets.extend(arguments.sign.as_ref().map(|_| append_suffix(release, ".sig")));
    }
    targets
}

/// What a written release leaves to report. Empty if none was asked for.
#[derive(Default)]
struct SumsReleaseSummary {
    /// What to print after the sums: the risk in words, warnings, and what is left in the ledger.
    release_text: String,
    /// The charge, if there was one.
    receipt: Option<ChargeReceipt>,
}

/// Charges the ledger, draws the noise and writes the file, in this order.
///
/// [`charge_draw_and_write`] guarantees the order: it calls the closure only with a value that was charged and drawn. It also refuses exceptions to
/// the guarantee unless `allow_caveats`, before the charge.
fn release_sums<M: SumsReleaseMethod>(
    streamed: &PlannedSumsRelease<'_, M>,
    total: &ExactSums<M>,
    to: SumsReleaseOptions<'_>,
    allow_caveats: bool,
) -> Result<SumsReleaseSummary, CliError> {
    let SumsReleaseOptions { privacy, place, file } = to;
    let request = SumsRequest { streamed, total, privacy, known: true };
    charge_draw_and_write(
        &request,
        &ReleaseOptions { place, allow_exceptions: allow_caveats },
        || Ok(()),
        |charged| {
            file.write(charged)?;
            let receipt = charged.receipt();
            let mut text = charged.risk_in_words().map_or_else(String::new, |risk| risk + "\n");
            charged.warnings().iter().for_each(|line| text.push_str(&format!("warning: {line}\n")));
            text.push_str(&balance_text(receipt, privacy.delta.get()));
            Ok(SumsReleaseSummary { release_text: text, receipt: receipt.cloned() })
        },
    )
}

/// Returns the key that identifies rows to ledgers. Sums that are kept need it for a later release that a ledger records. Without a state
/// folder they are made without a key.
fn hmac_key_for_rows(arguments: &SumArguments, place: Option<&LedgerOptions>) -> Result<Option<HmacKey>, CliError> {
    match (place, &arguments.out) {
        (Some(place), _) => Ok(Some(place.state.key().clone())),
        (None, Some(_)) => match StateFolder::open() {
            Ok(state) => Ok(Some(state.key().clone())),
            Err(StateError::NoFolder) => Ok(None),
            Err(error) => Err(RunError::from(error).into()),
        },
        (None, None) => Ok(None),
    }
}

/// Formats the time, in seconds. The speed reveals the number of rows, so it is printed only together with that number.
fn timing(seconds: f64, rows: Option<u64>, inducing: Option<usize>) -> String {
    let Some((rows, m)) = rows.zip(inducing) else { return format!("{seconds:.3} s\n") };
    let speed = rows as f64 * (m * m) as f64 / seconds / 1e9;
    format!("{seconds:.3} s, {speed:.1} GFLOP/s ({m}^2 operations per row)\n")
}
