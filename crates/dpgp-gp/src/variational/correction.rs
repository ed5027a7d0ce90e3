//! What the noise on the sums adds to the covariance of the weights.

use nalgebra::{DMatrix, DVector};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the posterior covariance accounts for the noise on B.
///
/// In units of unit noise variance, with `S = (K_ZZ + B~ + lambda I)^-1` and `w = S A~`, noise on A adds
/// `sd_a^2 S S`, and noise on B moves the weights by `-S E_b w` to first order: Honkela 2021, Eqs. 11 to 13, in terms of
/// the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Correction {
    /// Nothing is added, for noise on A neither: the naive posterior.
    None,
    /// `sd_b^2 / 2 S (|w|^2 I + diag(w o w)) S`: Honkela 2021, Eq. 14, as printed. It takes entries (i, j) and
    /// (j, i) of the symmetric noise as independent.
    Printed,
    /// `sd_b^2 / 2 S (|w|^2 I + w w') S`, the covariance of `S E_b w`.
    FirstOrder,
}

impl Correction {
    /// The covariance of the weights with what the noise adds, for S (m x m), w (m) and the standard deviations of the noise
    /// on A and on the diagonal of B; cost `m^3`.
    pub fn covariance(
        self,
        inverse: &DMatrix<f64>,
        weights: &DVector<f64>,
        sd_a: f64,
        sd_b: f64,
    ) -> DMatrix<f64> {
        // With `Var E_ii = sd_b^2` and `Var E_ij = sd_b^2 / 2`, E symmetric: `Cov(E w) = sd_b^2 / 2 (|w|^2 I + w w')`.
        let half = 0.5 * sd_b * sd_b;
        let mut middle = match self {
            Self::None => return inverse.clone(),
            Self::Printed => DMatrix::from_diagonal(&weights.map(|w| half * w * w)),
            Self::FirstOrder => weights * weights.transpose() * half,
        };
        // The multiples of I go on the diagonal together, so that one product with S on each side serves all terms.
        let added = sd_a * sd_a + half * weights.norm_squared();
        (0..weights.len()).for_each(|i| middle[(i, i)] += added);
        inverse + inverse * middle * inverse
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    fn case() -> (DMatrix<f64>, DVector<f64>) {
        let root = DMatrix::from_fn(4, 4, |i, j| ((2 * i + 3 * j) as f64).sin());
        let inverse = &root * root.transpose() + DMatrix::identity(4, 4) * 0.5;
        (inverse, DVector::from_column_slice(&[1.0, -0.3, 2.0, 0.7]))
    }

    /// The sums over single entries of Eq. 14, in the weights' units.
    #[test]
    fn the_printed_form_is_its_loops() {
        let (s, w) = case();
        let sd = 0.8;
        let entry = |i: usize, j: usize| {
            let mut e = DMatrix::<f64>::zeros(4, 4);
            e[(i, j)] = 1.0;
            &s * e * &w
        };
        let mut loops = s.clone() + &s * &s * 0.09;
        for i in 0..4 {
            loops += entry(i, i) * entry(i, i).transpose() * sd * sd;
            for j in i + 1..4 {
                for (i, j) in [(i, j), (j, i)] {
                    loops += entry(i, j) * entry(i, j).transpose() * (0.5 * sd * sd);
                }
            }
        }
        let closed = Correction::Printed.covariance(&s, &w, 0.3, sd);
        assert!((closed - &loops).amax() < 1e-12 * loops.amax());
    }

    #[test]
    fn the_first_order_form_is_the_covariance_of_the_linear_term() {
        let (s, w) = case();
        let (sd_a, sd_b) = (0.3, 0.8);
        let mut stream = Pcg64::from_seed([7; 32]);
        let mut normal = || -> f64 { StandardNormal.sample(&mut stream) };
        let mut sum = DMatrix::zeros(4, 4);
        let draws = 400_000;
        for _ in 0..draws {
            let mut e = DMatrix::zeros(4, 4);
            for i in 0..4 {
                e[(i, i)] = sd_b * normal();
                for j in 0..i {
                    let entry = sd_b * normal() / 2f64.sqrt();
                    (e[(i, j)], e[(j, i)]) = (entry, entry);
                }
            }
            let moved = &s * (DVector::from_fn(4, |_, _| sd_a * normal()) - e * &w);
            sum += &moved * moved.transpose();
        }
        let simulated = sum / f64::from(draws);
        let closed = Correction::FirstOrder.covariance(&s, &w, sd_a, sd_b) - &s;
        assert!((&simulated - &closed).norm() < 0.01 * closed.norm());
        let printed = Correction::Printed.covariance(&s, &w, sd_a, sd_b) - &s;
        assert!((&simulated - printed).norm() > 0.1 * closed.norm());
        assert_eq!(Correction::None.covariance(&s, &w, sd_a, sd_b), s);
    }
}
