//! The audit of the cells of one block: claims on one side, evidence on the other.

use thiserror::Error;

use crate::attacks::Attacks;
use crate::exponential::exponential;
use crate::finding::{AuditVerdict, Check, Finding};
use crate::gaussian::{self, FunctionNorms, Scaling};
use crate::gradients::gradients;
use crate::laplace::laplace;
use crate::moments::moments;
use crate::records::records;
use crate::selection::selection;
use crate::shaped::shaped;
use dpgp_accounting::AccountingError;
use dpgp_accounting::{Caveat, Certificate, CertifiedMechanism, Guarantee};
use dpgp_linalg::largest;
use dpgp_mechanisms::PrivacySetting;
use dpgp_task::{Job, Sample, Sampled, Setting, TaskError, measure};

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

/// Measures one replicate of a block again and judges what was sampled. The outer list follows `cells`; none where a cell
/// claims nothing.
///
/// Obligation: the samples are those of the run that the block's results come from, since all streams of a replicate follow
/// from its seed, so that a verdict is about the numbers that were published.
///
/// # Errors
/// [`AuditError`] if a cell cannot be measured.
pub fn audit(
    block: &Setting,
    cells: &[&PrivacySetting],
    sample: &Sample,
    attacks: &Attacks<'_>,
) -> Result<Vec<Option<Finding>>, AuditError> {
    let Attacks { streams, known, .. } = attacks;
    let job = Job { setting: block, cells, sample, streams, known, audited: true };
    let norms = FunctionNorms::default();
    let mut findings = Vec::with_capacity(cells.len());
    for measured in measure(&block.task, &job)? {
        let mut claims = measured.metrics.iter().map(|measurement| &measurement.certificate);
        let claimed = claims.find_map(|claim| Some((claim, claim.guarantee?)));
        findings.push(match claimed {
            None => None,
            Some((claim, guarantee)) => {
                let left = rest(claim, guarantee, measured.evidence());
                let mut checks = Vec::new();
                for sampled in measured.evidence() {
                    checks.extend(judged(sampled, left, attacks, &norms)?);
                }
                Some(concluded(claim.clone(), guarantee, checks))
            }
        });
    }
    Ok(findings)
}

/// The claim that is left for a release after the choices before it: by basic composition their epsilons add up, and a
/// choice by the exponential mechanism has no delta.
fn rest(claim: &Certificate, guarantee: Guarantee, evidence: &[Sampled]) -> Guarantee {
    if claim.mechanism == CertifiedMechanism::Exponential {
        return guarantee;
    }
    let chosen = largest(evidence.iter().map(|sampled| match sampled {
        Sampled::Exponential(selected) => selected.epsilon,
        _ => 0.0,
    }));
    Guarantee { epsilon: guarantee.epsilon - chosen, ..guarantee }
}

/// The checks of one release: each kind of evidence has its own, which uses nothing of the code that made the claim.
fn judged(
    sampled: &Sampled,
    claim: Guarantee,
    attacks: &Attacks<'_>,
    norms: &FunctionNorms,
) -> Result<Vec<Check>, AuditError> {
    Ok(vec![match sampled {
        Sampled::Linear { places, scale, change } => {
            gaussian::linear(places, Scaling { noise: *scale, change: *change }, claim)
        }
        Sampled::Function { mean, scale, change } => {
            gaussian::function(mean, norms, Scaling { noise: *scale, change: *change }, claim)
        }
        Sampled::Counts { sd, bins, relation, records } => {
            gaussian::counts(*sd, *bins, *relation, *records, claim)
        }
        Sampled::Statistics { statistic, bins, change } => {
            gaussian::statistics(*statistic, bins, *change, claim)
        }
        Sampled::Laplace { statistic, bins, change } => laplace(*statistic, bins, *change, claim),
        Sampled::Means { sd, means, range, rows } => gaussian::means(*sd, *means, *range, *rows, claim),
        Sampled::Records(releases) => records(releases, claim),
        Sampled::Shaped(release) => shaped(release, claim),
        Sampled::Moments(release) => moments(release, claim),
        Sampled::Gradients { event, relation } => gradients(event, *relation, claim)?,
        Sampled::Exponential(selected) => exponential(selected),
        Sampled::Selection(draws) => return Ok(selection(draws, claim, attacks)),
    }])
}

/// The worst check decides. What the claim itself excepts stays excepted, but for what an audit computes anyway: whether a
/// calibration or a sensitivity is right.
fn concluded(claim: Certificate, guarantee: Guarantee, mut checks: Vec<Check>) -> Finding {
    checks.sort_by_key(|check| std::cmp::Reverse(check.verdict));
    let excepted = claim
        .caveats
        .iter()
        .filter(|caveat| !matches!(caveat, Caveat::OutsideProof | Caveat::InvalidSensitivity));
    let mut reasons: Vec<String> = excepted.map(ToString::to_string).collect();
    let worst = checks.first().map_or(AuditVerdict::NotAudited, |check| check.verdict);
    let verdict = if reasons.is_empty() { worst } else { worst.max(AuditVerdict::Caveat) };
    match checks.first() {
        None => reasons.push("no release was seen".to_owned()),
        Some(check) if check.verdict > AuditVerdict::Holds => reasons.insert(0, check.note.clone()),
        Some(_) => {}
    }
    Finding { claim, guarantee, checks, verdict, reasons }
}
