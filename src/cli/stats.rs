//! `dpgp stats`.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use serde_json::json;

use super::CliError;
use super::options::distinct;
use super::options::experiments;
use super::options::{Format, Places, Work};
use super::options::{LedgerArguments, balance};
use super::output::{print, print_json};
use super::release_types::SummedRows;
use dpgp_data::DataKey;
use dpgp_data::rows::ensure_addresses;
use dpgp_fs::with_ending;
use dpgp_mechanisms::PrivacySetting;
use dpgp_release::ledger::{LedgerPlace, Receipt};
use dpgp_release::{
    AfterCharge, ExactSumsFile, HeldDescription, ReleaseError, SigningKey, Streamed, StreamedRelease,
    StreamedTotal, SumsDescription, SumsModel, SumsPlace, SumsRequest, Terms, publish,
};
use dpgp_run::{RunError, Shard, StateError, StateFolder};

const EXAMPLES: &str = "\
The spec says what is summed: by a task.surface, covariances with its inducing inputs, times the target and squared; by
a task.dirichlet with release = \"class-sums\", the same over the rows of each class; by a task.density with
mechanism.histogram, how many records lie in each bin, where the target says for how many a row stands. All rows of the
files named here that pass the filters count, whatever `train` says: CSV with a header or with columns that the spec lists,
also packed by gzip, or Parquet, in constant memory. A build with the feature `cloud` takes s3://, gs://, az:// and https:// as well (docs/rows.md).
A folder stands for all files in it and below that end in .parquet, .csv, .tsv, .csv.gz or .tsv.gz, a pattern in quotes (*, ?,
[a-z], ** for folders) for all that match, in the order of their paths; names that begin with . or _ are passed over. Folders NAME=VALUE on
the way to such a file are columns of its rows, like those of the file; a file that is named itself has no such columns.
Files that are written replace none that is there; nothing is left of a release that fails.
A row that lacks a cell that is read is an error, unless data.missing = \"drop\" leaves it out (docs/rows.md); nothing says how many.
Sums do not depend on the number of threads or shards, to the last bit. They are exact, and as private as the rows: only
their owner can read the file, and counts of rows are printed with --for-holder alone. Only --release writes what may be
shared; a ledger counts it, known by the rows whatever files they stand in (DPGP_STATE, the same wherever shards run).

Examples:
  dpgp stats beyond/citibike-scale trips.parquet --out sums.json
  dpgp stats my.toml a.csv b.csv --shard 2/8 --out part2.json     the second of eight parts, on any machine
  dpgp stats my.toml --add part*.json --out sums.json             all parts together
  dpgp stats my.toml 'trips/year=2017/month=*/*.parquet' --out sums.json    year and month are columns
  dpgp stats my.toml --add sums.json --release surface.json --epsilon 1
  dpgp stats my.toml --add sums.json --release surface.json --epsilon 1 --budget-epsilon 3 --budget-delta 1e-6
  dpgp stats my.toml rows.csv --release surface.json --sign ~/.ssh/id_ed25519
  dpgp ledger show                                                what was released about which rows";

/// `dpgp stats`.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("ledger", |ledger| ledger.requires("release")),
    mut_arg("no_ledger", |ledger| ledger.requires("release")),
    mut_arg("budget_epsilon", |budget| budget.requires("release")),
    mut_arg("other_people", |other| other.requires("release"))
)]
pub struct StatsArguments {
    /// An experiment with task.surface, task.dirichlet or task.density, or the path of a spec
    #[arg(value_name = "NAME", add = experiments())]
    name: String,
    /// Files of rows, CSV (.csv.gz too) or Parquet, in the order of their rows; folders of such files; patterns in quotes
    #[arg(value_name = "FILE", required_unless_present = "add")]
    files: Vec<PathBuf>,
    /// Sum only part I of N of the rows
    #[arg(long, value_name = "I/N", conflicts_with_all = ["add", "release"])]
    shard: Option<Shard>,
    /// Add the sums of these files instead of rows
    #[arg(long, value_name = "SUMS", num_args = 1.., conflicts_with = "files")]
    add: Vec<PathBuf>,
    /// Write the sums to this file, or into this pipe; never over a file that is there
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the sums with privacy noise, and the posteriors from them, to this file, or into this pipe; never over a file that is there
    #[arg(long, value_name = "FILE")]
    release: Option<PathBuf>,
    /// Release for this epsilon instead of the spec's
    #[arg(long, value_name = "E", requires = "release", allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Sign the release with this SSH key, private or held by an agent: FILE.sig is what `ssh-keygen -Y sign -n dpgp-release`
    /// makes
    #[arg(long, value_name = "KEY", requires = "release")]
    sign: Option<PathBuf>,
    #[command(flatten)]
    ledger: LedgerArguments,
    /// Release in spite of exceptions to the guarantee, or of a delta that is not below one over the number of rows
    #[arg(long, requires = "release")]
    allow_caveats: bool,
    /// Say how many rows there are, and how many were clipped or are of each class: private, for the holder of the rows alone
    #[arg(long)]
    for_holder: bool,
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
    ensure_addresses(arguments.files.iter().map(PathBuf::as_path))?;
    let experiment = arguments.places.project()?.only(&arguments.name)?;
    match StreamedRelease::from_experiment(&experiment)? {
        StreamedRelease::Surface(streamed) => answer(&streamed, arguments, format),
        StreamedRelease::Moments(streamed) => answer(&streamed, arguments, format),
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
    let place = privacy.as_ref().map(|_| arguments.ledger.place()).transpose()?.flatten();
    // So is a key that does not sign.
    let signing = arguments.sign.as_deref().map(SigningKey::tried).transpose();
    let signing = signing.map_err(ReleaseError::CannotSign)?;
    // And a file that could not be written.
    distinct(&targets(arguments))?;
    let mut sums = arguments.out.as_deref().map(ExactSumsFile::open).transpose()?;
    let file =
        arguments.release.as_deref().map(|path| SumsPlace::open(path, signing.as_ref())).transpose()?;
    let start = Instant::now();
    let total = total(streamed, arguments, place.as_ref())?;
    let unchecked = total.unchecked().iter();
    let notes: String = unchecked
        .map(|path| format!("{}: without a checksum, of an earlier version\n", path.display()))
        .collect();
    let seconds = start.elapsed().as_secs_f64();
    sums.as_mut().map(|sums| sums.fill(&total)).transpose()?;
    let Released { mut balance, receipt } = match (&privacy, file) {
        (Some(privacy), Some(file)) => {
            let to = ReleaseTo { privacy, place: place.as_ref(), file };
            release(streamed, &total, to, arguments.allow_caveats)?
        }
        _ => Released::default(),
    };
    if let (Some(path), Some(_)) = (&arguments.release, &signing) {
        balance = format!("signed: {}.sig\n{balance}", path.display());
    }
    // Nothing is left of sums whose release failed.
    let finished = sums.map(ExactSumsFile::finish).transpose().map_err(CliError::from);
    let spoken = Spoken { seconds, notes, balance };
    let shown = finished.and_then(|_| say(streamed.described(&total), arguments, &spoken, format));
    shown.map_err(|cause| cause.after_charge(receipt.as_ref()))
}

/// The sums of the rows of files, or of parts.
fn total<M: SumsModel>(
    streamed: &Streamed<'_, M>,
    arguments: &StatsArguments,
    place: Option<&LedgerPlace>,
) -> Result<StreamedTotal<M>, CliError> {
    if !arguments.add.is_empty() {
        return Ok(streamed.add(&arguments.add)?);
    }
    let key = row_key(arguments, place)?;
    let pool = arguments.work.pool()?.showing_rows(!arguments.work.quiet);
    Ok(streamed.sum(&arguments.files, arguments.shard, &pool, key.as_ref())?)
}

/// What is said beside the sums.
struct Spoken {
    /// How long they took.
    seconds: f64,
    /// What is said of files that were added.
    notes: String,
    /// What the ledger holds.
    balance: String,
}

fn say(
    description: HeldDescription,
    arguments: &StatsArguments,
    spoken: &Spoken,
    format: Format,
) -> Result<(), CliError> {
    let SumsDescription { facts, mut text } =
        if arguments.for_holder { description.of_holder() } else { description.of_all() };
    if format == Format::Json {
        return print_json(&json!(SummedRows {
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
    print(&(text + &spoken.notes + &spoken.balance))
}

/// What is released, for which ledger, and where it is written.
struct ReleaseTo<'a> {
    privacy: &'a PrivacySetting,
    place: Option<&'a LedgerPlace>,
    file: SumsPlace<'a>,
}

/// The files that are written.
fn targets(arguments: &StatsArguments) -> Vec<PathBuf> {
    let mut targets = arguments.ledger.files();
    targets.extend(arguments.out.clone());
    if let Some(release) = &arguments.release {
        targets.push(release.clone());
        targets.extend(arguments.sign.as_ref().map(|_| with_ending(release, ".sig")));
    }
    targets
}

/// What became of a release.
#[derive(Default)]
struct Released {
    /// What the ledger holds.
    balance: String,
    /// What was charged, if anything was.
    receipt: Option<Receipt>,
}

/// Charges the ledger, draws the noise and writes the file.
fn release<M: SumsModel>(
    streamed: &Streamed<'_, M>,
    total: &StreamedTotal<M>,
    to: ReleaseTo<'_>,
    allow_caveats: bool,
) -> Result<Released, CliError> {
    let ReleaseTo { privacy, place, file } = to;
    let request = SumsRequest { streamed, total, privacy, known: true };
    publish(
        &request,
        &Terms { place, allow_exceptions: allow_caveats },
        || Ok(()),
        |charged| {
            file.write(charged)?;
            let receipt = charged.receipt();
            let mut text: String =
                charged.warnings().iter().map(|line| format!("warning: {line}\n")).collect();
            text.push_str(&balance(receipt, privacy.delta.get()));
            Ok(Released { balance: text, receipt: receipt.cloned() })
        },
    )
}

/// The key that rows are known by. Sums that are kept need one if they are to be released by a ledger; where there is no state
/// folder they are made without.
fn row_key(arguments: &StatsArguments, place: Option<&LedgerPlace>) -> Result<Option<DataKey>, CliError> {
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

/// The speed is told with the number of rows, from which it follows.
fn timing(seconds: f64, rows: Option<u64>, inducing: Option<usize>) -> String {
    let Some((rows, m)) = rows.zip(inducing) else { return format!("{seconds:.3} s\n") };
    let speed = rows as f64 * (m * m) as f64 / seconds / 1e9;
    format!("{seconds:.3} s, {speed:.1} GFLOP/s counted as rows times {m}^2\n")
}
