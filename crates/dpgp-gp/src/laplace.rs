//! The Laplace approximation of binary classification with a logistic likelihood, in feature space, with its
//! marginal likelihood and gradient.

use nalgebra::{DMatrix, DVector};

use super::KernelFeatures;
use dpgp_linalg::{Cholesky, LinalgError};
use dpgp_number::normal_cdf;

/// One Newton step towards the mode, for labels -1 and 1 and `p(y_i = 1 | f_i) = pi_i = 1 / (1 + exp(-f_i))`.
///
/// With `f = Phi u`, `W = diag(pi (1 - pi))` and `A = I + Phi' W Phi` (m x m), Newton's update
/// `f_new = (K^-1 + W)^-1 (W f + t - pi)`, `t = (1 + y) / 2`, is
/// `u_new = A^-1 Phi' (W f + 1/2 - pi) + C y` with the map `C = A^-1 Phi' / 2` (m x n): the labels enter linearly,
/// and only there.
///
/// Source: Rasmussen and Williams 2006, Eq. 3.18; Smith et al. 2021, Eq. 10 and 11 (whose W lacks a sign).
///
/// ```
/// use dpgp_gp::NewtonStep;
/// use nalgebra::{DMatrix, DVector};
///
/// // One row with the feature 2, from f = 0: pi = 1/2, W = 1/4, A = 1 + 2 (1/4) 2 = 2, and C = 2 / (2 A) = 1/2.
/// let step = NewtonStep::from_latent_values(&DMatrix::from_element(1, 1, 2.0), &DVector::zeros(1))?;
/// assert!((step.label_map()[(0, 0)] - 0.5).abs() < 1e-15);
/// assert!((step.feature_weights(&DVector::from_element(1, -1.0))[0] + 0.5).abs() < 1e-15);
/// # Ok::<(), dpgp_linalg::LinalgError>(())
/// ```
#[derive(Debug, Clone)]
pub struct NewtonStep {
    public: DVector<f64>,
    map: DMatrix<f64>,
}

impl NewtonStep {
    /// The step from latent values f (n), for features (n x m).
    ///
    /// # Errors
    /// [`LinalgError`] if A cannot be factorised, that is if f is not finite.
    pub fn from_latent_values(features: &DMatrix<f64>, latent: &DVector<f64>) -> Result<Self, LinalgError> {
        let factor = factorise_curvature(features, latent)?;
        let pi = latent.map(logistic);
        let right = DVector::from_fn(pi.len(), |i, _| {
            let curvature = pi[i] * (1.0 - pi[i]);
            curvature * latent[i] + 0.5 - pi[i]
        });
        // `t - pi = y / 2 + (1/2 - pi)`: labels and former values meet the same `A^-1 Phi'`, which is twice the map.
        let map = factor.solve(&features.transpose()) * 0.5;
        Ok(Self { public: &map * right * 2.0, map })
    }

    /// Part of the step from the former latent values alone (m).
    pub fn public_part(&self) -> &DVector<f64> {
        &self.public
    }

    /// The map from labels to weights (m x n).
    pub fn label_map(&self) -> &DMatrix<f64> {
        &self.map
    }

    /// The weights after the step, for labels -1 and 1 (n).
    pub fn feature_weights(&self, labels: &DVector<f64>) -> DVector<f64> {
        &self.public + &self.map * labels
    }
}

/// The weights after each of some Newton steps from zero; no more once they stand still.
///
/// # Errors
/// [`LinalgError`] as [`NewtonStep::from_latent_values`].
pub fn newton_path(
    features: &DMatrix<f64>,
    labels: &DVector<f64>,
    steps: usize,
) -> Result<Vec<DVector<f64>>, LinalgError> {
    let mut path: Vec<DVector<f64>> = Vec::with_capacity(steps);
    let mut latent = DVector::zeros(features.nrows());
    for _ in 0..steps {
        let weights = NewtonStep::from_latent_values(features, &latent)?.feature_weights(labels);
        latent = features * &weights;
        let still = path.last().is_some_and(|before| (before - &weights).amax() <= STILL * weights.amax());
        path.push(weights);
        if still {
            break;
        }
    }
    Ok(path)
}

/// The relative change of the weights that is rounding.
const STILL: f64 = 1e-14;

/// The latent variances at the test inputs (t), for latent values at the training inputs (n): `k_** - k_*' (K + W^-1)^-1 k_*`,
/// which is `phi_*' A^-1 phi_*` and what the features leave of the prior variance.
///
/// Source: Rasmussen and Williams 2006, Eq. 3.24.
///
/// # Errors
/// [`LinalgError`] as [`NewtonStep::from_latent_values`].
pub fn latent_variance_at_tests(features: &KernelFeatures, latent: &DVector<f64>) -> Result<Vec<f64>, LinalgError> {
    let explained = factorise_curvature(&features.training, latent)?.lower_solve(&features.test.transpose());
    let with_rest = explained.column_iter().zip(&features.residual);
    Ok(with_rest.map(|(column, left)| column.norm_squared() + left).collect())
}

/// The factor of `A = I + Phi' W Phi` at latent values.
fn factorise_curvature(features: &DMatrix<f64>, latent: &DVector<f64>) -> Result<Cholesky, LinalgError> {
    let mut scaled = features.clone();
    for (mut row, f) in scaled.row_iter_mut().zip(latent.iter()) {
        let pi = logistic(*f);
        row *= (pi * (1.0 - pi)).sqrt();
    }
    // `I + Phi' W Phi` has eigenvalues of at least 1, where `K^-1 + W` would need the inverse of a nearly singular K.
    let mut a = scaled.tr_mul(&scaled);
    (0..a.nrows()).for_each(|i| a[(i, i)] += 1.0);
    Cholesky::new("I + Phi' W Phi", &a)
}

/// `1 / (1 + exp(-f))`, also where the exponential overflows: 0.
pub fn logistic(f: f64) -> f64 {
    1.0 / (1.0 + (-f).exp())
}

/// The probability of class 1 averaged over the latent Gaussian, `E[logistic(f)]` for `f ~ N(mean, variance)`.
///
/// The trapezoidal rule in the standardised variable converges exponentially for a function that is analytic in a
/// strip: here its half width is `pi / sd`, so that steps of `min(1/4, 1/(4 sd))` leave an error below 1e-12. A wide
/// Gaussian would need steps without end: above a standard deviation of 1000 it is averaged over the logistic distribution,
/// `E[logistic(f)] = E[Phi((mean - L) / sd)]` for L of density `logistic(x) logistic(-x)`, whose strip has the half width pi
/// whatever the Gaussian.
///
/// ```
/// use dpgp_gp::averaged_probability;
/// // By symmetry; and 1 / (1 + e^-ln 3) = 3/4 where hardly anything is averaged.
/// assert!((averaged_probability(0.0, 4.0) - 0.5).abs() < 1e-15);
/// assert!((averaged_probability(3f64.ln(), 1e-12) - 0.75).abs() < 1e-12);
/// assert!((averaged_probability(0.0, 1e60) - 0.5).abs() < 1e-15);
/// ```
pub fn averaged_probability(mean: f64, variance: f64) -> f64 {
    let sd = variance.sqrt();
    if sd > WIDE {
        return probability_above_logistic(mean, sd);
    }
    let step = 0.25 * (1.0 / sd).min(1.0);
    let nodes = (REACH / step).ceil() as i32;
    let (mut sum, mut total) = (0.0, 0.0);
    for node in -nodes..=nodes {
        let z = step * f64::from(node);
        let weight = (-0.5 * z * z).exp();
        total += weight;
        sum += weight * logistic(mean + sd * z);
    }
    // By the sum of the weights, not sqrt(2 pi): the mass beyond the reach is shared out.
    sum / total
}

/// The standard deviation above which a Gaussian is the smooth factor, and not the logistic.
const WIDE: f64 = 1000.0;

/// `E[Phi((mean - L) / sd)]` for L of the logistic distribution: the probability that a Gaussian lies above L.
fn probability_above_logistic(mean: f64, sd: f64) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    // Beyond 40 lies 1e-17 of the mass; steps of 1/2 leave an error of exp(-4 pi^2), 1e-17.
    for node in -80..=80 {
        let x = 0.5 * f64::from(node);
        let weight = logistic(x) * logistic(-x);
        total += weight;
        sum += weight * normal_cdf((mean - x) / sd);
    }
    sum / total
}

/// How many standard deviations the quadrature reaches: beyond lies 1e-16 of the mass.
const REACH: f64 = 8.3;

/// Covariances of observations that depend on logarithmic parameters.
pub trait CovarianceFamily {
    /// Number of parameters.
    fn parameter_count(&self) -> usize;

    /// The (n x n) covariance of the observations, their noise included.
    fn covariance(&self, logs: &[f64]) -> DMatrix<f64>;

    /// Its derivatives with respect to each parameter, which are logarithms (n x n each).
    fn covariance_gradients(&self, logs: &[f64]) -> Vec<DMatrix<f64>>;
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
    let gradient = family.covariance_gradients(logs).iter().map(|slope| 0.5 * weights.dot(slope)).collect();
    Ok((value, gradient))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact_features;
    use crate::kernel::{ExponentiatedQuadratic, Kernel};

    fn example() -> (DMatrix<f64>, DVector<f64>, DMatrix<f64>) {
        let x = DMatrix::from_fn(15, 1, |i, _| 0.7 * i as f64);
        let labels = DVector::from_fn(15, |i, _| if (i * i) % 7 < 3 { 1.0 } else { -1.0 });
        let kernel = ExponentiatedQuadratic::isotropic(2.0, 1.1);
        (kernel.matrix(&x, &x), labels, exact_features(&kernel, &x, &x).unwrap().training)
    }

    /// `log p(y | f)` of the logistic likelihood.
    fn log_likelihood(labels: &DVector<f64>, f: &DVector<f64>) -> f64 {
        labels.iter().zip(f.iter()).map(|(y, f)| -(-y * f).exp().ln_1p()).sum()
    }

    /// Rasmussen and Williams, Eq. 3.17: at the mode `f = K grad log p(y | f)`.
    #[test]
    fn the_mode_is_a_fixed_point() {
        let (k, labels, phi) = example();
        let weights = newton_path(&phi, &labels, 50).unwrap().pop().unwrap();
        let f = &phi * weights;
        let gradient = DVector::from_fn(15, |i, _| 0.5 * (labels[i] + 1.0) - logistic(f[i]));
        assert!((k * gradient - &f).amax() < 1e-10);
    }

    /// The gradient and the curvature that the step uses, against differences of the log likelihood.
    #[test]
    fn gradient_and_curvature_are_those_of_the_likelihood() {
        let (_, labels, phi) = example();
        let f = DVector::from_fn(15, |i, _| (i as f64 - 7.0) * 0.3);
        for i in 0..15 {
            let shifted =
                |h: f64| log_likelihood(&labels, &(&f + DVector::from_fn(15, |j, _| if i == j { h } else { 0.0 })));
            let h = 1e-4;
            let gradient = (shifted(h) - shifted(-h)) / (2.0 * h);
            let curvature = -(shifted(h) - 2.0 * shifted(0.0) + shifted(-h)) / (h * h);
            let pi = logistic(f[i]);
            assert!((gradient - (0.5 * (labels[i] + 1.0) - pi)).abs() < 1e-7);
            assert!((curvature - pi * (1.0 - pi)).abs() < 1e-6);
        }
        // The step itself, against the textbook form with an explicit inverse of K.
        let x = DMatrix::from_fn(6, 1, |i, _| 2.0 * i as f64);
        let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
        let (k, phi6) = (kernel.matrix(&x, &x), exact_features(&kernel, &x, &x).unwrap().training);
        let (f, y) = (f.rows(0, 6).into_owned(), labels.rows(0, 6).into_owned());
        let w = DMatrix::from_diagonal(&f.map(|f| logistic(f) * (1.0 - logistic(f))));
        let right = &w * &f + DVector::from_fn(6, |i, _| 0.5 * (y[i] + 1.0) - logistic(f[i]));
        let textbook = (k.try_inverse().unwrap() + w).try_inverse().unwrap() * right;
        let ours = &phi6 * NewtonStep::from_latent_values(&phi6, &f).unwrap().feature_weights(&y);
        assert!((ours - textbook).amax() < 1e-12);
        assert_eq!(phi.nrows(), 15);
    }

    /// Against the trapezoidal rule with far more nodes; and the symmetry of the logistic.
    #[test]
    fn probabilities_are_averaged_over_the_latent_gaussian() {
        for (mean, variance) in [(0.3, 0.5), (-2.0, 4.0), (5.0, 100.0), (1.0, 1e-6)] {
            let sd = f64::sqrt(variance);
            let fine = |i: i32| {
                let z = f64::from(i) * 1e-3;
                (-0.5 * z * z).exp() * logistic(mean + sd * z) / std::f64::consts::TAU.sqrt() * 1e-3
            };
            let expected: f64 = (-9000..=9000).map(fine).sum();
            let found = averaged_probability(mean, variance);
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            assert!((found + averaged_probability(-mean, variance) - 1.0).abs() < 1e-14);
        }
    }

    /// The two rules meet where one takes over, and the second has the limit `Phi(mean / sd)`.
    #[test]
    fn wide_gaussians_cost_no_more() {
        for mean in [-2000.0, -30.0, 0.0, 1.0, 700.0] {
            let (narrow, wide) = (averaged_probability(mean, 1e6), probability_above_logistic(mean, 1e3));
            assert!((narrow - wide).abs() < 1e-12, "{mean}: {narrow} {wide}");
        }
        for sd in [1e9, 1e30, 1e150] {
            let found = averaged_probability(0.5 * sd, sd * sd);
            assert!((found - normal_cdf(0.5)).abs() < 1e-14, "{sd}");
        }
        assert_eq!(averaged_probability(1.0, f64::INFINITY), 0.5);
    }

    /// Rasmussen and Williams, Eq. 3.24, with explicit inverses; the last test input is far from all training inputs.
    #[test]
    fn latent_variances_are_those_of_the_textbook() {
        let x = DMatrix::from_fn(6, 1, |i, _| 2.0 * i as f64);
        let test = DMatrix::from_column_slice(3, 1, &[1.0, 4.5, 100.0]);
        let kernel = ExponentiatedQuadratic::isotropic(1.3, 1.0);
        let features = exact_features(&kernel, &x, &test).unwrap();
        let f = DVector::from_fn(6, |i, _| 0.4 * i as f64 - 1.0);
        let w_inverse = f.map(|f| 1.0 / (logistic(f) * (1.0 - logistic(f))));
        let joint = (kernel.matrix(&x, &x) + DMatrix::from_diagonal(&w_inverse)).try_inverse().unwrap();
        let cross = kernel.matrix(&x, &test);
        let found = latent_variance_at_tests(&features, &f).unwrap();
        for (i, column) in cross.column_iter().enumerate() {
            let expected = 1.3 - column.dot(&(&joint * column));
            assert!((found[i] - expected).abs() < 1e-10, "{}: {} {expected}", i, found[i]);
        }
    }
}

#[cfg(test)]
mod likelihood_tests {
    use super::*;

    /// `variance I`: the likelihood in closed form.
    struct White(usize);

    impl CovarianceFamily for White {
        fn parameter_count(&self) -> usize {
            1
        }
        fn covariance(&self, logs: &[f64]) -> DMatrix<f64> {
            DMatrix::identity(self.0, self.0) * logs[0].exp()
        }
        fn covariance_gradients(&self, logs: &[f64]) -> Vec<DMatrix<f64>> {
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
