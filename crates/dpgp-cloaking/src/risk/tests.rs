//! Tests of designs on small problems: invariances, bounds, refusals, and the least error against other
//! methods.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use crate::risk::ReducedRiskProblem;
use crate::risk::certificate::{DualBound, EvaluatedStrategy};
use crate::risk::newton::with_slack;
use crate::{
    CloakingOptions, DroppedDirectionRule, Objective, PredictionRiskProblem, Solver, design_cloaking_noise,
    design_minimum_risk_prediction,
};
use dpgp_gp::{CovarianceRepresentation, TargetSumCovariances};
use dpgp_linalg::Cholesky;
use dpgp_noise::PrivacyError;

/// An exponentiated quadratic kernel of lengthscale 0.4 and variance 1, noise variance 0.1.
fn kernel(x: f64, y: f64) -> f64 {
    (-0.5 * ((x - y) / 0.4).powi(2)).exp()
}

/// Groups of sizes m at inputs x, and points p, all of weight 1.
pub fn problem(inputs: &[f64], sizes: &[f64], points: &[f64]) -> PredictionRiskProblem {
    let n = inputs.len();
    let common = DMatrix::from_fn(n, n, |i, j| kernel(inputs[i], inputs[j]));
    let mut factor = Cholesky::new("K", &common).unwrap().factor().clone();
    factor.row_iter_mut().zip(sizes).for_each(|(mut row, m)| row *= *m);
    PredictionRiskProblem::with_equal_weights(TargetSumCovariances {
        cross: DMatrix::from_fn(points.len(), n, |i, j| kernel(points[i], inputs[j]) * sizes[j]),
        shared: Arc::new(CovarianceRepresentation::of_factor(factor)),
        own: sizes.iter().map(|m| 0.1 * m).collect(),
        variances: vec![1.0; points.len()],
    })
}

/// Six groups and four points.
pub fn small() -> PredictionRiskProblem {
    problem(&[0.0, 0.2, 0.4, 0.6, 0.8, 1.0], &[1.0, 2.0, 1.0, 5.0, 1.0, 20.0], &[-0.1, 0.25, 0.5, 1.2])
}

/// `A = S + diag(e)`.
pub fn covariance(problem: &PredictionRiskProblem) -> DMatrix<f64> {
    let own = DVector::from_column_slice(&problem.moments.own);
    problem.moments.shared.left_multiply(&DMatrix::identity(own.len(), own.len())) + DMatrix::from_diagonal(&own)
}

/// The map of the Gaussian process and its expected error without noise.
pub fn process(problem: &PredictionRiskProblem) -> (DMatrix<f64>, f64) {
    let solved = Cholesky::new("A", &covariance(problem)).unwrap().solve(&problem.moments.cross.transpose());
    let explained = solved.dot(&problem.moments.cross.transpose());
    (solved.transpose(), problem.prior_error() - explained)
}

#[test]
fn a_point_twice_with_half_its_weight_is_the_same_problem() {
    let once = small();
    let mut twice = small();
    twice.moments.cross = twice.moments.cross.insert_row(4, 0.0);
    twice.moments.cross.set_row(4, &once.moments.cross.row(1).into_owned());
    twice.moments.variances.push(1.0);
    twice.weights = vec![1.0, 0.5, 1.0, 1.0, 0.5];
    let (once, twice) =
        (design_minimum_risk_prediction(&once, 3.0).unwrap(), design_minimum_risk_prediction(&twice, 3.0).unwrap());
    assert!((once.expected / twice.expected - 1.0).abs() < 1e-7);
    assert!((twice.variances[1] / twice.variances[4] - 1.0).abs() < 1e-12);
}

#[test]
fn a_point_without_weight_is_predicted_and_costs_nothing() {
    let all = small();
    let three = PredictionRiskProblem::with_equal_weights(TargetSumCovariances {
        cross: all.moments.cross.rows(0, 3).into_owned(),
        variances: vec![1.0; 3],
        ..all.moments.clone()
    });
    let ignored = PredictionRiskProblem { weights: vec![1.0, 1.0, 1.0, 0.0], ..all };
    let (three, ignored) =
        (design_minimum_risk_prediction(&three, 3.0).unwrap(), design_minimum_risk_prediction(&ignored, 3.0).unwrap());
    assert!((three.expected / ignored.expected - 1.0).abs() < 1e-7);
    assert!(ignored.variances[3] > 0.0 && ignored.variances[3] < 1.0);
}

/// In other units of the model all variances and the noise scale, and nothing else changes.
#[test]
fn units_do_not_matter() {
    let (plain, unit) = (small(), 1e5);
    let whole = plain.moments.shared.left_multiply(&DMatrix::identity(6, 6));
    let scaled = PredictionRiskProblem::with_equal_weights(TargetSumCovariances {
        cross: &plain.moments.cross * (unit * unit),
        shared: Arc::new(CovarianceRepresentation::Whole(whole * (unit * unit))),
        own: plain.moments.own.iter().map(|e| e * unit * unit).collect(),
        variances: vec![unit * unit; 4],
    });
    let (plain, scaled) = (
        design_minimum_risk_prediction(&plain, 3.0).unwrap(),
        design_minimum_risk_prediction(&scaled, 3.0 * unit).unwrap(),
    );
    assert!((scaled.expected / (unit * unit) / plain.expected - 1.0).abs() < 1e-7);
    assert!(scaled.gap <= 1e-6 && plain.gap <= 1e-6, "{} {}", scaled.gap, plain.gap);
}

/// The bound holds for strategies that are nowhere near the optimum, and is not tight there.
#[test]
fn the_bound_of_any_strategy_is_below_the_optimum() {
    let (problem, noise_sd) = (small(), 3.0);
    let reduced = ReducedRiskProblem::new(&problem, noise_sd).unwrap();
    let optimum = design_minimum_risk_prediction(&problem, noise_sd).unwrap().expected;
    for seed in 1..20 {
        let rows = DMatrix::from_fn(2, 6, |i, j| (f64::from(seed) * (i * 6 + j + 1) as f64).sin());
        let point = EvaluatedStrategy::new(&reduced, with_slack(&rows)).unwrap();
        let bound = DualBound::new(&reduced, &point).unwrap();
        assert!(bound.least <= optimum * (1.0 - 1e-5) && point.expected_error(&reduced) > optimum * (1.0 + 1e-5));
    }
}

#[test]
fn what_cannot_be_designed_is_refused() {
    let nothing = PredictionRiskProblem { weights: vec![0.0; 4], ..small() };
    assert_eq!(design_minimum_risk_prediction(&nothing, 1.0).unwrap_err(), PrivacyError::NothingToProtect);
    // Points that are so far from all rows that no digit of a prediction depends on them.
    let far = |size: f64| {
        let mut far = small();
        far.moments.cross *= size;
        design_minimum_risk_prediction(&far, 1.0)
    };
    assert_eq!(far(1e-134).unwrap_err(), PrivacyError::NothingToProtect);
    assert!((far(1e-9).unwrap().expected / 4.0 - 1.0).abs() < 1e-12);
    for noise_sd in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(design_minimum_risk_prediction(&small(), noise_sd), Err(PrivacyError::NoNoise { .. })));
    }
    let mut broken = small();
    broken.moments.cross[(0, 0)] = f64::NAN;
    assert!(matches!(design_minimum_risk_prediction(&broken, 1.0), Err(PrivacyError::Linalg(_))));
}

/// Values of other methods: the first of an alternating scheme on `(C, M, lambda)` to a duality gap of 1e-8, the others of a
/// general-purpose minimiser (BFGS from eight random strategies, SciPy).
#[test]
fn the_least_error_is_that_of_other_methods() {
    for (noise_sd, expected) in [(0.3, 0.378_529_907), (3.0, 1.301_334_541), (30.0, 3.449_745_344_6)] {
        let design = design_minimum_risk_prediction(&small(), noise_sd).unwrap();
        assert!((design.expected / expected - 1.0).abs() < 1e-7, "{} {expected}", design.expected);
        assert!(design.gap <= 1e-6, "{}", design.gap);
    }
}

#[test]
fn every_kind_of_problem_is_solved_to_the_gap() {
    let many: Vec<f64> = (0..25).map(|i| f64::from(i * i % 29) / 29.0).collect();
    let sizes: Vec<f64> = (0..25).map(|i| if i % 4 == 0 { 100.0 } else { 1.0 }).collect();
    let points: Vec<f64> = (0..12).map(|i| f64::from(i) / 8.0 - 0.2).collect();
    let problems = [
        small(),
        problem(&[0.3], &[4.0], &points),
        problem(&many, &sizes, &points),
        problem(&many, &[1.0; 25], &[0.5]),
        problem(&many[..4], &sizes[..4], &points),
        // Two groups that no point depends on, and points that depend on none.
        problem(&[0.0, 0.1, 500.0, 600.0], &[1.0, 3.0, 1.0, 1.0], &[0.0, 0.0, 0.2, 900.0]),
    ];
    for (at, problem) in problems.iter().enumerate() {
        for noise_sd in [1.0, 10.0, 1e3] {
            let design = design_minimum_risk_prediction(problem, noise_sd).unwrap();
            assert!(design.gap <= 1e-6, "{at} {noise_sd} {}", design.gap);
            assert!(design.cloak.sensitivity > 0.0 && design.cloak.sensitivity <= 1.0);
            let lengths = design.cloak.released_columns().column_iter().map(|c| c.norm());
            assert!(lengths.fold(0.0, f64::max) <= 1.0);
        }
    }
}

/// The error of a linear prediction, written out: `tr K** - 2 tr(C K*') + tr(C A C') + s^2 |L|^2`.
#[test]
fn the_expected_error_is_that_of_the_map_released() {
    let (problem, noise_sd) = (small(), 2.0);
    let design = design_minimum_risk_prediction(&problem, noise_sd).unwrap();
    let (map, noise) = (design.cloak.released_mean_map(), design.cloak.noise_map());
    let error = 4.0 - 2.0 * map.dot(&problem.moments.cross)
        + (&map * covariance(&problem)).dot(&map)
        + noise_sd * noise_sd * noise.norm_squared();
    assert!((design.expected / error - 1.0).abs() < 1e-12);
    assert!((design.variances.iter().sum::<f64>() / error - 1.0).abs() < 1e-12);
}

#[test]
fn never_worse_than_the_prior_mean_the_process_or_its_best_denoising() {
    let problem = small();
    let (map, without_noise) = process(&problem);
    let options = CloakingOptions {
        objective: Objective::Trace,
        rank_tolerance: 1e-10,
        solver: Solver::InteriorPoint,
        release: DroppedDirectionRule::Projection,
    };
    let published = design_cloaking_noise(&map, &[1; 6], &options).unwrap();
    let (map, noise) = (published.released_mean_map(), published.noise_map());
    for noise_sd in [0.1, 1.0, 10.0, 100.0] {
        let design = design_minimum_risk_prediction(&problem, noise_sd).unwrap();
        let noisy = without_noise + noise_sd * noise_sd * noise.norm_squared();
        let seen = &map * covariance(&problem) * map.transpose() + &noise * noise.transpose() * noise_sd * noise_sd;
        let with_latent = &map * problem.moments.cross.transpose();
        let denoised = 4.0 - Cholesky::new("S", &seen).unwrap().lower_solve(&with_latent).norm_squared();
        for other in [4.0, noisy, denoised] {
            assert!(design.expected <= other * (1.0 + 1e-9), "{noise_sd}: {} {other}", design.expected);
        }
    }
}

#[test]
fn the_error_rises_with_the_noise_between_its_limits() {
    let problem = small();
    let mut before = process(&problem).1;
    let smallest = design_minimum_risk_prediction(&problem, 1e-6).unwrap();
    assert!((smallest.expected / before - 1.0).abs() < 1e-6, "{} {before}", smallest.expected);
    for noise_sd in [0.1, 0.5, 2.0, 10.0, 1e3, 1e6] {
        let design = design_minimum_risk_prediction(&problem, noise_sd).unwrap();
        assert!(design.expected >= before * (1.0 - 1e-9), "{noise_sd}");
        before = design.expected;
    }
    assert!((before / 4.0 - 1.0).abs() < 1e-6);
}
