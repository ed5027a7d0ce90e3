//! The noise designs of the !Kung cases against independent golden values.

use dpgp::gp::{PredictionMap, exact_prediction_map, fitc_prediction_map};
use dpgp::kernel::ExponentiatedQuadratic;
use dpgp::privacy::{
    Calibration, CloakingOptions, DroppedDirectionRule, Objective, PrivacyError, Solver, design_cloaking_noise,
};
use nalgebra::DMatrix;
use serde_json::Value;

use crate::support::exact_certificate::largest_leverage;
use crate::support::golden::{golden, matrix, merge, numbers};
use crate::support::kung::women;

const CHANGE_CM: f64 = 100.0;

fn options(objective: Objective, rank_tolerance: f64) -> CloakingOptions {
    let (solver, release) = (Solver::InteriorPoint, DroppedDirectionRule::Projection);
    CloakingOptions { objective, rank_tolerance, solver, release }
}

fn cases() -> Vec<(String, Value)> {
    let cases = golden("cloaking_kung1d")["cases"].as_object().unwrap().clone();
    cases.into_iter().collect()
}

/// At a tolerance of 1e-14 the last directions of C are its rounding, so equal inputs are not merged:
/// the golden values were computed on the very columns of the file.
fn whole(case: &Value) -> (DMatrix<f64>, Vec<usize>) {
    let c = matrix(&case["C"]);
    let ones = vec![1; c.ncols()];
    (c, ones)
}

/// The stds in cm at (1, 0.01) with the classic calibration, and the certified gap.
fn noise_cm(case: &Value, objective: Objective, tolerance: f64) -> (Vec<f64>, f64, usize) {
    let (columns, counts) = whole(case);
    let cloak = design_cloaking_noise(&columns, &counts, &options(objective, tolerance)).unwrap();
    let scale = CHANGE_CM * Calibration::Classic.sigma(1.0, 0.01);
    let stds = cloak.standard_deviations().iter().map(|s| s * scale).collect();
    (stds, cloak.gap.unwrap(), cloak.rank)
}

fn assert_close(found: &[f64], expected: &[f64], relative: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let worst = found.iter().zip(expected).map(|(f, e)| (f / e - 1.0).abs()).fold(0.0, f64::max);
    assert!(worst <= relative, "{what}: relative error {worst:e} > {relative:e}");
}

#[test]
fn log_det_optimum_at_every_rank_tolerance() {
    for (name, case) in cases() {
        for optimum in case["logdet_opt"].as_array().unwrap() {
            let tolerance = optimum["svd_rel_tol"].as_f64().unwrap();
            let (stds, gap, rank) = noise_cm(&case, Objective::LogDet, tolerance);
            let what = format!("{name}, tolerance {tolerance:e}");
            assert_eq!(rank as u64, optimum["rank"].as_u64().unwrap(), "{what}");
            assert!(gap <= 1e-8, "{what}: gap {gap:e}");
            assert_close(&stds, &numbers(&optimum["noise_std_cm"]), 1e-4, &what);
        }
    }
}

#[test]
fn trace_optimum() {
    for (name, case) in cases() {
        let optimum = &case["trace_opt"];
        let tolerance = optimum["svd_rel_tol"].as_f64().unwrap();
        let (stds, gap, _) = noise_cm(&case, Objective::Trace, tolerance);
        assert!(gap <= 1e-8, "{name}: gap {gap:e}");
        assert_close(&stds, &numbers(&optimum["noise_std_cm"]), 1e-5, &name);
    }
}

/// The map itself, from the real ages; needs the dataset.
#[test]
fn the_map_from_the_real_ages() {
    let Some(women) = women() else { return };
    for (name, case) in cases() {
        let hyper = |key: &str| case["hyper"][key].as_f64().unwrap();
        let kernel = ExponentiatedQuadratic::isotropic(hyper("variance"), hyper("lengthscale"));
        let noise = hyper("noise_variance");
        let test = matrix(&case["Xtest"]);
        let training = DMatrix::from_column_slice(women.ages.len(), 1, &women.ages);
        let map: PredictionMap = match &case["Z"] {
            Value::Null => exact_prediction_map(&kernel, noise, &training, &test).unwrap(),
            z => fitc_prediction_map(&kernel, noise, &matrix(z), &training, &test).unwrap(),
        };
        let error = (map.to_full_matrix() - matrix(&case["C"])).amax();
        assert!(error < 1e-8, "{name}: C is off by {error:e}");
        let normalised: Vec<f64> = women.heights.iter().map(|h| normalise(*h, &case)).collect();
        let mean = map.predict(&normalised);
        assert_close(mean.as_slice(), &numbers(&case["nondp"]["mean_norm"]), 1e-5, &name);
    }
}

fn normalise(height: f64, case: &Value) -> f64 {
    let (centre, sd) = (case["ysub"].as_f64().unwrap(), case["ystd"].as_f64().unwrap());
    (height.clamp(centre - 50.0, centre + 50.0) - centre) / sd
}

/// Safety, in 400-bit arithmetic, of every case, objective and recipe that the golden file names.
#[test]
fn every_direction_of_what_is_released_is_covered() {
    for (name, case) in cases() {
        let (columns, counts) = merge(&matrix(&case["C"]));
        for tolerance in [1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2] {
            for objective in [Objective::LogDet, Objective::Trace] {
                for release in [DroppedDirectionRule::Projection, DroppedDirectionRule::Jitter] {
                    let options = CloakingOptions { release, ..options(objective, tolerance) };
                    let cloak = design_cloaking_noise(&columns, &counts, &options).unwrap();
                    let leverage = largest_leverage(&cloak);
                    let what = format!("{name} {objective:?} {release:?} {tolerance:e}");
                    assert!(leverage <= 1.0 + 1e-9, "{what}: {leverage}");
                    assert!(leverage >= 1.0 - 1e-6, "{what}: {leverage} wastes noise");
                }
            }
        }
    }
}

/// The jitter recipe costs next to nothing.
#[test]
fn the_jitter_recipe_is_nearly_free() {
    for (name, case) in cases() {
        let (columns, counts) = merge(&matrix(&case["C"]));
        let rms = |release| {
            let options = CloakingOptions { release, ..options(Objective::Trace, 1e-6) };
            design_cloaking_noise(&columns, &counts, &options).unwrap().standard_deviations().norm()
        };
        let cost = rms(DroppedDirectionRule::Jitter) / rms(DroppedDirectionRule::Projection) - 1.0;
        assert!(cost < 3e-4, "{name}: {cost:e}");
    }
}

/// Merging equal inputs changes the noise by no more than the rounding of C.
#[test]
fn merged_columns_give_the_same_noise() {
    for (name, case) in cases() {
        let (columns, counts) = merge(&matrix(&case["C"]));
        assert!(columns.ncols() == 84, "{name}");
        for (objective, relative) in [(Objective::LogDet, 1e-6), (Objective::Trace, 1e-6)] {
            let merged = design_cloaking_noise(&columns, &counts, &options(objective, 1e-8)).unwrap();
            let (all, ones) = whole(&case);
            let whole = design_cloaking_noise(&all, &ones, &options(objective, 1e-8)).unwrap();
            let (merged, whole) = (merged.standard_deviations(), whole.standard_deviations());
            assert_close(merged.as_slice(), whole.as_slice(), relative, &name);
        }
    }
}

/// The published scheme: never better than the optimum, nearly as good after many steps, and as safe.
#[test]
fn the_published_gradient_scheme_is_safe_but_not_optimal() {
    for (name, case) in cases() {
        let (columns, counts) = merge(&matrix(&case["C"]));
        let solver = Solver::Gradient { step: 0.05, steps: 1000 };
        let options = CloakingOptions { solver, ..options(Objective::LogDet, 1e-6) };
        let cloak = design_cloaking_noise(&columns, &counts, &options).unwrap();
        let gap = cloak.gap.unwrap();
        assert!(gap > 1e-4 && gap < 0.1, "{name}: {gap}");
        assert!(largest_leverage(&cloak) <= 1.0 + 1e-9, "{name}");
    }
}

/// A step so long that every weight is clipped to zero would release the exact mean.
#[test]
fn no_noise_is_refused() {
    let (_, case) = &cases()[0];
    let (columns, counts) = merge(&matrix(&case["C"]));
    let solver = Solver::Gradient { step: 1e9, steps: 1 };
    let options = CloakingOptions { solver, ..options(Objective::LogDet, 1e-6) };
    assert_eq!(
        design_cloaking_noise(&columns, &counts, &options).unwrap_err(),
        PrivacyError::NoNoise { solver: "gradient" }
    );
    let nothing = DMatrix::zeros(3, 5);
    let options = CloakingOptions { solver: Solver::InteriorPoint, ..options };
    assert_eq!(design_cloaking_noise(&nothing, &[1; 5], &options).unwrap_err(), PrivacyError::NothingToProtect);
}
