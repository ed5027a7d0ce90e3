//! Noise on Fourier moments: the worst pair of records, from both sides.

use crate::finding::{AuditVerdict, Check, Found, ROUNDING};
use crate::moment_weights::MomentWeights;
use dpgp_accounting::Guarantee;
use dpgp_audit::exact_delta;
use dpgp_audit::short;
use dpgp_mechanisms::MomentsRelease;

/// The delta of the worst pair of records: at most what the weights allow, at least what a search over pairs finds.
pub(super) fn moments(release: &MomentsRelease, claim: Guarantee) -> Check {
    let weights = MomentWeights::of(release);
    let most = exact_delta(weights.bound().sqrt(), claim.epsilon);
    let found = exact_delta(weights.search().sqrt(), claim.epsilon);
    if most <= claim.delta * (1.0 + ROUNDING) {
        let note = format!("a search finds {}", Found::DeltaAtLeast(found).text());
        return Check { verdict: AuditVerdict::Holds, found: Found::DeltaAtMost(most), note };
    }
    // Between the two bounds the audit does not know.
    let broken = found > claim.delta * (1.0 + ROUNDING);
    let verdict = if broken { AuditVerdict::Broken } else { AuditVerdict::NotAudited };
    let note = format!("pairs of records on a grid; bounded by delta <= {}", short(most));
    Check { verdict, found: Found::DeltaAtLeast(found), note }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpgp_accounting::Calibration;
    use dpgp_mechanisms::{Frequencies, MomentsDesign};

    const CLAIM: Guarantee = Guarantee { epsilon: 1.0, delta: 1e-5 };

    fn release(dimensions: usize, kappa: f64, sigma: f64) -> MomentsRelease {
        let frequencies = Frequencies::ball(2, 4, dimensions);
        let weights = (0..frequencies.len()).map(|j| 1.0 / (1.0 + j as f64)).collect();
        let design = MomentsDesign::of(frequencies, weights, 1.3, 2.0, kappa).unwrap();
        MomentsRelease {
            noise: design.noise(sigma),
            weighted: design.frequencies,
            plain: design.pairs,
            period: 1.3,
            bound: 2.0,
            counts: Vec::new(),
        }
    }

    #[test]
    fn the_square_rule_holds_and_is_nearly_reached() {
        let sigma = Calibration::Analytic.sigma(CLAIM.epsilon, CLAIM.delta);
        for (dimensions, kappa) in [(1, 1.0), (1, 2.5), (2, 1.5)] {
            let release = release(dimensions, kappa, sigma);
            assert_eq!(moments(&release, CLAIM).verdict, AuditVerdict::Holds);
            let weights = MomentWeights::of(&release);
            // D / (sigma D), but for the small excess of the noise.
            assert!((weights.bound().sqrt() * sigma - 1.0).abs() < 1e-12);
            let ratio = weights.search() / weights.bound();
            assert!(ratio <= 1.0 && ratio > 0.97, "{dimensions} {kappa}: {ratio}");
        }
    }

    #[test]
    fn too_little_noise_is_found_out() {
        let sigma = Calibration::Analytic.sigma(CLAIM.epsilon, CLAIM.delta);
        let mut less = release(1, 1.5, 0.8 * sigma);
        assert_eq!(moments(&less, CLAIM).verdict, AuditVerdict::Broken);
        less = release(1, 1.5, sigma);
        less.noise.plain *= 0.7;
        assert_eq!(moments(&less, CLAIM).verdict, AuditVerdict::Broken);
        less = release(1, 1.5, sigma);
        less.noise.squares *= 0.5;
        assert_eq!(moments(&less, CLAIM).verdict, AuditVerdict::Broken);
        // A count beside moments that have spent the whole budget.
        less = release(1, 1.5, sigma);
        less.counts = vec![3.0 * sigma];
        assert_ne!(moments(&less, CLAIM).verdict, AuditVerdict::Holds);
        less.counts = vec![1e9 * sigma; 2];
        assert_eq!(moments(&less, CLAIM).verdict, AuditVerdict::Holds);
        // A frequency that V^2 does not hold.
        less = release(1, 1.5, sigma);
        less.plain = Frequencies::half_space([vec![1], vec![2], vec![3], vec![9]]);
        assert_ne!(moments(&less, CLAIM).verdict, AuditVerdict::Holds);
    }
}
