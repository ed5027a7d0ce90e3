//! The process of an additive kernel, seen through weights of waves.

use std::sync::Arc;

use dpgp::gp::sites::{
    FeatureSums, HyperparameterGrid, InputPosterior, KernelWithLogPrior, NoisyFeatureSums, SiteProcessPosterior,
    ValueWithLogPrior, fit_site_mixture,
};
use dpgp::kernel::{BoxKernel, KernelSetting};
use dpgp::privacy::{Frequencies, FrequencyPairTable};
use nalgebra::{Cholesky, DMatrix, DVector};

const PERIOD: f64 = 1.6;
const BIAS: f64 = 0.25;
const NOISE: f64 = 0.05;

/// Functions of the first, the third and the last of five inputs, and one of the first two together.
fn kernel() -> BoxKernel {
    let text = "additive = { lengthscales = [0.6], variances = [0.2, 0.0, 0.3, 0.0, 0.1], pairs = [{ inputs = [0, 1], variance = 0.2 }] }";
    let setting: KernelSetting = toml::from_str(text).unwrap();
    BoxKernel::new(&setting, vec![1.0; 5]).unwrap()
}

/// Inputs that depend on each other, as those of the real world do.
fn inputs(rows: usize, seed: usize) -> DMatrix<f64> {
    DMatrix::from_fn(rows, 5, |row, input| {
        let own = (0.754_877 * (row * (input + 1) + seed) as f64).fract();
        let shared = (0.569_84 * (row + seed) as f64).fract();
        if input < 2 { 0.6 * shared + 0.4 * own } else { own }
    })
}

/// Every frequency that the kernel has a share in.
fn frequencies() -> Frequencies {
    let mut vectors = vec![vec![0; 5]];
    for turn in 1..=3 {
        for input in [0, 1, 2, 4] {
            vectors.push((0..5).map(|l| if l == input { turn } else { 0 }).collect());
        }
    }
    for one in 1..=2 {
        for other in [-2, -1, 1, 2] {
            vectors.push(vec![one, other, 0, 0, 0]);
        }
    }
    Frequencies::from_vectors(vectors)
}

/// A release of sums over rows, with noise of these variances said to be on them, and none on the sums themselves.
fn mixture(rows: &DMatrix<f64>, targets: &[f64], on_weighted: f64, on_plain: f64) -> SiteProcessPosterior {
    let frequencies = frequencies();
    let pairs = FrequencyPairTable::new(&frequencies).frequencies;
    let sums = FeatureSums::new(&frequencies.features(rows, PERIOD), &pairs.features(rows, PERIOD), targets);
    let released = NoisyFeatureSums {
        weighted: DVector::from_element(sums.weighted.len(), on_weighted),
        plain: DVector::from_element(sums.plain.len(), on_plain),
        squares: 1.0,
        rows: 0.0,
        sums,
    };
    let features = frequencies.site_features(&pairs, PERIOD, true);
    let seen = InputPosterior::new(&features, &released).unwrap();
    assert!(matches!(seen, InputPosterior::Gram(_)));
    let variance = kernel().variance();
    let graded = |value| vec![ValueWithLogPrior { value, log_prior: 0.0 }];
    let grid = HyperparameterGrid {
        kernels: vec![KernelWithLogPrior { correlations: Arc::from(kernel().correlation_kernel(1.0)), log_prior: 0.0 }],
        variances: graded(variance),
        noises: graded(NOISE),
        steps: 1,
        bias: BIAS,
        first: variance,
    };
    fit_site_mixture(&features, &released, &seen, &grid).unwrap()
}

fn targets(rows: &DMatrix<f64>) -> Vec<f64> {
    rows.row_iter().map(|x| (3.0 * x[0]).sin() - x[2] * x[2] + 0.5 * x[0] * x[1] + 0.2 * (9.0 * x[4]).cos()).collect()
}

/// Sums `b = Phi' y` of known rows with noise D: the conditional Gaussian distribution of f, by the kernel between the rows themselves.
#[test]
fn with_known_inputs_it_is_the_conditional_process() {
    let (rows, at) = (inputs(200, 1), inputs(25, 1000));
    let targets = targets(&rows);
    for on_weighted in [1e-2, 4.0, 100.0] {
        let found = mixture(&rows, &targets, on_weighted, 1e-9).predict(&at).targets;
        let scaled = kernel().correlation_kernel(1.0);
        let covariance =
            |a: &DMatrix<f64>, b: &DMatrix<f64>| (scaled.matrix(a, b) * kernel().variance()).add_scalar(BIAS);
        let phi = frequencies().features(&rows, PERIOD);
        let (size, noise) = (phi.ncols(), DMatrix::identity(200, 200) * NOISE);
        let of_sums =
            phi.transpose() * (covariance(&rows, &rows) + noise) * &phi + DMatrix::identity(size, size) * on_weighted;
        let cross = phi.transpose() * covariance(&rows, &at);
        let factor = Cholesky::new(of_sums).unwrap();
        let mean = cross.transpose() * factor.solve(&(phi.transpose() * DVector::from_column_slice(&targets)));
        let explained = cross.component_mul(&factor.solve(&cross)).row_sum_tr();
        let variance = explained.map(|explained| kernel().variance() + BIAS - explained + NOISE);
        assert!((found.mean() - mean).amax() < 0.03, "{on_weighted}: {}", found.mean());
        // An error of 2 % of the standard deviation.
        let ratio = found.variance().component_div(&variance);
        assert!(ratio.min() > 0.96 && ratio.max() < 1.04, "{on_weighted}: {ratio}");
    }
}

/// Noise on plain sums alone widens intervals, up to the prior.
#[test]
fn what_is_not_known_of_the_inputs_widens_intervals() {
    let (rows, at) = (inputs(200, 1), inputs(25, 1000));
    let targets = targets(&rows);
    let widths = [1e-9, 1e2, 1e4, 1e8]
        .map(|on_plain| mixture(&rows, &targets, 1.0, on_plain).predict(&at).targets.variance().mean());
    assert!(widths.windows(2).all(|pair| pair[0] < pair[1] + 1e-9), "{widths:?}");
    assert!(widths[2] - NOISE > 3.0 * (widths[0] - NOISE), "{widths:?}");
    let drowned = mixture(&rows, &targets, 1e12, 1e12).predict(&at).targets;
    assert!(
        drowned.mean().amax() < 1e-3
            && (drowned.variance().add_scalar(-kernel().variance() - BIAS - NOISE)).amax() < 1e-3
    );
}

/// Means alone are those of predictions, and without noise on the sums nothing is wider than with it.
#[test]
fn parts_of_predictions_agree() {
    let (rows, at) = (inputs(200, 1), inputs(25, 1000));
    let mixture = mixture(&rows, &targets(&rows), 4.0, 9.0);
    let found = mixture.predict(&at).function;
    assert!((mixture.means(&at) - found.mean()).amax() < 1e-9);
    let without = mixture.variance_under_noiseless_sums(&at).unwrap();
    assert!((without - found.variance()).max() < 0.0);
}
