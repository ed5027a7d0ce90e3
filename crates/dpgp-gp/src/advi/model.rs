//! Models for variational inference: Bayesian linear regression with unknown noise, and Bayesian logistic
//! regression.

use nalgebra::DMatrix;

/// A Bayesian model with independent rows and an unconstrained parameter `z` (dimension d). A constrained parameter
/// is transformed by the model, which then adds the log-Jacobian of the transformation to its prior.
pub trait BayesianModel: Sync {
    /// The dimension d of `z`.
    fn dimension(&self) -> usize;

    /// Number of rows.
    fn row_count(&self) -> usize;

    /// `log p(row | z)`. A row's value and gradient depend on no other row: that is what clipping rests on.
    fn log_likelihood(&self, row: usize, z: &[f64]) -> f64;

    /// Writes the gradient of [`BayesianModel::log_likelihood`] in `z` to `gradient` (d).
    fn write_likelihood_gradient(&self, row: usize, z: &[f64], gradient: &mut [f64]);

    /// `log p(z)` on the unconstrained scale; its gradient is written to `gradient` (d).
    fn log_prior(&self, z: &[f64], gradient: &mut [f64]) -> f64;

    /// The log joint density of all rows and `z`; its gradient is written to `gradient` (d).
    fn log_joint(&self, z: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = self.log_prior(z, gradient);
        let mut one = vec![0.0; z.len()];
        for row in 0..self.row_count() {
            value += self.log_likelihood(row, z);
            self.write_likelihood_gradient(row, z, &mut one);
            gradient.iter_mut().zip(&one).for_each(|(sum, g)| *sum += g);
        }
        value
    }
}

/// `y ~ N(x'w, s^2)`, `w ~ N(0, prior_variance I)`, `s ~ Exponential(1)`. The unconstrained parameter is
/// `z = (w, log s)`: the log-Jacobian of `s = e^t` is `t`.
///
/// ```
/// use dpgp_gp::advi::{BayesianLinearModel, BayesianModel};
/// use nalgebra::DMatrix;
/// // x = 1 and y = 3 at w = 1, s = 1: a residual of 2, so that d/dw = 2, d/dt = 2^2 - 1, and no more than 2 in the density.
/// let model = BayesianLinearModel::new(&DMatrix::from_element(1, 1, 1.0), &[3.0], 1.0);
/// let mut gradient = [0.0; 2];
/// model.write_likelihood_gradient(0, &[1.0, 0.0], &mut gradient);
/// assert_eq!(gradient, [2.0, 3.0]);
/// let value = model.log_likelihood(0, &[1.0, 0.0]);
/// assert!((value + 2.0 + 0.5 * std::f64::consts::TAU.ln()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct BayesianLinearModel {
    /// Rows one after the other (n d).
    inputs: Vec<f64>,
    targets: Vec<f64>,
    weights: usize,
    prior_variance: f64,
}

impl BayesianLinearModel {
    /// A model of these inputs (n x d) and targets (n).
    pub fn new(inputs: &DMatrix<f64>, targets: &[f64], prior_variance: f64) -> Self {
        Self {
            inputs: inputs.transpose().as_slice().to_vec(),
            targets: targets.to_vec(),
            weights: inputs.ncols(),
            prior_variance,
        }
    }

    /// The inputs of a row, its residual, and the precision of the noise.
    fn residual_and_precision(&self, row: usize, z: &[f64]) -> (&[f64], f64, f64) {
        let x = &self.inputs[row * self.weights..(row + 1) * self.weights];
        let (w, log_sd) = (&z[..self.weights], z[self.weights]);
        (x, self.targets[row] - dot(x, w), (-2.0 * log_sd).exp())
    }
}

impl BayesianModel for BayesianLinearModel {
    fn dimension(&self) -> usize {
        self.weights + 1
    }

    fn row_count(&self) -> usize {
        self.targets.len()
    }

    fn log_likelihood(&self, row: usize, z: &[f64]) -> f64 {
        let (_, residual, precision) = self.residual_and_precision(row, z);
        -0.5 * (precision * residual * residual + std::f64::consts::TAU.ln()) - z[self.weights]
    }

    fn write_likelihood_gradient(&self, row: usize, z: &[f64], gradient: &mut [f64]) {
        let (x, residual, precision) = self.residual_and_precision(row, z);
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g = precision * residual * x);
        // `p = e^(-2 t)` falls by twice itself per unit of t, and the density holds `-p r^2 / 2 - t`.
        gradient[self.weights] = precision * residual * residual - 1.0;
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

/// `y ~ Bernoulli(1 / (1 + exp(-x'z)))` with labels of -1 and 1, `z ~ N(0, prior_variance I)`; no intercept.
///
/// ```
/// use dpgp_gp::advi::{BayesianLogisticModel, BayesianModel};
/// use nalgebra::DMatrix;
/// // At z = 0 both classes have the probability 1/2, and the gradient is y x / 2.
/// let model = BayesianLogisticModel::new(&DMatrix::from_row_slice(1, 2, &[4.0, -6.0]), &[false], 1.0);
/// let mut gradient = [0.0; 2];
/// model.write_likelihood_gradient(0, &[0.0; 2], &mut gradient);
/// assert!((model.log_likelihood(0, &[0.0; 2]) + 2f64.ln()).abs() < 1e-15);
/// assert_eq!(gradient, [-2.0, 3.0]);
/// assert_eq!(model.accuracy(&[-1.0, 0.0]), 1.0);
/// ```
#[derive(Debug, Clone)]
pub struct BayesianLogisticModel {
    /// Rows one after the other (n d).
    inputs: Vec<f64>,
    /// 1 or -1 (n).
    labels: Vec<f64>,
    dimension: usize,
    prior_variance: f64,
}

impl BayesianLogisticModel {
    /// A model of these inputs (n x d) and classes (n).
    pub fn new(inputs: &DMatrix<f64>, classes: &[bool], prior_variance: f64) -> Self {
        Self {
            inputs: inputs.transpose().as_slice().to_vec(),
            labels: classes.iter().map(|&class| if class { 1.0 } else { -1.0 }).collect(),
            dimension: inputs.ncols(),
            prior_variance,
        }
    }

    /// The inputs of a row and its margin, `y x'z`.
    fn row_margin(&self, row: usize, z: &[f64]) -> (&[f64], f64) {
        let x = &self.inputs[row * self.dimension..(row + 1) * self.dimension];
        (x, self.labels[row] * dot(x, z))
    }

    /// The share of rows whose class is the sign of `x'z`.
    pub fn accuracy(&self, z: &[f64]) -> f64 {
        let rows = self.inputs.chunks_exact(self.dimension).zip(&self.labels);
        let right = rows.filter(|(x, y)| (dot(x, z) > 0.0) == (**y > 0.0)).count();
        right as f64 / self.labels.len() as f64
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl BayesianModel for BayesianLogisticModel {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn row_count(&self) -> usize {
        self.labels.len()
    }

    /// `-log(1 + e^-m)` of the margin `m = y x'z`.
    fn log_likelihood(&self, row: usize, z: &[f64]) -> f64 {
        let (_, margin) = self.row_margin(row, z);
        // An exponential of nothing but negative numbers cannot overflow; each sign has its own form of the same terms.
        margin.min(0.0) - (-margin.abs()).exp().ln_1p()
    }

    /// The derivative with respect to the margin is `1 / (1 + e^m)`.
    fn write_likelihood_gradient(&self, row: usize, z: &[f64], gradient: &mut [f64]) {
        let (x, margin) = self.row_margin(row, z);
        let decay = (-margin.abs()).exp();
        let miss = if margin > 0.0 { decay / (1.0 + decay) } else { 1.0 / (1.0 + decay) };
        let slope = self.labels[row] * miss;
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g = slope * x);
    }

    fn log_prior(&self, z: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.iter_mut().zip(z).for_each(|(g, z)| *g = -z / self.prior_variance);
        let constant = (std::f64::consts::TAU * self.prior_variance).ln();
        -0.5 * (dot(z, z) / self.prior_variance + constant * self.dimension as f64)
    }
}
