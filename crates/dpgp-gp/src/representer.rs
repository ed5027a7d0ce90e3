//! Predictive means as functions: finite sums of kernel functions.

use nalgebra::{DMatrix, DVector};

use super::exact::factor;
use super::fitc::Factors;
use crate::kernel::Kernel;
use dpgp_linalg::LinalgError;

/// The predictive mean `f = sum_i w_i k(., b_i)` with `w = A y`, an element of the kernel's Hilbert space (RKHS).
/// A sample of the prior with the same kernel hides moves of f in that norm. Source: Hall, Rinaldo and Wasserman 2013;
/// Smith et al. 2016.
#[derive(Debug, Clone)]
pub struct Representer {
    /// The points b (m x d).
    pub basis: DMatrix<f64>,
    /// `A` (m x n).
    pub weights: DMatrix<f64>,
    /// How far f moves when one target moves by 1, in the norm of the RKHS: `sqrt([A' K A]_jj)` for each target, where
    /// K is the covariance of the basis (n values).
    pub norms: Vec<f64>,
    /// The largest jitter added to a diagonal on the way.
    pub jitter: f64,
}

impl Representer {
    /// f at test points (t x d).
    pub fn predict(&self, kernel: &dyn Kernel, targets: &DVector<f64>, test: &DMatrix<f64>) -> DVector<f64> {
        kernel.matrix(test, &self.basis) * (&self.weights * targets)
    }
}

/// The mean of exact regression: the basis is the training inputs, `A = (K + sigma^2 I)^-1`, and
/// `A' K A = A - sigma^2 A^2`. Cost `7/3 n^3`.
///
/// # Errors
/// [`LinalgError`] if `K + sigma^2 I` cannot be factorised.
pub fn exact_representer(
    kernel: &dyn Kernel,
    noise_variance: f64,
    training: &DMatrix<f64>,
) -> Result<Representer, LinalgError> {
    let cholesky = factor(kernel, noise_variance, training)?;
    let n = training.nrows();
    let weights = cholesky.solve(&DMatrix::identity(n, n));
    // `K = A^-1 - sigma^2 I` turns the quadratic form into entries that are at hand; their difference may round below zero.
    let squares = (0..n).map(|j| weights[(j, j)] - noise_variance * weights.column(j).norm_squared());
    let norms = squares.map(|square| square.max(0.0).sqrt()).collect();
    Ok(Representer { basis: training.clone(), weights, norms, jitter: cholesky.jitter() })
}

/// The mean of FITC regression: the basis is the inducing inputs, `A = Q^-1 K_MN D^-1` with the matrices of
/// [`fitc`](super::fitc). With `K_MM = L L'`, `V = L^-1 K_MN` and `B = (I + V D^-1 V')^-1 V D^-1`, it is `A = L^-T B`, and
/// `A' K_MM A = B' B`.
///
/// # Errors
/// [`LinalgError`] if `K_MM` or `I + V D^-1 V'` cannot be factorised.
pub fn fitc_representer(
    kernel: &dyn Kernel,
    noise_variance: f64,
    inducing: &DMatrix<f64>,
    training: &DMatrix<f64>,
) -> Result<Representer, LinalgError> {
    let Factors { k_mm, scaled, a } = Factors::new(kernel, noise_variance, inducing, training)?;
    let b = a.solve(&scaled);
    // A sum of squares, unlike the form above: nothing cancels.
    let norms = b.column_iter().map(|column| column.norm()).collect();
    let weights = k_mm.upper_solve(&b);
    Ok(Representer { basis: inducing.clone(), weights, norms, jitter: k_mm.jitter() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;
    use crate::{exact, fitc};

    fn setting() -> (DMatrix<f64>, DMatrix<f64>, DMatrix<f64>, DVector<f64>) {
        let training = DMatrix::from_fn(14, 1, |i, _| 0.6 * i as f64 + (i as f64).sin());
        let inducing = DMatrix::from_column_slice(3, 1, &[1.0, 4.0, 7.0]);
        let test = DMatrix::from_column_slice(4, 1, &[-1.0, 2.0, 5.5, 12.0]);
        (training, inducing, test, DVector::from_fn(14, |i, _| (i as f64).cos()))
    }

    fn assert_right(kernel: &dyn Kernel, of: &Representer, map: &DMatrix<f64>) {
        let (_, _, test, y) = setting();
        assert!((of.predict(kernel, &y, &test) - map * &y).amax() < 1e-10);
        let quadratic = of.weights.transpose() * kernel.matrix(&of.basis, &of.basis) * &of.weights;
        for (j, norm) in of.norms.iter().enumerate() {
            assert!((norm * norm - quadratic[(j, j)]).abs() < 1e-10);
        }
    }

    /// Both give the predictions of the linear maps, and the norms of their definition.
    #[test]
    fn means_and_norms_are_those_of_the_definition() {
        let (training, inducing, test, _) = setting();
        let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.5);
        let whole = exact_representer(&kernel, 0.3, &training).unwrap();
        assert_right(&kernel, &whole, &exact(&kernel, 0.3, &training, &test).unwrap().expand());
        let sparse = fitc_representer(&kernel, 0.3, &inducing, &training).unwrap();
        assert_right(&kernel, &sparse, &fitc(&kernel, 0.3, &inducing, &training, &test).unwrap().expand());
    }
}
