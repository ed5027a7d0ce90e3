//! The hyperparameters that predictions are averaged over.

use std::sync::Arc;

use nalgebra::DMatrix;

use super::SiteReference;
use crate::kernel::Kernel;

/// A value with its log density a priori, up to a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Graded {
    /// The value.
    pub value: f64,
    /// Its log density.
    pub log_prior: f64,
}

/// Correlations of the process with the log density of their lengthscale.
#[derive(Clone)]
pub struct SiteKernel {
    /// A kernel of variance 1.
    pub correlations: Arc<dyn Kernel>,
    /// The log density of its lengthscale, up to a constant.
    pub log_prior: f64,
}

/// A grid of lengthscales, variances and noise variances, each with a public prior.
#[derive(Clone)]
pub struct HyperGrid {
    /// By lengthscale.
    pub kernels: Vec<SiteKernel>,
    /// Variances of the process about its mean.
    pub variances: Vec<Graded>,
    /// Variances of targets about the process; they rise.
    pub noises: Vec<Graded>,
    /// How finely noise variances from one of these to the next are told apart, an odd number: with 1 there are no others.
    pub steps: usize,
    /// The variance of the mean of the process.
    pub bias: f64,
    /// The variance that the error of the counts is first computed with.
    pub first: f64,
}

/// Lengthscales, over that of the reference.
const STRETCHES: [f64; 4] = [0.5, 1.0, 2.0, 4.0];
/// Variances of the process, over the square of the bound on targets.
const VARIANCES: [f64; 5] = [0.005, 0.02, 0.08, 0.3, 1.0];
/// Noise variances, over the same.
const NOISES: [f64; 8] = [0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32];
/// The steps from one noise variance to the next: 8 % each.
const STEPS_OF_NOISE: usize = 9;
/// Less noise is none.
const LEAST_NOISE: f64 = 1e-6;
/// Standard deviations of the logarithms a priori: nineteen in twenty lie within a factor of 2.7 for a lengthscale, 7 for a variance of the process,
/// and 2.7 for a noise variance. Where a release tells little, wider ones make intervals that hold more than they say whenever the reference
/// is near the truth; where it tells much, they do not matter. The price: with a reference whose noise standard deviation is half of the truth, and
/// so few rows that the sum of squares cannot tell, intervals of 90 % hold up to .09 less of the targets than under wide priors.
const SPREAD_OF_STRETCH: f64 = 0.5;
const SPREAD_OF_VARIANCE: f64 = 1.0;
const SPREAD_OF_NOISE: f64 = 0.5;

impl HyperGrid {
    /// The grid around a reference: lengthscales from a half to four times its own, variances from 0.005 to 1 and noise variances
    /// from 0.0025 (or half of the reference, if that is less) to 0.32 of the square of the bound, each log-normal around the
    /// reference.
    pub fn around(reference: &SiteReference) -> Self {
        let square = reference.bound * reference.bound;
        let kernels = STRETCHES.iter().map(|stretch| SiteKernel {
            correlations: Arc::from(reference.kernel.correlations(*stretch)),
            log_prior: log_normal(*stretch, SPREAD_OF_STRETCH),
        });
        Self {
            kernels: kernels.collect(),
            variances: graded(&VARIANCES, square, reference.kernel.variance(), SPREAD_OF_VARIANCE),
            noises: graded(
                &noises_down_to(reference.noise_variance / square),
                square,
                reference.noise_variance,
                SPREAD_OF_NOISE,
            ),
            steps: STEPS_OF_NOISE,
            bias: reference.bias,
            first: reference.kernel.variance(),
        }
    }

    /// `k(sites, inputs)` of each kernel, without its variance, for sites (G x d) and inputs (t x d): G x t numbers each. Releases with the
    /// same sites share them.
    pub fn matrices(&self, sites: &DMatrix<f64>, inputs: &DMatrix<f64>) -> Vec<DMatrix<f64>> {
        self.kernels.iter().map(|kernel| kernel.correlations.matrix(sites, inputs)).collect()
    }
}

/// The noise variances, with as many halves of the least as it takes to go below half of a reference.
fn noises_down_to(reference: f64) -> Vec<f64> {
    let mut noises = NOISES.to_vec();
    while noises[0] > LEAST_NOISE.max(0.5 * reference) {
        noises.insert(0, 0.5 * noises[0]);
    }
    noises
}

/// Multiples of a unit, log-normal around a centre.
fn graded(multiples: &[f64], unit: f64, centre: f64, spread: f64) -> Vec<Graded> {
    let values = multiples.iter().map(|multiple| multiple * unit);
    values.map(|value| Graded { value, log_prior: log_normal(value / centre, spread) }).collect()
}

/// `-(ln ratio)^2 / (2 spread^2)`, flat in the logarithm but for it.
fn log_normal(ratio: f64, spread: f64) -> f64 {
    -0.5 * (ratio.ln() / spread).powi(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_lies_within_the_noises() {
        for reference in [0.3, 0.0051, 0.004, 1e-4] {
            let noises = noises_down_to(reference);
            assert!(noises[0] <= 0.5 * reference && noises.windows(2).all(|pair| pair[1] == 2.0 * pair[0]));
        }
        assert_eq!(noises_down_to(0.01), NOISES);
        assert!(noises_down_to(1e-30)[0] >= 0.5 * LEAST_NOISE);
    }

    /// Twice the centre is `ln 2` away; of a spread of 1/2 that are `(2 ln 2)^2 / 2` nats.
    #[test]
    fn priors_are_normal_in_the_logarithm() {
        assert_eq!((log_normal(1.0, 0.5), log_normal(2.0, 0.5)), (0.0, -2.0 * 2f64.ln().powi(2)));
        let found = graded(&[0.5, 2.0], 4.0, 2.0, 1.0);
        assert_eq!(found[0], Graded { value: 2.0, log_prior: 0.0 });
        assert_eq!(found[1], Graded { value: 8.0, log_prior: -0.5 * 4f64.ln().powi(2) });
    }

    /// For targets within 2 variances and noises are multiples of 4.
    #[test]
    fn a_grid_lies_around_its_reference() {
        let kernel = toml::from_str("eq = { variance = 1.2, lengthscale = 0.5 }").unwrap();
        let reference = SiteReference {
            rows: 100,
            bound: 2.0,
            bias: 0.75,
            kernel: crate::kernel::BoxKernel::new(&kernel, vec![1.0]).unwrap(),
            noise_variance: 0.08,
            concentration: 1.0,
        };
        let grid = HyperGrid::around(&reference);
        assert_eq!((grid.kernels.len(), grid.bias, grid.first, grid.steps), (4, 0.75, 1.2, STEPS_OF_NOISE));
        assert_eq!(
            grid.variances.iter().map(|one| one.value).collect::<Vec<_>>(),
            VARIANCES.map(|v| 4.0 * v)
        );
        assert_eq!(grid.noises.iter().map(|one| one.value).collect::<Vec<_>>(), NOISES.map(|v| 4.0 * v));
        let reference_is_likeliest = grid.variances.iter().map(|one| one.log_prior).fold(f64::MIN, f64::max);
        assert_eq!(reference_is_likeliest, 0.0, "0.3 of 4 is the variance of the reference");
        // A lengthscale of a half, at a distance of 1: `exp(-1 / (2 (0.5 stretch)^2))`.
        for (kernel, stretch) in grid.kernels.iter().zip(STRETCHES) {
            let found = kernel.correlations.value(&[0.0], &[1.0]);
            assert!((found - (-2.0 / (stretch * stretch)).exp()).abs() < 1e-14, "{stretch}: {found}");
            assert_eq!(kernel.log_prior, log_normal(stretch, 0.5));
        }
    }
}
