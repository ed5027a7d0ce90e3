//! Functions drawn from a Gaussian process prior.

use nalgebra::{DMatrix, DVector};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::kernel::Kernel;
use dpgp_linalg::pivoted_cholesky;

/// The largest entry by which the covariance of a draw falls short of the kernel's, relative to its variance.
const TOLERANCE: f64 = 1e-12;

/// One draw of f at n inputs (n x d), by a pivoted low-rank Cholesky factor of their covariance: cost `n r^2`,
/// where the rank r of a smooth kernel on a few lengthscales is some tens whatever n is.
pub fn prior_draw(kernel: &dyn Kernel, inputs: &DMatrix<f64>, stream: &mut impl Rng) -> DVector<f64> {
    let rows: Vec<Vec<f64>> = inputs.row_iter().map(|row| row.iter().copied().collect()).collect();
    let factor = pivoted_cholesky(
        &kernel.diagonal(inputs),
        |j, out| out.iter_mut().zip(&rows).for_each(|(k, x)| *k = kernel.value(x, &rows[j])),
        TOLERANCE,
    );
    // `L z` with `z ~ N(0, I)` has the covariance `L L'`.
    let z = DVector::from_fn(factor.ncols(), |_, _| StandardNormal.sample(stream));
    factor * z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    #[test]
    fn draws_have_the_kernel_as_covariance() {
        let kernel = ExponentiatedQuadratic::isotropic(2.0, 1.0);
        let x = DMatrix::from_column_slice(3, 1, &[0.0, 1.0, 1.0]);
        let mut stream = Pcg64::from_seed([3; 32]);
        let mut sum = DMatrix::zeros(3, 3);
        for _ in 0..40_000 {
            let f = prior_draw(&kernel, &x, &mut stream);
            assert!((f[1] - f[2]).abs() < 1e-5);
            sum += &f * f.transpose();
        }
        let expected = kernel.matrix(&x, &x);
        assert!((sum / 40_000.0 - expected).amax() < 0.06);
    }
}
