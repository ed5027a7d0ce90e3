//! The least error, against other methods and releases.

use super::cases::{covariance, problem, process, small};
use crate::{CloakingOptions, Objective, ReleaseRecipe, Solver, cloak, risk_cloak};
use dpgp_linalg::Cholesky;

/// Values of other methods: the first of an alternating scheme on `(C, M, lambda)` to a duality gap of 1e-8, the others of a
/// general-purpose minimiser (BFGS from eight random strategies, SciPy).
#[test]
fn the_least_error_is_that_of_other_methods() {
    for (noise_sd, expected) in [(0.3, 0.378_529_907), (3.0, 1.301_334_541), (30.0, 3.449_745_344_6)] {
        let design = risk_cloak(&small(), noise_sd).unwrap();
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
            let design = risk_cloak(problem, noise_sd).unwrap();
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
    let design = risk_cloak(&problem, noise_sd).unwrap();
    let (map, noise) = (design.cloak.mean_columns(), design.cloak.noise_map());
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
        release: ReleaseRecipe::Projection,
    };
    let published = cloak(&map, &[1; 6], &options).unwrap();
    let (map, noise) = (published.mean_columns(), published.noise_map());
    for noise_sd in [0.1, 1.0, 10.0, 100.0] {
        let design = risk_cloak(&problem, noise_sd).unwrap();
        let noisy = without_noise + noise_sd * noise_sd * noise.norm_squared();
        let seen =
            &map * covariance(&problem) * map.transpose() + &noise * noise.transpose() * noise_sd * noise_sd;
        let with_latent = &map * problem.moments.cross.transpose();
        let denoised = 4.0 - Cholesky::new("S", &seen).unwrap().half_solve(&with_latent).norm_squared();
        for other in [4.0, noisy, denoised] {
            assert!(design.expected <= other * (1.0 + 1e-9), "{noise_sd}: {} {other}", design.expected);
        }
    }
}

#[test]
fn the_error_rises_with_the_noise_between_its_limits() {
    let problem = small();
    let mut before = process(&problem).1;
    let smallest = risk_cloak(&problem, 1e-6).unwrap();
    assert!((smallest.expected / before - 1.0).abs() < 1e-6, "{} {before}", smallest.expected);
    for noise_sd in [0.1, 0.5, 2.0, 10.0, 1e3, 1e6] {
        let design = risk_cloak(&problem, noise_sd).unwrap();
        assert!(design.expected >= before * (1.0 - 1e-9), "{noise_sd}");
        before = design.expected;
    }
    assert!((before / 4.0 - 1.0).abs() < 1e-6);
}
