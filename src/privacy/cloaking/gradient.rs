//! The published gradient scheme, kept for comparison only.

use super::interior_point::Solution;
use super::problem::WeightProblem;
use crate::linalg::LinalgError;

/// `v_j <- max(0, v_j + step (g_j - 1))` from equal weights, for a fixed number of steps, with a weight for each
/// target (`counts` says how many targets share a column).
///
/// A fixed step converges slowly (a gap of 0.01 to 0.03 nats is left after 1000 steps of 0.05 on the !Kung data), can
/// cycle, and may clip all weights to zero; the caller refuses the latter. Source: Smith et al. 2021, Eq. 7, with the projection that their text implies.
///
/// # Errors
/// [`LinalgError`] if the covariance becomes singular, as it does when too many weights are clipped.
pub(super) fn ascend(
    problem: &dyn WeightProblem,
    counts: &[usize],
    step: f64,
    steps: usize,
) -> Result<Solution, LinalgError> {
    let mut weights: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
    for _ in 0..steps {
        let at = problem.evaluate(&weights)?;
        for ((weight, leverage), &count) in weights.iter_mut().zip(&at.leverages).zip(counts) {
            *weight = (*weight + count as f64 * step * (leverage - 1.0)).max(0.0);
        }
        if weights.iter().all(|w| *w == 0.0) {
            return Ok(Solution { weights, gap: f64::INFINITY, steps });
        }
    }
    let gap = problem.gap(&weights, &problem.evaluate(&weights)?);
    Ok(Solution { weights, gap, steps })
}
