//! The exponential mechanism on the errors of candidates, with the expected clipped square of a Gaussian
//! error.

use nalgebra::DMatrix;

use super::fold::{CandidateFold, SelectionErrorFunction};
use crate::{AuditedMechanism, SelectionTask, TargetChangeGuarantee};
use dpgp_linalg::largest_or_nan;
use dpgp_mechanisms::{FoldPredictionMap, SseSensitivityRule, selection_probabilities, sse_sensitivity};
use dpgp_number::{normal_cdf, normal_pdf};
use dpgp_spec::setting::{NormaliseSetting, prior_mean};

/// The candidates with their cross-validation folds, and the rule by which the exponential mechanism scores them.
#[derive(Clone, Copy)]
pub(super) struct CandidateScorer<'a> {
    pub task: &'a SelectionTask,
    pub candidates: &'a [Vec<CandidateFold>],
    /// Targets.
    pub rows: usize,
    /// Units of the target per unit of the model.
    pub scale: f64,
    /// The range of targets on the scale of the model, where they are clipped.
    pub range: Option<(f64, f64)>,
}

/// Errors, sensitivities and selection probabilities of all candidates. Nothing has been drawn.
pub(super) struct CandidateScores {
    /// Of each candidate: its clipped error, that without noise and clip, the error in units of the target, the most that
    /// one target moves a prediction (units of the target), its sensitivity, its probability.
    pub sse: Vec<f64>,
    pub clean_sse: Vec<f64>,
    pub rmse: Vec<f64>,
    pub most_moved: Vec<f64>,
    pub sensitivity: Vec<f64>,
    pub probability: Vec<f64>,
    /// Those within the threshold, and their largest sensitivity.
    pub allowed: Vec<usize>,
    pub bound: f64,
}

impl CandidateScorer<'_> {
    /// Scores all candidates and computes the probability of each under the exponential mechanism with the budget `epsilon`. Their
    /// predictions have the noise that `target` asks for.
    pub fn score_candidates(&self, target: TargetChangeGuarantee, epsilon: f64) -> CandidateScores {
        let (noise, clip) = (self.noise_scale_in_model_units(target), self.error_clip_bound(target));
        let sse: Vec<f64> =
            self.candidates.iter().map(|folds| sum_squared_errors_over_folds(folds, noise, clip)).collect();
        let unclipped = self.candidates.iter().map(|folds| sum_squared_errors_over_folds(folds, noise, f64::INFINITY));
        let rmse = unclipped.map(|sse| self.scale * (sse / self.rows as f64).sqrt()).collect();
        let clean_sse =
            self.candidates.iter().map(|folds| sum_squared_errors_over_folds(folds, 0.0, f64::INFINITY)).collect();
        let most_moved = self.candidates.iter().map(|folds| target.change * largest_prediction_change(folds)).collect();
        let change = self.scaled_target_change(target);
        let sensitivity: Vec<f64> = self.candidates.iter().map(|folds| self.sensitivity(folds, change)).collect();
        let allowed: Vec<usize> =
            (0..self.candidates.len()).filter(|&i| self.is_allowed(&self.candidates[i], change)).collect();
        let bound = match self.task.sensitivity {
            // As it was run: of all configurations, what is above the threshold counted as nothing.
            SseSensitivityRule::LargestDropped => largest_or_nan(sensitivity.iter().copied()),
            _ => largest_or_nan(allowed.iter().map(|&i| sensitivity[i])),
        };
        let of_allowed: Vec<f64> = allowed.iter().map(|&i| sse[i]).collect();
        let mut probability = vec![0.0; self.candidates.len()];
        for (&i, chance) in allowed.iter().zip(&selection_probabilities(&of_allowed, bound, epsilon)) {
            probability[i] = *chance;
        }
        CandidateScores { sse, clean_sse, rmse, most_moved, sensitivity, probability, allowed, bound }
    }

    /// Evidence of the choice: its candidates.
    pub fn audited_mechanism(
        &self,
        target: TargetChangeGuarantee,
        epsilon: f64,
        judged: &CandidateScores,
    ) -> AuditedMechanism {
        AuditedMechanism::Exponential(Box::new(SelectionErrorFunction {
            candidates: judged.allowed.iter().map(|&i| self.candidates[i].clone()).collect(),
            rows: self.rows,
            noise: self.noise_scale_in_model_units(target),
            clip: self.error_clip_bound(target),
            change: self.scaled_target_change(target),
            epsilon,
            sensitivity: judged.bound,
            range: self.range,
        }))
    }

    /// The most that a target changes, on the scale of the model.
    fn scaled_target_change(&self, target: TargetChangeGuarantee) -> f64 {
        target.change / self.scale
    }

    /// Factor of the noise of each prediction.
    fn noise_scale_in_model_units(&self, target: TargetChangeGuarantee) -> f64 {
        self.scaled_target_change(target) * target.noise_multiplier()
    }

    /// Bound that errors are clipped to.
    fn error_clip_bound(&self, target: TargetChangeGuarantee) -> f64 {
        self.task.clip.map_or(f64::INFINITY, |clip| clip.get() * self.scaled_target_change(target))
    }

    fn is_allowed(&self, folds: &[CandidateFold], change: f64) -> bool {
        folds.iter().all(|fold| self.is_below_threshold(fold, change))
    }

    /// Whether no target moves the predictions of a fold by more than the threshold.
    fn is_below_threshold(&self, fold: &CandidateFold, change: f64) -> bool {
        self.task.threshold.is_none_or(|threshold| change * change * fold.longest <= threshold.get())
    }

    fn sensitivity(&self, folds: &[CandidateFold], change: f64) -> f64 {
        let rule = self.task.sensitivity;
        let nothing = FoldPredictionMap { columns: DMatrix::zeros(0, 0), rows: Vec::new() };
        let counted = |fold| rule != SseSensitivityRule::LargestDropped || self.is_below_threshold(fold, change);
        let columns: Vec<&FoldPredictionMap> =
            folds.iter().map(|fold| if counted(fold) { &fold.columns } else { &nothing }).collect();
        sse_sensitivity(rule, &columns, self.rows, change)
    }
}

/// The sum over folds of squared errors with the noise, errors clipped.
fn sum_squared_errors_over_folds(folds: &[CandidateFold], noise: f64, clip: f64) -> f64 {
    folds.iter().map(|fold| fold.sum_noisy_clipped_squares(&fold.errors, noise, clip)).sum()
}

/// The most that a prediction of any fold changes with one target.
fn largest_prediction_change(folds: &[CandidateFold]) -> f64 {
    largest_or_nan(folds.iter().map(|fold| fold.columns.columns.amax()))
}

/// The range of targets in units of `scale`, where they are clipped.
pub(super) fn clipped_target_range(normalise: &NormaliseSetting, scale: f64) -> Option<(f64, f64)> {
    let half = match *normalise {
        NormaliseSetting::Bounds { low, high, centre, .. } => {
            let centre = prior_mean(low, high, centre);
            return Some(((low.get() - centre) / scale, (high.get() - centre) / scale));
        }
        NormaliseSetting::Standardised { low, high } => 0.5 * (high.get() - low.get()),
        NormaliseSetting::Private { clip, .. } => clip?.get(),
        NormaliseSetting::None | NormaliseSetting::Constants { .. } => return None,
    };
    Some((-half / scale, half / scale))
}

/// `E[clip(X, -T, T)^2]` for `X ~ N(mean, sd^2)`. With `a = (-T - mean)/sd`, `b = (T - mean)/sd` and `P = Phi(b) - Phi(a)`:
/// `mean^2 P + 2 mean sd (phi(a) - phi(b)) + sd^2 (P + a phi(a) - b phi(b)) + T^2 (1 - P)`. Where sd is not small
/// beside T these terms cancel; there it is `T^2` less a smooth integral.
pub(crate) fn expected_clipped_square(mean: f64, sd: f64, threshold: f64) -> f64 {
    if threshold.is_infinite() {
        return mean * mean + sd * sd;
    }
    if sd == 0.0 {
        return mean.abs().min(threshold).powi(2);
    }
    if sd > 0.5 * threshold {
        return threshold * threshold - expected_square_shortfall(mean, sd, threshold);
    }
    let (a, b) = ((-threshold - mean) / sd, (threshold - mean) / sd);
    let (at_a, at_b) = (normal_pdf(a), normal_pdf(b));
    let outside = normal_cdf(a) + normal_cdf(-b);
    let inside = 1.0 - outside;
    mean * mean * inside
        + 2.0 * mean * sd * (at_a - at_b)
        + sd * sd * (inside + a * at_a - b * at_b)
        + threshold * threshold * outside
}

/// `E[(T^2 - X^2)+]`, the integral of `(T^2 - x^2) phi((x - mean)/sd)/sd` over [-T, T] by the five-point Gauss-Legendre
/// rule on [`PANELS`] panels of width `h = T/12`. The rule's error term `h^11 (5!)^4 f^(10) / (11 (10!)^3)` is far below the
/// rounding of `T^2` where `sd > T/2`, so `h / sd < 1/6`.
fn expected_square_shortfall(mean: f64, sd: f64, threshold: f64) -> f64 {
    let (near, far) = ((10.0f64 / 7.0).sqrt() * 2.0, 13.0 * 70f64.sqrt());
    let nodes = [
        (0.0, 128.0 / 225.0),
        ((5.0 - near).sqrt() / 3.0, (322.0 + far) / 900.0),
        ((5.0 + near).sqrt() / 3.0, (322.0 - far) / 900.0),
    ];
    let half = threshold / PANELS as f64;
    let panels = (0..PANELS).map(|p| {
        let middle = -threshold + half * (2 * p + 1) as f64;
        let pairs = nodes[1..].iter().map(|(node, weight)| {
            let (left, right) = (middle - half * node, middle + half * node);
            weight
                * (square_shortfall_integrand(left, mean, sd, threshold)
                    + square_shortfall_integrand(right, mean, sd, threshold))
        });
        nodes[0].1 * square_shortfall_integrand(middle, mean, sd, threshold) + pairs.sum::<f64>()
    });
    half * panels.sum::<f64>()
}

fn square_shortfall_integrand(x: f64, mean: f64, sd: f64, threshold: f64) -> f64 {
    (threshold - x) * (threshold + x) * normal_pdf((x - mean) / sd) / sd
}

/// Panels of the quadrature.
const PANELS: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the trapezoidal rule.
    #[test]
    fn the_clipped_square_is_its_integral() {
        let cases =
            [(0.3, 1.0, 2.1), (0.3, 1.0, 1.9), (-5.0, 2.0, 3.0), (1.0, 30.0, 8.0), (2.0, 0.1, 8.0), (0.0, 4.001, 8.0)];
        for (mean, sd, threshold) in cases {
            let steps = 400_000;
            let width = 24.0 / f64::from(steps);
            let integrand = |i: i32| {
                let z = -12.0 + width * f64::from(i);
                (mean + sd * z).clamp(-threshold, threshold).powi(2) * normal_pdf(z)
            };
            let integral: f64 = (0..=steps).map(integrand).sum::<f64>() * width;
            let closed = expected_clipped_square(mean, sd, threshold);
            assert!((closed / integral - 1.0).abs() < 1e-8, "{closed} {integral}");
        }
        // Where the noise drowns everything, every error is clipped.
        for sd in [1e6, 1e12, 1e200] {
            assert!((expected_clipped_square(3.0, sd, 8.0) / 64.0 - 1.0).abs() < 1e-5, "{sd}");
        }
        assert_eq!(expected_clipped_square(3.0, 0.0, 2.0), 4.0);
        assert_eq!(expected_clipped_square(3.0, 4.0, f64::INFINITY), 25.0);
    }
}
