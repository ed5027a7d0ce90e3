//! Predictions from noisy linear combinations of targets, averaged over hyperparameters.
//!
//! Targets y at public inputs have the covariance `v k_l(X, X) + s^2 I` for a lengthscale factor l, a variance v and a
//! noise variance `s^2`. Known are `r = W y + noise` with independent Gaussian noise of a known standard deviation d,
//! for a matrix W that does not depend on y. So for each choice of the three
//!
//! ```text
//! r ~ N(0, S),  S = W (v k_l(X, X) + s^2 I) W' + d^2 I,
//! f(t) | r ~ N(c' S^-1 r,  v - c' S^-1 c),  c = v W k_l(X, t),
//! ```
//!
//! and the density of r weighs the choices of a grid, which are equally likely a priori. All of it follows from r and
//! public numbers, so if r is private it is post-processing and costs no privacy budget.

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use crate::kernel::{Kernel, KernelRescaling, KernelSetting, SumKernel};
use crate::{PredictionMap, PredictiveMixture, WeightedNormals};
use dpgp_linalg::{Cholesky, LinalgError, product, transposed_product};

/// Factors of the lengthscales.
const LENGTHSCALES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// Factors of the variance of the process.
const VARIANCES: [f64; 5] = [0.25, 0.5, 1.0, 2.0, 4.0];
/// Factors of the noise variance.
const NOISES: [f64; 6] = [0.125, 0.25, 0.5, 1.0, 2.0, 4.0];
/// Choices with less weight are left out.
const LEAST_WEIGHT: f64 = 1e-4;
/// The least variance of f, over that of the process.
const LEAST_VARIANCE: f64 = 1e-12;
/// Columns of a covariance that are computed together, so that memory is linear in the number of inputs.
const BLOCK: usize = 512;

/// The mean of a kernel over the lengthscales of the grid: the prior covariance before anything is known. None of a
/// kernel that is not stationary.
///
/// ```
/// use dpgp_gp::lengthscale_averaged_kernel;
/// let kernel = toml::from_str("eq = { variance = 2.0, lengthscale = 4.0 }")?;
/// let averaged = lengthscale_averaged_kernel(&kernel, 1).ok_or("stationary")?;
/// assert!((averaged.value(&[1.0], &[1.0]) - 2.0).abs() < 1e-12);
/// // exp(-r^2 / 2) for r = 4, 2, 1, 1/2 and 1/4 lengthscales.
/// let mean = [4.0f64, 2.0, 1.0, 0.5, 0.25].map(|r| (-0.5 * r * r).exp()).iter().sum::<f64>() / 5.0;
/// assert!((averaged.value(&[0.0], &[4.0]) - 2.0 * mean).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn lengthscale_averaged_kernel(kernel: &KernelSetting, inputs: usize) -> Option<Box<dyn Kernel>> {
    Some(Box::new(SumKernel(kernels_over_lengthscales(kernel, inputs, LENGTHSCALES.len() as f64)?)))
}

/// The kernel with each lengthscale of the grid, its variance divided by `over`.
fn kernels_over_lengthscales(kernel: &KernelSetting, inputs: usize, over: f64) -> Option<Vec<Box<dyn Kernel>>> {
    let (stationary, sides) = (kernel.as_stationary()?, vec![1.0; inputs]);
    let stretches = LENGTHSCALES.iter();
    Some(
        stretches
            .map(|&stretch| stationary.build_scaled_kernel(KernelRescaling { sides: &sides, stretch, over }))
            .collect(),
    )
}

/// A kernel with one of the lengthscales, as far as r and the points see it.
#[derive(Debug, Clone)]
struct ProjectedCovariances {
    /// `W k(X, X) W'` (r x r).
    shared: DMatrix<f64>,
    /// `W k(X, t)` (r x t).
    cross: DMatrix<f64>,
}

/// What is known of latent values at t test inputs from r noisy combinations of targets.
#[derive(Debug, Clone)]
pub struct ModelAveragedPosterior {
    kernels: Vec<ProjectedCovariances>,
    /// `W W'` over all rows (r x r).
    own: DMatrix<f64>,
    /// Prior variances at the test inputs (t).
    variances: Vec<f64>,
    noise_variance: f64,
    /// `d^2`.
    release: f64,
}

/// A mixture, with the part of its variance that stays without the noise on r.
#[derive(Debug, Clone)]
pub struct ModelAveragedPrediction {
    /// The latent values.
    pub latent: PredictiveMixture,
    /// The same with the noise of a target.
    pub targets: PredictiveMixture,
    /// Mean variances of the latent values if r had no noise (t).
    pub without_noise: DVector<f64>,
}

/// Lengthscale, variance and noise variance, the first by its place in the grid.
#[derive(Debug, Clone, Copy)]
struct HyperparameterChoice {
    kernel: usize,
    variance: f64,
    noise: f64,
}

/// Known numbers of a posterior: the training inputs (n x d), which of them are equal, W (r x k, a column for each distinct
/// input) and d.
#[derive(Debug, Clone, Copy)]
pub struct TargetCombinationDesign<'a> {
    /// Training inputs.
    pub training: &'a DMatrix<f64>,
    /// Groups equal training inputs.
    pub map: &'a PredictionMap,
    /// W, for the sums of the targets of equal inputs.
    pub weights: &'a DMatrix<f64>,
    /// The standard deviation d of the noise on each combination, in units of the targets.
    pub noise_sd: f64,
}

impl ModelAveragedPosterior {
    /// For the grid about a kernel and a noise variance, at test inputs (t x d). None of a kernel that is not stationary.
    pub fn new(
        kernel: &KernelSetting,
        noise_variance: f64,
        combinations: &TargetCombinationDesign<'_>,
        test: &DMatrix<f64>,
    ) -> Option<Self> {
        let TargetCombinationDesign { training, map, weights, noise_sd } = *combinations;
        let inputs = map.select_distinct_columns(&training.transpose()).transpose();
        let counts: Vec<f64> = map.targets_per_column().into_iter().map(|count| count as f64).collect();
        let mut weighted = weights.clone();
        weighted.column_iter_mut().zip(&counts).for_each(|(mut column, count)| column *= *count);
        let kernels = kernels_over_lengthscales(kernel, training.ncols(), 1.0)?;
        let variances = kernels[0].diagonal(test);
        let kernels = kernels.iter().map(|kernel| ProjectedCovariances::new(kernel.as_ref(), &inputs, &weighted, test));
        Some(Self {
            kernels: kernels.collect(),
            own: product(weights, &weighted.transpose()),
            variances,
            noise_variance,
            release: noise_sd * noise_sd,
        })
    }

    /// Whether all covariances are finite. They are not if distances between inputs overflow.
    pub fn is_finite(&self) -> bool {
        let kernels = self.kernels.iter().flat_map(|kernel| kernel.shared.iter().chain(&kernel.cross));
        kernels.chain(&self.own).chain(&self.variances).all(|x| x.is_finite())
    }

    /// The latent values given r.
    ///
    /// # Errors
    /// [`LinalgError`] if a covariance cannot be factorised.
    pub fn predict(&self, released: &DVector<f64>) -> Result<ModelAveragedPrediction, LinalgError> {
        let choices = self.hyperparameter_choices();
        let column = DMatrix::from_column_slice(released.len(), 1, released.as_slice());
        let evidences: Vec<f64> =
            choices.par_iter().map(|choice| self.log_evidence(*choice, &column)).collect::<Result<_, _>>()?;
        let most = evidences.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let heavy = choices.iter().zip(&evidences).map(|(choice, evidence)| (*choice, (evidence - most).exp()));
        let heavy: Vec<(HyperparameterChoice, f64)> = heavy.filter(|(_, weight)| *weight >= LEAST_WEIGHT).collect();
        let total: f64 = heavy.iter().map(|(_, weight)| weight).sum();
        let members =
            heavy.par_iter().map(|(choice, weight)| self.posterior_for_choice(*choice, weight / total, &column));
        let members: Vec<AveragedMixtureMember> = members.collect::<Result<_, _>>()?;
        let mut without_noise = DVector::zeros(self.variances.len());
        members.iter().for_each(|member| without_noise.axpy(member.latent.weight, &member.without_noise, 1.0));
        let targets = members.iter().map(|member| member.target_distribution()).collect();
        let latent = members.into_iter().map(|member| member.latent).collect();
        let [latent, targets] = [latent, targets].map(PredictiveMixture::from_parts);
        Ok(ModelAveragedPrediction { latent, targets, without_noise })
    }

    fn hyperparameter_choices(&self) -> Vec<HyperparameterChoice> {
        let mut choices = Vec::new();
        for kernel in 0..self.kernels.len() {
            for variance in VARIANCES {
                choices.extend(NOISES.map(|noise| HyperparameterChoice {
                    kernel,
                    variance,
                    noise: noise * self.noise_variance,
                }));
            }
        }
        choices
    }

    /// `W (v K + s^2 I) W'`.
    fn release_covariance_without_privacy_noise(&self, choice: HyperparameterChoice) -> DMatrix<f64> {
        &self.kernels[choice.kernel].shared * choice.variance + &self.own * choice.noise
    }

    /// S.
    fn release_covariance(&self, choice: HyperparameterChoice) -> DMatrix<f64> {
        let mut covariance = self.release_covariance_without_privacy_noise(choice);
        (0..covariance.nrows()).for_each(|entry| covariance[(entry, entry)] += self.release);
        covariance
    }

    /// `-1/2 (log det S + r' S^-1 r)`.
    fn log_evidence(&self, choice: HyperparameterChoice, released: &DMatrix<f64>) -> Result<f64, LinalgError> {
        let factor = Cholesky::new("the covariance of the release", &self.release_covariance(choice))?;
        let log_determinant: f64 = factor.factor().diagonal().iter().map(|entry| entry.ln()).sum();
        Ok(-log_determinant - 0.5 * factor.lower_solve(released).norm_squared())
    }

    fn posterior_for_choice(
        &self,
        choice: HyperparameterChoice,
        weight: f64,
        released: &DMatrix<f64>,
    ) -> Result<AveragedMixtureMember, LinalgError> {
        let cross = &self.kernels[choice.kernel].cross * choice.variance;
        let with = Cholesky::new("the covariance of the release", &self.release_covariance(choice))?;
        let without = Cholesky::new(
            "the covariance of the release without its noise",
            &self.release_covariance_without_privacy_noise(choice),
        )?;
        let mean = transposed_product(&cross, &with.solve(released)).column(0).into_owned();
        let latent =
            WeightedNormals { weight, mean, variance: self.posterior_variances(choice, &with.lower_solve(&cross)) };
        let without_noise = self.posterior_variances(choice, &without.lower_solve(&cross));
        Ok(AveragedMixtureMember { latent, without_noise, noise: choice.noise })
    }

    /// The prior variances without the squared columns.
    fn posterior_variances(&self, choice: HyperparameterChoice, half: &DMatrix<f64>) -> DVector<f64> {
        let priors = self.variances.iter().map(|variance| variance * choice.variance);
        let left = priors.zip(half.column_iter());
        let left = left.map(|(prior, column)| (prior - column.norm_squared()).max(LEAST_VARIANCE * prior));
        DVector::from_iterator(self.variances.len(), left)
    }
}

/// The posterior for one choice.
struct AveragedMixtureMember {
    latent: WeightedNormals,
    without_noise: DVector<f64>,
    noise: f64,
}

impl AveragedMixtureMember {
    fn target_distribution(&self) -> WeightedNormals {
        let WeightedNormals { weight, mean, variance } = self.latent.clone();
        WeightedNormals { weight, mean, variance: variance.add_scalar(self.noise) }
    }
}

impl ProjectedCovariances {
    /// Of distinct inputs (k x d), with W times the rows of each (r x k).
    fn new(kernel: &dyn Kernel, inputs: &DMatrix<f64>, weighted: &DMatrix<f64>, test: &DMatrix<f64>) -> Self {
        let mut seen = DMatrix::zeros(weighted.nrows(), inputs.nrows());
        for start in (0..inputs.nrows()).step_by(BLOCK) {
            let length = BLOCK.min(inputs.nrows() - start);
            let block = kernel.matrix(inputs, &inputs.rows(start, length).into_owned());
            seen.columns_mut(start, length).copy_from(&product(weighted, &block));
        }
        let shared = product(&seen, &weighted.transpose());
        Self { shared: (&shared + shared.transpose()) * 0.5, cross: product(weighted, &kernel.matrix(inputs, test)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;

    const NOISE: f64 = 0.3;
    const SD: f64 = 0.4;

    struct Example {
        training: DMatrix<f64>,
        test: DMatrix<f64>,
        weights: DMatrix<f64>,
        released: DVector<f64>,
    }

    /// Six rows, two of them with equal inputs, three combinations and two points.
    fn example() -> Example {
        Example {
            training: DMatrix::from_column_slice(6, 1, &[0.0, 0.5, 0.5, 1.0, 2.0, 3.5]),
            test: DMatrix::from_column_slice(2, 1, &[0.7, 5.0]),
            weights: DMatrix::from_fn(3, 5, |i, j| ((2 * i + 3 * j) as f64).sin() * 0.5),
            released: DVector::from_column_slice(&[0.8, -0.3, 0.5]),
        }
    }

    fn posterior(example: &Example) -> ModelAveragedPosterior {
        let kernel = toml::from_str("eq = { variance = 1.5, lengthscale = 1.0 }").unwrap();
        let map = PredictionMap::without_test_inputs(&example.training);
        let combinations =
            TargetCombinationDesign { training: &example.training, map: &map, weights: &example.weights, noise_sd: SD };
        ModelAveragedPosterior::new(&kernel, NOISE, &combinations, &example.test).unwrap()
    }

    /// Row by row, by the density of the joint normal of r and f, without grouping: every choice is weighed by
    /// `|S|^-1/2 exp(-r' S^-1 r / 2)`.
    #[test]
    fn it_is_the_mixture_row_by_row() {
        let example = example();
        let rows = example.weights.select_columns(&[0, 1, 1, 2, 3, 4]);
        let (mut total, mut mean, mut second) = (0.0, DVector::<f64>::zeros(2), DVector::<f64>::zeros(2));
        for stretch in LENGTHSCALES {
            let kernel = ExponentiatedQuadratic::isotropic(1.5, stretch);
            for variance in VARIANCES {
                for noise in NOISES {
                    let y = kernel.matrix(&example.training, &example.training) * variance
                        + DMatrix::identity(6, 6) * (noise * NOISE);
                    let s = &rows * y * rows.transpose() + DMatrix::identity(3, 3) * (SD * SD);
                    let inverse = s.clone().try_inverse().unwrap();
                    let square = (example.released.transpose() * &inverse * &example.released)[0];
                    let weight = (-0.5 * square).exp() / s.determinant().sqrt();
                    let cross = &rows * kernel.matrix(&example.training, &example.test) * variance;
                    let means = cross.transpose() * &inverse * &example.released;
                    let explained = cross.transpose() * &inverse * &cross;
                    total += weight;
                    for point in 0..2 {
                        mean[point] += weight * means[point];
                        let variance = 1.5 * variance - explained[(point, point)];
                        second[point] += weight * (variance + means[point] * means[point]);
                    }
                }
            }
        }
        let found = posterior(&example).predict(&example.released).unwrap();
        let (means, variances): (DVector<f64>, DVector<f64>) = (found.latent.mean(), found.latent.variance());
        for point in 0..2 {
            let expected: f64 = mean[point] / total;
            // Choices of little weight are left out.
            assert!((means[point] - expected).abs() < 1e-3, "{} {expected}", means[point]);
            let variance = second[point] / total - expected * expected;
            assert!((variances[point] / variance - 1.0).abs() < 1e-2, "{} {variance}", variances[point]);
            assert!(found.without_noise[point] < variances[point]);
            assert!(found.targets.variance()[point] > variances[point]);
        }
    }

    /// A release that varies like the prior at another lengthscale is told apart: the weight moves to it.
    #[test]
    fn the_release_finds_the_lengthscale() {
        let training = DMatrix::from_fn(40, 1, |i, _| 0.25 * i as f64);
        let map = PredictionMap::without_test_inputs(&training);
        let weights = DMatrix::identity(40, 40);
        let combinations =
            TargetCombinationDesign { training: &training, map: &map, weights: &weights, noise_sd: 0.05 };
        let test = DMatrix::from_column_slice(1, 1, &[5.125]);
        for (wave, lengthscale) in [(0.35, 1.0), (2.5, 4.0)] {
            let released = DVector::from_fn(40, |i, _| (wave * 0.25 * i as f64).sin());
            let kernel = toml::from_str(&format!("eq = {{ variance = 1.0, lengthscale = {lengthscale} }}")).unwrap();
            let averaged = ModelAveragedPosterior::new(&kernel, 0.01, &combinations, &test).unwrap();
            let found = averaged.predict(&released).unwrap().latent.mean()[0];
            assert!((found - (wave * 5.125f64).sin()).abs() < 0.1, "{wave} {found}");
        }
    }

    #[test]
    fn other_kernels_have_none() {
        let linear = toml::from_str("linear = { variance = 0.4 }").unwrap();
        assert!(lengthscale_averaged_kernel(&linear, 1).is_none());
    }
}
