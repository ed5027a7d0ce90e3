//! Variational families.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The Gaussian family that approximates the posterior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Independent parameters: `N(mu, diag exp(2 omega))`.
    MeanField,
    /// `N(mu, L L')` with L lower triangular and `exp(omega)` on its diagonal.
    FullRank,
}

/// A member of a family. Its parameters stand one after the other: `mu` (d), `omega` (d), and for the full-rank family
/// the entries of L below the diagonal, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Guide {
    /// The parameters.
    pub parameters: Vec<f64>,
    dimension: usize,
    family: Family,
}

impl Guide {
    /// The standard normal distribution.
    pub fn standard(family: Family, dimension: usize) -> Self {
        let below = match family {
            Family::MeanField => 0,
            Family::FullRank => dimension * (dimension - 1) / 2,
        };
        Self { parameters: vec![0.0; 2 * dimension + below], dimension, family }
    }

    /// The mean (d).
    pub fn mean(&self) -> &[f64] {
        &self.parameters[..self.dimension]
    }

    /// Standard deviations (d).
    pub fn standard_deviations(&self) -> Vec<f64> {
        let row = |i: usize| {
            let below: f64 = (0..i).map(|j| self.below(i, j).powi(2)).sum();
            (self.scale(i).powi(2) + below).sqrt()
        };
        (0..self.dimension).map(row).collect()
    }

    /// `z = mu + L n` for a standard normal `n` (d).
    pub fn draw(&self, n: &[f64], z: &mut [f64]) {
        for i in 0..self.dimension {
            let below: f64 = (0..i).map(|j| self.below(i, j) * n[j]).sum();
            z[i] = self.parameters[i] + self.scale(i) * n[i] + below;
        }
    }

    /// From the gradient of a loss in `z` to its gradient in the parameters, at `z = mu + L n`, plus `entropy` times the
    /// gradient of the entropy (`sum omega` and a constant).
    pub fn pull_back(&self, loss: &[f64], n: &[f64], entropy: f64, gradient: &mut [f64]) {
        let d = self.dimension;
        gradient[..d].copy_from_slice(loss);
        for i in 0..d {
            gradient[d + i] = loss[i] * self.scale(i) * n[i] + entropy;
        }
        if self.family == Family::FullRank {
            let mut rest = gradient[2 * d..].iter_mut();
            for (i, loss) in loss.iter().enumerate() {
                n[..i].iter().zip(&mut rest).for_each(|(n, g)| *g = loss * n);
            }
        }
    }

    fn scale(&self, i: usize) -> f64 {
        self.parameters[self.dimension + i].exp()
    }

    /// The entry of L in row i and column j < i.
    fn below(&self, i: usize, j: usize) -> f64 {
        match self.family {
            Family::MeanField => 0.0,
            Family::FullRank => self.parameters[2 * self.dimension + i * (i - 1) / 2 + j],
        }
    }
}
