//! The fully independent training conditional (FITC) sparse approximation: given the latent values at m inducing inputs, the
//! targets are taken as independent, each with its exact conditional variance.

use nalgebra::DMatrix;

use super::PredictionMap;
use super::binned::ensure_negligible_jitter;
use super::predictive::unexplained_variances;
use crate::kernel::Kernel;
use dpgp_linalg::{Cholesky, LinalgError};

/// The map of FITC regression with m inducing inputs (m x d):
///
/// `C = K_*M Q^-1 K_MN D^-1`, `D = diag(k_nn - q_nn) + sigma^2 I`, `Q = K_MM + K_MN D^-1 K_NM`.
///
/// With `K_MM = L L'`, `V = L^-1 K_MN` and `A = I + V D^-1 V'` this is `(L^-1 K_M*)' A^-1 V D^-1`:
/// `Q` itself, whose condition is that of `K_MM` squared, is never formed. Cost `n m^2`.
///
/// Source: Snelson and Ghahramani 2006; Smith et al. 2021, Eq. 9.
///
/// ```
/// use dpgp_gp::fitc_prediction_map;
/// use dpgp_gp::kernel::ExponentiatedQuadratic;
/// use nalgebra::DMatrix;
///
/// // An inducing input at the only training input changes nothing: 3 / (3 + 1) of the target, as in exact regression.
/// let input = DMatrix::from_element(1, 1, 0.5);
/// let map = fitc_prediction_map(&ExponentiatedQuadratic::isotropic(3.0, 1.0), 1.0, &input, &input, &input)?;
/// assert!((map.predict(&[4.0])[0] - 3.0).abs() < 1e-14);
/// # Ok::<(), dpgp_linalg::LinalgError>(())
/// ```
///
/// # Errors
/// [`LinalgError`] if `K_MM` or `A` cannot be factorised.
pub fn fitc_prediction_map(
    kernel: &dyn Kernel,
    noise_variance: f64,
    inducing: &DMatrix<f64>,
    training: &DMatrix<f64>,
    test: &DMatrix<f64>,
) -> Result<PredictionMap, LinalgError> {
    Ok(FitcRegression::new(kernel, noise_variance, inducing, training)?.prediction_map(test))
}

/// The variances `k_** - k_*M (K_MM^-1 - Q^-1) k_M*` of the latent function at the test inputs (t), without the noise
/// of the likelihood: with `u = L^-1 k_M*` they are `k_** - u'u + u' A^-1 u`. They depend on public inputs alone.
///
/// Source: Snelson and Ghahramani 2006; Smith et al. 2021, Eq. 9.
///
/// # Errors
/// [`LinalgError`] if `K_MM` or `A` cannot be factorised.
pub fn fitc_variance(
    kernel: &dyn Kernel,
    noise_variance: f64,
    inducing: &DMatrix<f64>,
    training: &DMatrix<f64>,
    test: &DMatrix<f64>,
) -> Result<Vec<f64>, LinalgError> {
    Ok(FitcRegression::new(kernel, noise_variance, inducing, training)?.variance(test))
}

/// FITC regression with m inducing inputs (m x d), factorised once for any number of predictions.
pub struct FitcRegression<'a> {
    kernel: &'a dyn Kernel,
    inducing: &'a DMatrix<f64>,
    training: &'a DMatrix<f64>,
    factors: FitcFactors,
}

impl<'a> FitcRegression<'a> {
    /// Factorises `K_MM` and `A`. Cost `n m^2`.
    ///
    /// # Errors
    /// [`LinalgError`] if `K_MM` or `A` cannot be factorised.
    pub fn new(
        kernel: &'a dyn Kernel,
        noise_variance: f64,
        inducing: &'a DMatrix<f64>,
        training: &'a DMatrix<f64>,
    ) -> Result<Self, LinalgError> {
        let factors = FitcFactors::new(kernel, noise_variance, inducing, training)?;
        Ok(Self { kernel, inducing, training, factors })
    }

    /// The map of [`fitc_prediction_map`] to test inputs (t x d).
    pub fn prediction_map(&self, test: &DMatrix<f64>) -> PredictionMap {
        let FitcFactors { k_mm, scaled, a } = &self.factors;
        let left = k_mm.lower_solve(&self.kernel.matrix(self.inducing, test));
        PredictionMap::new(&(left.transpose() * a.solve(scaled)), self.training).with_jitter(k_mm.jitter())
    }

    /// The variances of [`fitc_variance`] at test inputs (t x d), in squared units of the target.
    pub fn variance(&self, test: &DMatrix<f64>) -> Vec<f64> {
        let FitcFactors { k_mm, a, .. } = &self.factors;
        let u = k_mm.lower_solve(&self.kernel.matrix(self.inducing, test));
        let kept = a.lower_solve(&u);
        let beyond = unexplained_variances(self.kernel, test, &u).into_iter().zip(kept.column_iter());
        beyond.map(|(variance, column)| variance + column.norm_squared()).collect()
    }
}

/// The factors of `K_MM` and of `A`, and `V D^-1`.
pub(super) struct FitcFactors {
    pub k_mm: Cholesky,
    pub scaled: DMatrix<f64>,
    pub a: Cholesky,
}

impl FitcFactors {
    pub fn new(
        kernel: &dyn Kernel,
        noise_variance: f64,
        inducing: &DMatrix<f64>,
        training: &DMatrix<f64>,
    ) -> Result<Self, LinalgError> {
        let k_mm = Cholesky::new("K_MM", &kernel.matrix(inducing, inducing))?;
        let k_mm = ensure_negligible_jitter("K_MM", k_mm, noise_variance)?;
        let v = k_mm.lower_solve(&kernel.matrix(inducing, training));
        let mut scaled = v.clone();
        for (i, k_nn) in kernel.diagonal(training).into_iter().enumerate() {
            // Zero at an inducing input, where rounding may leave less than that.
            let conditional = (k_nn - v.column(i).norm_squared()).max(0.0);
            scaled.column_mut(i).unscale_mut(conditional + noise_variance);
        }
        // The eigenvalues of A are at least 1: it needs no jitter, whatever the condition of `K_MM`.
        let a = &scaled * v.transpose() + DMatrix::identity(inducing.nrows(), inducing.nrows());
        Ok(Self { k_mm, scaled, a: Cholesky::new("I + V D^-1 V'", &a)? })
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DVector;

    use super::*;
    use crate::kernel::ExponentiatedQuadratic;
    use crate::{exact_prediction_map, exact_variance};

    /// With an inducing input at each training input FITC is exact.
    #[test]
    fn the_variance_is_exact_with_all_inducing_inputs() {
        let kernel = ExponentiatedQuadratic::isotropic(1.7, 1.0);
        let training = DMatrix::from_fn(8, 1, |i, _| 1.5 * i as f64);
        let test = DMatrix::from_fn(5, 1, |i, _| 3.1 * i as f64);
        let exact = exact_variance(&kernel, 0.3, &training, &test).unwrap();
        let sparse = fitc_variance(&kernel, 0.3, &training, &training, &test).unwrap();
        (0..5).for_each(|i| assert!((exact[i] - sparse[i]).abs() < 1e-11));
    }

    fn inputs() -> (DMatrix<f64>, DMatrix<f64>, Vec<f64>) {
        let training = DMatrix::from_fn(12, 1, |i, _| (i as f64 * 0.7) + (i as f64).sin() * 0.2);
        let test = DMatrix::from_column_slice(4, 1, &[-1.0, 2.2, 5.0, 12.0]);
        let targets = (0..12).map(|i| (i as f64 * 0.6).cos()).collect();
        (training, test, targets)
    }

    /// FITC with every training input as an inducing input is exact regression.
    #[test]
    fn fitc_with_all_inputs_is_exact() {
        let (training, test, _) = inputs();
        let kernel = ExponentiatedQuadratic::isotropic(1.5, 0.8);
        let full = exact_prediction_map(&kernel, 0.2, &training, &test).unwrap().to_full_matrix();
        let sparse = fitc_prediction_map(&kernel, 0.2, &training, &training, &test).unwrap().to_full_matrix();
        assert!((full - sparse).amax() < 1e-9);
    }

    /// The FITC predictive mean as the dense joint Gaussian gives it: `Q_*f (Q_ff + diag(K - Q) + s^2 I)^-1 y`.
    #[test]
    fn fitc_agrees_with_its_dense_definition() {
        let (training, test, targets) = inputs();
        let inducing = DMatrix::from_column_slice(3, 1, &[0.5, 3.0, 7.0]);
        let kernel = ExponentiatedQuadratic::isotropic(1.5, 2.0);
        let k_mm_inverse = kernel.matrix(&inducing, &inducing).try_inverse().unwrap();
        let k_nm = kernel.matrix(&training, &inducing);
        let q = &k_nm * &k_mm_inverse * k_nm.transpose();
        let mut dense = q.clone();
        for i in 0..12 {
            dense[(i, i)] = 1.5 + 0.2;
        }
        let q_star = kernel.matrix(&test, &inducing) * &k_mm_inverse * k_nm.transpose();
        let expected = q_star * dense.try_inverse().unwrap() * DVector::from_vec(targets.clone());
        let map = fitc_prediction_map(&kernel, 0.2, &inducing, &training, &test).unwrap();
        assert!((map.predict(&targets) - expected).amax() < 1e-10);
    }
}
