//! The ledger that a release is charged to, from the command line.

use std::path::PathBuf;

use clap::Args;

use super::CliError;
use dpgp_fs::with_ending;
use dpgp_release::ledger::{Account, BudgetSetting, LedgerPlace, Receipt};
use dpgp_run::{RunError, StateFolder};

/// Which ledger, and its budget.
#[derive(Debug, Args)]
pub struct LedgerArguments {
    /// The ledger of all releases about these rows; begun if it is not there [default: one in the state folder, found by the rows]
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Count this release in no ledger; its certificate says so
    #[arg(long, conflicts_with_all = ["ledger", "budget_epsilon", "budget_delta", "other_people"])]
    no_ledger: bool,
    /// The epsilon that all releases together keep; the first that is named holds
    #[arg(long, value_name = "E", requires = "budget_delta", allow_negative_numbers = true)]
    budget_epsilon: Option<f64>,
    /// The delta that all releases together keep
    #[arg(long, value_name = "D", requires = "budget_epsilon", allow_negative_numbers = true)]
    budget_delta: Option<f64>,
    /// Rows that also stand in other data are those of other people, who only look alike: count these data apart
    #[arg(long)]
    other_people: bool,
}

impl LedgerArguments {
    /// The files of the ledger that is named, which a release may begin.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let ledger = self.ledger.iter();
        ledger.flat_map(|ledger| [ledger.clone(), with_ending(ledger, ".lock")]).collect()
    }

    /// Where ledgers are; none with --no-ledger.
    pub(super) fn place(&self) -> Result<Option<LedgerPlace>, CliError> {
        if self.no_ledger {
            return Ok(None);
        }
        let state = StateFolder::open().map_err(RunError::from)?;
        let budget = self.budget_epsilon.zip(self.budget_delta);
        let budget = budget.map(|(epsilon, delta)| BudgetSetting { epsilon, delta });
        Ok(Some(LedgerPlace { state, file: self.ledger.clone(), budget, other_people: self.other_people }))
    }
}

/// The ledgers that are there, for what is read without a release: nothing is written.
pub(super) fn known_place() -> Result<Option<LedgerPlace>, CliError> {
    let state = StateFolder::existing().map_err(RunError::from)?;
    Ok(state.map(|state| LedgerPlace { state, file: None, budget: None, other_people: false }))
}

/// What the ledger holds after a release.
pub(super) fn balance(receipt: Option<&Receipt>, delta: f64) -> String {
    let Some(Receipt { ledger, account, others, shared, .. }) = receipt else {
        return "no ledger: this release is not counted, and those about the same rows add up\n".to_owned();
    };
    let mut text = format!("ledger {}: {}\n", ledger.display(), standing(account, delta));
    if *shared {
        text.push_str("releases of this ledger are about several files that have rows in common\n");
    }
    for other in others {
        text.push_str(&format!("also charged, since it counts some of these rows: {}\n", other.display()));
    }
    text
}

/// What the releases of a ledger have spent, and what is left.
pub(super) fn standing(account: &Account, delta: f64) -> String {
    let Account { releases, budget, mu, open } = account;
    let releases =
        if *releases == 1 { "1 release has".to_owned() } else { format!("{releases} releases have") };
    let left = account.share().zip(account.epsilon_left(delta));
    let mut text = match (budget, left) {
        (Some(budget), Some((share, left))) => format!(
            "{releases} spent {:.1} % of the budget epsilon = {:?}, delta = {:?}; left for one more release at delta = \
             {delta:?}: epsilon = {left:.4}",
            100.0 * share,
            budget.epsilon,
            budget.delta,
        ),
        _ => format!(
            "{releases} spent epsilon = {:.4} at delta = {delta:?} (mu = {mu:.4}); no budget is set, so that nothing refuses \
             the next one",
            account.epsilon_spent(delta)
        ),
    };
    if let Some(reason) = open {
        text.push_str(&format!("; that is not all that was spent: {reason}"));
    }
    text
}
