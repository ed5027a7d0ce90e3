//! Attacks on the release path: runs it on neighbouring data and compares its output.
//!
//! This does not use the code that designs the noise. It replaces records with extreme ones and releases both datasets:
//!
//! | check | what it finds |
//! |---|---|
//! | one stream of noise for both: the noise must hide the remaining difference; the size of the noise comes from many draws or from the file | a clip that does not hold, noise that is lost in rounding |
//! | many releases of each, with noise from the operating system, as the text that would be written | leaks in numbers ([`attack`](dpgp_audit::attack)) |
//! | the last bits of the same releases: which of the two datasets they rule out | noise in floating point |
//! | the program itself, run on files ([`ReplacedCell`] says which; the command line runs it) | private counts in messages, certificates, sizes, exit codes |

mod metric;
mod neighbours;
mod predictions;
mod program_runs;
mod releases;
mod situations;

pub use metric::FileCells;
pub use metric::NeighbourDistanceEstimator;
pub use neighbours::ReplacedCell;
pub use program_runs::{NeighbourRunPlan, NeighbourRunPoints, NeighbourRunVerb, NoisyColumnsOrFields};
pub use situations::{AddedFilter, NeighbourRunSituation, edge_case_neighbours, neighbour_run_situations};

use std::num::NonZeroUsize;

use schemars::JsonSchema;
use serde::Serialize;

use dpgp_claim_audit::AuditVerdict;

/// How an attack on the release path draws.
#[derive(Debug, Clone, Copy)]
pub struct AttackDrawSetting {
    /// The seed of the noise that a data set and its neighbour share.
    pub seed: u64,
    /// The number of releases of each of two neighbours. `None` means as many as give about a million numbers, but at least
    /// 100 and at most 1000.
    pub releases: Option<NonZeroUsize>,
}

/// One check of the release path.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EndToEndCheck {
    /// The verdict.
    pub verdict: AuditVerdict,
    /// The finding, in words.
    pub note: String,
}

impl EndToEndCheck {
    /// A check with this verdict and finding.
    pub fn new(verdict: AuditVerdict, note: String) -> Self {
        Self { verdict, note }
    }

    /// A check of a condition that must hold.
    pub fn from_outcome(holds: bool, note: String) -> Self {
        Self::new(if holds { AuditVerdict::Holds } else { AuditVerdict::Broken }, note)
    }

    /// The largest distance of neighbours that was found, against the mu of the certificate.
    fn from_distance(found: f64, claimed: f64, tolerance: f64, pairs: usize) -> Self {
        let note = format!(
            "{pairs} pairs of neighbours differ by at most {found:.4} standard deviations of the noise (claimed: mu = \
             {claimed:.4})"
        );
        Self::from_outcome(found <= claimed * (1.0 + tolerance), note)
    }

    /// Passes if numbers that must not depend on private data are equal for all neighbours.
    fn from_public_equality(same: bool, what: &str) -> Self {
        let words = if same { "are the same for all neighbours" } else { "DIFFER between neighbours" };
        Self::from_outcome(same, format!("{what} {words}"))
    }

    /// The check for a release that fails for one of two neighbours, and so reveals which one it was.
    fn from_failure(error: &impl std::fmt::Display) -> Self {
        Self::from_outcome(false, format!("the release of a neighbour failed: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Within the claim, and one part in a hundred of it.
    #[test]
    fn distances_are_held_against_the_claim() {
        for (found, claimed, verdict) in [
            (0.5, 1.0, AuditVerdict::Holds),
            (1.009, 1.0, AuditVerdict::Holds),
            (1.011, 1.0, AuditVerdict::Broken),
            (0.21, 0.2, AuditVerdict::Broken),
            (f64::NAN, 1.0, AuditVerdict::Broken),
        ] {
            assert_eq!(EndToEndCheck::from_distance(found, claimed, 0.01, 2).verdict, verdict, "{found}");
        }
    }
}
