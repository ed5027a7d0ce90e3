//! The published gradient scheme, kept for comparison only.

use super::interior_point::Solution;
use super::problem::WeightProblem;
use dpgp_linalg::LinalgError;

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

#[cfg(test)]
mod tests {
    use super::*;

    use nalgebra::DMatrix;

    use crate::log_det::LogDet;

    /// Columns 1 and 1/2 on a line, the second of two targets: `M = 1 + 2/4`, leverages 2/3 and 1/6, so that a step of 3/10 leads to
    /// `1 - 0.3 / 3` and `2 - 2 * 0.3 * 5 / 6`.
    #[test]
    fn a_step_follows_the_leverages() {
        let problem = LogDet::new(DMatrix::from_row_slice(1, 2, &[1.0, 0.5]));
        let found = ascend(&problem, &[1, 2], 0.3, 1).unwrap();
        assert!(
            (found.weights[0] - 0.9).abs() < 1e-12 && (found.weights[1] - 1.5).abs() < 1e-12,
            "{:?}",
            found.weights
        );
        assert!(found.steps == 1 && found.gap > 0.0);
        // Far too long a step leaves nothing.
        let none = ascend(&problem, &[1, 2], 30.0, 5).unwrap();
        assert_eq!((none.weights, none.gap, none.steps), (vec![0.0; 2], f64::INFINITY, 5));
    }
}
