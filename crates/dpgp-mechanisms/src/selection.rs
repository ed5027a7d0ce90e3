//! Selection of a configuration by the exponential mechanism on a cross-validated sum of squared errors, and
//! private selection from private candidates, with random stopping.

use std::borrow::Borrow;

use nalgebra::DMatrix;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use dpgp_linalg::largest_or_nan;
use dpgp_number::{Budget, Delta, Epsilon, bisect};

/// The bound on the change of the sum of squared errors (SSE) that is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SseSensitivityRule {
    /// Smith et al. 2021, Eq. 13: `9 d^2 + sum over folds (smallest dropped) of d^2 max_j |c_jk|^2`.
    /// It omits the cross term `2 e.v` of `|e + v|^2 - |e|^2`, so it is not a valid bound.
    Published,
    /// A valid bound for errors clipped at `T = 4 d`:
    /// `max_j [ q(d) + sum over the folds that train on j of sum_i q(d |c_ij|) ]`
    /// with `q(v) = 2 T v - v^2` for `v <= T`, else `T^2`.
    ///
    /// Proof: moving one error by v changes its clipped square by at most q(v). The difference `clip(e + v)^2 - clip(e)^2` is
    /// largest where `e + v = T` if `v <= T`, and where `e = 0` if `v > T`. Row j is a test point once, where its target moves
    /// by d, and it moves prediction i by `d c_ij` in each fold that trains on it.
    Corrected,
    /// As in the authors' notebook of 2018: `9 d^2 + d^2 sum over folds (largest dropped) of alpha_k`, with
    /// `alpha_k = d^2 max_j |c_jk|^2`, which already contains `d^2`. It omits the fold that matters most, as well as the cross
    /// term that the published rule omits, so it is not a valid bound. The selection counts a fold above the threshold as 0,
    /// and takes the largest bound over all configurations, including those that are not allowed.
    LargestDropped,
}

/// The linear map of one cross-validation fold from training targets to predictions, and the data row of each training target.
#[derive(Debug, Clone)]
pub struct FoldPredictionMap {
    /// The map `C` of the fold, with a column for each training row.
    pub columns: DMatrix<f64>,
    /// The data row of each column.
    pub rows: Vec<usize>,
}

/// The sensitivity of the SSE of one configuration, for targets that change by at most `d`, over
/// `rows` data rows. Units: squared targets.
///
/// ```
/// use dpgp_mechanisms::{FoldPredictionMap, SseSensitivityRule, sse_sensitivity};
/// use nalgebra::DMatrix;
/// // Two folds with one training row each. Each predicts half of its own target for the other row: q(1) + q(1/2) at T = 4.
/// let fold = |row| FoldPredictionMap { columns: DMatrix::from_element(1, 1, 0.5), rows: vec![row] };
/// let found = sse_sensitivity(SseSensitivityRule::Corrected, &[fold(0), fold(1)], 2, 1.0);
/// assert_eq!(found, (8.0 - 1.0) + (4.0 - 0.25));
/// ```
pub fn sse_sensitivity<F: Borrow<FoldPredictionMap>>(
    rule: SseSensitivityRule,
    folds: &[F],
    rows: usize,
    d: f64,
) -> f64 {
    let folds: Vec<&FoldPredictionMap> = folds.iter().map(F::borrow).collect();
    match rule {
        SseSensitivityRule::Published => published_sensitivity(&folds, d),
        SseSensitivityRule::Corrected => corrected_sensitivity(&folds, rows, d),
        SseSensitivityRule::LargestDropped => largest_fold_dropped_sensitivity(&folds, d),
    }
}

/// The longest column of each fold, squared, ascending.
fn longest_column_squared_norms(folds: &[&FoldPredictionMap]) -> Vec<f64> {
    let longest = folds.iter().map(|fold| largest_or_nan(fold.columns.column_iter().map(|c| c.norm_squared())));
    let mut longest: Vec<f64> = longest.collect();
    longest.sort_by(f64::total_cmp);
    longest
}

fn largest_fold_dropped_sensitivity(folds: &[&FoldPredictionMap], d: f64) -> f64 {
    let mut alphas = longest_column_squared_norms(folds);
    alphas.pop();
    9.0 * d * d + d.powi(4) * alphas.iter().sum::<f64>()
}

fn published_sensitivity(folds: &[&FoldPredictionMap], d: f64) -> f64 {
    let alphas = longest_column_squared_norms(folds);
    // A row is a test point in one of the folds, where it trains nothing: the smallest is left out, as printed.
    9.0 * d * d + alphas.iter().skip(1).map(|a| d * d * a).sum::<f64>()
}

fn corrected_sensitivity(folds: &[&FoldPredictionMap], rows: usize, d: f64) -> f64 {
    let threshold = 4.0 * d;
    let mut change = vec![max_clipped_square_change(d, threshold); rows];
    for fold in folds {
        for (column, &row) in fold.columns.column_iter().zip(&fold.rows) {
            change[row] += column.iter().map(|c| max_clipped_square_change(d * c.abs(), threshold)).sum::<f64>();
        }
    }
    largest_or_nan(change)
}

/// `q(v)`: the most that the square of an error clipped at T changes when the error moves by v.
fn max_clipped_square_change(v: f64, threshold: f64) -> f64 {
    if v <= threshold { 2.0 * threshold * v - v * v } else { threshold * threshold }
}

/// The probabilities with which the exponential mechanism selects each configuration, by its SSE
/// (utility is its negative) and the largest sensitivity: proportional to `exp(-epsilon SSE / (2 sensitivity))`,
/// relative to the best. An infinite epsilon selects the best. Source: McSherry and Talwar 2007; Smith et al. 2021, Eq. 12.
///
/// Obligation: if no SSE moves by more than the sensitivity D between neighbours, each weight moves by a factor within
/// `e^(-epsilon/2)` and `e^(epsilon/2)`, and so does their sum: the choice is epsilon-DP.
///
/// ```
/// use dpgp_mechanisms::selection_probabilities;
/// let p = selection_probabilities(&[0.0, 2.0], 1.0, 1.0);
/// assert!((p[0] / p[1] - 1f64.exp()).abs() < 1e-12);
/// ```
pub fn selection_probabilities(sse: &[f64], sensitivity: f64, epsilon: f64) -> Vec<f64> {
    let least = sse.iter().copied().fold(f64::INFINITY, f64::min);
    let weights = sse.iter().map(|s| match s - least {
        // Zero times an infinite epsilon would be no number; the best has weight 1 whatever epsilon is.
        0.0 => 1.0,
        excess => (-excess * epsilon / (2.0 * sensitivity)).exp(),
    });
    let weights: Vec<f64> = weights.collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / total).collect()
}

/// How often candidates are drawn and what each may spend, so that the best of them is (epsilon, delta)-DP in
/// total.
///
/// With t the smaller root of `t (1 - ln t) = delta_total`: `delta = gamma^2 t^2 / 2`, `delta_2 = t`,
/// `epsilon = epsilon_total / 3 - sqrt(2 delta)`, and at most `T = ln(1/t) / gamma` draws, rounded up. Then
/// `epsilon_total = 3 epsilon + 3 sqrt(2 delta)` and `delta_total = sqrt(2 delta) ln(1/t) / gamma + t`.
/// Source: Liu and Talwar 2019, Theorem 3.4; Honkela 2021, Eqs. 20, 34 and 35.
///
/// ```
/// use dpgp_number::Budget;
/// use dpgp_mechanisms::PrivateSelection;
/// let selection = PrivateSelection::new(Budget::new(3.0, 1e-4)?, 0.01).expect("enough for a draw");
/// // Each draw has a third of epsilon, but for 1e-7; the stop comes after 100 draws on average and 1176 at the most.
/// assert!((selection.draw.epsilon.get() - 1.0).abs() < 1e-6);
/// assert_eq!(selection.most, 1176);
/// # Ok::<(), dpgp_number::OutOfRangeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrivateSelection {
    /// The probability of stopping after each draw.
    pub gamma: f64,
    /// The root t.
    pub root: f64,
    /// Budget of one draw.
    pub draw: Budget,
    /// The most draws.
    pub most: u32,
}

impl PrivateSelection {
    /// Makes the selection from the total budget. `None` if the budget leaves nothing for a draw.
    pub fn new(total: Budget, gamma: f64) -> Option<Self> {
        let root = solve_draw_limit_probability(total.delta.get());
        // sqrt(2 delta) of one draw, once from epsilon and T times from delta.
        let lost = gamma * root;
        let epsilon = Epsilon::new(total.epsilon.get() / 3.0 - lost).ok()?;
        let delta = Delta::new(0.5 * lost * lost).ok()?;
        let most = (-root.ln() / gamma).ceil() as u32;
        Some(Self { gamma, root, draw: Budget { epsilon, delta }, most })
    }

    /// The candidate with the greatest score among all that are drawn until the stop; `None` if every one was
    /// refused.
    ///
    /// Obligation: the stop must not depend on the candidates, so refused draws count as well, and the coin is tossed
    /// after every draw.
    pub fn select<T, R: Rng, E>(
        &self,
        stream: &mut R,
        mut draw: impl FnMut(&mut R) -> Result<Option<(f64, T)>, E>,
    ) -> Result<Option<T>, E> {
        let mut best: Option<(f64, T)> = None;
        for _ in 0..self.most {
            if let Some(candidate) = draw(stream)?
                && best.as_ref().is_none_or(|(score, _)| candidate.0 > *score)
            {
                best = Some(candidate);
            }
            if stream.random::<f64>() < self.gamma {
                break;
            }
        }
        Ok(best.map(|(_, candidate)| candidate))
    }
}

/// The smaller root of `t (1 - ln t) = delta`, by bisection on `ln t`, along which the left side rises on (0,
/// 1).
fn solve_draw_limit_probability(delta: f64) -> f64 {
    bisect(2.0 * delta.ln() - 2.0, 0.0, |log| log.exp() * (1.0 - log) > delta).low.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three configurations with SSEs of 2, 2 and 6, `epsilon = 2 D ln 3 / 4`: weights of 1, 1 and 1/3.
    #[test]
    fn the_exponential_mechanism_has_its_law() {
        let p = selection_probabilities(&[2.0, 6.0, 2.0], 7.0, 3.5 * 3f64.ln());
        for (found, expected) in p.iter().zip([3.0 / 7.0, 1.0 / 7.0, 3.0 / 7.0]) {
            assert!((found - expected).abs() < 1e-14);
        }
    }

    /// The best has all of the probability, in equal parts where several are, whatever the others are.
    #[test]
    fn without_privacy_the_best_is_selected() {
        assert_eq!(selection_probabilities(&[6.0, 2.0, 9.0, 2.0], 7.0, f64::INFINITY), [0.0, 0.5, 0.0, 0.5]);
    }

    /// Without folds a row moves its own error alone, by at most `q(d) = 8 d^2 - d^2`.
    #[test]
    fn a_row_that_trains_nothing_moves_its_own_error() {
        assert_eq!(sse_sensitivity::<FoldPredictionMap>(SseSensitivityRule::Corrected, &[], 2, 3.0), 63.0);
    }

    /// At `d = 3`: `9 * 9` and 9 times the longest column of each fold but the one with the shortest.
    #[test]
    fn the_printed_sensitivity_leaves_one_fold_out() {
        let fold = |columns: &[f64]| FoldPredictionMap {
            columns: DMatrix::from_column_slice(1, columns.len(), columns),
            rows: (0..columns.len()).collect(),
        };
        let folds = [fold(&[3.0, 1.0]), fold(&[0.5, 0.25]), fold(&[1.0, 2.0])];
        assert_eq!(sse_sensitivity(SseSensitivityRule::Published, &folds, 2, 3.0), 81.0 + 9.0 * (9.0 + 4.0));
        // As it was run: the fold of 9 goes, and 9 multiplies the alphas of 9 / 4 and 36 once more.
        assert_eq!(sse_sensitivity(SseSensitivityRule::LargestDropped, &folds, 2, 3.0), 81.0 + 9.0 * (2.25 + 36.0));
    }

    /// Row 1 trains twice. At `d = 1`, T = 4: `q(1) = 7`, `q(1/2) = 15/4`, `q(3) = 15`, and `q(5) = 16`, beyond the clip.
    #[test]
    fn a_row_moves_each_fold_that_it_trains() {
        let folds = [
            FoldPredictionMap { columns: DMatrix::from_row_slice(2, 1, &[0.5, -3.0]), rows: vec![1] },
            FoldPredictionMap { columns: DMatrix::from_row_slice(1, 2, &[5.0, 1.0]), rows: vec![1, 0] },
        ];
        assert_eq!(sse_sensitivity(SseSensitivityRule::Corrected, &folds, 2, 1.0), 7.0 + 3.75 + 15.0 + 16.0);
    }
}

#[cfg(test)]
mod private_selection_tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;

    /// By a bisection with 30 digits `t (1 - ln t) = 1e-4` at t = 7.8392199675e-6, where ln(1/t) = 11.75637122.
    #[test]
    fn a_draw_has_what_the_total_leaves() {
        let selection = PrivateSelection::new(Budget::new(3.0, 1e-4).unwrap(), 0.1).unwrap();
        assert!((selection.root / 7.839_219_967_5e-6 - 1.0).abs() < 1e-9, "{:e}", selection.root);
        let lost = 0.1 * selection.root;
        assert!((selection.draw.epsilon.get() - (1.0 - lost)).abs() < 1e-15);
        assert!((selection.draw.delta.get() / (0.5 * lost * lost) - 1.0).abs() < 1e-12);
        assert_eq!(selection.most, 118);
        assert_eq!(PrivateSelection::new(Budget::new(1e-9, 0.5).unwrap(), 0.9), None);
    }

    /// By a bisection with 30 digits `t (1 - ln t) = 1/2` at t = 0.18668230885.
    #[test]
    fn the_root_is_found_at_a_large_delta() {
        let selection = PrivateSelection::new(Budget::new(3.0, 0.5).unwrap(), 0.1).unwrap();
        assert!((selection.root / 0.186_682_308_85 - 1.0).abs() < 1e-9, "{}", selection.root);
    }

    fn chosen(gamma: f64, most: u32, candidates: &[Option<f64>]) -> (Option<usize>, usize) {
        let selection =
            PrivateSelection { gamma, most, ..PrivateSelection::new(Budget::new(3.0, 1e-4).unwrap(), 0.5).unwrap() };
        let mut drawn = 0;
        let best = selection.select(&mut Pcg64::seed_from_u64(1), |_| {
            let place = drawn;
            drawn += 1;
            Ok::<_, ()>(candidates[place].map(|score| (score, place)))
        });
        (best.unwrap(), drawn)
    }

    /// The first of the best is taken; refused draws count; a coin that always stops leaves the first draw, one that never does, all.
    #[test]
    fn the_best_of_all_draws_is_taken() {
        let scores = [Some(1.0), None, Some(3.0), Some(2.0), Some(3.0)];
        assert_eq!(chosen(0.0, 5, &scores), (Some(2), 5));
        assert_eq!(chosen(1.0, 5, &scores), (Some(0), 1));
        assert_eq!(chosen(0.0, 2, &[None, None]), (None, 2));
    }
}
