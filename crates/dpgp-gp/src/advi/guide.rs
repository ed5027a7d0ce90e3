//! Variational families: Gaussian laws over the d unconstrained parameters of a model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The Gaussian family that approximates the posterior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Independent parameters: `N(mu, diag exp(2 omega))`.
    MeanField,
    /// `N(mu, L L')` with L lower triangular and `exp(omega)` on its diagonal, `d (d + 3) / 2` parameters.
    FullRank,
}

/// A member of a family. Its parameters stand one after the other: `mu` (d), `omega` (d), and for the full-rank family
/// the entries of L below the diagonal, row by row.
///
/// ```
/// use dpgp_gp::advi::{Family, Guide};
/// // mu = (1, 2), omega = (0, ln 3) and L_21 = 0.5: z = (1 + n_1, 2 + 0.5 n_1 + 3 n_2).
/// let mut guide = Guide::standard(Family::FullRank, 2);
/// guide.parameters = vec![1.0, 2.0, 0.0, 3f64.ln(), 0.5];
/// let mut z = [0.0; 2];
/// guide.draw(&[2.0, -1.0], &mut z);
/// assert!((z[0] - 3.0).abs() < 1e-15 && z[1].abs() < 1e-14);
/// assert!((guide.standard_deviations()[1] - 9.25f64.sqrt()).abs() < 1e-14);
/// ```
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

    /// Standard deviations (d): the norms of the rows of L.
    pub fn standard_deviations(&self) -> Vec<f64> {
        let rows = (0..self.dimension).map(|i| {
            let below: f64 = (0..i).map(|j| self.below(i, j).powi(2)).sum();
            (self.scale(i).powi(2) + below).sqrt()
        });
        rows.collect()
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
            // `dz_i / d omega_i = exp(omega_i) n_i`, and the entropy of `N(mu, L L')` is `ln det L` and a constant.
            gradient[d + i] = loss[i] * self.scale(i) * n[i] + entropy;
        }
        if self.family == Family::FullRank {
            let mut rest = gradient[2 * d..].iter_mut();
            for (i, loss) in loss.iter().enumerate() {
                // `dz_i / d L_ij = n_j`.
                n[..i].iter().zip(&mut rest).for_each(|(n, g)| *g = loss * n);
            }
        }
    }

    /// The entry of L on the diagonal: positive whatever omega is, so that no step leaves the family.
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
