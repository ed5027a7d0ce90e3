//! The findings of an audit about a cell, and the settings of its attacks.

use rand_pcg::Pcg64;
use schemars::JsonSchema;
use serde::Serialize;

use dpgp_accounting::{Certificate, Guarantee};
use dpgp_audit::{exact_gaussian_delta, format_four_significant};
use dpgp_task::{RandomStreams, RunCache};

/// The verdict on a guarantee, from the best to the worst: of several checks of a claim the worst one counts.
///
/// ```
/// use dpgp_claim_audit::AuditVerdict::{Broken, Caveat, Holds, NotAudited};
/// assert_eq!([Holds, Broken, Caveat, NotAudited].into_iter().max(), Some(Broken));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AuditVerdict {
    /// The bound found is within the claim, for all neighbours.
    Holds,
    /// The claim holds, with the exception that the note states.
    Caveat,
    /// Nothing is known against the claim, but no proof was recomputed.
    NotAudited,
    /// A pair of neighbours can be told apart better than claimed.
    Broken,
}

impl AuditVerdict {
    /// The word that tables print.
    pub fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Caveat => "caveat",
            Self::NotAudited => "not audited",
            Self::Broken => "broken",
        }
    }
}

/// One recomputed number, and whether it bounds the true value from above or from below. A bound from above can prove a claim, one
/// from below can only break it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RecomputedBound {
    /// The delta at the claimed epsilon, exactly.
    Delta(f64),
    /// At most this delta at the claimed epsilon.
    DeltaAtMost(f64),
    /// At least this delta at the claimed epsilon, for some pair of neighbours.
    DeltaAtLeast(f64),
    /// At most this epsilon.
    EpsilonAtMost(f64),
    /// At least this epsilon, for some pair of neighbours; from samples, with the confidence of the audit.
    EpsilonAtLeast(f64),
}

impl RecomputedBound {
    /// A few words for tables.
    ///
    /// ```
    /// use dpgp_claim_audit::RecomputedBound;
    /// assert_eq!(RecomputedBound::DeltaAtMost(0.0125).text(), "delta <= 0.01250");
    /// assert_eq!(RecomputedBound::EpsilonAtLeast(2.5e-7).text(), "epsilon >= 2.500e-7");
    /// ```
    pub fn text(self) -> String {
        match self {
            Self::Delta(x) => format!("delta = {}", format_four_significant(x)),
            Self::DeltaAtMost(x) => format!("delta <= {}", format_four_significant(x)),
            Self::DeltaAtLeast(x) => format!("delta >= {}", format_four_significant(x)),
            Self::EpsilonAtMost(x) => format!("epsilon <= {}", format_four_significant(x)),
            Self::EpsilonAtLeast(x) => format!("epsilon >= {}", format_four_significant(x)),
        }
    }
}

/// One check of one release.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AuditCheck {
    /// The verdict.
    pub verdict: AuditVerdict,
    /// The number that the check found.
    pub found: RecomputedBound,
    /// How the number was found, and what it leaves out.
    pub note: String,
}

/// The relative excess over a claim that rounding explains.
pub(super) const ROUNDING: f64 = 1e-9;

impl AuditCheck {
    /// Gaussian noise against a claim.
    ///
    /// Obligation: if the worst pair of neighbours lies `shift` standard deviations of the noise apart, its exact delta at
    /// the claimed epsilon is the least one, so that more than the claimed delta is a break.
    pub(super) fn from_gaussian_shift(shift: f64, claim: Guarantee, note: String) -> Self {
        let found = exact_gaussian_delta(shift, claim.epsilon);
        let holds = found <= claim.delta * (1.0 + ROUNDING);
        let verdict = if holds { AuditVerdict::Holds } else { AuditVerdict::Broken };
        Self { verdict, found: RecomputedBound::Delta(found), note }
    }
}

/// The claim of a cell beside the checks of its releases. A claim is as good as its worst release, since all of them are
/// published; caveats of the claim itself stay, whatever the checks say.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditFinding {
    /// The certificate of the cell's result rows.
    pub claim: Certificate,
    /// What the certificate claims.
    pub guarantee: Guarantee,
    /// The checks of the cell's releases, with the decisive check first.
    pub checks: Vec<AuditCheck>,
    /// The worst verdict of the checks. If the claim itself has exceptions, it is no better than a caveat.
    pub verdict: AuditVerdict,
    /// Why the verdict is no better.
    pub reasons: Vec<String>,
}

impl AuditFinding {
    /// With more reasons why it is a caveat at best.
    #[must_use]
    pub fn with_caveat_reasons(mut self, reasons: Vec<String>) -> Self {
        if !reasons.is_empty() {
            self.verdict = self.verdict.max(AuditVerdict::Caveat);
            self.reasons.extend(reasons);
        }
        self
    }
}

/// How attacks sample: from streams of their own, so that an audit draws nothing that a run has drawn.
#[derive(Debug, Clone)]
pub struct AttackContext<'a> {
    /// The random streams of the attacks.
    pub streams: RandomStreams,
    /// Results that this audit has already computed.
    pub known: &'a RunCache,
    /// The confidence level of the attacks' bounds.
    pub confidence: f64,
}

impl AttackContext<'_> {
    /// A stream of the block's own, apart from those of the task.
    pub(super) fn stream(&self, purpose: &str) -> Pcg64 {
        self.streams.block_stream(&format!("audit {purpose}"))
    }
}
