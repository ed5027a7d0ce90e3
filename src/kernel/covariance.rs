//! What every covariance function offers.

use nalgebra::DMatrix;

/// A covariance function on `R^d`. Inputs are rows of a matrix (n x d).
pub trait Kernel: Send + Sync {
    /// `k(x, x')` for two rows of length d.
    fn value(&self, x: &[f64], y: &[f64]) -> f64;

    /// `k(x, x)`.
    fn variance(&self, x: &[f64]) -> f64 {
        self.value(x, x)
    }

    /// The (n x m) matrix of `k(a_i, b_j)`.
    fn matrix(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
        let (left, right) = (rows(a), rows(b));
        DMatrix::from_fn(a.nrows(), b.nrows(), |i, j| self.value(&left[i], &right[j]))
    }

    /// The n values of `k(a_i, a_i)`.
    fn diagonal(&self, a: &DMatrix<f64>) -> Vec<f64> {
        rows(a).iter().map(|x| self.variance(x)).collect()
    }
}

fn rows(a: &DMatrix<f64>) -> Vec<Vec<f64>> {
    a.row_iter().map(|row| row.iter().copied().collect()).collect()
}
