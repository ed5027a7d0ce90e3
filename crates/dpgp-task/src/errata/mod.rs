//! Checks statements of the papers against computed numbers: errors, loose bounds, gaps, and remarks. A row
//! holds the published number (`claimed`), the true value of that statement (`found`), the result of the
//! comparison (`holds`), the correct number (`corrected`), and the ratio of the first to the second
//! (`factor`). The `[[erratum]]` tables of the spec hold the text and the kind of each statement.

mod registry;

use nalgebra::{DMatrix, DVector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::selection::expected_clipped_square;
use crate::{AuditableCertificate, CellMeasurements, MeasurableTask, ReplicateJob, TaskError, TaskRequirements};
use dpgp_accounting::{Calibration, gaussian_delta};
use dpgp_gp::polynomial_prediction_map;
use dpgp_mechanisms::{
    CellSections, FoldPredictionMap, SseSensitivityRule, require_cloaking_setting, selection_probabilities,
    sse_sensitivity,
};
use dpgp_spec::setting::CheckResult;
use registry::{DESIGN, design_cloak};

pub use registry::Erratum;

impl MeasurableTask for ErrataTask {
    /// The same exact numbers for every cell; nothing of them is private.
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        let numbers = self.erratum.numbers()?;
        let ErratumNumbers { claimed, found, holds, corrected } = numbers;
        let values = [claimed, found, f64::from(u8::from(holds)), corrected, numbers.claimed_to_found_ratio()];
        let measured =
            AuditableCertificate::without_claim().into_measurements(0.0, Self::METRICS.into_iter().zip(values));
        Ok(vec![measured; job.cells.len()])
    }
}

/// The numbers of an erratum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErratumNumbers {
    /// The number that the paper prints, or that its formula gives.
    pub claimed: f64,
    /// The number computed for the paper's statement.
    pub found: f64,
    /// Whether it holds.
    pub holds: bool,
    /// The number computed for the corrected statement.
    pub corrected: f64,
}

impl ErratumNumbers {
    /// A statement that something is at most `claimed`.
    fn upper_bound_claim(claimed: f64, found: f64, corrected: f64) -> Self {
        Self { claimed, found, holds: found <= claimed, corrected }
    }

    /// A statement that something is at least `claimed`.
    fn lower_bound_claim(claimed: f64, found: f64, corrected: f64) -> Self {
        Self { claimed, found, holds: found >= claimed, corrected }
    }

    /// A statement that two numbers are the same.
    fn equality_claim(claimed: f64, found: f64, corrected: f64) -> Self {
        Self { claimed, found, holds: (found - claimed).abs() <= 1e-9 * claimed.abs(), corrected }
    }

    /// The claimed number divided by the computed one. If an upper bound holds, it is loose by this factor.
    pub fn claimed_to_found_ratio(&self) -> f64 {
        self.claimed / self.found
    }

    /// A statement that Gaussian noise is (epsilon, delta)-private: the exact deltas of the published standard deviation and of
    /// the right one, both per unit of sensitivity.
    fn gaussian_noise_claim(epsilon: f64, delta: f64, [published, right]: [f64; 2]) -> Self {
        Self::upper_bound_claim(delta, gaussian_delta(published, epsilon), gaussian_delta(right, epsilon))
    }
}

/// A statement tested with computed numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErrataTask {
    /// The statement, by its name in the registry. An `[[erratum]]` of the spec describes it.
    #[schemars(with = "String", extend("enum" = Erratum::names()))]
    pub erratum: Erratum,
}

impl ErrataTask {
    /// The metrics: what the paper says, what is true of that very statement, whether it holds, the right number, and the
    /// first over the second.
    const METRICS: [&str; 5] = ["claimed", "found", "holds", "corrected", "factor"];
}

impl TaskRequirements for ErrataTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        setting.privacy.check_unprotected("inf (the numbers are computed without privacy)")?;
        require_cloaking_setting(&setting.privacy).map(drop)
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        Self::METRICS.map(str::to_owned).to_vec()
    }

    fn erratum_name(&self) -> Option<&str> {
        Some(self.erratum.name())
    }
}

/// The probability and the error (cm) of each configuration, in the order of the table: noise variances within a lengthscale,
/// variances within these.
const PRINTED: [(f64, f64); 80] = [
    (0.0, 235.52),
    (0.0, 436.54),
    (0.0, 526.11),
    (0.0, 715.99),
    (0.0, 132.11),
    (0.0, 244.78),
    (0.0, 305.81),
    (0.0, 430.29),
    (0.0, 73.59),
    (0.0, 162.8),
    (0.0, 219.82),
    (0.0, 283.01),
    (0.019, 25.61),
    (0.0, 60.73),
    (0.0, 215.35),
    (0.0, 248.26),
    (0.0, 75.13),
    (0.0, 94.6),
    (0.0, 128.16),
    (0.0, 233.28),
    (0.0, 52.59),
    (0.0, 80.72),
    (0.0, 95.11),
    (0.0, 167.44),
    (0.0131, 33.87),
    (0.0, 133.09),
    (0.0, 81.38),
    (0.0, 187.44),
    (0.0222, 18.27),
    (0.0122, 34.01),
    (0.0, 53.16),
    (0.0, 80.85),
    (0.0151, 25.04),
    (0.0, 32.92),
    (0.0, 60.83),
    (0.0, 43.17),
    (0.02, 23.92),
    (0.0181, 26.28),
    (0.0, 32.66),
    (0.0, 42.26),
    (0.0231, 16.36),
    (0.021, 20.89),
    (0.0177, 26.84),
    (0.0, 31.85),
    (0.0244, 14.55),
    (0.0233, 16.13),
    (0.0205, 20.81),
    (0.018, 27.74),
    (0.0233, 16.53),
    (0.0223, 18.02),
    (0.0219, 19.27),
    (0.0211, 20.9),
    (0.0236, 16.07),
    (0.0233, 16.29),
    (0.0222, 18.24),
    (0.0225, 18.78),
    (0.0226, 17.43),
    (0.0236, 16.0),
    (0.023, 16.72),
    (0.0228, 17.62),
    (0.0225, 18.1),
    (0.0227, 17.49),
    (0.0235, 16.06),
    (0.0232, 16.65),
    (0.023, 16.83),
    (0.0242, 14.72),
    (0.0232, 17.06),
    (0.0225, 17.75),
    (0.0224, 18.09),
    (0.0231, 16.9),
    (0.0242, 14.61),
    (0.0231, 16.59),
    (0.0224, 18.14),
    (0.0225, 18.02),
    (0.023, 16.83),
    (0.0241, 14.52),
    (0.0226, 17.71),
    (0.0223, 18.33),
    (0.0224, 17.88),
    (0.0231, 16.82),
];

/// The text calls 19.02 a weighted sum of errors: that sum, and the root of the weighted sum of their squares.
fn compute_weighted_sum_erratum() -> ErratumNumbers {
    let sum: f64 = PRINTED.iter().map(|(p, error)| p * error).sum();
    let squares: f64 = PRINTED.iter().map(|(p, error)| p * error * error).sum();
    ErratumNumbers { claimed: 19.02, found: sum, holds: (sum - 19.02).abs() < 0.005, corrected: squares.sqrt() }
}

/// The mean of the column, to the digits that are printed.
fn compute_mean_error_erratum() -> ErratumNumbers {
    let mean = PRINTED.iter().map(|(_, error)| error).sum::<f64>() / PRINTED.len() as f64;
    ErratumNumbers { claimed: 87.05, found: mean, holds: (mean - 87.05).abs() < 0.005, corrected: mean }
}

/// The lowest error, which the text has as 14.55 in the training set.
fn compute_lowest_error_erratum() -> ErratumNumbers {
    let lowest = PRINTED.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
    ErratumNumbers::equality_claim(14.55, lowest, lowest)
}

/// The change that targets are bounded to in the counter-example and in the toy.
const CHANGE: f64 = 2.0;

/// Lines through four points (0 to 3) and through ten (6.5 to 7.5), each predicting the other.
fn example_folds() -> Result<[FoldPredictionMap; 2], TaskError> {
    let few = DMatrix::from_fn(4, 1, |i, _| i as f64);
    let many = DMatrix::from_fn(10, 1, |i, _| 6.5 + i as f64 / 9.0);
    let (forth, back) = (polynomial_prediction_map(1, &few, &many)?, polynomial_prediction_map(1, &many, &few)?);
    Ok([
        FoldPredictionMap { columns: forth.to_full_matrix(), rows: (0..4).collect() },
        FoldPredictionMap { columns: back.to_full_matrix(), rows: (4..14).collect() },
    ])
}

/// The greatest change of the clipped sum of squares when one target goes from 0 to 2, over all others at 0 or 2.
fn compute_selection_sensitivity_erratum() -> Result<ErratumNumbers, TaskError> {
    let folds = example_folds()?;
    let mut map = DMatrix::from_diagonal_element(14, 14, -1.0);
    map.view_mut((4, 0), (10, 4)).copy_from(&folds[0].columns);
    map.view_mut((0, 4), (4, 10)).copy_from(&folds[1].columns);
    let mut most = 0.0f64;
    for corner in 0..1u32 << 14 {
        let targets = DVector::from_fn(14, |k, _| if corner >> k & 1 == 1 { CHANGE } else { 0.0 });
        let errors = &map * &targets;
        for j in (0..14).filter(|j| targets[*j] == 0.0) {
            let column = map.column(j);
            let pairs = errors.iter().zip(column.iter());
            let moved = pairs.map(|(e, c)| clipped_square(e + CHANGE * c) - clipped_square(*e)).sum::<f64>();
            most = most.max(moved.abs());
        }
    }
    let [published, corrected] = [SseSensitivityRule::Published, SseSensitivityRule::Corrected]
        .map(|rule| sse_sensitivity(rule, &folds, 14, CHANGE));
    Ok(ErratumNumbers::upper_bound_claim(published, most, corrected))
}

/// The rule of the authors' code on the same points in units in which a target moves by 0.1: what is true scales with the square of that
/// change, the rule does not.
fn compute_largest_fold_dropped_erratum() -> Result<ErratumNumbers, TaskError> {
    let change = 0.1;
    let claimed = sse_sensitivity(SseSensitivityRule::LargestDropped, &example_folds()?, 14, change);
    let ErratumNumbers { found, corrected, .. } = compute_selection_sensitivity_erratum()?;
    let scale = (change / CHANGE).powi(2);
    Ok(ErratumNumbers::upper_bound_claim(claimed, scale * found, scale * corrected))
}

fn clipped_square(error: f64) -> f64 {
    error.clamp(-4.0 * CHANGE, 4.0 * CHANGE).powi(2)
}

/// The probability of the constant in Section 5.1 as printed, without the clip at four times the change, and with it.
fn compute_toy_clip_erratum() -> Result<ErratumNumbers, TaskError> {
    let candidates = [toy_polynomial(0)?, toy_polynomial(1)?];
    let bound = greatest_sensitivity(&candidates, |toy| toy.sensitivity(SseSensitivityRule::Published));
    // The sums of both candidates, first without and then with the clip.
    let [plain, clipped] = [0, 1].map(|clip| {
        let sums = [candidates[0].sums[clip], candidates[1].sums[clip]];
        selection_probabilities(&sums, bound, 1.0)[0]
    });
    Ok(ErratumNumbers::equality_claim(plain, clipped, clipped))
}

/// The sensitivity of Section 5.1 by lines 12 and 13 of Algorithm 1, which leave out the greatest fold, by Equation 13, and by a
/// valid bound.
fn compute_ascending_sort_erratum() -> Result<ErratumNumbers, TaskError> {
    let candidates = [toy_polynomial(0)?, toy_polynomial(1)?];
    let [printed, valid] = [SseSensitivityRule::Published, SseSensitivityRule::Corrected]
        .map(|rule| greatest_sensitivity(&candidates, |toy| toy.sensitivity(rule)));
    Ok(ErratumNumbers::equality_claim(
        greatest_sensitivity(&candidates, |toy| sse_sensitivity_without_greatest_fold(&toy.folds)),
        printed,
        valid,
    ))
}

/// Sum of lines 8 and 9 of Algorithm 1 for the straight line of Section 5.1, against the clipped sum alone.
fn compute_double_counting_erratum() -> Result<ErratumNumbers, TaskError> {
    let [plain, clipped] = toy_polynomial(1)?.sums;
    Ok(ErratumNumbers::equality_claim(plain + clipped, clipped, clipped))
}

/// Equation 13 over the folds as Algorithm 1 sorts them: the greatest of the longest columns is left out, not the least.
fn sse_sensitivity_without_greatest_fold(folds: &[FoldPredictionMap]) -> f64 {
    let longest = folds.iter().map(|fold| fold.columns.column_iter().map(|c| c.norm_squared()).fold(0.0, f64::max));
    let mut alphas: Vec<f64> = longest.collect();
    alphas.sort_by(f64::total_cmp);
    CHANGE.powi(2) * (9.0 + alphas[..folds.len() - 1].iter().sum::<f64>())
}

fn greatest_sensitivity(candidates: &[ToyCandidate], sensitivity: impl Fn(&ToyCandidate) -> f64) -> f64 {
    candidates.iter().map(sensitivity).fold(0.0, f64::max)
}

/// A candidate of Section 5.1.
struct ToyCandidate {
    /// The expected sums of squared errors without and with a clip.
    sums: [f64; 2],
    folds: Vec<FoldPredictionMap>,
}

impl ToyCandidate {
    fn sensitivity(&self, rule: SseSensitivityRule) -> f64 {
        sse_sensitivity(rule, &self.folds, 4, CHANGE)
    }
}

/// The polynomial of a degree through two of the four points of Section 5.1, each half predicting the other.
fn toy_polynomial(degree: u32) -> Result<ToyCandidate, TaskError> {
    let (x, y) = ([0.0, 1.0, 2.0, 4.0], [0.0, 0.5, 1.0, 2.0]);
    let noise = CHANGE * Calibration::Classic.sigma(1.0, 0.01);
    let (mut sums, mut folds) = ([0.0; 2], Vec::new());
    for halves in [[[2, 3], [0, 1]], [[0, 1], [2, 3]]] {
        let [training, test] = halves.map(|rows| DMatrix::from_fn(2, 1, |i, _| x[rows[i]]));
        let map = polynomial_prediction_map(degree, &training, &test)?;
        let mean = map.predict(&halves[0].map(|row| y[row]));
        let sds = design_cloak(&map, DESIGN)?.standard_deviations();
        for (i, row) in halves[1].into_iter().enumerate() {
            for (sum, clip) in sums.iter_mut().zip([f64::INFINITY, 4.0 * CHANGE]) {
                *sum += expected_clipped_square(mean[i] - y[row], noise * sds[i], clip);
            }
        }
        folds.push(FoldPredictionMap { columns: map.to_full_matrix(), rows: halves[0].to_vec() });
    }
    Ok(ToyCandidate { sums, folds })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results of an independent computation on the printed rows.
    #[test]
    fn the_printed_rows_are_those_of_the_paper() {
        let sums = compute_weighted_sum_erratum();
        assert!((sums.found - 18.61).abs() < 0.005 && (sums.corrected - 19.0226).abs() < 5e-5, "{sums:?}");
        assert!((compute_mean_error_erratum().found - 85.98).abs() < 0.005, "{:?}", compute_mean_error_erratum());
        assert_eq!(compute_lowest_error_erratum().found, 14.52);
        // Probabilities are printed to four digits; 34 of them are zero.
        let total: f64 = PRINTED.iter().map(|(p, _)| p).sum();
        assert!((total - 1.0).abs() < 46.0 * 5e-5, "{total}");
        assert_eq!(PRINTED.iter().filter(|(p, _)| *p > 0.0).count(), 46);
    }
}

#[cfg(test)]
mod selection_tests {
    use super::*;

    /// The counter-example to Equation 13, as the design of these errata computed it apart.
    #[test]
    fn an_ascending_sort_bounds_even_less() {
        let folds = example_folds().unwrap();
        assert!(
            (sse_sensitivity_without_greatest_fold(&folds) - 166.3).abs() < 0.05,
            "{}",
            sse_sensitivity_without_greatest_fold(&folds)
        );
        let published = sse_sensitivity(SseSensitivityRule::Published, &folds, 14, CHANGE);
        assert!((published - 180.77).abs() < 0.005, "{published}");
    }
}
