//! What does not change a design, what bounds it and what is refused.

use std::sync::Arc;

use nalgebra::DMatrix;

use super::cases::small;
use crate::risk::certificate::Bound;
use crate::risk::point::Point;
use crate::risk::reduced::Reduced;
use crate::risk::sphere::with_slack;
use crate::{RiskProblem, risk_cloak};
use dpgp_gp::{PriorMoments, SharedCovariance};
use dpgp_noise::PrivacyError;

#[test]
fn a_point_twice_with_half_its_weight_is_the_same_problem() {
    let once = small();
    let mut twice = small();
    twice.moments.cross = twice.moments.cross.insert_row(4, 0.0);
    twice.moments.cross.set_row(4, &once.moments.cross.row(1).into_owned());
    twice.moments.variances.push(1.0);
    twice.weights = vec![1.0, 0.5, 1.0, 1.0, 0.5];
    let (once, twice) = (risk_cloak(&once, 3.0).unwrap(), risk_cloak(&twice, 3.0).unwrap());
    assert!((once.expected / twice.expected - 1.0).abs() < 1e-7);
    assert!((twice.variances[1] / twice.variances[4] - 1.0).abs() < 1e-12);
}

#[test]
fn a_point_without_weight_is_predicted_and_costs_nothing() {
    let all = small();
    let three = RiskProblem::even(PriorMoments {
        cross: all.moments.cross.rows(0, 3).into_owned(),
        variances: vec![1.0; 3],
        ..all.moments.clone()
    });
    let ignored = RiskProblem { weights: vec![1.0, 1.0, 1.0, 0.0], ..all };
    let (three, ignored) = (risk_cloak(&three, 3.0).unwrap(), risk_cloak(&ignored, 3.0).unwrap());
    assert!((three.expected / ignored.expected - 1.0).abs() < 1e-7);
    assert!(ignored.variances[3] > 0.0 && ignored.variances[3] < 1.0);
}

/// In other units of the model all variances and the noise scale, and nothing else changes.
#[test]
fn units_do_not_matter() {
    let (plain, unit) = (small(), 1e5);
    let whole = plain.moments.shared.times(&DMatrix::identity(6, 6));
    let scaled = RiskProblem::even(PriorMoments {
        cross: &plain.moments.cross * (unit * unit),
        shared: Arc::new(SharedCovariance::Whole(whole * (unit * unit))),
        own: plain.moments.own.iter().map(|e| e * unit * unit).collect(),
        variances: vec![unit * unit; 4],
    });
    let (plain, scaled) = (risk_cloak(&plain, 3.0).unwrap(), risk_cloak(&scaled, 3.0 * unit).unwrap());
    assert!((scaled.expected / (unit * unit) / plain.expected - 1.0).abs() < 1e-7);
    assert!(scaled.gap <= 1e-6 && plain.gap <= 1e-6, "{} {}", scaled.gap, plain.gap);
}

/// The bound holds for strategies that are nowhere near the optimum, and is not tight there.
#[test]
fn the_bound_of_any_strategy_is_below_the_optimum() {
    let (problem, noise_sd) = (small(), 3.0);
    let reduced = Reduced::new(&problem, noise_sd).unwrap();
    let optimum = risk_cloak(&problem, noise_sd).unwrap().expected;
    for seed in 1..20 {
        let rows = DMatrix::from_fn(2, 6, |i, j| (f64::from(seed) * (i * 6 + j + 1) as f64).sin());
        let point = Point::new(&reduced, with_slack(&rows)).unwrap();
        let bound = Bound::new(&reduced, &point).unwrap();
        assert!(bound.least <= optimum * (1.0 - 1e-5) && point.error(&reduced) > optimum * (1.0 + 1e-5));
    }
}

#[test]
fn what_cannot_be_designed_is_refused() {
    let nothing = RiskProblem { weights: vec![0.0; 4], ..small() };
    assert_eq!(risk_cloak(&nothing, 1.0).unwrap_err(), PrivacyError::NothingToProtect);
    // Points that are so far from all rows that no digit of a prediction depends on them.
    let far = |size: f64| {
        let mut far = small();
        far.moments.cross *= size;
        risk_cloak(&far, 1.0)
    };
    assert_eq!(far(1e-134).unwrap_err(), PrivacyError::NothingToProtect);
    assert!((far(1e-9).unwrap().expected / 4.0 - 1.0).abs() < 1e-12);
    for noise_sd in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(risk_cloak(&small(), noise_sd), Err(PrivacyError::NoNoise { .. })));
    }
    let mut broken = small();
    broken.moments.cross[(0, 0)] = f64::NAN;
    assert!(matches!(risk_cloak(&broken, 1.0), Err(PrivacyError::Linalg(_))));
}
