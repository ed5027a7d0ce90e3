//! The two sums of the model, also as whole numbers of public units, and those of classes.

use nalgebra::{DMatrix, DVector};

use super::InducingInputs;
use dpgp_linalg::add_gram_lower;

/// Rows that are multiplied at a time: their features fit into a cache.
const BLOCK: usize = 256;

/// `A = sum_i s_i k_i y_i` (m) and `B = sum_i s_i k_i k_i'` (m x m); the weights `s_i` are 1 but for
/// heteroscedastic noise.
///
/// Obligation: targets are within the public bound that sensitivities assume; [`SufficientStatistics::new`] clips them.
#[derive(Debug, Clone, PartialEq)]
pub struct SufficientStatistics {
    /// `A`.
    pub a: DVector<f64>,
    /// `B`.
    pub b: DMatrix<f64>,
    /// The number of rows.
    pub rows: usize,
}

impl SufficientStatistics {
    /// With all weights 1 and targets clipped to [-bound, bound].
    pub fn new(inducing: &InducingInputs<'_>, inputs: &DMatrix<f64>, targets: &[f64], bound: f64) -> Self {
        Self::from_rows(inducing, inputs, |i| (targets[i].clamp(-bound, bound), 1.0))
    }

    /// Target and weight of each row (n x d) by `row(i)`. Rows come in blocks of 256: no array grows with n.
    pub fn from_rows(inducing: &InducingInputs<'_>, inputs: &DMatrix<f64>, row: impl Fn(usize) -> (f64, f64)) -> Self {
        let (size, rows) = (inducing.size(), inputs.nrows());
        let (mut a, mut b) = (DVector::zeros(size), DMatrix::zeros(size, size));
        let (mut block, mut targets) = (DMatrix::zeros(BLOCK, size), DVector::zeros(BLOCK));
        let mut input = vec![0.0; inputs.ncols()];
        for start in (0..rows).step_by(BLOCK) {
            let here = BLOCK.min(rows - start);
            // Rows of zeros add nothing, so that the last block may have the size of the others.
            if here < BLOCK {
                block.fill(0.0);
                targets.fill(0.0);
            }
            for i in 0..here {
                let (target, weight) = row(start + i);
                // A root on each factor keeps the product symmetric.
                let root = weight.sqrt();
                input.iter_mut().zip(inputs.row(start + i).iter()).for_each(|(to, from)| *to = *from);
                inducing.write_covariances(&input, |j, k| block[(i, j)] = root * k);
                targets[i] = root * target;
            }
            a.gemv_tr(1.0, &block, &targets, 1.0);
            // Half of a symmetric matrix; the rest is copied at the end.
            add_gram_lower(&mut b, &block);
        }
        b.fill_upper_triangle_with_lower_triangle();
        Self { a, b, rows }
    }

    /// The sums as they are, as if with noise of no size.
    pub fn with_zero_noise(&self) -> NoisySufficientStatistics {
        NoisySufficientStatistics { a: self.a.clone(), b: self.b.clone(), sd_a: 0.0, sd_b: 0.0 }
    }
}

/// The sums with independent Gaussian noise of known size.
#[derive(Debug, Clone, PartialEq)]
pub struct NoisySufficientStatistics {
    /// `A + E_a`.
    pub a: DVector<f64>,
    /// `B + E_b`, symmetric.
    pub b: DMatrix<f64>,
    /// Standard deviation of each entry of `E_a`.
    pub sd_a: f64,
    /// Standard deviation of the diagonal entries of `E_b`; the others have this over `sqrt 2`.
    pub sd_b: f64,
}

impl NoisySufficientStatistics {
    /// Sums and noise times a factor: `1 / sigma^2` turns them into those of unit noise variance.
    pub fn scaled(&self, factor: f64) -> Self {
        Self { a: &self.a * factor, b: &self.b * factor, sd_a: self.sd_a * factor, sd_b: self.sd_b * factor }
    }
}

/// Value of one unit in each of the sums, in units of the model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IntegerSumUnits {
    /// In A.
    pub a: f64,
    /// In B.
    pub b: f64,
    /// In the sum of squares.
    pub squares: f64,
}

/// The sums of some rows without any rounding: `A` (m numbers) and the lower triangle of `B` (m x m), column by column.
///
/// ```
/// use dpgp_gp::variational::{IntegerSumUnits, IntegerSums};
/// let units = IntegerSumUnits { a: 0.5, b: 0.25, squares: 1.0 };
/// let statistics = IntegerSums { a: &[2, 4], b: &[4, 8, 12], units }.to_sufficient_statistics(7);
/// assert_eq!(statistics.a.as_slice(), [1.0, 2.0]);
/// assert_eq!(statistics.b.as_slice(), [1.0, 2.0, 2.0, 3.0]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct IntegerSums<'a> {
    /// `A`.
    pub a: &'a [i128],
    /// The lower triangle of `B`.
    pub b: &'a [i128],
    /// Of both.
    pub units: IntegerSumUnits,
}

impl IntegerSums<'_> {
    /// The number m of inducing inputs.
    pub fn size(&self) -> usize {
        self.a.len()
    }

    /// As a model takes them; without noise.
    pub fn to_sufficient_statistics(&self, rows: usize) -> SufficientStatistics {
        SufficientStatistics { a: self.linear_sums(), b: self.quadratic_sums(), rows }
    }

    /// A in units of the model.
    pub fn linear_sums(&self) -> DVector<f64> {
        DVector::from_iterator(self.size(), self.a.iter().map(|number| *number as f64 * self.units.a))
    }

    /// B in units of the model.
    pub fn quadratic_sums(&self) -> DMatrix<f64> {
        let m = self.size();
        let mut matrix = DMatrix::zeros(m, m);
        let places = (0..m).flat_map(|j| (j..m).map(move |i| (i, j)));
        places.zip(self.b).for_each(|(place, number)| matrix[place] = *number as f64 * self.units.b);
        // The mirror image is free, also of what was released.
        matrix.fill_upper_triangle_with_lower_triangle();
        matrix
    }
}

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
                .with_zero_noise();
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
    use crate::kernel::{ExponentiatedQuadratic, Kernel};

    #[test]
    fn blocks_add_up_to_the_whole() {
        let kernel = ExponentiatedQuadratic::isotropic(1.3, 0.8);
        let z = DMatrix::from_row_slice(3, 2, &[0.0, 0.0, 1.0, 0.3, -1.0, 2.0]);
        let inducing = InducingInputs::new(&kernel, &z).unwrap();
        for rows in [1, 255, 256, 600] {
            let x = DMatrix::from_fn(rows, 2, |i, j| ((i + 3 * j) as f64 * 0.7).sin());
            let y: Vec<f64> = (0..rows).map(|i| 2.0 * (i as f64).cos()).collect();
            let clipped = DVector::from_iterator(rows, y.iter().map(|v| v.clamp(-1.5, 1.5)));
            let k = kernel.matrix(&x, &z);
            let statistics = SufficientStatistics::new(&inducing, &x, &y, 1.5);
            assert!((&statistics.a - k.transpose() * &clipped).amax() < 1e-12);
            assert!((&statistics.b - k.transpose() * &k).amax() < 1e-12);
            let weighted = SufficientStatistics::from_rows(&inducing, &x, |i| (y[i], 0.5 + i as f64));
            let s = DMatrix::from_diagonal(&DVector::from_fn(rows, |i, _| 0.5 + i as f64));
            let expected = k.transpose() * s * DVector::from_vec(y.clone());
            assert!((&weighted.a - expected).amax() < 1e-9 * weighted.a.amax());
        }
    }
}

#[cfg(test)]
mod whole_sums_tests {
    use super::*;

    #[test]
    fn triangles_are_whole_matrices() {
        let units = IntegerSumUnits { a: 0.5, b: 0.25, squares: 1.0 };
        let sums = IntegerSums { a: &[2, -4, 6], b: &[4, 8, 12, 16, 20, 24], units };
        let SufficientStatistics { a, b, rows } = sums.to_sufficient_statistics(7);
        assert_eq!((sums.size(), rows, a.as_slice()), (3, 7, &[1.0, -2.0, 3.0][..]));
        assert_eq!(b, DMatrix::from_row_slice(3, 3, &[1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 3.0, 5.0, 6.0]));
    }
}

#[cfg(test)]
mod dirichlet_tests {
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
                NoisySufficientStatistics { sd_a: 2.0, sd_b: 3.0, ..own.with_zero_noise() }
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
