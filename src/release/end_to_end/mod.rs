//! Attacks on the release path: it is run on neighbouring data, and what it would write is looked at.
//!
//! Nothing is asked of the code that designs the noise. Records are replaced by extremes; the release is made of both data sets
//! with one stream of noise, so that what is left of their difference is what the noise has to hide; and the size of the noise is
//! that of many draws. Both come from the numbers of the file that a user would publish.

mod metric;
mod predictions;
mod sums;

pub use metric::PairedRelease;

use crate::audit::AuditVerdict;

/// Rows whose record is replaced.
const ROWS: usize = 6;

/// Some of so many rows, evenly from the first to the last.
fn replaced_rows(rows: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = (0..ROWS).map(|place| place * rows.saturating_sub(1) / (ROWS - 1)).collect();
    // Few rows are chosen several times.
    chosen.dedup();
    chosen
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct EndToEndCheck {
    /// The verdict.
    pub verdict: AuditVerdict,
    /// What was found, in words.
    pub note: String,
}

impl EndToEndCheck {
    fn new(verdict: AuditVerdict, note: String) -> Self {
        Self { verdict, note }
    }

    /// The largest distance of neighbours that was found, against the mu of the certificate.
    fn of_distance(found: f64, claimed: f64, tolerance: f64, pairs: usize) -> Self {
        let holds = found <= claimed * (1.0 + tolerance);
        let verdict = if holds { AuditVerdict::Holds } else { AuditVerdict::Broken };
        let note = format!(
            "{pairs} pairs of neighbours lie at most {found:.4} standard deviations of the noise apart; mu = {claimed:.4} is claimed"
        );
        Self { verdict, note }
    }

    /// Whether numbers that must not depend on private data are the same for all neighbours.
    fn of_public(same: bool, what: &str) -> Self {
        let (verdict, word) =
            if same { (AuditVerdict::Holds, "are the same") } else { (AuditVerdict::Broken, "DIFFER") };
        Self { verdict, note: format!("{what} {word} for all neighbours") }
    }
}
