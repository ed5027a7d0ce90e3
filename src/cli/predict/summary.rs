//! What is said to the holder of the data.

use std::path::Path;

use super::PredictArguments;
use crate::publish::{ReleasedPredictions, short};
use crate::run::Clipped;
use crate::run::ledger::Account;

/// The guarantee, what it leaves out, what is left of the budget, and how many targets were clipped.
pub(super) fn summary(
    released: &ReleasedPredictions<'_>,
    clipped: Option<Clipped>,
    arguments: &PredictArguments,
) -> String {
    let mut text = String::new();
    let points = released.points.nrows();
    let written = arguments.out.as_ref().map(|out| {
        let out = out.display();
        format!(", written to {out}; what they guarantee stands in {out}.certificate.json")
    });
    text.push_str(&format!("predictions at {points} points{}\n", written.unwrap_or_default()));
    text.push_str(&format!("guarantee: {}\n", released.certificate));
    let delta = released.certificate.delta_exact.map(short).unwrap_or_default();
    text.push_str(&format!("exact delta at that epsilon: {delta}; randomness of the operating system\n"));
    for line in released.not_covered() {
        text.push_str(&format!("not covered: {line}\n"));
    }
    if let (Some(account), Some(ledger)) = (released.account, &arguments.ledger) {
        text.push_str(&balance(account, ledger, released.certificate.delta));
    }
    if let Some(clipped) = clipped {
        text.push_str(&format!("{clipped}\n"));
    }
    text
}

fn balance(account: &Account, ledger: &Path, delta: f64) -> String {
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
