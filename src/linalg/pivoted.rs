//! A low-rank factor of a positive semidefinite matrix that is never formed.

use nalgebra::DMatrix;

/// `L` (n x r) with `A ~ L L'`, by the Cholesky factorisation that pivots on the largest remaining diagonal
/// entry. It stops where that is at most `tolerance` times the largest entry of the diagonal, so that no entry
/// of `A - L L'` is larger; cost `n r^2`. `column(j)` writes column j of A. Source: Harbrecht, Peters and
/// Schneider 2012, Algorithm 1.
pub fn pivoted_cholesky(
    diagonal: &[f64],
    mut column: impl FnMut(usize, &mut [f64]),
    tolerance: f64,
) -> DMatrix<f64> {
    let n = diagonal.len();
    let mut left = diagonal.to_vec();
    let mut factor: Vec<f64> = Vec::new();
    let stop = tolerance * left.iter().copied().fold(0.0, f64::max);
    for rank in 0..n {
        // In a positive semidefinite matrix no entry exceeds the largest diagonal one: what is left is bounded by it.
        let pivot = (0..n).fold(0, |best, i| if left[i] > left[best] { i } else { best });
        if left[pivot] <= stop {
            break;
        }
        let mut next = vec![0.0; n];
        column(pivot, &mut next);
        for previous in factor.chunks_exact(n).take(rank) {
            let share = previous[pivot];
            next.iter_mut().zip(previous).for_each(|(v, p)| *v -= share * p);
        }
        let scale = 1.0 / left[pivot].sqrt();
        for (v, rest) in next.iter_mut().zip(&mut left) {
            *v *= scale;
            *rest -= *v * *v;
        }
        // Zero in exact arithmetic; a remainder of rounding could be picked again.
        left[pivot] = 0.0;
        factor.extend(next);
    }
    DMatrix::from_vec(n, factor.len() / n.max(1), factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smooth_kernel_has_low_rank_and_a_small_remainder() {
        let x: Vec<f64> = (0..200).map(|i| -4.0 + 0.04 * f64::from(i)).collect();
        let k = DMatrix::from_fn(200, 200, |i, j| (-0.5 * (x[i] - x[j]).powi(2)).exp());
        let column = |j: usize, out: &mut [f64]| out.copy_from_slice(k.column(j).as_slice());
        let factor = pivoted_cholesky(&[1.0; 200], column, 1e-12);
        assert!(factor.ncols() < 40, "{}", factor.ncols());
        let remainder = (&factor * factor.transpose() - &k).amax();
        assert!(remainder < 1.1e-12, "{remainder:e}");
    }

    #[test]
    fn a_full_rank_matrix_is_reproduced() {
        let a = DMatrix::from_row_slice(3, 3, &[4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0]);
        let column = |j: usize, out: &mut [f64]| out.copy_from_slice(a.column(j).as_slice());
        let factor = pivoted_cholesky(&[4.0, 5.0, 3.0], column, 0.0);
        assert!((&factor * factor.transpose() - a).amax() < 1e-14);
        assert_eq!(pivoted_cholesky(&[0.0; 2], |_, _| {}, 1e-12).shape(), (2, 0));
    }
}
