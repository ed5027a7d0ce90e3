//! Counts in the cells of a grid, with noise of a known variance: the best estimates of the exact counts.
//!
//! The noisy counts are `h~ = h + N(0, s^2 I)`. The exact counts are modelled as `h = m + f + e`: an unknown mean m with
//! a flat prior, a smooth f with covariance `v K`, `K = K_1 x ... x K_d` a product over the axes, and e independent in
//! each cell with variance t. The latter is part of the count: actual counts scatter about any smooth intensity.
//!
//! With `K_i = U_i diag(k_i) U_i'` all covariances share the eigenvectors `U = U_1 x ... x U_d`. For kappa the products
//! of the `k_i`, `z = U' h~` and `o = U' 1`,
//!
//! ```text
//! a_j = v kappa_j + t + s^2              variance of z_j
//! g_j = (a_j - s^2) / a_j                gain
//! m   = V sum o_j z_j / a_j,   V = 1 / sum o_j^2 / a_j
//! E[h]   = U (m o + g (z - m o))
//! Cov[h] = U (diag(s^2 g) + V c c') U',   c_j = (1 - g_j) o_j
//! ```
//!
//! so that a product with U, which costs `n (n_1 + ... + n_d)` for n cells, is all that is needed. The estimate is
//! linear in h~, `E[h] = U L z` with `L = diag(g) + V c (o / a)'`, and the noise has the share `s^2 U L L' U'` of the
//! covariance of its error.
//!
//! *Evidence.* With `a_j = w (1 + r kappa_j)`, `w = t + s^2` and `r = v / w`, minus twice its logarithm is
//! `sum log a_j + sum (z_j - m o_j)^2 / a_j` up to a constant. Given r it falls in w up to `w* = 1/n sum (z_j - m
//! o_j)^2 / (1 + r kappa_j)` and rises from there, so that `w = max(w*, s^2)` is the best variance. What is left is a
//! search in r, and one over the correlations of each axis.
//!
//! *Uncertainty of w.* Few cells do not determine w, and at `w = s^2` all estimates would equal the mean, with intervals
//! that are far too narrow. So w is integrated out, with a uniform prior above `s^2` (Morris 1983). Let `B = s^2 / w` and
//! `Q = n w*`. Because m is integrated out too, the density of B on (0, 1] is proportional to
//! `B^((n - 5) / 2) exp(-B Q / (2 s^2))`. For n < 4 the power is that of n = 4, since the density must have an integral.
//! Estimates are linear in B, because `1 - g_j = B / (1 + r kappa_j)`. So they need only its mean, and its variance adds
//! `Var[B] d^2` to the covariance, for `d = U ((z - m o) / (1 + r kappa))`.

use nalgebra::DMatrix;

use crate::kernel::{Kernel, Matern, Smoothness};
use dpgp_linalg::{LinalgError, product, thin_svd, transposed_product};

/// How the cells along one axis are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GridAxis {
    /// Cells of equal width, in order: near ones are alike, by a Matern 3/2 kernel.
    Ordered(usize),
    /// Categories: any two are equally alike.
    Categories(usize),
}

/// Numbers in the cells of a grid, and the variance of the noise on each.
#[derive(Debug, Clone, Copy)]
pub struct NoisyGrid<'a> {
    axes: &'a [GridAxis],
    numbers: &'a [f64],
    noise_variance: f64,
}

impl<'a> NoisyGrid<'a> {
    /// Checks a grid: one number for each cell (n), with the last axis varying fastest, and the known noise variance of
    /// each number. Returns `None` if there are no cells, the numbers do not fit the axes, a number is not finite, or the
    /// variance is not positive.
    pub fn new(axes: &'a [GridAxis], numbers: &'a [f64], noise_variance: f64) -> Option<Self> {
        let cells: usize = axes.iter().map(|axis| axis.len()).product();
        let fits = cells == numbers.len() && cells > 0;
        let finite = numbers.iter().chain([&noise_variance]).all(|number| number.is_finite());
        (fits && finite && noise_variance > 0.0).then_some(Self { axes, numbers, noise_variance })
    }
}

/// What the noisy numbers of a grid say of the exact ones.
#[derive(Debug, Clone)]
pub struct GridPosterior {
    axes: Vec<AxisEigendecomposition>,
    /// Posterior means (n).
    mean: Vec<f64>,
    /// `g`, `c` and `o / a` in the basis of eigenvectors (n each), `V` and `s^2`.
    gain: Vec<f64>,
    left: Vec<f64>,
    weight: Vec<f64>,
    mean_variance: f64,
    noise_variance: f64,
    /// The variance of B, and the derivatives `-d` of the estimates with respect to it (n).
    shrinkage_variance: f64,
    deviations: Vec<f64>,
    hyperparameters: GridHyperparameters,
}

/// Hyperparameters of the greatest evidence, except for the scatter.
#[derive(Debug, Clone, PartialEq)]
pub struct GridHyperparameters {
    /// One number for each axis: the lengthscale in cell widths, or the correlation between two categories.
    pub correlations: Vec<f64>,
    /// The variance of the smooth part.
    pub variance: f64,
    /// The variance of exact numbers about the smooth part, at the mean of `s^2 / w`.
    pub scatter: f64,
    /// The mean of all cells.
    pub mean: f64,
}

/// An estimate of a weighted sum of exact numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GridSumEstimate {
    /// The estimate.
    pub mean: f64,
    /// The variance of its error under the model, without the noise.
    pub model_variance: f64,
    /// The variance that the noise adds.
    pub noise_variance: f64,
}

impl GridAxis {
    /// The number of cells.
    #[expect(clippy::len_without_is_empty, reason = "a grid has cells")]
    pub fn len(self) -> usize {
        match self {
            Self::Ordered(cells) | Self::Categories(cells) => cells,
        }
    }

    /// The correlations that are tried: lengthscales from half a cell to twice the axis, or correlations of categories.
    fn candidate_correlation_parameters(self) -> Vec<f64> {
        match self {
            Self::Categories(_) => vec![0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.97],
            Self::Ordered(cells) => {
                let mut all = vec![0.5];
                while all.last().is_some_and(|last| last * 1.6 < 2.0 * cells as f64) {
                    all.extend(all.last().map(|last| last * 1.6));
                }
                all
            }
        }
    }

    /// The correlations of its cells, by a lengthscale in widths of a cell or by the correlation of two categories.
    fn correlation_matrix(self, correlation: f64) -> DMatrix<f64> {
        match self {
            Self::Categories(cells) => DMatrix::from_fn(cells, cells, |i, j| if i == j { 1.0 } else { correlation }),
            Self::Ordered(cells) => {
                let places = DMatrix::from_fn(cells, 1, |cell, _| cell as f64);
                Matern::new(Smoothness::ThreeHalves, 1.0, vec![correlation]).matrix(&places, &places)
            }
        }
    }
}

/// Eigenvectors and eigenvalues of the covariance along an axis.
#[derive(Debug, Clone)]
struct AxisEigendecomposition {
    vectors: DMatrix<f64>,
    values: Vec<f64>,
}

impl AxisEigendecomposition {
    /// Of a covariance: its singular vectors, since `K^2 = U S^2 U'` makes `K = U S U'`.
    fn new(axis: GridAxis, correlation: f64) -> Result<Self, LinalgError> {
        let svd = thin_svd("the covariance along an axis", &axis.correlation_matrix(correlation))?;
        Ok(Self { vectors: svd.u, values: svd.s.iter().copied().collect() })
    }
}

/// Multiplies a tensor along each axis with a square matrix, or with its transpose.
fn multiply_along_axes<'m>(
    numbers: &[f64],
    matrices: impl DoubleEndedIterator<Item = &'m DMatrix<f64>> + ExactSizeIterator,
    transposed: bool,
) -> Vec<f64> {
    // Each step multiplies along the last axis and makes it the first. After one step for each axis, the order is the
    // original one.
    let mut tensor = numbers.to_vec();
    for matrix in matrices.rev() {
        let n = matrix.nrows();
        let columns = DMatrix::from_column_slice(n, tensor.len() / n, &tensor);
        let multiplied = match transposed {
            true => transposed_product(matrix, &columns),
            false => product(matrix, &columns),
        };
        // Its rows become the slowest index.
        tensor = multiplied.transpose().as_slice().to_vec();
    }
    tensor
}

/// The products of the eigenvalues of all axes.
fn product_eigenvalues(bases: &[&AxisEigendecomposition]) -> Vec<f64> {
    let mut all = vec![1.0];
    for basis in bases {
        all = all.iter().flat_map(|left| basis.values.iter().map(move |right| left * right)).collect();
    }
    all
}

/// A fit is better only by more than this. One axis of independent categories has the same evidence for every r, and r = 0 is meant.
const LEAST_GAIN: f64 = 1e-9;

/// The best variances for given correlations.
#[derive(Debug, Clone, Copy)]
struct EvidenceFit {
    /// Minus twice the logarithm of the evidence.
    misfit: f64,
    ratio: f64,
    /// Q.
    squares: f64,
    mean: f64,
}

/// The numbers in the basis of eigenvectors.
struct EigenCoordinates {
    z: Vec<f64>,
    ones: Vec<f64>,
    kappa: Vec<f64>,
}

impl EigenCoordinates {
    fn new(numbers: &[f64], bases: &[&AxisEigendecomposition]) -> Self {
        let vectors = || bases.iter().map(|basis| &basis.vectors);
        Self {
            z: multiply_along_axes(numbers, vectors(), true),
            ones: multiply_along_axes(&vec![1.0; numbers.len()], vectors(), true),
            kappa: product_eigenvalues(bases),
        }
    }

    /// The best w, and the evidence, for a ratio r.
    fn fit_variance_given_ratio(&self, ratio: f64, noise_variance: f64) -> EvidenceFit {
        let (mut products, mut squares, mut lengths, mut logarithms) = (0.0, 0.0, 0.0, 0.0);
        for ((z, one), kappa) in self.z.iter().zip(&self.ones).zip(&self.kappa) {
            let a = 1.0 + ratio * kappa;
            products += one * z / a;
            squares += one * one / a;
            lengths += z * z / a;
            logarithms += a.ln();
        }
        let n = self.z.len() as f64;
        let mean = products / squares;
        let squares = (lengths - mean * products).max(0.0);
        let whole = (squares / n).max(noise_variance);
        EvidenceFit { misfit: n * whole.ln() + logarithms + squares / whole, ratio, squares, mean }
    }

    /// The best r, on a grid of powers of four and then between its neighbours.
    fn maximise_evidence(&self, noise_variance: f64) -> EvidenceFit {
        let tried = |power: f64| self.fit_variance_given_ratio(4f64.powf(power), noise_variance);
        let mut best = self.fit_variance_given_ratio(0.0, noise_variance);
        let (mut centre, mut step) = (0.0, 0.5);
        for power in -8..=8 {
            let found = tried(f64::from(power));
            if found.misfit < best.misfit - LEAST_GAIN {
                (best, centre) = (found, f64::from(power));
            }
        }
        while step > 0.05 && best.ratio > 0.0 {
            for power in [centre - step, centre + step] {
                let found = tried(power);
                if found.misfit < best.misfit - LEAST_GAIN {
                    (best, centre) = (found, power);
                }
            }
            step /= 2.0;
        }
        best
    }
}

/// Estimates exact numbers from noisy ones, with hyperparameters of the greatest evidence. A post-processing of the
/// noisy numbers: it costs no privacy.
///
/// ```
/// use dpgp_gp::{GridAxis, NoisyGrid, denoise_grid};
/// // A line with noise of variance 4: neighbours say what a number is, so that errors are smaller.
/// let numbers = [10.0, 14.0, 12.5, 17.0, 18.5, 18.0, 23.5, 23.0, 26.5, 28.0];
/// let grid = NoisyGrid::new(&[GridAxis::Ordered(10)], &numbers, 4.0).ok_or("no grid")?;
/// let posterior = denoise_grid(&grid)?;
/// assert!((posterior.mean()[2] - 14.0).abs() < 1.5);
/// let sum = posterior.estimate_weighted_sum(&[1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
/// assert!((sum.mean - 70.0).abs() < 5.0 && sum.model_variance + sum.noise_variance < 5.0 * 4.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`LinalgError`] if a covariance has no eigenvectors.
pub fn denoise_grid(grid: &NoisyGrid<'_>) -> Result<GridPosterior, LinalgError> {
    let NoisyGrid { axes, numbers, noise_variance } = *grid;
    let candidates: Vec<Vec<f64>> = axes.iter().map(|axis| axis.candidate_correlation_parameters()).collect();
    let mut known: Vec<Vec<AxisEigendecomposition>> = Vec::with_capacity(axes.len());
    for (axis, tried) in axes.iter().zip(&candidates) {
        known.push(tried.iter().map(|one| AxisEigendecomposition::new(*axis, *one)).collect::<Result<_, _>>()?);
    }
    let at = |chosen: &[usize]| -> Vec<&AxisEigendecomposition> {
        chosen.iter().zip(&known).map(|(place, bases)| &bases[*place]).collect()
    };
    // Correlations, axis by axis, until none changes.
    let mut chosen: Vec<usize> = candidates.iter().map(|tried| tried.len() / 2).collect();
    let mut best = EigenCoordinates::new(numbers, &at(&chosen)).maximise_evidence(noise_variance);
    for _ in 0..MOST_ROUNDS {
        let before = chosen.clone();
        for axis in 0..axes.len() {
            for place in (0..candidates[axis].len()).filter(|place| *place != before[axis]) {
                let mut other = chosen.clone();
                other[axis] = place;
                let found = EigenCoordinates::new(numbers, &at(&other)).maximise_evidence(noise_variance);
                if found.misfit < best.misfit {
                    (best, chosen) = (found, other);
                }
            }
        }
        if chosen == before {
            break;
        }
    }
    let bases = at(&chosen);
    let correlations = chosen.iter().zip(&candidates).map(|(place, tried)| tried[*place]).collect();
    Ok(GridPosterior::new(&EigenCoordinates::new(numbers, &bases), &bases, best, noise_variance, correlations))
}

/// The most rounds over all axes.
const MOST_ROUNDS: usize = 4;
/// Points of the integral over B, and how many standard deviations it extends to.
const SHRINKAGES: usize = 2000;
const FAR: f64 = 12.0;

/// The mean and the variance of B, for the Q of n numbers.
fn shrinkage_factor_moments(n: usize, squares: f64, noise_variance: f64) -> [f64; 2] {
    let (power, rate) = (0.5 * (n.max(4) as f64 - 5.0), 0.5 * squares / noise_variance);
    let mode = (power.max(0.0) / rate).min(1.0);
    let sd = ((power + 1.0).sqrt() / rate).min(1.0);
    let (low, high) = ((mode - FAR * sd).max(0.0), (mode + FAR * sd).min(1.0));
    let peak = if mode > 0.0 { mode } else { high };
    let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
    for point in 0..SHRINKAGES {
        let b = low + (high - low) * (point as f64 + 0.5) / SHRINKAGES as f64;
        let density = (power * (b / peak).ln() - rate * (b - mode)).exp();
        total += density;
        first += density * b;
        second += density * b * b;
    }
    let mean = first / total;
    [mean, (second / total - mean * mean).max(0.0)]
}

impl GridPosterior {
    fn new(
        rotated: &EigenCoordinates,
        bases: &[&AxisEigendecomposition],
        best: EvidenceFit,
        noise_variance: f64,
        correlations: Vec<f64>,
    ) -> Self {
        let EvidenceFit { ratio, squares, mean, .. } = best;
        let [shrinkage, shrinkage_variance] = shrinkage_factor_moments(rotated.z.len(), squares, noise_variance);
        let whole = noise_variance / shrinkage;
        let deviations = rotated.z.iter().zip(&rotated.ones).zip(&rotated.kappa);
        let deviations: Vec<f64> =
            deviations.map(|((z, one), kappa)| (z - mean * one) / (1.0 + ratio * kappa)).collect();
        let a: Vec<f64> = rotated.kappa.iter().map(|kappa| whole * (1.0 + ratio * kappa)).collect();
        let gain: Vec<f64> = a.iter().map(|a| ((a - noise_variance) / a).max(0.0)).collect();
        let left = gain.iter().zip(&rotated.ones).map(|(gain, one)| (1.0 - gain) * one).collect();
        let weight: Vec<f64> = rotated.ones.iter().zip(&a).map(|(one, a)| one / a).collect();
        let information: f64 = weight.iter().zip(&rotated.ones).map(|(weight, one)| weight * one).sum();
        let estimates: Vec<f64> = gain
            .iter()
            .zip(&rotated.z)
            .zip(&rotated.ones)
            .map(|((gain, z), one)| mean * one + gain * (z - mean * one))
            .collect();
        let axes: Vec<AxisEigendecomposition> = bases.iter().map(|basis| (*basis).clone()).collect();
        Self {
            mean: multiply_along_axes(&estimates, axes.iter().map(|axis| &axis.vectors), false),
            deviations: multiply_along_axes(&deviations, axes.iter().map(|axis| &axis.vectors), false),
            shrinkage_variance,
            axes,
            gain,
            left,
            weight,
            mean_variance: 1.0 / information,
            noise_variance,
            hyperparameters: GridHyperparameters {
                correlations,
                variance: ratio * whole,
                scatter: whole - noise_variance,
                mean,
            },
        }
    }

    /// The estimates (n).
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The hyperparameters.
    pub fn hyperparameters(&self) -> &GridHyperparameters {
        &self.hyperparameters
    }

    /// The derivative of each cell's estimate with respect to its own noisy number (n), for the hyperparameters found:
    /// the diagonal of `U L U'`.
    pub fn leverages(&self) -> Vec<f64> {
        let squared = self.squared_eigenvectors();
        let gains = multiply_along_axes(&self.gain, squared.iter(), false);
        let (left, weight) = (self.multiply_eigenvectors(&self.left), self.multiply_eigenvectors(&self.weight));
        let of_mean = left.iter().zip(&weight).map(|(left, weight)| self.mean_variance * left * weight);
        gains.iter().zip(of_mean).map(|(gain, of_mean)| gain + of_mean).collect()
    }

    /// A product with U.
    fn multiply_eigenvectors(&self, numbers: &[f64]) -> Vec<f64> {
        multiply_along_axes(numbers, self.axes.iter().map(|axis| &axis.vectors), false)
    }

    fn squared_eigenvectors(&self) -> Vec<DMatrix<f64>> {
        self.axes.iter().map(|axis| axis.vectors.component_mul(&axis.vectors)).collect()
    }

    /// Estimates each cell, with the variances of the error (n).
    pub fn estimate_cells(&self) -> Vec<GridSumEstimate> {
        let squared = self.squared_eigenvectors();
        let gains = multiply_along_axes(&self.gain, squared.iter(), false);
        let squares: Vec<f64> = self.gain.iter().map(|gain| gain * gain).collect();
        let (squares, left) =
            (multiply_along_axes(&squares, squared.iter(), false), self.multiply_eigenvectors(&self.left));
        let crossed: Vec<f64> = self.gain.iter().zip(&self.weight).map(|(gain, weight)| gain * weight).collect();
        let crossed = self.multiply_eigenvectors(&crossed);
        let mut all = Vec::with_capacity(self.mean.len());
        for cell in 0..self.mean.len() {
            all.push(self.estimate_from_spectral_sums(
                self.mean[cell],
                gains[cell],
                squares[cell],
                left[cell],
                crossed[cell],
                self.deviations[cell],
            ));
        }
        all
    }

    /// The estimate of a weighted sum over all cells, for one weight a cell (n). A cell without a weight counts as 0.
    pub fn estimate_weighted_sum(&self, weights: &[f64]) -> GridSumEstimate {
        let mut all = weights.to_vec();
        all.resize(self.mean.len(), 0.0);
        let mean = all.iter().zip(&self.mean).map(|(weight, mean)| weight * mean).sum();
        let q = multiply_along_axes(&all, self.axes.iter().map(|axis| &axis.vectors), true);
        let (mut gains, mut squares, mut left, mut crossed) = (0.0, 0.0, 0.0, 0.0);
        for (j, q) in q.iter().enumerate() {
            gains += self.gain[j] * q * q;
            squares += (self.gain[j] * q).powi(2);
            left += self.left[j] * q;
            crossed += self.gain[j] * self.weight[j] * q;
        }
        let deviation = all.iter().zip(&self.deviations).map(|(weight, deviation)| weight * deviation).sum();
        self.estimate_from_spectral_sums(mean, gains, squares, left, crossed, deviation)
    }

    /// For weights with coefficients `q = U' weights`: the sums of `g q^2`, `(g q)^2`, `c q` and `g q o / a`, and that of d by weight.
    fn estimate_from_spectral_sums(
        &self,
        mean: f64,
        gains: f64,
        squares: f64,
        left: f64,
        crossed: f64,
        deviation: f64,
    ) -> GridSumEstimate {
        let Self { mean_variance, noise_variance, .. } = self;
        let weights: f64 = self.weight.iter().map(|weight| weight * weight).sum();
        let all = noise_variance * gains + mean_variance * left * left;
        let of_mean = mean_variance * left;
        let noise = noise_variance * (squares + 2.0 * of_mean * crossed + of_mean * of_mean * weights);
        let of_shrinkage = self.shrinkage_variance * deviation * deviation;
        GridSumEstimate { mean, model_variance: (all - noise).max(0.0) + of_shrinkage, noise_variance: noise.min(all) }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DVector;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    use super::*;

    const AXES: [GridAxis; 3] = [GridAxis::Ordered(4), GridAxis::Categories(3), GridAxis::Ordered(5)];

    fn normal(number: usize, seed: u64) -> Vec<f64> {
        let mut random = Pcg64::seed_from_u64(seed);
        (0..number).map(|_| StandardNormal.sample(&mut random)).collect()
    }

    fn kronecker(correlations: &[f64]) -> DMatrix<f64> {
        let mut all = DMatrix::identity(1, 1);
        for (axis, correlation) in AXES.iter().zip(correlations) {
            all = all.kronecker(&axis.correlation_matrix(*correlation));
        }
        all
    }

    /// A smooth made-up grid with noise of variance 4.
    fn noisy() -> Vec<f64> {
        let noise = normal(60, 3);
        let exact = |i: usize| 20.0 + 9.0 * ((i / 15) as f64).cos() + 4.0 * ((i % 5) as f64 * 0.7).sin();
        (0..60).map(|i| exact(i) + 2.0 * noise[i]).collect()
    }

    /// Means, covariances and the evidence by matrices of all cells, with the mean as a regression on ones.
    #[test]
    fn it_is_the_posterior_by_dense_matrices() {
        let numbers = noisy();
        let grid = NoisyGrid::new(&AXES, &numbers, 4.0).unwrap();
        let posterior = denoise_grid(&grid).unwrap();
        let GridHyperparameters { correlations, variance, scatter, mean } = posterior.hyperparameters();
        let one = DMatrix::<f64>::identity(60, 60);
        let prior = kronecker(correlations) * *variance + &one * *scatter;
        let inverse = (&prior + &one * 4.0).try_inverse().unwrap();
        let (h, ones) = (DVector::from_vec(numbers.clone()), DVector::from_element(60, 1.0));
        let information = (ones.transpose() * &inverse * &ones)[0];
        let of_mean = (ones.transpose() * &inverse) / information;
        assert!(((&of_mean * &h)[0] - mean).abs() < 1e-9);
        let gain = &prior * &inverse;
        let linear = &gain + (&one - &gain) * &ones * &of_mean;
        let expected = &linear * &h;
        let model = (&linear - &one) * &prior * (&linear - &one).transpose();
        let noise = &linear * linear.transpose() * 4.0;
        // d, and the variance of B, whose mean is that of the scatter.
        let deviations = (&one - &gain) * (&h - &ones * *mean) * ((scatter + 4.0) / 4.0);
        let model = model + &deviations * deviations.transpose() * posterior.shrinkage_variance;
        let area: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
        let sum = posterior.estimate_weighted_sum(&area);
        let area = DVector::from_vec(area);
        assert!((sum.mean - area.dot(&expected)).abs() < 1e-8);
        assert!((sum.model_variance - (area.transpose() * &model * &area)[0]).abs() < 1e-8);
        assert!((sum.noise_variance - (area.transpose() * &noise * &area)[0]).abs() < 1e-8);
        for (cell, own) in posterior.leverages().iter().enumerate() {
            assert!((own - linear[(cell, cell)]).abs() < 1e-9);
        }
        for (cell, found) in posterior.estimate_cells().iter().enumerate() {
            assert!((found.mean - expected[cell]).abs() < 1e-9);
            assert!((found.model_variance - model[(cell, cell)]).abs() < 1e-9);
            assert!((found.noise_variance - noise[(cell, cell)]).abs() < 1e-9);
        }
    }

    /// For five numbers B has a truncated exponential density, and for many with little noise a Gamma density.
    #[test]
    fn moments_of_shrinkage() {
        let rate = 3.0f64;
        let [mean, variance] = shrinkage_factor_moments(5, 2.0 * rate, 1.0);
        let tail = 1.0 / (rate.exp() - 1.0);
        assert!((mean - (1.0 / rate - tail)).abs() < 1e-6);
        assert!((variance - (1.0 / rate / rate - rate.exp() * tail * tail)).abs() < 1e-6);
        let [mean, variance] = shrinkage_factor_moments(2005, 2e6, 1.0);
        assert!((mean - 1001e-6).abs() < 1e-8 && (variance - 1001e-12).abs() < 1e-14);
        let [mean, _] = shrinkage_factor_moments(8, 0.0, 1.0);
        assert!((mean - 2.5 / 3.5).abs() < 1e-5);
        let [mean, _] = shrinkage_factor_moments(1_000_005, 2e6, 1.0);
        assert!((mean - 0.5).abs() < 1e-5);
        for n in 1..4 {
            assert_eq!(shrinkage_factor_moments(n, 3.0, 1.0), shrinkage_factor_moments(4, 3.0, 1.0));
        }
    }

    /// Eight categories with noise above their differences: with w at its most likely value, 79 % of the 95 % intervals held.
    #[test]
    fn intervals_of_few_categories_hold_the_exact_numbers() {
        let exact = [600.0, 1000.0, 1900.0, 2500.0, 3100.0, 3900.0, 4600.0, 5400.0];
        for sd in [250.0, 700.0, 1200.0, 2500.0] {
            let mut held = 0;
            for seed in 0..400 {
                let numbers: Vec<f64> =
                    exact.iter().zip(normal(8, 1000 + seed)).map(|(exact, noise)| exact + sd * noise).collect();
                let grid = NoisyGrid::new(&[GridAxis::Categories(8)], &numbers, sd * sd).unwrap();
                let found = denoise_grid(&grid).unwrap().estimate_cells();
                let inside = |(found, exact): (&GridSumEstimate, &f64)| {
                    (found.mean - exact).abs() <= 1.96 * (found.model_variance + found.noise_variance).sqrt()
                };
                held += found.iter().zip(&exact).filter(|pair| inside(*pair)).count();
            }
            let share = held as f64 / 3200.0;
            assert!((0.92..0.98).contains(&share), "{sd}: {share}");
        }
    }

    /// Other hyperparameters have less evidence, computed with the dense covariance of all cells.
    #[test]
    fn hyperparameters_have_the_greatest_evidence() {
        let numbers = noisy();
        let grid = NoisyGrid::new(&AXES, &numbers, 4.0).unwrap();
        let found = denoise_grid(&grid).unwrap().hyperparameters().clone();
        let misfit = |variance: f64, scatter: f64, correlations: &[f64]| {
            let all = kronecker(correlations) * variance + DMatrix::identity(60, 60) * (scatter + 4.0);
            let centred = DVector::from_fn(60, |i, _| numbers[i] - found.mean);
            all.determinant().ln() + (centred.transpose() * all.try_inverse().unwrap() * centred)[0]
        };
        let GridHyperparameters { variance, scatter, correlations, .. } = &found;
        let best = misfit(*variance, *scatter, correlations);
        for factor in [0.5, 2.0] {
            assert!(misfit(variance * factor, *scatter, correlations) > best);
            assert!(misfit(*variance, scatter + 4.0 * factor, correlations) > best);
            let other = [correlations[0], correlations[1], correlations[2] * factor];
            assert!(misfit(*variance, *scatter, &other) > best - 0.05);
        }
    }

    /// About nine tenths of the exact numbers lie in their 90 % intervals, for cells that scatter about a smooth surface.
    #[test]
    fn intervals_hold_the_exact_numbers() {
        let (axes, mut held, mut cells) = ([GridAxis::Ordered(16), GridAxis::Ordered(16)], 0, 0);
        for seed in 0..8 {
            let (scatter, noise) = (normal(256, 2 * seed), normal(256, 2 * seed + 1));
            let smooth = |i: usize| 60.0 * ((i / 16) as f64 / 5.0).sin() * ((i % 16) as f64 / 4.0 + seed as f64).cos();
            let exact: Vec<f64> = (0..256).map(|i| smooth(i) + 3.0 * scatter[i]).collect();
            let numbers: Vec<f64> = exact.iter().zip(&noise).map(|(exact, noise)| exact + 10.0 * noise).collect();
            let grid = NoisyGrid::new(&axes, &numbers, 100.0).unwrap();
            for (found, exact) in denoise_grid(&grid).unwrap().estimate_cells().iter().zip(&exact) {
                let sd = (found.model_variance + found.noise_variance).sqrt();
                held += usize::from((found.mean - exact).abs() <= 1.645 * sd);
                cells += 1;
            }
        }
        let share = held as f64 / cells as f64;
        assert!((0.86..0.94).contains(&share), "{share}");
    }

    #[test]
    fn what_is_no_grid_is_refused() {
        let is_grid = |numbers: &[f64], variance| NoisyGrid::new(&[GridAxis::Ordered(2)], numbers, variance).is_some();
        assert!(is_grid(&[1.0, 2.0], 1.0));
        assert!(!is_grid(&[1.0], 1.0) && !is_grid(&[1.0, 2.0], 0.0) && !is_grid(&[1.0, f64::NAN], 1.0));
        assert!(NoisyGrid::new(&[GridAxis::Ordered(0)], &[], 1.0).is_none());
    }
}
