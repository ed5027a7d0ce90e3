//! Laws of noise designs on random maps: certified, safe, optimal, and indifferent to how the map is written.

use dpgp::privacy::{
    CloakingNoise, CloakingOptions, DroppedDirectionRule, Objective, PrivacyError, Solver, design_cloaking_noise,
};
use nalgebra::DMatrix;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::support::exact_certificate::largest_leverage;

/// A random map (t x n) of the given rank, its directions graded by powers of `grading`, with a few equal and a
/// few zero columns.
fn random_map(tests: usize, targets: usize, rank: usize, grading: f64, seed: u64) -> DMatrix<f64> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut uniform = |rows, columns| DMatrix::from_fn(rows, columns, |_, _| rng.random_range(-1.0..1.0));
    let (left, mut right) = (uniform(tests, rank), uniform(rank, targets));
    for (k, mut row) in right.row_iter_mut().enumerate() {
        row *= grading.powi(k as i32);
    }
    let mut c = left * right;
    for j in (0..targets).filter(|j| j % 7 == 3) {
        let copy = c.column(j - 1).into_owned();
        c.set_column(j, &(copy * if j % 2 == 0 { 0.0 } else { 1.0 }));
    }
    c
}

fn design(
    c: &DMatrix<f64>,
    objective: Objective,
    release: DroppedDirectionRule,
) -> Result<CloakingNoise, PrivacyError> {
    let options = CloakingOptions { objective, rank_tolerance: 1e-10, solver: Solver::InteriorPoint, release };
    design_cloaking_noise(c, &vec![1; c.ncols()], &options)
}

/// `max_i c_i' M^-1 c_i` scales a covariance to the edge of feasibility; this is the objective of the edge.
fn feasible_value(c: &DMatrix<f64>, covariance: &DMatrix<f64>, objective: Objective) -> f64 {
    let inverse = covariance.clone().try_inverse().unwrap();
    let largest = c.column_iter().map(|c| (c.transpose() * &inverse * c)[0]).fold(0.0, f64::max);
    value(&(covariance * largest), objective)
}

fn value(covariance: &DMatrix<f64>, objective: Objective) -> f64 {
    match objective {
        Objective::LogDet => covariance.determinant().ln(),
        Objective::Trace => covariance.trace(),
    }
}

const OBJECTIVES: [Objective; 2] = [Objective::LogDet, Objective::Trace];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_design_is_certified_and_safe(
        tests in 1usize..9, targets in 2usize..60, rank in 1usize..9, grading in 0.05..1.0f64, seed in any::<u64>(),
    ) {
        let c = random_map(tests, targets, rank.min(tests), grading, seed);
        prop_assume!(c.amax() > 1e-3);
        for objective in OBJECTIVES {
            for release in [DroppedDirectionRule::Projection, DroppedDirectionRule::Jitter] {
                let cloak = design(&c, objective, release).unwrap();
                match (objective, release, cloak.gap) {
                    (_, DroppedDirectionRule::Projection, Some(gap)) => prop_assert!(gap <= 1e-8, "{objective:?}: {gap:e}"),
                    (Objective::Trace, DroppedDirectionRule::Jitter, Some(gap)) => prop_assert!(gap >= -1e-9, "{gap:e}"),
                    (objective, release, gap) => prop_assert_eq!((objective, release, gap), (Objective::LogDet, DroppedDirectionRule::Jitter, None)),
                }
                let leverage = largest_leverage(&cloak);
                prop_assert!(leverage <= 1.0 + 1e-9, "{objective:?} {release:?}: leverage {leverage}");
                let moved = (cloak.released_mean_map() - &c).amax();
                prop_assert!(moved <= 1e-9 * c.amax(), "the mean moved by {moved:e}");
            }
        }
    }

    /// No other covariance at the edge of feasibility is better, beyond the certified gap.
    #[test]
    fn no_feasible_covariance_is_better(seed in any::<u64>(), tests in 2usize..5, targets in 6usize..20) {
        let c = random_map(tests, targets, tests, 0.7, seed);
        let mut rng = Pcg64::seed_from_u64(seed ^ 1);
        for objective in OBJECTIVES {
            let Ok(cloak) = design(&c, objective, DroppedDirectionRule::Projection) else { continue };
            prop_assume!(cloak.rank == tests);
            let map = cloak.noise_map();
            let found = value(&(&map * map.transpose()), objective);
            for _ in 0..20 {
                let weights = DMatrix::from_fn(targets, 1, |_, _| rng.random_range(0.0..1.0f64).powi(3));
                let other = &c * DMatrix::from_diagonal(&weights.column(0).into_owned()) * c.transpose();
                let other = feasible_value(&c, &other, objective);
                prop_assert!(found <= other + 1e-7 * other.abs().max(1.0), "{objective:?}: {found} > {other}");
            }
        }
    }

    /// Scaling the map scales the noise; the order of the targets and their repetition do not matter.
    #[test]
    fn the_design_follows_the_map(seed in any::<u64>(), scale in 0.01..100.0f64) {
        let c = random_map(4, 15, 4, 0.6, seed);
        for objective in OBJECTIVES {
            let stds = |c: &DMatrix<f64>| design(c, objective, DroppedDirectionRule::Projection).unwrap().standard_deviations();
            let plain = stds(&c);
            let close = |other: nalgebra::DVector<f64>| (other - &plain).amax() <= 1e-6 * plain.amax();
            prop_assert!(close(stds(&(&c * scale)) / scale));
            let reversed = DMatrix::from_fn(4, 15, |i, j| c[(i, 14 - j)]);
            prop_assert!(close(stds(&reversed)));
            let twice = DMatrix::from_fn(4, 30, |i, j| c[(i, j % 15)]);
            prop_assert!(close(stds(&twice)));
        }
    }
}
