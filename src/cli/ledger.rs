//! `dpgp ledger`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::CliError;
use super::options::counted;
use super::options::standing;
use super::options::{Format, Places};
use super::output::{print, print_json};
use dpgp_accounting::Risk;
use dpgp_data::Fingerprint;
use dpgp_number::Delta;
use dpgp_release::ledger::{
    Entered, Ledger, LedgerEntry, LedgerState, Listed, entered, listed, listed_about, listed_file,
};
use dpgp_report::plain_table;
use dpgp_run::{Project, RunError, StateFolder, load_witnessed, watcher};

const EXAMPLES: &str = "\
A ledger records the releases from a set of rows. It is found by its rows, whichever file holds them, or by its path. `show` prints
its releases, their combined privacy loss and the remaining budget. `verify` checks that a ledger is unaltered: every entry is
linked to the earlier ones, the ledger as a whole is sealed with the key in the state folder, and no earlier copy was restored. Without a
name, both use all ledgers known to the state folder (DPGP_STATE).

`verify` alone cannot detect that an earlier copy of the whole state folder was restored. `verify --released` finds the
releases that are missing from such a copy, because each release names its entry.

Exit codes: 0 every ledger is unaltered; 2 no known ledger matches a name; 5 a ledger was edited, truncated, removed, replaced by an
earlier copy or sealed with another key, or a release is not in any ledger.

Examples:
  dpgp ledger show                            all known ledgers
  dpgp ledger show energy.toml                the ledgers of the rows in a spec's data
  dpgp ledger show my.ledger.toml --delta 1e-6 --format json
  dpgp ledger verify
  dpgp ledger verify --released *.certificate.json";

/// Arguments of `dpgp ledger`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LedgerVerb {
    /// The action.
    #[command(subcommand)]
    pub what: What,
}

/// Actions on ledgers.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Print the releases, the spent budget and the remaining budget
    Show(ShownLedgers),
    /// Check that ledgers are unaltered
    Verify(VerifiedLedgers),
}

impl What {
    fn ledgers(&self) -> &ShownLedgers {
        match self {
            Self::Show(ledgers) | Self::Verify(VerifiedLedgers { ledgers, .. }) => ledgers,
        }
    }

    /// Returns the releases to look for.
    fn released(&self) -> &[PathBuf] {
        match self {
            Self::Show(_) => &[],
            Self::Verify(verified) => &verified.released,
        }
    }
}

/// The ledgers to verify, and the releases that should be in them.
#[derive(Debug, Args)]
pub struct VerifiedLedgers {
    #[command(flatten)]
    ledgers: ShownLedgers,
    /// Check that these releases are in one of the ledgers: certificates, or files written by `dpgp sum --release`
    #[arg(long, value_name = "CERTIFICATE", num_args = 1..)]
    released: Vec<PathBuf>,
}

/// The choice of ledgers.
#[derive(Debug, Args)]
pub struct ShownLedgers {
    /// Ledger files or specs [default: all known ledgers]
    #[arg(value_name = "FILE")]
    names: Vec<String>,
    /// Report epsilon at this delta [default: that of the budget, else of the last release]
    #[arg(long, value_name = "D", value_parser = delta, allow_negative_numbers = true)]
    delta: Option<f64>,
    #[command(flatten)]
    places: Places,
}

/// Parses a delta.
fn delta(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().map_err(|_| "must be a number between 0 and 1".to_owned())?;
    Delta::new(number).map(Delta::get).map_err(|wrong| wrong.to_string())
}

/// Shows or verifies ledgers; fails if one of them cannot be trusted.
pub fn ledger(verb: &LedgerVerb, format: Format) -> Result<(), CliError> {
    let arguments = verb.what.ledgers();
    let found = found(arguments)?;
    let released = looked_for(verb.what.released(), &found)?;
    let shows = matches!(verb.what, What::Show(_));
    if format == Format::Json {
        let ledgers = found.iter().map(|one| as_json(one, arguments.delta, shows));
        print_json(&ledgers.chain(released.iter().map(released_json)).collect())?;
    } else {
        let text = if shows { shown } else { verified };
        print(&found.iter().map(|one| text(one, arguments.delta)).collect::<String>())?;
        print(&released.iter().map(released_text).collect::<String>())?;
        if found.is_empty() {
            print("no ledgers are known, because no release was charged to one\n")?;
        }
    }
    let broken = found.iter().filter(|one| matches!(one.state, LedgerState::Broken(_))).count();
    let missing = released.iter().filter(|one| one.entered == Entered::Nowhere).count();
    match (broken, missing) {
        (0, 0) => Ok(()),
        (0, _) => Err(CliError::NotEntered { missing, all: released.len() }),
        _ => Err(CliError::BrokenLedgers { broken, all: found.len() }),
    }
}

/// A published release, and its entry in a ledger.
struct LookedFor<'a> {
    path: &'a Path,
    entered: Entered,
}

fn looked_for<'a>(released: &'a [PathBuf], ledgers: &[Listed]) -> Result<Vec<LookedFor<'a>>, CliError> {
    let mut all = Vec::new();
    for path in released {
        all.push(LookedFor { path, entered: entered(path, ledgers)? });
    }
    Ok(all)
}

fn released_text(one: &LookedFor<'_>) -> String {
    let path = one.path.display();
    match &one.entered {
        Entered::At { ledger, number } => format!("{path}: release {number} of {}\n", ledger.display()),
        Entered::Nowhere => format!(
            "{path}: NOT IN any of these ledgers: an earlier copy was restored and its later charges are lost, or the release was \
             charged to another ledger\n"
        ),
        Entered::Unnamed => {
            format!("{path}: not checked: it was made without a ledger, or before releases had an id\n")
        }
    }
}

fn released_json(one: &LookedFor<'_>) -> Value {
    let (state, ledger, number) = match &one.entered {
        Entered::At { ledger, number } => ("entered", Some(ledger), Some(number)),
        Entered::Nowhere => ("not-entered", None, None),
        Entered::Unnamed => ("without-id", None, None),
    };
    json!({ "release": one.path, "state": state, "ledger": ledger, "number": number })
}

fn found(arguments: &ShownLedgers) -> Result<Vec<Listed>, CliError> {
    let state = StateFolder::open().map_err(RunError::from)?;
    if arguments.names.is_empty() {
        return Ok(listed(&state)?);
    }
    let mut found = Vec::new();
    for name in &arguments.names {
        match listed_file(&state, Path::new(name)) {
            Ok(Some(one)) => found.push(one),
            _ => found.extend(of_spec(name, &state, arguments)?),
        }
    }
    Ok(found)
}

/// Finds the ledgers that cover rows of a spec's data.
fn of_spec(name: &str, state: &StateFolder, arguments: &ShownLedgers) -> Result<Vec<Listed>, CliError> {
    let project: Project = arguments.places.project()?;
    let (experiment, watcher) = (project.only(name)?, watcher(true));
    let (mut paths, mut found): (Vec<PathBuf>, Vec<Listed>) = (Vec::new(), Vec::new());
    for cell in &experiment.cells {
        let setting = cell.setting();
        let all = |_: &Fingerprint| Ok::<(), RunError>(());
        let rows = load_witnessed(&experiment, setting, &project, watcher.downloads(), state.key(), all)?;
        for one in listed_about(state, &rows.fingerprint)? {
            if !paths.contains(&one.path) {
                paths.push(one.path.clone());
                found.push(one);
            }
        }
    }
    if found.is_empty() { Err(CliError::NoLedger(name.to_owned())) } else { Ok(found) }
}

/// Returns the delta at which to report epsilon.
fn delta_of(ledger: &Ledger, named: Option<f64>) -> f64 {
    let budget = ledger.budget.map(|budget| budget.delta);
    let last = ledger.release.last().map(|entry| entry.delta);
    named.or(budget).or(last).unwrap_or(f64::MIN_POSITIVE)
}

fn shown(one: &Listed, delta: Option<f64>) -> String {
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
        let alternatives = "two data sets that each of them protects";
        format!("After all of them: {}\n", Risk::of_gaussian(account.mu).about(alternatives))
    });
    let (spent, risk) = (standing(&account, delta_of(ledger, delta)), risk.unwrap_or_default());
    format!("{path}: {spent}{note}\n{table}{risk}\n")
}

/// A note about ledgers of version 1.
const OLD: &str = "; version 1 has no seal, so changes go undetected: the next release that names this ledger and its budget \
                   upgrades it and keeps the old file beside it";

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
        entry.protects_against(),
    ]
}

fn verified(one: &Listed, _: Option<f64>) -> String {
    let path = one.path.display();
    match &one.state {
        LedgerState::Broken(error) => format!("{error}\n"),
        LedgerState::Old(_) => format!("{path}: readable{OLD}\n"),
        LedgerState::Sound(ledger) => {
            let releases = counted(ledger.release.len(), "release", "releases");
            format!("{path}: unaltered, {releases}\n")
        }
    }
}

fn as_json(one: &Listed, delta: Option<f64>, shows: bool) -> Value {
    let (state, ledger, problem) = match &one.state {
        LedgerState::Sound(ledger) => ("sound", Some(ledger), None),
        LedgerState::Old(ledger) => ("version-1", Some(ledger), None),
        LedgerState::Broken(error) => ("broken", None, Some(error.to_string())),
    };
    let mut value = json!({ "ledger": one.path, "state": state, "problem": problem });
    if let Some(ledger) = ledger {
        let (account, delta) = (ledger.account(), delta_of(ledger, delta));
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
        "delta_exact": delta_exact, "mu": mu, "protects_against": entry.protects_against(), "caveats": entry.caveats,
    })
}
