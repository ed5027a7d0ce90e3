//! What `dpgp audit` prints with `--format json`, of which `dpgp schema outputs` is derived.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use dpgp_evidence::{AuditVerdict, Check};
use dpgp_release::EndToEndCheck;

/// The guarantees of an experiment beside what was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AuditedExperiment {
    /// The experiment.
    pub experiment: String,
    /// Its cells that claim privacy, in grid order.
    pub cells: Vec<AuditedGuarantee>,
}

/// The guarantee of a cell beside what was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AuditedGuarantee {
    /// The name of the cell.
    pub cell: String,
    /// Its label on each axis.
    pub labels: Vec<String>,
    /// The epsilon that is claimed.
    pub epsilon: f64,
    /// The delta that is claimed.
    pub delta: f64,
    /// The claim in words.
    pub guarantee: String,
    /// The exact delta at that epsilon, as claimed.
    pub delta_exact: Option<f64>,
    /// The worst verdict.
    pub verdict: AuditVerdict,
    /// What was checked, the check that decides first.
    pub checks: Vec<Check>,
    /// Why the verdict is no better.
    pub reasons: Vec<String>,
    /// What the spec says of a break; none where it announces none.
    pub announced: Option<String>,
    /// Whether it is broken and not announced, or announced and not broken.
    pub fails: bool,
}

/// What `dpgp audit --end-to-end` found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AttackedRelease {
    /// The experiment.
    pub experiment: String,
    /// The worst verdict.
    pub verdict: AuditVerdict,
    /// What was looked at, in order.
    pub checks: Vec<EndToEndCheck>,
}

/// What `dpgp audit --samples` found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AttackedSamples {
    /// The two files.
    pub files: [PathBuf; 2],
    /// Their columns.
    pub columns: Vec<String>,
    /// Those with numbers that differ in digits beyond a double's precision, which are read as equal.
    pub cut: Vec<String>,
    /// The number of outputs in each.
    pub rows: [usize; 2],
    /// The epsilon that is claimed.
    pub epsilon: f64,
    /// The delta that is claimed.
    pub delta: f64,
    /// The confidence of the bounds together.
    pub confidence: f64,
    /// Epsilon is at least this, at the claimed delta.
    pub epsilon_at_least: f64,
    /// The greatest epsilon that so many outputs can prove.
    pub epsilon_provable: f64,
    /// Delta is at least this, at the claimed epsilon.
    pub delta_at_least: f64,
    /// The set of outputs that proves the epsilon, in words.
    pub set: String,
    /// `violated` or `nothing found`.
    pub verdict: &'static str,
}
