//! What an audit says of a cell.

use serde::Serialize;

use crate::privacy::Certificate;

/// The verdict on a guarantee, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// What was found is within what was claimed, for all neighbours.
    Holds,
    /// It holds but for what the note says.
    Caveat,
    /// Nothing is known against it, and no proof was recomputed.
    NotAudited,
    /// A pair of neighbours is told apart better than claimed.
    Broken,
}

impl Verdict {
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

/// One number that was recomputed, and from which side it bounds the truth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Found {
    /// The delta at the claimed epsilon, exactly.
    Delta(f64),
    /// At most this delta at the claimed epsilon.
    DeltaAtMost(f64),
    /// At least this delta at the claimed epsilon: two data sets were found.
    DeltaAtLeast(f64),
    /// At most this epsilon.
    EpsilonAtMost(f64),
    /// At least this epsilon: two data sets were found.
    EpsilonAtLeast(f64),
}

impl Found {
    /// A few words for tables.
    pub fn text(self) -> String {
        match self {
            Self::Delta(x) => format!("delta = {}", short(x)),
            Self::DeltaAtMost(x) => format!("delta <= {}", short(x)),
            Self::DeltaAtLeast(x) => format!("delta >= {}", short(x)),
            Self::EpsilonAtMost(x) => format!("epsilon <= {}", short(x)),
            Self::EpsilonAtLeast(x) => format!("epsilon >= {}", short(x)),
        }
    }
}

/// Four digits.
pub(super) fn short(x: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    if (1e-3..1e5).contains(&x.abs()) {
        let digits = 3 - (x.abs().max(1e-3).log10().floor() as i32).min(3);
        return format!("{x:.*}", usize::try_from(digits).unwrap_or(0));
    }
    format!("{x:.3e}")
}

/// What one check of one release found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// The verdict.
    pub verdict: Verdict,
    /// What was found.
    pub found: Found,
    /// How, and what it leaves out.
    pub note: String,
}

/// The relative excess over a claim that rounding explains.
pub(super) const ROUNDING: f64 = 1e-9;

impl Check {
    /// An exact delta against the claimed one.
    pub fn delta(found: f64, claimed: f64, note: String) -> Self {
        let verdict = if found <= claimed * (1.0 + ROUNDING) { Verdict::Holds } else { Verdict::Broken };
        Self { verdict, found: Found::Delta(found), note }
    }
}

/// What was claimed of a cell, and what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What the rows of the cell claim.
    pub claim: Certificate,
    /// The checks of its releases, the one that decides first.
    pub checks: Vec<Check>,
    /// The worst verdict, and at best a caveat if the claim itself excepts something.
    pub verdict: Verdict,
    /// Why it is no better.
    pub reasons: Vec<String>,
}
