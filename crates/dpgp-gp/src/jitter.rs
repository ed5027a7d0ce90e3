//! How far jitter can move what is predicted, and where it makes another model.

use dpgp_linalg::{Cholesky, LinalgError};

/// The most that jitter on `K + sigma^2 I` moves the map from targets to predictions, relative to its norm: `j / (sigma^2 + j)`.
///
/// *Proof.* With `A = K + sigma^2 I`, the map `C = K_* A^-1` becomes `C_j = K_* (A + j I)^-1`, and
/// `C - C_j = K_* A^-1 (j I) (A + j I)^-1 = j C (A + j I)^-1`. The eigenvalues of `A + j I` are at least `sigma^2 + j`, since K is positive
/// semidefinite; so `|C - C_j| <= j / (sigma^2 + j) |C|`.
///
/// ```
/// assert_eq!(dpgp_gp::jitter_share(1.0, 3.0), 0.25);
/// assert_eq!(dpgp_gp::jitter_share(0.0, 1e-14), 0.0);
/// ```
pub fn jitter_share(jitter: f64, noise_variance: f64) -> f64 {
    if jitter > 0.0 { jitter / (noise_variance + jitter) } else { 0.0 }
}

/// Above this share most of the noise of the model that is computed is jitter: it is another model than the one that was asked for.
const MOST: f64 = 0.5;

/// How far a factor may be from that of its matrix: its jitter, or the rounding of the diagonal where a pivot is as small as that.
///
/// The factor that is computed is that of `A + E` with `|E|` of about `n^(1/2) u max A_ii`, as roundings add up by chance (at most `n u max A_ii`,
/// Higham 2002, Theorem 10.3); where all pivots are larger, the smallest eigenvalue is not of that size, and E does not matter.
fn lost_to_rounding(factor: &Cholesky) -> f64 {
    let (jitter, lower) = (factor.jitter(), factor.factor());
    let size = lower.nrows();
    // No pivot is above the diagonal of A, and the first is on it: with a stationary kernel it is the largest.
    let pivots = || (0..size).map(|i| lower[(i, i)].powi(2));
    let rounding = (size as f64).sqrt() * f64::EPSILON * pivots().fold(0.0, f64::max);
    let smallest = pivots().fold(f64::INFINITY, f64::min);
    if smallest <= rounding { jitter.max(rounding) } else { jitter }
}

/// The factor, if neither its jitter nor rounding makes it that of another model.
///
/// # Errors
/// [`LinalgError::MuchJitter`].
pub(super) fn ensure_same_model(
    matrix: &'static str,
    factor: Cholesky,
    noise_variance: f64,
) -> Result<Cholesky, LinalgError> {
    let (jitter, size) = (lost_to_rounding(&factor), factor.factor().nrows());
    if jitter_share(jitter, noise_variance) > MOST {
        return Err(LinalgError::MuchJitter { matrix, size, jitter, noise_variance });
    }
    Ok(factor)
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;
    use crate::Exact;
    use crate::kernel::ExponentiatedQuadratic;

    /// On twelve inputs as near as these the matrix is singular to rounding.
    #[test]
    fn more_jitter_than_noise_is_refused() {
        let kernel = ExponentiatedQuadratic::isotropic(100.0, 1.5);
        let inputs = DMatrix::from_fn(40, 1, |i, _| 0.05 * i as f64);
        let refused = Exact::new(&kernel, 1e-14, &inputs).err().unwrap();
        assert!(matches!(refused, LinalgError::MuchJitter { noise_variance: 1e-14, .. }), "{refused}");
        assert!(Exact::new(&kernel, 1e-6, &inputs).is_ok());
    }

    /// Two inputs so near that the noise is lost beside the variance, though no pivot fails; inputs apart need no noise.
    #[test]
    fn noise_that_is_lost_to_rounding_is_refused() {
        let kernel = ExponentiatedQuadratic::isotropic(100.0, 1.5);
        let near = DMatrix::from_column_slice(2, 1, &[0.0, 1e-8]);
        let refused = Exact::new(&kernel, 1e-14, &near).err().unwrap();
        assert!(matches!(refused, LinalgError::MuchJitter { .. }), "{refused}");
        let apart = DMatrix::from_column_slice(2, 1, &[0.0, 3.0]);
        assert!(Exact::new(&kernel, 0.0, &apart).is_ok() && Exact::new(&kernel, 1e-14, &apart).is_ok());
    }

    /// The map of the model with jitter, by the bound.
    #[test]
    fn a_map_moves_by_at_most_the_share() {
        let kernel = ExponentiatedQuadratic::isotropic(2.0, 1.5);
        let inputs = DMatrix::from_fn(20, 1, |i, _| 0.3 * i as f64);
        let test = DMatrix::from_fn(7, 1, |i, _| 0.2 + 0.9 * i as f64);
        for (noise, jitter) in [(0.1, 0.01), (0.1, 0.1), (0.01, 0.03)] {
            let [plain, jittered] = [noise, noise + jitter]
                .map(|noise| Exact::new(&kernel, noise, &inputs).unwrap().map(&test).expand());
            let norm = |matrix: &DMatrix<f64>| matrix.singular_values().max();
            let moved = norm(&(&plain - &jittered)) / norm(&plain);
            assert!(moved > 0.0 && moved <= jitter_share(jitter, noise), "{noise} {jitter}: {moved}");
        }
    }
}
