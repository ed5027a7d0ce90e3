//! Variational families (Gaussian distributions over the d unconstrained parameters of a model), and Bayesian
//! linear regression with unknown noise.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::BayesianModel;

/// The Gaussian family that approximates the posterior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VariationalFamily {
    /// Independent parameters: `N(mu, diag exp(2 omega))`.
    MeanField,
    /// `N(mu, L L')` with L lower triangular and `exp(omega)` on its diagonal, `d (d + 3) / 2` parameters.
    FullRank,
}

/// A member of a family. Its parameters stand one after the other: `mu` (d), `omega` (d), and for the full-rank family
/// the entries of L below the diagonal, row by row.
///
/// ```
/// use dpgp_gp::advi::{VariationalFamily, VariationalGaussian};
/// // mu = (1, 2), omega = (0, ln 3) and L_21 = 0.5: z = (1 + n_1, 2 + 0.5 n_1 + 3 n_2).
/// let mut guide = VariationalGaussian::standard_normal(VariationalFamily::FullRank, 2);
/// guide.parameters = vec![1.0, 2.0, 0.0, 3f64.ln(), 0.5];
/// let mut z = [0.0; 2];
/// guide.transform_standard_normal(&[2.0, -1.0], &mut z);
/// assert!((z[0] - 3.0).abs() < 1e-15 && z[1].abs() < 1e-14);
/// assert!((guide.standard_deviations()[1] - 9.25f64.sqrt()).abs() < 1e-14);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct VariationalGaussian {
    /// The parameters.
    pub parameters: Vec<f64>,
    dimension: usize,
    family: VariationalFamily,
}

impl VariationalGaussian {
    /// The standard normal distribution.
    pub fn standard_normal(family: VariationalFamily, dimension: usize) -> Self {
        let below = match family {
            VariationalFamily::MeanField => 0,
            VariationalFamily::FullRank => dimension * (dimension - 1) / 2,
        };
        Self { parameters: vec![0.0; 2 * dimension + below], dimension, family }
    }

    /// The mean (d).
    pub fn mean(&self) -> &[f64] {
        &self.parameters[..self.dimension]
    }

    /// Standard deviations (d): the norms of the rows of L.
    pub fn standard_deviations(&self) -> Vec<f64> {
        let rows = (0..self.dimension).map(|i| {
            let below: f64 = (0..i).map(|j| self.factor_lower_entry(i, j).powi(2)).sum();
            (self.factor_diagonal_entry(i).powi(2) + below).sqrt()
        });
        rows.collect()
    }

    /// `z = mu + L n` for a standard normal `n` (d).
    pub fn transform_standard_normal(&self, n: &[f64], z: &mut [f64]) {
        for i in 0..self.dimension {
            let below: f64 = (0..i).map(|j| self.factor_lower_entry(i, j) * n[j]).sum();
            z[i] = self.parameters[i] + self.factor_diagonal_entry(i) * n[i] + below;
        }
    }

    /// From the gradient of a loss in `z` to its gradient in the parameters, at `z = mu + L n`, plus `entropy` times the
    /// gradient of the entropy (`sum omega` and a constant).
    pub fn backpropagate_gradient(&self, loss: &[f64], n: &[f64], entropy: f64, gradient: &mut [f64]) {
        let d = self.dimension;
        gradient[..d].copy_from_slice(loss);
        for i in 0..d {
            // `dz_i / d omega_i = exp(omega_i) n_i`, and the entropy of `N(mu, L L')` is `ln det L` and a constant.
            gradient[d + i] = loss[i] * self.factor_diagonal_entry(i) * n[i] + entropy;
        }
        if self.family == VariationalFamily::FullRank {
            let mut rest = gradient[2 * d..].iter_mut();
            for (i, loss) in loss.iter().enumerate() {
                // `dz_i / d L_ij = n_j`.
                n[..i].iter().zip(&mut rest).for_each(|(n, g)| *g = loss * n);
            }
        }
    }

    /// The entry of L on the diagonal: positive whatever omega is, so that no step leaves the family.
    fn factor_diagonal_entry(&self, i: usize) -> f64 {
        self.parameters[self.dimension + i].exp()
    }

    /// The entry of L in row i and column j < i.
    fn factor_lower_entry(&self, i: usize, j: usize) -> f64 {
        match self.family {
            VariationalFamily::MeanField => 0.0,
            VariationalFamily::FullRank => self.parameters[2 * self.dimension + i * (i - 1) / 2 + j],
        }
    }
}

/// `y ~ N(x'w, s^2)`, `w ~ N(0, prior_variance I)`, `s ~ Exponential(1)`. The unconstrained parameter is
/// `z = (w, log s)`: the log-Jacobian of `s = e^t` is `t`.
///
/// ```
/// use dpgp_gp::advi::{LinearRegression, BayesianModel};
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

impl BayesianModel for LinearRegression {
    fn dimension(&self) -> usize {
        self.weights + 1
    }

    fn row_count(&self) -> usize {
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
