//! Laplace noise on statistics of disjoint bins.

use crate::finding::{AuditVerdict, Check, Found, ROUNDING};
use crate::gaussian::moves;
use dpgp_accounting::Guarantee;
use dpgp_audit::short;
use dpgp_linalg::largest;
use dpgp_mechanisms::Statistic;

/// The greatest logarithm of a ratio of densities over all outputs and all bins, each of so many records and of the scale that
/// was used.
///
/// Obligation: a target moves one bin only, by at most what its extreme targets move it; the ratio of two densities of scale b
/// whose centres lie s apart is at most `e^(s / b)`, and reaches it.
pub(super) fn laplace(statistic: Statistic, bins: &[(usize, f64)], change: f64, claim: Guarantee) -> Check {
    let epsilon = largest(bins.iter().map(|&(records, scale)| moves(statistic, records, change) / scale));
    let holds = epsilon <= claim.epsilon * (1.0 + ROUNDING);
    let note = format!("the worst of {} bins, by its extreme targets: {}", bins.len(), short(epsilon));
    let verdict = if holds { AuditVerdict::Holds } else { AuditVerdict::Broken };
    Check { verdict, found: Found::EpsilonAtMost(epsilon), note }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mean of four targets that move by 2 moves by 1/2: the scale 1/2 gives epsilon 1, and half of it twice that.
    #[test]
    fn half_the_scale_is_twice_the_epsilon() {
        let check = |scale| laplace(Statistic::Mean, &[(4, scale), (8, scale)], 2.0, Guarantee::pure(1.0));
        assert_eq!(check(0.5).verdict, AuditVerdict::Holds);
        assert_eq!(check(0.5).found, Found::EpsilonAtMost(1.0));
        assert_eq!(
            (check(0.25).verdict, check(0.25).found),
            (AuditVerdict::Broken, Found::EpsilonAtMost(2.0))
        );
    }
}
