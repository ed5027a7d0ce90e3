//! What is said to the holder of the data.

use super::PredictArguments;
use crate::publish::{ReleasedPredictions, short};
use crate::run::Clipped;

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
    let points = if points == 1 { "1 point".to_owned() } else { format!("{points} points") };
    text.push_str(&format!("predictions at {points}{}\n", written.unwrap_or_default()));
    text.push_str(&format!("guarantee: {}\n", released.certificate));
    let delta = released.certificate.delta_exact.map(short).unwrap_or_default();
    text.push_str(&format!("exact delta at that epsilon: {delta}; randomness of the operating system\n"));
    for line in released.not_covered() {
        text.push_str(&format!("not covered: {line}\n"));
    }
    if let Some(delta) = released.certificate.delta() {
        text.push_str(&arguments.ledger.balance(released.account, delta));
    }
    if let Some(clipped) = clipped {
        text.push_str(&format!("{clipped}\n"));
    }
    text
}
