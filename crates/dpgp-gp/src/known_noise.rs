//! Numbers with noise of known variances: the best estimates of the exact numbers.
//!
//! Published are `y_i = h(x_i) + e_i`, with independent noise `e_i` of mean zero and a known variance `d_i`. The exact numbers
//! are modelled as `h = m + f + w`: an unknown mean m with a flat prior, a smooth f with covariance `v k_l`, and w that is
//! independent from one input to the next and has variance t. The latter is part of h: exact numbers scatter about any smooth
//! function. With `K = v k_l(X, X) + t [x_i = x_j]`, `S = K + diag(d)`, the covariances c and the prior variance p at a test
//! input, and `q = 1' S^-1 1`,
//!
//! ```text
//! m = 1' S^-1 y / q
//! E[h*]   = a' y,   a = S^-1 c + S^-1 1 (1 - 1' S^-1 c) / q
//! Var[h*] = p - c' S^-1 c + (1 - 1' S^-1 c)^2 / q
//! log p(y) = -1/2 (log det S + log q + (y - m)' S^-1 (y - m)) + constant
//! ```
//!
//! (Rasmussen and Williams 2006, section 2.7, with one constant basis function). The error of the estimate is that of the
//! model and that of the published noise, which has the part `sum a_i^2 d_i` of its variance.
//!
//! Lengthscale, v and t are averaged: each choice of a grid has the weight p(y), since all are equally likely a priori. All of it
//! follows from published numbers, so it costs no privacy.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use crate::kernel::{Kernel, KernelSetting, Matern, Smoothness};
use dpgp_linalg::{Cholesky, LinalgError, transposed_product};

/// Lengthscales that are tried, in ranges of the inputs.
const LENGTHSCALES: [f64; 7] = [1.0 / 64.0, 1.0 / 32.0, 1.0 / 16.0, 0.125, 0.25, 0.5, 1.0];
/// Variances of f that are tried, over that of the exact numbers.
const VARIANCES: [f64; 7] = [0.0625, 0.25, 0.5, 1.0, 2.0, 4.0, 16.0];
/// Variances of w that are tried, over that of the exact numbers.
const SCATTERS: [f64; 6] = [1e-6, 0.002, 0.015, 0.0625, 0.25, 1.0];
/// Choices with less weight are left out.
const LEAST_WEIGHT: f64 = 1e-4;
/// The least variance of the exact numbers that is assumed, over that of the published ones.
const LEAST_SIGNAL: f64 = 0.01;
/// The most numbers: each choice of the grid factorises a matrix of their covariances.
pub const MOST_NOISY_NUMBERS: usize = 2_000;

/// Numbers, and the variance of the noise on each.
#[derive(Debug, Clone, Copy)]
pub struct NoisyNumbers<'a> {
    inputs: &'a DMatrix<f64>,
    numbers: &'a [f64],
    noise_variances: &'a [f64],
}

impl<'a> NoisyNumbers<'a> {
    /// Checks n inputs (n x d), the numbers there, and the known noise variance of each. Returns `None` if there are none or more than
    /// [`MOST_NOISY_NUMBERS`], the lengths differ, a number is not finite, or a variance is negative.
    pub fn new(inputs: &'a DMatrix<f64>, numbers: &'a [f64], noise_variances: &'a [f64]) -> Option<Self> {
        let count = inputs.nrows();
        let fits = count == numbers.len() && count == noise_variances.len();
        let finite = inputs.iter().chain(numbers).chain(noise_variances).all(|number| number.is_finite());
        let sound = noise_variances.iter().all(|variance| *variance >= 0.0);
        let is_moderate = (1..=MOST_NOISY_NUMBERS).contains(&count);
        (fits && finite && sound && is_moderate).then_some(Self { inputs, numbers, noise_variances })
    }
}

/// What is known of the model beforehand; what is not is averaged.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedHyperparameters<'a> {
    /// The covariance of f, with its variance and lengthscale.
    pub kernel: Option<&'a KernelSetting>,
    /// The variance of w.
    pub scatter: Option<f64>,
}

/// Estimates of exact numbers at test inputs (t).
#[derive(Debug, Clone, PartialEq)]
pub struct DenoisedNumbers {
    /// The estimates.
    pub mean: DVector<f64>,
    /// The variance of their error under the model, without the noise.
    pub model_variance: DVector<f64>,
    /// The variance that the published noise adds.
    pub noise_variance: DVector<f64>,
}

/// Estimates the exact numbers at test inputs (t x d).
///
/// ```
/// use dpgp_gp::{FixedHyperparameters, NoisyNumbers, denoise_numbers};
/// use nalgebra::DMatrix;
///
/// let inputs = DMatrix::from_column_slice(4, 1, &[0.0, 1.0, 2.0, 3.0]);
/// let noisy = NoisyNumbers::new(&inputs, &[10.0, 14.0, 9.0, 13.0], &[25.0, 25.0, 25.0, 25.0]).ok_or("numbers")?;
/// let found = denoise_numbers(&noisy, FixedHyperparameters::default(), &inputs)?;
/// // Between the published numbers and their mean, and less certain than without noise.
/// assert!(found.mean[0] > 10.0 && found.mean[1] < 14.0);
/// assert!(found.noise_variance.iter().all(|variance| (0.0..25.0).contains(variance)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`LinalgError`] if a covariance cannot be factorised.
pub fn denoise_numbers(
    noisy: &NoisyNumbers<'_>,
    known: FixedHyperparameters<'_>,
    test: &DMatrix<f64>,
) -> Result<DenoisedNumbers, LinalgError> {
    let signal = estimate_signal_variance(noisy);
    let choices = hyperparameter_grid(noisy.inputs, known, signal);
    // A choice whose covariance cannot be factorised explains nothing; numbers without noise make the smoothest ones so.
    let fits: Vec<Result<f64, LinalgError>> =
        choices.par_iter().map(|choice| Ok(choice.fit(noisy)?.log_evidence)).collect();
    let evidences: Vec<f64> = match fits.iter().any(Result::is_ok) {
        true => fits.into_iter().map(|fit| fit.unwrap_or(f64::NEG_INFINITY)).collect(),
        false => fits.into_iter().collect::<Result<_, LinalgError>>()?,
    };
    let most = evidences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = evidences.iter().map(|evidence| (evidence - most).exp()).collect();
    let heavy: Vec<(&Hyperparameters, f64)> =
        choices.iter().zip(weights).filter(|(_, weight)| *weight >= LEAST_WEIGHT).collect();
    let total: f64 = heavy.iter().map(|(_, weight)| weight).sum();
    let parts: Vec<(f64, DenoisedNumbers)> = heavy
        .par_iter()
        .map(|(choice, weight)| Ok((weight / total, choice.fit(noisy)?.predict(choice, noisy, test))))
        .collect::<Result<_, LinalgError>>()?;
    Ok(mixture_moments(&parts, test.nrows()))
}

/// The mean and the variances of a mixture. What its parts differ by is an error of the model.
fn mixture_moments(parts: &[(f64, DenoisedNumbers)], points: usize) -> DenoisedNumbers {
    let mut mean = DVector::zeros(points);
    parts.iter().for_each(|(weight, part)| mean.axpy(*weight, &part.mean, 1.0));
    let (mut model_variance, mut noise_variance) = (DVector::zeros(points), DVector::zeros(points));
    for (weight, part) in parts {
        let between = (&part.mean - &mean).map(|difference| difference * difference);
        model_variance.axpy(*weight, &(&part.model_variance + between), 1.0);
        noise_variance.axpy(*weight, &part.noise_variance, 1.0);
    }
    DenoisedNumbers { mean, model_variance, noise_variance }
}

/// About the variance of the exact numbers: that of the published ones, less that of their noise.
fn estimate_signal_variance(noisy: &NoisyNumbers<'_>) -> f64 {
    let count = noisy.numbers.len() as f64;
    let mean = noisy.numbers.iter().sum::<f64>() / count;
    let whole = noisy.numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / count;
    let noise = noisy.noise_variances.iter().sum::<f64>() / count;
    let least = LEAST_SIGNAL * whole.max(noise);
    // Equal numbers vary by their noise alone; without noise, by anything.
    if least > 0.0 { (whole - noise).max(least) } else { f64::EPSILON * (1.0 + mean * mean) }
}

/// A kernel of f, with its covariances at the published inputs (n x n).
struct KernelWithMatrix {
    kernel: Box<dyn Kernel>,
    matrix: DMatrix<f64>,
}

/// A kernel of f, a variance that multiplies it, and the variance of w.
struct Hyperparameters {
    kernel: Arc<KernelWithMatrix>,
    variance: f64,
    scatter: f64,
}

fn hyperparameter_grid(inputs: &DMatrix<f64>, known: FixedHyperparameters<'_>, signal: f64) -> Vec<Hyperparameters> {
    let (kernels, variances): (Vec<Box<dyn Kernel>>, Vec<f64>) = match known.kernel {
        Some(kernel) => (vec![kernel.build_kernel(inputs)], vec![1.0]),
        None => {
            let ranges: Vec<f64> = inputs.column_iter().map(|column| column.max() - column.min()).collect();
            let with = |part: &f64| -> Box<dyn Kernel> {
                // An input without a range tells nothing apart.
                let scales = ranges.iter().map(|range| if *range > 0.0 { part * range } else { 1.0 });
                Box::new(Matern::new(Smoothness::ThreeHalves, 1.0, scales.collect()))
            };
            let variances = VARIANCES.iter().map(|part| part * signal).collect();
            (LENGTHSCALES.iter().map(with).collect(), variances)
        }
    };
    let scatters = known.scatter.map_or_else(|| SCATTERS.map(|part| part * signal).to_vec(), |one| vec![one]);
    let mut choices = Vec::with_capacity(kernels.len() * variances.len() * scatters.len());
    for kernel in kernels {
        let matrix = kernel.matrix(inputs, inputs);
        let kernel = Arc::new(KernelWithMatrix { kernel, matrix });
        for &variance in &variances {
            let with = |&scatter: &f64| Hyperparameters { kernel: Arc::clone(&kernel), variance, scatter };
            choices.extend(scatters.iter().map(with));
        }
    }
    choices
}

/// The posterior of one choice.
struct PosteriorAtHyperparameters {
    factor: Cholesky,
    /// `S^-1 (y - m)` (n).
    residual: DVector<f64>,
    /// `S^-1 1` (n) and q.
    ones: DVector<f64>,
    precision: f64,
    mean: f64,
    log_evidence: f64,
}

impl Hyperparameters {
    /// K between two sets of inputs, from the covariances of f.
    fn covariance_with_scatter(&self, of_f: &DMatrix<f64>, one: &DMatrix<f64>, other: &DMatrix<f64>) -> DMatrix<f64> {
        let mut covariance = of_f * self.variance;
        for j in 0..other.nrows() {
            for i in 0..one.nrows() {
                if (0..one.ncols()).all(|d| one[(i, d)] == other[(j, d)]) {
                    covariance[(i, j)] += self.scatter;
                }
            }
        }
        covariance
    }

    fn fit(&self, noisy: &NoisyNumbers<'_>) -> Result<PosteriorAtHyperparameters, LinalgError> {
        let mut covariance = self.covariance_with_scatter(&self.kernel.matrix, noisy.inputs, noisy.inputs);
        for (i, variance) in noisy.noise_variances.iter().enumerate() {
            covariance[(i, i)] += variance;
        }
        let factor = Cholesky::new("the covariance of the published numbers", &covariance)?;
        let count = noisy.numbers.len();
        let numbers = DVector::from_column_slice(noisy.numbers);
        let sides = DMatrix::from_fn(count, 2, |i, side| if side == 0 { numbers[i] } else { 1.0 });
        let solved = factor.solve(&sides);
        let ones = solved.column(1).into_owned();
        let precision = ones.sum();
        let mean = ones.dot(&numbers) / precision;
        let residual = solved.column(0) - &ones * mean;
        let log_determinant: f64 = 2.0 * factor.factor().diagonal().iter().map(|entry| entry.ln()).sum::<f64>();
        // (y - m)' S^-1 (y - m), where 1' S^-1 (y - m) = 0.
        let square = residual.dot(&numbers);
        let log_evidence = -0.5 * (log_determinant + precision.ln() + square);
        Ok(PosteriorAtHyperparameters { factor, residual, ones, precision, mean, log_evidence })
    }
}

impl PosteriorAtHyperparameters {
    fn predict(&self, choice: &Hyperparameters, noisy: &NoisyNumbers<'_>, test: &DMatrix<f64>) -> DenoisedNumbers {
        let kernel = &choice.kernel.kernel;
        let cross = choice.covariance_with_scatter(&kernel.matrix(noisy.inputs, test), noisy.inputs, test);
        let solved = self.factor.solve(&cross);
        let mean = transposed_product(&cross, &DMatrix::from_column_slice(cross.nrows(), 1, self.residual.as_slice()));
        let mut found = DenoisedNumbers {
            mean: mean.column(0).add_scalar(self.mean),
            model_variance: DVector::zeros(test.nrows()),
            noise_variance: DVector::zeros(test.nrows()),
        };
        let priors = kernel.diagonal(test);
        for (point, prior) in priors.iter().enumerate() {
            let left = 1.0 - self.ones.dot(&cross.column(point));
            let explained = cross.column(point).dot(&solved.column(point));
            let variance = choice.variance * prior + choice.scatter - explained + left * left / self.precision;
            let weights = solved.column(point) + &self.ones * (left / self.precision);
            let noise: f64 = weights.iter().zip(noisy.noise_variances).map(|(a, d)| a * a * d).sum();
            found.noise_variance[point] = noise;
            found.model_variance[point] = (variance - noise).max(0.0);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INPUTS: [f64; 6] = [0.0, 0.5, 1.5, 2.0, 3.5, 4.0];
    const NUMBERS: [f64; 6] = [3.0, 4.5, 2.0, -1.0, 0.5, 1.0];
    const VARIANCES: [f64; 6] = [0.5, 0.1, 2.0, 0.3, 0.05, 1.0];

    fn known() -> KernelSetting {
        toml::from_str("matern = { smoothness = \"3/2\", variance = 2.0, lengthscales = [1.3] }").unwrap()
    }

    /// scikit-learn 1.9.1, with alpha = noise variances + 0.2, of the numbers less their generalised least squares mean, and the part
    /// of that mean in the variances by NumPy. At 2.0 a number is published, which shares its scatter.
    #[test]
    fn it_is_a_regression_with_a_noise_of_its_own_for_each_number() {
        let inputs = DMatrix::from_column_slice(6, 1, &INPUTS);
        let noisy = NoisyNumbers::new(&inputs, &NUMBERS, &VARIANCES).unwrap();
        let kernel = known();
        let model = FixedHyperparameters { kernel: Some(&kernel), scatter: Some(0.2) };
        let test = DMatrix::from_column_slice(3, 1, &[1.0, 3.6, 2.0]);
        let found = denoise_numbers(&noisy, model, &test).unwrap();
        let variances = &found.model_variance + &found.noise_variance;
        let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-10, "{found} for {expected}");
        for (point, (mean, variance)) in [
            (2.888_575_539_830_011_3, 0.686_477_387_998_335),
            (0.613_466_848_691_891_9, 0.411_018_951_679_191_84),
            (-0.448_600_345_093_017, 0.245_696_471_828_987_54),
        ]
        .into_iter()
        .enumerate()
        {
            close(found.mean[point], mean);
            close(variances[point], variance);
        }
        close(found.noise_variance[2], 0.209_844_171_038_471_86);
        let choice = hyperparameter_grid(&inputs, model, 1.0).remove(0);
        close(choice.fit(&noisy).unwrap().log_evidence, -7.394_865_732_568_872);
    }

    /// Numbers without noise are returned unchanged. So is a single number with noise: nothing else tells the mean.
    #[test]
    fn exact_numbers_stay() {
        let inputs = DMatrix::from_column_slice(6, 1, &INPUTS);
        let noisy = NoisyNumbers::new(&inputs, &NUMBERS, &[0.0; 6]).unwrap();
        let found = denoise_numbers(&noisy, FixedHyperparameters::default(), &inputs).unwrap();
        found.mean.iter().zip(NUMBERS).for_each(|(found, number)| assert!((found - number).abs() < 1e-6));
        let inputs = DMatrix::from_element(1, 1, 4.0);
        let noisy = NoisyNumbers::new(&inputs, &[7.0], &[9.0]).unwrap();
        let found = denoise_numbers(&noisy, FixedHyperparameters::default(), &inputs).unwrap();
        assert!((found.mean[0] - 7.0).abs() < 1e-9 && (found.noise_variance[0] - 9.0).abs() < 1e-9);
    }

    /// Many equal numbers without noise, where most covariances cannot be factorised.
    #[test]
    fn constants_stay() {
        let inputs = DMatrix::from_fn(100, 1, |i, _| i as f64);
        let noisy = NoisyNumbers::new(&inputs, &[5.0; 100], &[0.0; 100]).unwrap();
        let found = denoise_numbers(&noisy, FixedHyperparameters::default(), &inputs).unwrap();
        assert!(found.mean.iter().all(|mean| (mean - 5.0).abs() < 1e-6));
    }

    #[test]
    fn what_is_no_number_is_refused() {
        let inputs = DMatrix::from_column_slice(2, 1, &[0.0, 1.0]);
        assert!(NoisyNumbers::new(&inputs, &[1.0, 2.0], &[1.0, 0.0]).is_some());
        for (numbers, variances) in
            [([1.0, f64::NAN], [1.0, 1.0]), ([1.0, 2.0], [1.0, -1.0]), ([1.0, 2.0], [1.0, f64::INFINITY])]
        {
            assert!(NoisyNumbers::new(&inputs, &numbers, &variances).is_none());
        }
        assert!(NoisyNumbers::new(&DMatrix::zeros(0, 1), &[], &[]).is_none());
        assert!(NoisyNumbers::new(&inputs, &[1.0], &[1.0]).is_none());
    }
}
