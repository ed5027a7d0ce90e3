//! Models for variational inference, and Bayesian logistic regression.

use nalgebra::DMatrix;

/// `y ~ Bernoulli(1 / (1 + exp(-x'z)))` with labels of -1 and 1, `z ~ N(0, prior_variance I)`; no intercept.
///
/// ```
/// use dpgp_gp::advi::{LogisticRegression, BayesianModel};
/// use nalgebra::DMatrix;
/// // At z = 0 both classes have the probability 1/2, and the gradient is y x / 2.
/// let model = LogisticRegression::new(&DMatrix::from_row_slice(1, 2, &[4.0, -6.0]), &[false], 1.0);
/// let mut gradient = [0.0; 2];
/// assert!((model.log_likelihood(0, &[0.0; 2], &mut gradient) + 2f64.ln()).abs() < 1e-15);
/// assert_eq!(gradient, [-2.0, 3.0]);
/// assert_eq!(model.accuracy(&[-1.0, 0.0]), 1.0);
/// ```
#[derive(Debug, Clone)]
pub struct LogisticRegression {
    /// Rows one after the other (n d).
    inputs: Vec<f64>,
    /// 1 or -1 (n).
    labels: Vec<f64>,
    dimension: usize,
    prior_variance: f64,
}

impl LogisticRegression {
    /// A model of these inputs (n x d) and classes (n).
    pub fn new(inputs: &DMatrix<f64>, classes: &[bool], prior_variance: f64) -> Self {
        Self {
            inputs: inputs.transpose().as_slice().to_vec(),
            labels: classes.iter().map(|&class| if class { 1.0 } else { -1.0 }).collect(),
            dimension: inputs.ncols(),
            prior_variance,
        }
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

impl BayesianModel for LogisticRegression {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn row_count(&self) -> usize {
        self.labels.len()
    }

    /// `-log(1 + e^-m)` of the margin `m = y x'z`, whose derivative is `1 / (1 + e^m)`.
    fn log_likelihood(&self, row: usize, z: &[f64], gradient: &mut [f64]) -> f64 {
        let x = &self.inputs[row * self.dimension..(row + 1) * self.dimension];
        let label = self.labels[row];
        let margin = label * dot(x, z);
        // An exponential of nothing but negative numbers cannot overflow; each sign has its own form of the same terms.
        let decay = (-margin.abs()).exp();
        let miss = if margin > 0.0 { decay / (1.0 + decay) } else { 1.0 / (1.0 + decay) };
        gradient.iter_mut().zip(x).for_each(|(g, x)| *g = label * miss * x);
        margin.min(0.0) - decay.ln_1p()
    }

    fn log_prior(&self, z: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.iter_mut().zip(z).for_each(|(g, z)| *g = -z / self.prior_variance);
        let constant = (std::f64::consts::TAU * self.prior_variance).ln();
        -0.5 * (dot(z, z) / self.prior_variance + constant * self.dimension as f64)
    }
}

/// A Bayesian model with independent rows and an unconstrained parameter `z` (dimension d). A constrained parameter
/// is transformed by the model, which then adds the log-Jacobian of the transformation to its prior.
pub trait BayesianModel: Sync {
    /// The dimension d of `z`.
    fn dimension(&self) -> usize;

    /// Number of rows.
    fn row_count(&self) -> usize;

    /// `log p(row | z)`; its gradient in `z` is written to `gradient` (d). A row's value and gradient depend on no other row: that
    /// is what clipping rests on.
    fn log_likelihood(&self, row: usize, z: &[f64], gradient: &mut [f64]) -> f64;

    /// `log p(z)` on the unconstrained scale; its gradient is written to `gradient` (d).
    fn log_prior(&self, z: &[f64], gradient: &mut [f64]) -> f64;

    /// The log joint density of all rows and `z`; its gradient is written to `gradient` (d).
    fn log_joint(&self, z: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = self.log_prior(z, gradient);
        let mut one = vec![0.0; z.len()];
        for row in 0..self.row_count() {
            value += self.log_likelihood(row, z, &mut one);
            gradient.iter_mut().zip(&one).for_each(|(sum, g)| *sum += g);
        }
        value
    }
}
