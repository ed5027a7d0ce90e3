//! The marginal likelihood of a Gaussian process and its gradient.

use nalgebra::{DMatrix, DVector};

use dpgp_linalg::{Cholesky, LinalgError};

/// Covariances of observations that depend on logarithmic parameters.
pub trait CovarianceFamily {
    /// Number of parameters.
    fn parameters(&self) -> usize;

    /// The (n x n) covariance of the observations, their noise included.
    fn covariance(&self, logs: &[f64]) -> DMatrix<f64>;

    /// Its derivatives with respect to each parameter, which are logarithms (n x n each).
    fn slopes(&self, logs: &[f64]) -> Vec<DMatrix<f64>>;
}

/// `-ln p(y) = y' K^-1 y / 2 + ln det K / 2 + n ln(2 pi) / 2`, and its gradient
/// `tr((K^-1 - a a') dK) / 2` with `a = K^-1 y`, one for each parameter.
///
/// Source: Rasmussen and Williams 2006, Eq. 2.30 and 5.9.
///
/// # Errors
/// [`LinalgError`] if K cannot be factorised.
pub fn negative_log_likelihood(
    family: &dyn CovarianceFamily,
    logs: &[f64],
    targets: &DVector<f64>,
) -> Result<(f64, Vec<f64>), LinalgError> {
    let n = targets.len();
    let cholesky = Cholesky::new("K + sigma^2 I", &family.covariance(logs))?;
    let y = DMatrix::from_column_slice(n, 1, targets.as_slice());
    let a = cholesky.solve(&y);
    // `det K = (prod L_ii)^2`; the product itself would underflow for some hundred observations.
    let half_log_det: f64 = cholesky.factor().diagonal().iter().map(|d| d.ln()).sum();
    let constant = 0.5 * n as f64 * std::f64::consts::TAU.ln();
    let value = 0.5 * y.dot(&a) + half_log_det + constant;
    // The inverse is formed once: the trace with each slope is then a sum over entries, `n^2` and not `n^3`.
    let weights = cholesky.solve(&DMatrix::identity(n, n)) - &a * a.transpose();
    let gradient = family.slopes(logs).iter().map(|slope| 0.5 * weights.dot(slope)).collect();
    Ok((value, gradient))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `variance I`: the likelihood in closed form.
    struct White(usize);

    impl CovarianceFamily for White {
        fn parameters(&self) -> usize {
            1
        }
        fn covariance(&self, logs: &[f64]) -> DMatrix<f64> {
            DMatrix::identity(self.0, self.0) * logs[0].exp()
        }
        fn slopes(&self, logs: &[f64]) -> Vec<DMatrix<f64>> {
            vec![self.covariance(logs)]
        }
    }

    #[test]
    fn white_noise_has_its_closed_form() {
        let y = DVector::from_column_slice(&[1.0, -2.0, 0.5]);
        let (value, gradient) = negative_log_likelihood(&White(3), &[0.7], &y).unwrap();
        let variance = 0.7f64.exp();
        let expected = 0.5 * (5.25 / variance + 3.0 * 0.7 + 3.0 * std::f64::consts::TAU.ln());
        assert!((value - expected).abs() < 1e-13);
        assert!((gradient[0] - 0.5 * (3.0 - 5.25 / variance)).abs() < 1e-13);
    }
}
