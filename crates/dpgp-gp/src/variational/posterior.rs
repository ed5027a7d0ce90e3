//! A Gaussian posterior over weights, its predictions, and functions drawn from a prior.

use nalgebra::{DMatrix, DVector};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::{CovariancesWithConditionalVariances, InducingInputs};
use crate::kernel::Kernel;
use crate::{PredictiveMixture, WeightedNormals};
use dpgp_linalg::{PivotFactor, pivoted_cholesky};

/// `v ~ N(mean, covariance)` for `f(x) = k(x)' v + r(x)`, with r the part of f that the inducing values leave
/// open. The inducing values are `u = K_ZZ v`: with `m = K_ZZ mean` and `S = K_ZZ covariance K_ZZ` this is
/// `q(u) = N(m, S)`, but predictions need no `K_ZZ^-1 m`, which is inaccurate where inducing inputs lie close
/// together.
#[derive(Debug, Clone)]
pub struct WeightPosterior {
    /// The mean of the m weights.
    pub mean: DVector<f64>,
    /// Their covariance (m x m).
    pub covariance: DMatrix<f64>,
    /// Jitter that numerical error made necessary on the diagonal of a factorised matrix; usually zero.
    pub jitter: f64,
}

impl WeightPosterior {
    /// Mean and variance of f at each input: `k' mean` and `k' covariance k` plus the open part. Cost `t m^2`.
    pub fn predict(&self, at: &CovariancesWithConditionalVariances) -> GaussianPrediction {
        let spread = &at.features * &self.covariance;
        let mut variance = at.conditional.clone();
        let rows = variance.len().max(1);
        // Only the diagonal of `k' covariance k` is wanted: row sums of an elementwise product. Slices, so that they are
        // vectorised.
        let columns = spread.as_slice().chunks_exact(rows).zip(at.features.as_slice().chunks_exact(rows));
        for (left, right) in columns {
            let sums = variance.as_mut_slice().iter_mut();
            sums.zip(left.iter().zip(right)).for_each(|(sum, (l, r))| *sum += l * r);
        }
        GaussianPrediction { mean: &at.features * &self.mean, variance }
    }

    /// The mean of the inducing values, `K_ZZ mean`.
    pub fn inducing_mean(&self, inducing: &InducingInputs<'_>) -> DVector<f64> {
        inducing.k_zz() * &self.mean
    }
}

/// Gaussian predictions of f, one an input.
#[derive(Debug, Clone)]
pub struct GaussianPrediction {
    /// Means.
    pub mean: DVector<f64>,
    /// Variances of f, without the noise of observations.
    pub variance: DVector<f64>,
}

impl GaussianPrediction {
    /// Of observations with this noise variance; of the function itself with none.
    pub fn with_observation_noise(self, noise_variance: f64) -> PredictiveMixture {
        let Self { mean, variance } = self;
        PredictiveMixture::from_parts(vec![WeightedNormals { weight: 1.0, mean, variance }]).with_noise(noise_variance)
    }
}

/// The largest entry by which the covariance of a draw falls short of the kernel's, relative to its variance.
const TOLERANCE: f64 = 1e-12;
/// The search for pivots starts with this many inputs, evenly spaced in their order.
const LEADING: usize = 4096;
/// How much tighter the tolerance is for them, so that the other inputs rarely need pivots of their own.
const SHARPER: f64 = 0.1;
/// Inputs at once, so that their rows of L stay in the cache of the second level.
const BLOCK: usize = 1024;

/// One draw of f at n inputs (n x d), by a pivoted low-rank Cholesky factor L of their covariance: cost `n r^2`,
/// where the rank r of a smooth kernel on a few lengthscales is some tens whatever n is.
///
/// The pivots are those of a few thousand inputs, and as many more as the others need. The pivots alone determine the row of L at any
/// input, so the rows are computed in blocks and only f is kept. Each pivot that another block adds computes the rows of that block
/// again, and any such pivot a second pass over all inputs: the rank should be far below a few thousand.
pub fn draw_from_prior(kernel: &dyn Kernel, inputs: &DMatrix<f64>, stream: &mut impl Rng) -> DVector<f64> {
    let variances = kernel.diagonal(inputs);
    let count = LEADING.min(inputs.nrows());
    let places: Vec<usize> = (0..count).map(|i| i * inputs.nrows() / count).collect();
    let rows: Vec<Vec<f64>> = places.iter().map(|&i| inputs.row(i).iter().copied().collect()).collect();
    let leading = pivoted_cholesky(
        &places.iter().map(|&i| variances[i]).collect::<Vec<f64>>(),
        |j, out| out.iter_mut().zip(&rows).for_each(|(k, x)| *k = kernel.value(x, &rows[j])),
        if count < inputs.nrows() { SHARPER * TOLERANCE } else { TOLERANCE },
    );
    if count == inputs.nrows() {
        // `L z` with `z ~ N(0, I)` has the covariance `L L'`.
        let z = DVector::from_fn(leading.pivots.len(), |_, _| StandardNormal.sample(stream));
        return leading.factor * z;
    }
    let mut pivots = PriorPivots {
        inputs: inputs.select_rows(leading.pivots.iter().map(|&j| &places[j])),
        factor: PivotFactor::new(&leading),
    };
    let tolerance = TOLERANCE * variances.iter().copied().fold(0.0, f64::max);
    let (mut z, mut f) = (Vec::<f64>::new(), DVector::zeros(inputs.nrows()));
    loop {
        z.resize_with(pivots.inputs.nrows(), || StandardNormal.sample(stream));
        for start in (0..inputs.nrows()).step_by(BLOCK) {
            let end = inputs.nrows().min(start + BLOCK);
            let rows = pivots.add_pivots_and_compute_rows(
                kernel,
                &inputs.rows(start, end - start).into_owned(),
                &variances[start..end],
                tolerance,
            );
            let f = &mut f.as_mut_slice()[start..end];
            f.fill(0.0);
            for (column, z) in rows.as_slice().chunks_exact(f.len()).zip(&z) {
                f.iter_mut().zip(column).for_each(|(f, l)| *f += z * l);
            }
        }
        // A pivot that was added contributes to f at all inputs.
        if z.len() == pivots.inputs.nrows() {
            return f;
        }
    }
}

/// Inputs (r x d) whose values of f determine f at all others, up to the tolerance.
struct PriorPivots {
    inputs: DMatrix<f64>,
    factor: PivotFactor,
}

impl PriorPivots {
    /// The rows of L at some inputs (b x r). Adds as pivots the inputs where more than `tolerance` of the variance is unexplained, largest
    /// first.
    fn add_pivots_and_compute_rows(
        &mut self,
        kernel: &dyn Kernel,
        inputs: &DMatrix<f64>,
        variances: &[f64],
        tolerance: f64,
    ) -> DMatrix<f64> {
        loop {
            let mut rows = kernel.matrix(inputs, &self.inputs);
            self.factor.rows_from_covariances(&mut rows);
            let mut left = DVector::from_column_slice(variances);
            for column in rows.as_slice().chunks_exact(left.len()) {
                left.iter_mut().zip(column).for_each(|(left, v)| *left -= v * v);
            }
            // What is not a number is never the largest.
            let largest = |best: (usize, f64), (i, left): (usize, f64)| if left > best.1 { (i, left) } else { best };
            let (place, unexplained) = left.iter().copied().enumerate().fold((0, f64::NEG_INFINITY), largest);
            if unexplained > tolerance {
                self.factor.add_pivot(&rows.row(place).iter().copied().collect::<Vec<f64>>(), unexplained);
                let last = self.inputs.nrows();
                self.inputs = std::mem::replace(&mut self.inputs, DMatrix::zeros(0, 0)).insert_row(last, 0.0);
                self.inputs.set_row(last, &inputs.row(place));
            } else {
                return rows;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Features (2, 1) and (0, 3) with weights of mean (1, -1) and covariance (4, 1; 1, 2): means 1 and -3, variances `16 + 4 + 2` and
    /// 18, and what is open, 0.5 and 0.25.
    #[test]
    fn predictions_are_forms_of_the_weights() {
        let posterior = WeightPosterior {
            mean: DVector::from_column_slice(&[1.0, -1.0]),
            covariance: DMatrix::from_row_slice(2, 2, &[4.0, 1.0, 1.0, 2.0]),
            jitter: 0.0,
        };
        let at = CovariancesWithConditionalVariances {
            features: DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 0.0, 3.0]),
            conditional: DVector::from_column_slice(&[0.5, 0.25]),
        };
        let found = posterior.predict(&at);
        assert_eq!((found.mean.as_slice(), found.variance.as_slice()), (&[1.0, -3.0][..], &[22.5, 18.25][..]));
        assert_eq!(at.quadratic_forms(&posterior.covariance).as_slice(), [22.0, 18.0]);
    }
}

#[cfg(test)]
mod prior_tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    #[test]
    fn draws_have_the_kernel_as_covariance() {
        let kernel = ExponentiatedQuadratic::isotropic(2.0, 1.0);
        let x = DMatrix::from_column_slice(3, 1, &[0.0, 1.0, 1.0]);
        let mut stream = Pcg64::from_seed([3; 32]);
        let mut sum = DMatrix::zeros(3, 3);
        for _ in 0..40_000 {
            let f = draw_from_prior(&kernel, &x, &mut stream);
            assert!((f[1] - f[2]).abs() < 1e-5);
            sum += &f * f.transpose();
        }
        let expected = kernel.matrix(&x, &x);
        assert!((sum / 40_000.0 - expected).amax() < 0.06);
    }

    /// More inputs than the search for pivots starts with, some of them outside the range of those.
    #[test]
    fn draws_at_many_inputs_have_the_kernel_as_covariance() {
        let kernel = ExponentiatedQuadratic::isotropic(2.0, 0.7);
        // The last five inputs lie outside of the range of the others, and the first of them is none that the search starts with.
        let n = LEADING + 3 * BLOCK + 5;
        let x = DMatrix::from_fn(
            n,
            1,
            |i, _| if i < n - 5 { (i as f64 * 0.618).fract() } else { 2.0 + (i + 5 - n) as f64 },
        );
        let mut stream = Pcg64::from_seed([4; 32]);
        let places = [3, LEADING + 77, n - 5];
        assert!((0..LEADING).all(|i| i * n / LEADING != n - 5));
        let mut sum = DMatrix::zeros(3, 3);
        for _ in 0..2000 {
            let f = draw_from_prior(&kernel, &x, &mut stream);
            let f = DVector::from_iterator(3, places.iter().map(|&i| f[i]));
            sum += &f * f.transpose();
        }
        let chosen = x.select_rows(&places);
        assert!((sum / 2000.0 - kernel.matrix(&chosen, &chosen)).amax() < 0.25);
    }

    /// Pivots are added until all of the variance is explained, also at inputs far from the first pivot.
    #[test]
    fn pivots_cover_inputs_far_from_the_leading_ones() {
        let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
        let whole = pivoted_cholesky(&[1.0], |_, out| out[0] = 1.0, TOLERANCE);
        let mut pivots = PriorPivots { inputs: DMatrix::zeros(1, 1), factor: PivotFactor::new(&whole) };
        let x = DMatrix::from_fn(300, 1, |i, _| 0.02 * i as f64);
        let rows = pivots.add_pivots_and_compute_rows(&kernel, &x, &[1.0; 300], TOLERANCE);
        assert!(pivots.inputs.nrows() < 25 && (&rows * rows.transpose() - kernel.matrix(&x, &x)).amax() < 1e-11);
    }

    /// A linear kernel that is zero wherever the search starts, and an input that is not a number.
    #[test]
    fn variance_at_other_inputs_alone_is_drawn() {
        struct Linear;
        impl Kernel for Linear {
            fn value(&self, x: &[f64], y: &[f64]) -> f64 {
                x[0] * y[0]
            }
        }
        let n = LEADING + 904;
        let mut x = DMatrix::zeros(n, 1);
        let other = (1..n).find(|place| (0..LEADING).all(|i| i * n / LEADING != *place)).unwrap();
        (x[other], x[n - 1]) = (2.0, f64::NAN);
        let f = draw_from_prior(&Linear, &x, &mut Pcg64::from_seed([5; 32]));
        assert!(f[other] != 0.0 && f[0] == 0.0, "{}", f[other]);
    }
}
