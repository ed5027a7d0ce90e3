//! Systems of smooth kernels, whose covariance matrices have low numerical rank.

use nalgebra::DMatrix;

use crate::kernel::Kernel;
use dpgp_linalg::{Cholesky, LinalgError, product, smooth_factor, transposed_product};

/// The least number of rows where a low rank is looked for.
const MANY: usize = 512;
/// The rank is at most this part of the rows.
const SHARE: usize = 8;
/// The least noise variance as a part of the trace of K, which bounds the condition number: the formula of Woodbury subtracts
/// numbers of that size.
const LEAST_NOISE: f64 = 1e-6;
/// The remainder over the trace of K, in its own trace: what rounding the entries of K alone may move its eigenvalues by.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// `A = K + s^2 I` for `K = L L'` up to rounding, with L (n x r): `A^-1 = (I - L (s^2 I + L' L)^-1 L') / s^2`. It takes `n r^2` in
/// place of the `n^3 / 3` of a factorisation, and `n r` numbers in place of `n^2`.
///
/// What is left out of K is positive semidefinite with a trace of at most `2^-50 tr K`: relative to A it is less than
/// `2^-50 tr K / s^2`, the bound on the error of a solve by factorisation too.
pub(super) struct SmoothSystem {
    factor: DMatrix<f64>,
    /// Of `s^2 I + L' L` (r x r).
    inner: Cholesky,
    noise_variance: f64,
}

impl SmoothSystem {
    /// For training inputs (n x d); none where K has no low rank, or the noise is too small.
    ///
    /// # Errors
    /// [`LinalgError`] if the kernel is not finite.
    pub fn new(
        kernel: &dyn Kernel,
        noise_variance: f64,
        training: &DMatrix<f64>,
    ) -> Result<Option<Self>, LinalgError> {
        let n = training.nrows();
        let diagonal = kernel.diagonal(training);
        let trace: f64 = diagonal.iter().sum();
        if n < MANY || noise_variance <= LEAST_NOISE * trace {
            return Ok(None);
        }
        let Some(factor) = smooth_factor(
            &diagonal,
            |j, out| write_column(kernel, training, j, out),
            ROUNDING * trace,
            n / SHARE,
        ) else {
            return Ok(None);
        };
        let mut inner = transposed_product(&factor, &factor);
        (0..inner.nrows()).for_each(|i| inner[(i, i)] += noise_variance);
        let inner = Cholesky::new("s^2 I + L' L", &inner)?;
        Ok(Some(Self { factor, inner, noise_variance }))
    }

    /// `A^-1 b` for b (n x k).
    pub fn solve(&self, b: &DMatrix<f64>) -> DMatrix<f64> {
        let seen = self.inner.solve(&transposed_product(&self.factor, b));
        (b - product(&self.factor, &seen)) / self.noise_variance
    }

    /// `b' A^-1 b` for each column of b (n x k).
    pub fn explained(&self, b: &DMatrix<f64>) -> Vec<f64> {
        let solved = self.solve(b);
        let pairs = b.column_iter().zip(solved.column_iter());
        pairs.map(|(b, solved)| b.dot(&solved)).collect()
    }

    /// What rounding made necessary.
    pub fn jitter(&self) -> f64 {
        self.inner.jitter()
    }
}

/// Column j of K between the training inputs.
fn write_column(kernel: &dyn Kernel, training: &DMatrix<f64>, j: usize, out: &mut [f64]) {
    out.copy_from_slice(kernel.matrix(training, &training.rows(j, 1).into_owned()).as_slice());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;

    fn line(rows: usize) -> DMatrix<f64> {
        DMatrix::from_fn(rows, 1, |i, _| 4.0 * i as f64 / rows as f64)
    }

    /// As by the factor of the whole matrix.
    #[test]
    fn systems_are_solved_by_their_rank() {
        let (kernel, inputs) = (ExponentiatedQuadratic::isotropic(2.0, 1.0), line(600));
        let system = SmoothSystem::new(&kernel, 0.1, &inputs).unwrap().unwrap();
        let whole = kernel.matrix(&inputs, &inputs) + DMatrix::identity(600, 600) * 0.1;
        let whole = Cholesky::new("A", &whole).unwrap();
        let b = DMatrix::from_fn(600, 2, |i, j| (0.01 * (i * (j + 1)) as f64).sin() + j as f64);
        let expected = whole.solve(&b);
        assert!((system.solve(&b) - &expected).amax() < 1e-8 * expected.amax());
        for (explained, (b, solved)) in
            system.explained(&b).iter().zip(b.column_iter().zip(expected.column_iter()))
        {
            assert!((explained / b.dot(&solved) - 1.0).abs() < 1e-8);
        }
        assert_eq!(system.jitter(), 0.0);
    }

    /// Few rows, little noise (2e-6 of a trace of 1200 is more), and a kernel of full rank.
    #[test]
    fn some_systems_have_no_low_rank() {
        let smooth = ExponentiatedQuadratic::isotropic(2.0, 1.0);
        assert!(SmoothSystem::new(&smooth, 0.1, &line(511)).unwrap().is_none());
        assert!(SmoothSystem::new(&smooth, 0.0011, &line(600)).unwrap().is_none());
        assert!(SmoothSystem::new(&smooth, 0.0013, &line(600)).unwrap().is_some());
        let rough = ExponentiatedQuadratic::isotropic(2.0, 1e-3);
        assert!(SmoothSystem::new(&rough, 0.1, &line(600)).unwrap().is_none());
    }
}
