//! Classification as regression on the logarithms of Dirichlet parameters.

use nalgebra::DMatrix;

use super::{NoisySufficientStatistics, SufficientStatistics};

/// The Gaussian targets of the two values of a one-hot label: with `a = y + alpha` for y = 0, 1 the noise
/// variance is `s^2 = ln(1/a + 1)` and the target `ln a - s^2 / 2`. Source: Milios et al. 2018, Eq. 8; Honkela
/// 2021, Eq. 21 (which lacks a tilde and prints a subscript of 1). It is the log-normal distribution with the mean and the
/// variance of a Gamma distribution of shape a: normalised Gamma variables have the Dirichlet distribution.
///
/// ```
/// use dpgp_gp::variational::DirichletLabels;
/// // alpha = 1: a = 1 and 2, with the variances ln 2 and ln 1.5 and the targets -ln(2) / 2 and ln 2 - ln(1.5) / 2.
/// let labels = DirichletLabels::new(1.0);
/// assert!((labels.variance[1] - 1.5f64.ln()).abs() < 1e-15);
/// assert!((labels.target[0] + 2f64.ln() / 2.0).abs() < 1e-15);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DirichletLabels {
    /// Targets of the other classes and of the own class.
    pub target: [f64; 2],
    /// Noise variances of the other classes and of the own class.
    pub variance: [f64; 2],
}

impl DirichletLabels {
    /// For the regularisation `alpha > 0`.
    pub fn new(alpha: f64) -> Self {
        let variance = [alpha, 1.0 + alpha].map(|a| (1.0 / a).ln_1p());
        let target = [alpha.ln() - 0.5 * variance[0], (1.0 + alpha).ln() - 0.5 * variance[1]];
        Self { target, variance }
    }

    /// The sums of one class, of unit noise variance, from sums over the rows of each class (`A = sum k_i`, `B
    /// = sum k_i k_i'`):
    ///
    /// `A_j = a_0 sum_l M_l + (a_1 - a_0) M_j`, `a = target / variance`, and `B_j` likewise with `1 /
    /// variance`. The noise of different classes is independent, so its variance is `a_1^2 + (C - 1) a_0^2`
    /// times that of one sum.
    pub fn class_statistics(&self, sums: &[NoisySufficientStatistics], class: usize) -> NoisySufficientStatistics {
        let size = sums[class].a.len();
        let mut joint =
            SufficientStatistics { a: nalgebra::DVector::zeros(size), b: DMatrix::zeros(size, size), rows: 0 }
                .to_noise_free();
        for (j, sum) in sums.iter().enumerate() {
            let y = usize::from(j == class);
            let (a, b) = (self.target[y] / self.variance[y], 1.0 / self.variance[y]);
            joint.a.axpy(a, &sum.a, 1.0);
            joint.b += &sum.b * b;
            // Noise of independent sums: variances add.
            joint.sd_a = joint.sd_a.hypot(a * sum.sd_a);
            joint.sd_b = joint.sd_b.hypot(b * sum.sd_b);
        }
        joint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;
    use crate::variational::InducingInputs;

    /// From class sums as from each row's own target and variance.
    #[test]
    fn class_sums_are_the_heteroscedastic_sums() {
        let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
        let inducing = InducingInputs::new(&kernel, &DMatrix::from_column_slice(3, 1, &[-1.0, 0.0, 1.0])).unwrap();
        let x = DMatrix::from_fn(30, 1, |i, _| (i as f64).sin());
        let class = |i: usize| i * i % 3;
        let labels = DirichletLabels::new(0.01);
        let sums: Vec<NoisySufficientStatistics> = (0..3)
            .map(|j| {
                let rows: Vec<usize> = (0..30).filter(|&i| class(i) == j).collect();
                let own = SufficientStatistics::new(&inducing, &x.select_rows(&rows), &vec![1.0; rows.len()], 1.0);
                NoisySufficientStatistics { sd_a: 2.0, sd_b: 3.0, ..own.to_noise_free() }
            })
            .collect();
        for j in 0..3 {
            let direct = SufficientStatistics::from_rows(&inducing, &x, |i| {
                let y = usize::from(class(i) == j);
                (labels.target[y], 1.0 / labels.variance[y])
            });
            let joint = labels.class_statistics(&sums, j);
            assert!((joint.a - &direct.a).amax() < 1e-12 * direct.a.amax());
            assert!((joint.b - &direct.b).amax() < 1e-12 * direct.b.amax());
            let precision = labels.variance.map(|v| 1.0 / v);
            let spread = 3.0 * (2.0 * precision[0].powi(2) + precision[1].powi(2)).sqrt();
            assert!((joint.sd_b - spread).abs() < 1e-12);
            let weights = [0, 1].map(|y| labels.target[y] / labels.variance[y]);
            let spread = 2.0 * (2.0 * weights[0].powi(2) + weights[1].powi(2)).sqrt();
            assert!((joint.sd_a / spread - 1.0).abs() < 1e-12);
        }
    }

    /// `ln 101 = 4.6151`, `ln(0.01) - ln(101)/2 = -6.9127`.
    #[test]
    fn targets_of_the_usual_alpha() {
        let labels = DirichletLabels::new(0.01);
        assert!((labels.variance[0] - 4.615_120_516_841_26).abs() < 1e-13);
        assert!((labels.target[0] + 6.912_730_444_408_72).abs() < 1e-12);
    }
}
