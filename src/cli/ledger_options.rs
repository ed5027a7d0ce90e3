//! The ledger that a release is charged to, from the command line.

use std::path::PathBuf;

use clap::Args;

use crate::release::ledger::{Account, BudgetSetting, LedgerFile};

/// Which ledger, and the budget of a new one.
#[derive(Debug, Args)]
pub struct LedgerArguments {
    /// The ledger of all releases about these data; begun if it is not there
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// The epsilon that all releases together keep; for a new ledger
    #[arg(
        long,
        value_name = "E",
        requires = "ledger",
        requires = "budget_delta",
        allow_negative_numbers = true
    )]
    budget_epsilon: Option<f64>,
    /// The delta that all releases together keep; for a new ledger
    #[arg(
        long,
        value_name = "D",
        requires = "ledger",
        requires = "budget_epsilon",
        allow_negative_numbers = true
    )]
    budget_delta: Option<f64>,
}

impl LedgerArguments {
    /// The ledger, if there is one.
    pub(super) fn file(&self) -> Option<LedgerFile> {
        let budget = self.budget_epsilon.zip(self.budget_delta);
        let budget = budget.map(|(epsilon, delta)| BudgetSetting { epsilon, delta });
        Some(LedgerFile { path: self.ledger.clone()?, budget })
    }

    /// What the ledger holds after a release.
    pub(super) fn balance(&self, account: Option<&Account>, delta: f64) -> String {
        let (Some(account), Some(ledger)) = (account, &self.ledger) else { return String::new() };
        let Account { releases, budget, .. } = account;
        let releases =
            if *releases == 1 { "1 release has".to_owned() } else { format!("{releases} releases have") };
        format!(
            "ledger {}: {releases} spent {:.1} % of the budget epsilon = {:?}, delta = {:?}; left for one more release at \
             delta = {delta:?}: epsilon = {:.4}\n",
            ledger.display(),
            100.0 * account.share(),
            budget.epsilon,
            budget.delta,
            account.epsilon_left(delta)
        )
    }
}
