//! The ledger that a release is charged to, from the command line.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;

use super::CliError;
use crate::data::Digest;
use crate::privacy::{Certificate, Neighbours};
use crate::run::ledger::{Account, BudgetSetting, Charge, Entry, charge, preview, utc};
use crate::setting::PrivacySetting;
use crate::task::{Experiment, Setting};

/// Which ledger, and the budget of a new one.
#[derive(Debug, Args)]
pub struct LedgerArguments {
    /// The ledger of all releases about these data; begun if it is not there
    #[arg(long, value_name = "FILE")]
    pub(super) ledger: Option<PathBuf>,
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

/// A release that is about to be made.
pub(super) struct NextRelease<'a> {
    pub experiment: &'a Experiment,
    pub setting: &'a Setting,
    /// Epsilon, delta and calibration of the release.
    pub privacy: &'a PrivacySetting,
    pub certificate: &'a Certificate,
    /// The sensitivity over the standard deviation of the noise.
    pub mu: f64,
}

impl LedgerArguments {
    /// Charges the release to the ledger, if there is one: the budget is spent when this returns.
    ///
    /// # Errors
    /// [`CliError::Ledger`], and then nothing is spent; the error of the digest of the data.
    pub(super) fn charge(
        &self,
        release: &NextRelease<'_>,
        data_sha256: impl FnOnce() -> Result<String, CliError>,
    ) -> Result<Option<Account>, CliError> {
        let Some(path) = &self.ledger else { return Ok(None) };
        let budget = self.budget_epsilon.zip(self.budget_delta);
        let data_sha256 = data_sha256()?;
        let release = Charge {
            path,
            budget: budget.map(|(epsilon, delta)| BudgetSetting { epsilon, delta }),
            data_sha256: &data_sha256,
            entry: release.entry()?,
        };
        preview(&release)?;
        Ok(Some(charge(&release)?))
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

impl NextRelease<'_> {
    fn entry(&self) -> Result<Entry, CliError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        let (certificate, source) = (self.certificate, &self.experiment.source);
        let Some(neighbours) = certificate.neighbours else {
            return Err(CliError::NotReleasable { reason: "nothing hides its targets" });
        };
        Ok(Entry {
            time: utc(now),
            spec: source.file().display().to_string(),
            spec_sha256: Digest::of(source.text().as_bytes()).to_string(),
            target: self.setting.data.target.clone(),
            public: self.public(neighbours),
            epsilon: self.privacy.epsilon,
            delta: self.privacy.delta,
            delta_exact: certificate.delta_exact.unwrap_or(1.0),
            mu: self.mu,
            neighbours,
        })
    }

    /// The columns that are taken as public: none where whole records are private.
    fn public(&self, neighbours: Neighbours) -> Vec<String> {
        let data = &self.setting.data;
        match neighbours {
            Neighbours::OneTargetChanges(_) => {
                let filtered = data.filter.iter().map(|filter| &filter.column);
                data.inputs.iter().chain(filtered).cloned().collect()
            }
            Neighbours::OneRecord(_) => Vec::new(),
        }
    }
}
