//! The audit of the cells of one block.

use rand_pcg::Pcg64;
use thiserror::Error;

use super::exponential::exponential;
use super::finding::{Check, Finding, Verdict};
use super::gaussian::{self, FunctionNorms};
use super::gradients::gradients;
use super::records::records;
use super::selection::selection;
use crate::linalg::largest;
use crate::privacy::accounting::AccountingError;
use crate::privacy::{Caveat, Certificate, Mechanism};
use crate::spec::{PrivacySetting, Setting};
use crate::task::{Job, Measured, Prices, Sample, Sampled, Streams, TaskError, measure};

/// Why a block could not be audited.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum AuditError {
    /// Its cells could not be measured.
    #[error(transparent)]
    Task(#[from] TaskError),
    /// An accountant gave no number.
    #[error(transparent)]
    Accounting(#[from] AccountingError),
}

/// How attacks sample.
#[derive(Debug, Clone)]
pub struct Attacks {
    /// Their random streams.
    pub streams: Streams,
    /// The confidence of their bounds.
    pub confidence: f64,
}

impl Attacks {
    /// A stream of the block's own, apart from those of the task.
    pub(super) fn stream(&self, purpose: &str) -> Pcg64 {
        self.streams.of_block(&format!("audit {purpose}"))
    }
}

/// Measures one replicate of a block again and judges what was sampled. The outer list follows `cells`; none where a cell
/// claims nothing.
///
/// # Errors
/// [`AuditError`] if a cell cannot be measured.
pub fn audit(
    block: &Setting,
    cells: &[&PrivacySetting],
    sample: &Sample,
    attacks: &Attacks,
) -> Result<Vec<Option<Finding>>, AuditError> {
    let prices = Prices::default();
    let job =
        Job { setting: block, cells, sample, streams: &attacks.streams, prices: &prices, audited: true };
    let norms = FunctionNorms::default();
    let of_cell = |measured: Measured| {
        let mut claims = measured.metrics.iter().map(|m| &m.certificate);
        let Some(claim) = claims.find(|claim| claim.epsilon.is_some()) else { return Ok(None) };
        let budget = (rest(claim, measured.evidence()), claim.delta);
        let mut checks = Vec::new();
        for sampled in measured.evidence() {
            checks.extend(judged(sampled, budget, (attacks, &norms))?);
        }
        Ok(Some(concluded(claim.clone(), checks)))
    };
    measure(&job)?.into_iter().map(of_cell).collect()
}

/// The epsilon that is left for a release after what was chosen before it, by basic composition.
fn rest(claim: &Certificate, evidence: &[Sampled]) -> f64 {
    let chosen = evidence.iter().map(|sampled| match sampled {
        Sampled::Exponential(selected) => selected.epsilon,
        _ => 0.0,
    });
    let spent = match claim.mechanism {
        Mechanism::Exponential => 0.0,
        _ => largest(chosen),
    };
    claim.epsilon.unwrap_or(f64::INFINITY) - spent
}

fn judged(
    sampled: &Sampled,
    budget: (f64, f64),
    (attacks, norms): (&Attacks, &FunctionNorms),
) -> Result<Vec<Check>, AuditError> {
    Ok(vec![match sampled {
        Sampled::Linear { places, scale, change } => gaussian::linear(places, (*scale, *change), budget),
        Sampled::Function { mean, scale, change } => {
            gaussian::function((mean, norms), (*scale, *change), budget)
        }
        Sampled::Counts { sd, bins, relation } => gaussian::counts(*sd, *bins, *relation, budget),
        Sampled::Statistics { statistic, bins, change } => {
            gaussian::statistics(*statistic, bins, *change, budget)
        }
        Sampled::Means { sd, means, range, rows } => gaussian::means((*sd, *means), (*range, *rows), budget),
        Sampled::Records(releases) => records(releases, budget),
        Sampled::Gradients { event, relation } => gradients(event, *relation, budget)?,
        Sampled::Exponential(selected) => exponential(selected),
        Sampled::Selection(draws) => return Ok(selection(draws, budget, attacks)),
    }])
}

/// The worst check decides. What the claim itself excepts stays excepted, but for what an audit computes anyway: whether a
/// calibration or a sensitivity is right.
fn concluded(claim: Certificate, mut checks: Vec<Check>) -> Finding {
    checks.sort_by_key(|check| std::cmp::Reverse(check.verdict));
    let excepted = |caveat: &&Caveat| !matches!(caveat, Caveat::OutsideProof | Caveat::InvalidSensitivity);
    let mut reasons: Vec<String> = claim.caveats.iter().filter(excepted).map(ToString::to_string).collect();
    let worst = checks.first().map_or(Verdict::NotAudited, |check| check.verdict);
    let verdict = if reasons.is_empty() { worst } else { worst.max(Verdict::Caveat) };
    match checks.first() {
        None => reasons.push("no release was seen".to_owned()),
        Some(check) if check.verdict > Verdict::Holds => reasons.insert(0, check.note.clone()),
        Some(_) => {}
    }
    Finding { claim, checks, verdict, reasons }
}
