//! Bayesian linear regression with unknown noise.

use nalgebra::DMatrix;

use super::Model;

/// `y ~ N(x'w, s^2)`, `w ~ N(0, prior_variance I)`, `s ~ Exponential(1)`. The unconstrained parameter is
/// `z = (w, log s)`: the log-Jacobian of `s = e^t` is `t`.
///
/// ```
/// use dpgp_gp::advi::{LinearRegression, Model};
/// use nalgebra::DMatrix;
/// // x = 1 and y = 3 at w = 1, s = 1: a residual of 2, so that d/dw = 2, d/dt = 2^2 - 1, and no more than 2 in the density.
/// let model = LinearRegression::new(&DMatrix::from_element(1, 1, 1.0), &[3.0], 1.0);
/// let mut gradient = [0.0; 2];
/// let value = model.log_likelihood(0, &[1.0, 0.0], &mut gradient);
/// assert_eq!(gradient, [2.0, 3.0]);
/// assert!((value + 2.0 + 0.5 * std::f64::consts::TAU.ln()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct LinearRegression {
    /// Rows one after the other (n d).
    inputs: Vec<f64>,
    targets: Vec<f64>,
    weights: usize,
    prior_variance: f64,
}

impl LinearRegression {
    /// A model of these inputs (n x d) and targets (n).
    pub fn new(inputs: &DMatrix<f64>, targets: &[f64], prior_variance: f64) -> Self {
        Self {
            inputs: inputs.transpose().as_slice().to_vec(),
            targets: targets.to_vec(),
            weights: inputs.ncols(),
            prior_variance,
        }
    }
}

impl Model for LinearRegression {
    fn dimension(&self) -> usize {
        self.weights + 1
    }

    fn rows(&self) -> usize {
        self.targets.len()
    }

    fn log_likelihood(&self, row: usize, z: &[f64], gradient: &mut [f64]) -> f64 {
        let x = &self.inputs[row * self.weights..(row + 1) * self.weights];
        let (w, log_sd) = (&z[..self.weights], z[self.weights]);
        let residual = self.targets[row] - x.iter().zip(w).map(|(x, w)| x * w).sum::<f64>();
        let precision = (-2.0 * log_sd).exp();
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g = precision * residual * x);
        // `p = e^(-2 t)` falls by twice itself per unit of t, and the density holds `-p r^2 / 2 - t`.
        gradient[self.weights] = precision * residual * residual - 1.0;
        -0.5 * (precision * residual * residual + std::f64::consts::TAU.ln()) - log_sd
    }

    fn log_prior(&self, z: &[f64], gradient: &mut [f64]) -> f64 {
        let (w, log_sd) = (&z[..self.weights], z[self.weights]);
        gradient.iter_mut().zip(w).for_each(|(g, w)| *g = -w / self.prior_variance);
        // `log p(s) = -s`, and the log-Jacobian t on top: `-e^t + t`.
        gradient[self.weights] = 1.0 - log_sd.exp();
        let squares: f64 = w.iter().map(|w| w * w).sum();
        let constant = (std::f64::consts::TAU * self.prior_variance).ln() * self.weights as f64;
        -0.5 * (squares / self.prior_variance + constant) - log_sd.exp() + log_sd
    }
}
