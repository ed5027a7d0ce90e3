//! `dpgp ledger`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::CliError;
use super::options::{DataLocationArguments, OutputFormat, account_text, parse_number};
use super::output::{print, print_json};
use dpgp_accounting::AttackRisk;
use dpgp_data::RowsFingerprint;
use dpgp_number::Delta;
use dpgp_number::text::count_with_noun;
use dpgp_release::ledger::{
    Ledger, LedgerEntry, LedgerState, ListedLedger, ReleasePosition, find_ledger_in_file, list_ledgers,
    list_ledgers_about, locate_release,
};
use dpgp_report::plain_table;
use dpgp_run::{Project, RunError, StateFolder, create_watcher, load_fingerprinted_sample};

const EXAMPLES: &str = "\
A ledger records the releases from a set of rows. dpgp finds a ledger by its path or by the contents of the rows (whatever their file is
called). `show` prints its releases, their combined privacy loss and the remaining budget. `verify` checks that a ledger is unaltered: every
entry is linked to the earlier ones, the ledger as a whole is sealed with the key in the state folder, and no earlier copy was restored.
Without a name, both commands use all ledgers known to the state folder (DPGP_STATE).

`verify` alone cannot detect that an earlier copy of the whole state folder was restored. `verify --released` finds the
releases that are missing from such a copy, because each release names its ledger entry.

Exit codes: 0 every ledger is unaltered; 2 no known ledger matches a name; 5 a ledger was edited, truncated, removed, replaced by an
earlier copy or sealed with another key, or a release is not in any ledger.

Examples:
  dpgp ledger show                            all known ledgers
  dpgp ledger show energy.toml                the ledgers that cover the data of a spec
  dpgp ledger show my.ledger.toml --delta 1e-6 --format json
  dpgp ledger verify
  dpgp ledger verify --released *.certificate.json";

/// Arguments of `dpgp ledger`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LedgerCommandArguments {
    /// The action.
    #[command(subcommand)]
    pub what: LedgerAction,
}

/// Actions on ledgers.
#[derive(Debug, Subcommand)]
pub enum LedgerAction {
    /// Print the releases, the spent budget and the remaining budget
    Show(LedgerSelection),
    /// Check that ledgers are unaltered
    Verify(LedgerVerifyArguments),
}

impl LedgerAction {
    fn ledgers(&self) -> &LedgerSelection {
        match self {
            Self::Show(ledgers) | Self::Verify(LedgerVerifyArguments { ledgers, .. }) => ledgers,
        }
    }

    /// Returns the releases to look for.
    fn releases_to_find(&self) -> &[PathBuf] {
        match self {
            Self::Show(_) => &[],
            Self::Verify(verified) => &verified.released,
        }
    }
}

/// The ledgers to verify, and the releases that should be in them.
#[derive(Debug, Args)]
pub struct LedgerVerifyArguments {
    #[command(flatten)]
    ledgers: LedgerSelection,
    /// Check that each of these releases is in one of the ledgers; name certificates or files written by `dpgp sum --release`
    #[arg(long, value_name = "CERTIFICATE", num_args = 1..)]
    released: Vec<PathBuf>,
}

/// The choice of ledgers.
#[derive(Debug, Args)]
pub struct LedgerSelection {
    /// Ledger files or specs [default: all known ledgers]
    #[arg(value_name = "FILE")]
    names: Vec<String>,
    /// Report epsilon at this delta [default: the delta of the budget, else of the last release]
    #[arg(long, value_name = "D", value_parser = parse_number(Delta::new), allow_negative_numbers = true)]
    delta: Option<Delta>,
    #[command(flatten)]
    places: DataLocationArguments,
}

/// Shows or verifies ledgers; fails if one of them cannot be trusted.
pub fn ledger(verb: &LedgerCommandArguments, format: OutputFormat) -> Result<(), CliError> {
    let arguments = verb.what.ledgers();
    let found = find_ledgers(arguments)?;
    let released = look_up_releases(verb.what.releases_to_find(), &found)?;
    let shows = matches!(verb.what, LedgerAction::Show(_));
    if format == OutputFormat::Json {
        let ledgers = found.iter().map(|one| ledger_json(one, arguments.delta.map(Delta::get), shows));
        print_json(&ledgers.chain(released.iter().map(release_lookup_json)).collect())?;
    } else {
        let text = if shows { ledger_text } else { ledger_verdict_text };
        print(&found.iter().map(|one| text(one, arguments.delta.map(Delta::get))).collect::<String>())?;
        print(&released.iter().map(release_lookup_text).collect::<String>())?;
        if found.is_empty() {
            print("no ledgers are known, because no release has been charged to a ledger\n")?;
        }
    }
    let broken = found.iter().filter(|one| matches!(one.state, LedgerState::Broken(_))).count();
    let missing = released.iter().filter(|one| one.entered == ReleasePosition::Nowhere).count();
    match (broken, missing) {
        (0, 0) => Ok(()),
        (0, _) => Err(CliError::NotEntered { missing, all: released.len() }),
        _ => Err(CliError::BrokenLedgers { broken, all: found.len() }),
    }
}

/// A published release, and its entry in a ledger.
struct ReleaseLookup<'a> {
    path: &'a Path,
    entered: ReleasePosition,
}

fn look_up_releases<'a>(released: &'a [PathBuf], ledgers: &[ListedLedger]) -> Result<Vec<ReleaseLookup<'a>>, CliError> {
    let mut all = Vec::new();
    for path in released {
        all.push(ReleaseLookup { path, entered: locate_release(path, ledgers)? });
    }
    Ok(all)
}

fn release_lookup_text(one: &ReleaseLookup<'_>) -> String {
    let path = one.path.display();
    match &one.entered {
        ReleasePosition::At { ledger, number } => {
            format!("{path}: release {number} in {}\n", ledger.display())
        }
        ReleasePosition::Nowhere => format!(
            "{path}: NOT IN any of these ledgers: either the release was charged to another ledger, or an earlier copy of its \
             ledger was restored, which lost later charges\n"
        ),
        ReleasePosition::Unnamed => {
            format!("{path}: not checked: the release was made without a ledger, or before releases had ids\n")
        }
    }
}

fn release_lookup_json(one: &ReleaseLookup<'_>) -> Value {
    let (state, ledger, number) = match &one.entered {
        ReleasePosition::At { ledger, number } => ("entered", Some(ledger), Some(number)),
        ReleasePosition::Nowhere => ("not-entered", None, None),
        ReleasePosition::Unnamed => ("without-id", None, None),
    };
    json!({ "release": one.path, "state": state, "ledger": ledger, "number": number })
}

fn find_ledgers(arguments: &LedgerSelection) -> Result<Vec<ListedLedger>, CliError> {
    let state = StateFolder::open().map_err(RunError::from)?;
    if arguments.names.is_empty() {
        return Ok(list_ledgers(&state)?);
    }
    let mut found = Vec::new();
    for name in &arguments.names {
        match find_ledger_in_file(&state, Path::new(name)) {
            Ok(Some(one)) => found.push(one),
            _ => found.extend(find_spec_ledgers(name, &state, arguments)?),
        }
    }
    Ok(found)
}

/// Finds the ledgers that cover rows of a spec's data.
fn find_spec_ledgers(
    name: &str,
    state: &StateFolder,
    arguments: &LedgerSelection,
) -> Result<Vec<ListedLedger>, CliError> {
    let project: Project = arguments.places.project()?;
    let (experiment, watcher) = (project.find_one_experiment(name)?, create_watcher(true));
    let (mut paths, mut found): (Vec<PathBuf>, Vec<ListedLedger>) = (Vec::new(), Vec::new());
    for cell in &experiment.cells {
        let setting = cell.setting();
        let all = |_: &RowsFingerprint| Ok::<(), RunError>(());
        let rows =
            load_fingerprinted_sample(&experiment, setting, &project, watcher.download_progress(), state.key(), all)?;
        for one in list_ledgers_about(state, &rows.fingerprint)? {
            if !paths.contains(&one.path) {
                paths.push(one.path.clone());
                found.push(one);
            }
        }
    }
    if found.is_empty() { Err(CliError::NoLedger(name.to_owned())) } else { Ok(found) }
}

/// Returns the delta at which to report epsilon.
fn reporting_delta(ledger: &Ledger, named: Option<f64>) -> f64 {
    let budget = ledger.budget.map(|budget| budget.delta);
    let last = ledger.release.last().map(|entry| entry.delta);
    named.or(budget).or(last).unwrap_or(f64::MIN_POSITIVE)
}

fn ledger_text(one: &ListedLedger, delta: Option<f64>) -> String {
    let path = one.path.display();
    let (ledger, note) = match &one.state {
        // Every such error names the file.
        LedgerState::Broken(error) => return format!("{error}\n\n"),
        LedgerState::Sound(ledger) => (ledger, ""),
        LedgerState::Old(ledger) => (ledger, OLD),
    };
    let headings = ["release", "time", "spec", "target", "epsilon", "delta", "mu", "protects against"];
    let table = plain_table(&headings, ledger.release.iter().map(row));
    let account = ledger.account();
    // Where something is not counted, no bound is known.
    let risk = account.open.is_none().then(|| {
        let alternatives = "two datasets that are neighbours for every release";
        format!("After all these releases: {}\n", AttackRisk::of_gaussian(account.mu).describe_risk(alternatives))
    });
    let (spent, risk) = (account_text(&account, reporting_delta(ledger, delta)), risk.unwrap_or_default());
    format!("{path}: {spent}{note}\n{table}{risk}\n")
}

/// A note about ledgers of version 1.
const OLD: &str = "; a ledger of version 1 has no seal, so changes go undetected; the next release that names this ledger \
                   and its budget upgrades the ledger and keeps the old file beside the new one";

fn row(entry: &LedgerEntry) -> Vec<String> {
    let LedgerEntry { number, time, spec, target, epsilon, delta, mu, .. } = entry;
    vec![
        number.to_string(),
        time.clone(),
        spec.clone(),
        target.clone(),
        format!("{epsilon:?}"),
        format!("{delta:?}"),
        format!("{mu:.4}"),
        entry.neighbours_in_words(),
    ]
}

fn ledger_verdict_text(one: &ListedLedger, _: Option<f64>) -> String {
    let path = one.path.display();
    match &one.state {
        LedgerState::Broken(error) => format!("{error}\n"),
        LedgerState::Old(_) => format!("{path}: readable{OLD}\n"),
        LedgerState::Sound(ledger) => {
            let releases = count_with_noun(ledger.release.len(), "release", "releases");
            format!("{path}: unaltered, {releases}\n")
        }
    }
}

fn ledger_json(one: &ListedLedger, delta: Option<f64>, shows: bool) -> Value {
    let (state, ledger, problem) = match &one.state {
        LedgerState::Sound(ledger) => ("sound", Some(ledger), None),
        LedgerState::Old(ledger) => ("version-1", Some(ledger), None),
        LedgerState::Broken(error) => ("broken", None, Some(error.to_string())),
    };
    let mut value = json!({ "ledger": one.path, "state": state, "problem": problem });
    if let Some(ledger) = ledger {
        let (account, delta) = (ledger.account(), reporting_delta(ledger, delta));
        value["account"] = account.json(delta);
        value["epsilon_left"] = json!(account.epsilon_left(delta));
        if shows {
            value["releases"] = ledger.release.iter().map(entry_json).collect();
        }
    }
    value
}

fn entry_json(entry: &LedgerEntry) -> Value {
    let LedgerEntry { number, time, spec, target, epsilon, delta, delta_exact, mu, .. } = entry;
    json!({
        "number": number, "time": time, "spec": spec, "target": target, "epsilon": epsilon, "delta": delta,
        "delta_exact": delta_exact, "mu": mu, "protects_against": entry.neighbours_in_words(), "caveats": entry.caveats,
    })
}
