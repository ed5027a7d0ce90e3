//! The problem in the directions of the predictions that the targets can tell anything about.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::problem::RiskProblem;
use dpgp_gp::SharedCovariance;
use dpgp_linalg::leading_svd;
use dpgp_noise::PrivacyError;

/// The squared correlation of points and rows below which the prior mean has no digit that rows could change.
const UNRELATED: f64 = 1e-30;

/// What the dropped directions may explain, as a share of the prior error.
const NEGLIGIBLE: f64 = 1e-12;
/// The part of it that the decomposition may leave out, where its directions fall fast.
const REMAINDER: f64 = 0.1;

/// `T = U' K*` (p x n) for the leading left singular vectors of the weighted `K*`: the error over `K*` is that over T, less
/// what the dropped directions explain, which is at most `sum s_d^2 / min e` whatever is released. With `K* = B + R`, of which only B
/// is decomposed and `R'B = 0`, that is `(sum s_d^2 + |R|^2) / min e`.
pub(super) struct Reduced {
    /// `T = diag(s) V'`, its rows orthogonal and falling.
    pub targets: DMatrix<f64>,
    /// The norms `s` of the rows of T.
    pub scale: DVector<f64>,
    /// S (n x n), so that `A = S + diag(e)`.
    pub shared: Arc<SharedCovariance>,
    pub own: Vec<f64>,
    /// The variance `s^2` of the noise.
    pub noise: f64,
    /// The expected error of the prior mean.
    pub prior: f64,
    /// The most that the dropped directions explain.
    pub dropped: f64,
}

impl Reduced {
    /// # Errors
    /// [`PrivacyError::NothingToProtect`] if `K*` is zero, or no more than rounding of the variances beside it; [`PrivacyError::Linalg`] if it is not finite.
    pub fn new(problem: &RiskProblem, noise_sd: f64) -> Result<Self, PrivacyError> {
        let cross = problem.weighted_cross();
        let prior = problem.prior_error();
        let least = problem.moments.own.iter().copied().fold(f64::INFINITY, f64::min);
        let most = NEGLIGIBLE * prior * least;
        let svd = leading_svd("K*", &cross, (REMAINDER * most).sqrt() / cross.norm())?;
        // Where no small remainder was reached all directions are there.
        let remainder = if svd.s.len() < cross.nrows().min(cross.ncols()) { REMAINDER * most } else { 0.0 };
        let Cut { rank, dropped } = cut(svd.s.as_slice(), most - remainder);
        let largest = problem.moments.shared.largest_variance();
        if rank == 0 || svd.s[0].powi(2) <= UNRELATED * prior * largest {
            return Err(PrivacyError::NothingToProtect);
        }
        let scale = svd.s.rows(0, rank).into_owned();
        let mut targets = svd.v.columns(0, rank).transpose();
        targets.column_iter_mut().for_each(|mut column| column.component_mul_assign(&scale));
        Ok(Self {
            targets,
            scale,
            shared: Arc::clone(&problem.moments.shared),
            own: problem.moments.own.clone(),
            noise: noise_sd * noise_sd,
            prior,
            dropped: (dropped + remainder) / least,
        })
    }

    /// `D A` for D (r x n).
    pub fn times_covariance(&self, rows: &DMatrix<f64>) -> DMatrix<f64> {
        let mut moved = self.shared.times(rows);
        for ((mut out, column), own) in moved.column_iter_mut().zip(rows.column_iter()).zip(&self.own) {
            out.axpy(*own, &column, 1.0);
        }
        moved
    }
}

/// How many singular values are kept, and the sum of the squares of the others.
struct Cut {
    rank: usize,
    dropped: f64,
}

/// Drops the smallest values as long as their squares sum to no more than `most`, and those that are zero.
fn cut(values: &[f64], most: f64) -> Cut {
    let mut at = Cut { rank: values.len(), dropped: 0.0 };
    while at.rank > 0 {
        let dropped = at.dropped + values[at.rank - 1].powi(2);
        // The largest goes only if it is zero: a prior that is far larger than what targets explain is no reason.
        if dropped > most || at.rank == 1 && dropped > 0.0 {
            break;
        }
        at = Cut { rank: at.rank - 1, dropped };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_values_go_as_long_as_they_are_little() {
        for (values, most, rank, dropped) in [
            (&[3.0, 1.0, 0.1][..], 0.02, 2, 0.1f64.powi(2)),
            (&[3.0, 0.2, 0.1], 1.0, 1, 0.1f64.powi(2) + 0.2f64.powi(2)),
            (&[3.0, 0.0], 0.0, 1, 0.0),
            // The largest goes only if it is zero.
            (&[1.0], 10.0, 1, 0.0),
            (&[0.0], 0.0, 0, 0.0),
        ] {
            let found = cut(values, most);
            assert_eq!(found.rank, rank, "{values:?}");
            assert!((found.dropped - dropped).abs() < 1e-15, "{values:?}: {}", found.dropped);
        }
    }

    /// Of many points of a smooth prior few directions are decomposed; all that K* has beside them is counted as dropped, and is negligible.
    #[test]
    fn what_is_not_decomposed_is_dropped() {
        use crate::risk::tests::problem;
        let places: Vec<f64> = (0..200).map(|i| 0.01 * f64::from(i)).collect();
        let smooth = problem(&places, &[1.0; 200], &places);
        let reduced = Reduced::new(&smooth, 1.0).unwrap();
        assert!(reduced.scale.len() < 40, "{}", reduced.scale.len());
        let mut directions = reduced.targets.clone();
        directions.column_iter_mut().for_each(|mut column| column.component_div_assign(&reduced.scale));
        let cross = smooth.weighted_cross();
        let beside = &cross - &cross * directions.transpose() * &directions;
        let least = smooth.moments.own.iter().copied().fold(f64::INFINITY, f64::min);
        let beside = beside.norm_squared() / least;
        assert!(beside <= reduced.dropped && reduced.dropped <= NEGLIGIBLE * reduced.prior, "{beside:e}");
    }

    /// Of two points that are nearly one the difference is dropped: it explains at most its square over the least noise variance of a
    /// target, 0.1.
    #[test]
    fn what_is_dropped_is_bounded() {
        use crate::risk::tests::problem;
        use dpgp_linalg::thin_svd;
        let inputs = [0.0, 0.3, 0.6];
        let close = problem(&inputs, &[1.0; 3], &[0.5, 0.5 + 1e-7]);
        let svd = thin_svd("K*", &close.weighted_cross()).unwrap();
        let reduced = Reduced::new(&close, 1.0).unwrap();
        assert_eq!((reduced.scale.len(), svd.s.len()), (1, 2));
        assert!(svd.s[1] > 1e-9 && (reduced.dropped / (svd.s[1].powi(2) / 0.1) - 1.0).abs() < 1e-9);
        // A little further apart it is more than what may be dropped, 1e-12 of `2 * 0.1`.
        let apart = Reduced::new(&problem(&inputs, &[1.0; 3], &[0.5, 0.5 + 3e-6]), 1.0).unwrap();
        assert_eq!((apart.scale.len(), apart.dropped), (2, 0.0));
    }
}
