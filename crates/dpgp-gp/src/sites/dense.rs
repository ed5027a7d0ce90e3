//! The mixture of a small problem by dense matrices, directly from the formulas of this module.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::{
    FeatureSums, HyperparameterGrid, InputPosterior, KernelWithLogPrior, NoisyFeatureSums, SiteCountPosterior,
    SiteFeatures, ValueWithLogPrior, fit_site_mixture,
};
use crate::kernel::{ExponentiatedQuadratic, Kernel};

const VARIANCE: f64 = 0.7;
const BIAS: f64 = 0.25;
const ROWS: usize = 10;
/// Noise variances of targets, and their log densities a priori.
const NOISES: [ValueWithLogPrior; 2] =
    [ValueWithLogPrior { value: 0.2, log_prior: 0.0 }, ValueWithLogPrior { value: 0.5, log_prior: -0.2 }];
/// The log densities of lengthscale and variance together.
const LOG_PRIOR: f64 = -0.2;

fn example_correlations() -> ExponentiatedQuadratic {
    ExponentiatedQuadratic::isotropic(1.0, 0.4)
}

pub(super) fn example_site_features() -> SiteFeatures {
    SiteFeatures {
        sites: DMatrix::from_column_slice(3, 1, &[0.2, 0.5, 0.8]),
        shares: DVector::from_element(3, 1.0 / 3.0),
        weighted: DMatrix::from_row_slice(3, 2, &[1.0, 0.5, 1.0, -0.2, 1.0, 0.9]),
        plain: DMatrix::from_element(3, 1, 1.0),
        between: None,
        gram: None,
    }
}

pub(super) fn example_site_counts() -> SiteCountPosterior {
    let covariance = DMatrix::from_row_slice(3, 3, &[0.5, -0.2, -0.3, -0.2, 0.3, -0.1, -0.3, -0.1, 0.4]);
    SiteCountPosterior {
        mean: DVector::from_column_slice(&[4.0, 1.0, 5.0]),
        unresolved: 0.5 * &covariance,
        covariance,
        concentration: 1.0,
        clumping: 0.0,
    }
}

pub(super) fn example_noisy_sums() -> NoisyFeatureSums {
    let sums = FeatureSums {
        rows: ROWS,
        weighted: DVector::from_column_slice(&[3.0, -1.0]),
        plain: DVector::from_element(1, 10.0),
        squares: 7.0,
    };
    let weighted = DVector::from_column_slice(&[0.4, 0.9]);
    NoisyFeatureSums { sums, weighted, plain: DVector::from_element(1, 1.0), squares: 0.6, rows: 0.0 }
}

fn grid() -> HyperparameterGrid {
    HyperparameterGrid {
        kernels: vec![KernelWithLogPrior { correlations: Arc::new(example_correlations()), log_prior: -0.3 }],
        variances: vec![ValueWithLogPrior { value: VARIANCE, log_prior: 0.1 }],
        noises: NOISES.to_vec(),
        steps: 1,
        bias: BIAS,
        first: VARIANCE,
    }
}

/// All that is the same for both noise variances.
struct DenseMixture {
    phi: DMatrix<f64>,
    counts: SiteCountPosterior,
    /// C.
    correlations: DMatrix<f64>,
    /// `K = variance C + bias 1 1'`.
    prior: DMatrix<f64>,
    /// `L = Phi' diag(p)`.
    map: DMatrix<f64>,
}

/// One noise variance.
struct DenseMember {
    noise: f64,
    /// `Q^-1`.
    inverse: DMatrix<f64>,
    /// The log density of b, q and the choice, but for constants.
    log_evidence: f64,
    /// `E[f f']` at the sites.
    second: DMatrix<f64>,
}

impl DenseMixture {
    fn new() -> Self {
        let (features, counts) = (example_site_features(), example_site_counts());
        let correlations = example_correlations().matrix(&features.sites, &features.sites);
        let prior = correlations.map(|c| VARIANCE * c + BIAS);
        let map = features.weighted.transpose() * DMatrix::from_diagonal(&counts.mean);
        Self { phi: features.weighted, counts, correlations, prior, map }
    }

    /// `Phi' (V o M) Phi`.
    fn error(&self, covariance: &DMatrix<f64>, second: &DMatrix<f64>) -> DMatrix<f64> {
        self.phi.transpose() * covariance.component_mul(second) * &self.phi
    }

    /// The covariance of b without the noise on it and without the error of the counts.
    fn of_sums(&self, noise: f64) -> DMatrix<f64> {
        &self.map * &self.prior * self.map.transpose() + noise * &self.map * &self.phi
    }

    fn member(
        &self,
        ValueWithLogPrior { value: noise, log_prior }: ValueWithLogPrior,
        second: &DMatrix<f64>,
    ) -> DenseMember {
        let (released, n) = (example_noisy_sums(), ROWS as f64);
        let b = &released.sums.weighted;
        let covariance = self.of_sums(noise)
            + self.error(&self.counts.covariance, second)
            + DMatrix::from_diagonal(&released.weighted);
        let inverse = covariance.clone().try_inverse().unwrap();
        let gain = &self.prior * self.map.transpose() * &inverse;
        let mean = &gain * b;
        let left = &self.prior - &gain * &self.map * &self.prior;
        let p = DMatrix::from_diagonal(&self.counts.mean);
        // The moments of `f' diag(p) f`, the part of fourth order by the correlations a priori.
        let weighed = &p * &mean;
        let spread = (&p * &left).trace();
        let energy = mean.dot(&weighed) + spread;
        let squared = self.correlations.component_mul(&self.correlations);
        let square = self.counts.mean.dot(&(squared * &self.counts.mean)) / (n * n);
        let squares = mean.component_mul(&mean);
        let unknown = released.squares
            + 4.0 * weighed.dot(&(&left * &weighed))
            + 2.0 * spread * spread * square
            + squares.dot(&(&self.counts.covariance * &squares));
        let variance = unknown + 2.0 * n * noise * noise + 4.0 * noise * energy;
        let residual = released.sums.squares - energy - n * noise;
        let of_sums = LOG_PRIOR + log_prior - 0.5 * b.dot(&(&inverse * b)) - 0.5 * covariance.determinant().ln();
        let log_evidence = of_sums - 0.5 * residual * residual / variance - 0.5 * variance.ln();
        DenseMember { noise, inverse, log_evidence, second: left + &mean * mean.transpose() }
    }

    fn members(&self, second: &DMatrix<f64>) -> [DenseMember; 2] {
        NOISES.map(|noise| self.member(noise, second))
    }

    /// The covariance of b with f at some inputs (m x t).
    fn with(&self, inputs: &DMatrix<f64>) -> DMatrix<f64> {
        &self.map * example_correlations().matrix(&example_site_features().sites, inputs).map(|c| VARIANCE * c + BIAS)
    }
}

fn weights(members: &[DenseMember; 2]) -> [f64; 2] {
    let shares = [0, 1].map(|i| (members[i].log_evidence - members[0].log_evidence).exp());
    shares.map(|share| share / (shares[0] + shares[1]))
}

fn second_of(members: &[DenseMember; 2]) -> DMatrix<f64> {
    let [one, other] = weights(members);
    &members[0].second * one + &members[1].second * other
}

fn assert_close(found: &[f64], expected: &[f64], what: &str) {
    let apart = found.iter().zip(expected).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(found.len() == expected.len() && apart < 1e-10, "{what}: {found:?} {expected:?}");
}

#[test]
fn the_mixture_is_that_of_its_formulas() {
    let dense = DenseMixture::new();
    let mut second = dense.prior.clone();
    let mut members = dense.members(&second);
    for _ in 0..2 {
        second = second_of(&members);
        members = dense.members(&second);
    }
    let found = fit_site_mixture(
        &example_site_features(),
        &example_noisy_sums(),
        &InputPosterior::Counts(example_site_counts()),
        &grid(),
    )
    .unwrap();
    let expected = weights(&members);
    assert!(expected.iter().all(|weight| *weight > 0.05), "both count: {expected:?}");
    assert_close(found.hyperparameter_weights(), &expected, "weights");
    assert_close(&found.log_evidences(), &[0, 1].map(|i| members[i].log_evidence), "evidences");

    let inputs = DMatrix::from_column_slice(3, 1, &[0.1, 0.5, 0.95]);
    let (cross, b) = (dense.with(&inputs), example_noisy_sums().sums.weighted);
    let unresolved = dense.error(&dense.counts.unresolved, &second);
    let (mut means, mut without, mut squares) = (vec![0.0; 3], vec![0.0; 3], vec![0.0; 3]);
    for (member, weight) in members.iter().zip(expected) {
        let exact = (dense.of_sums(member.noise) + &unresolved).try_inverse().unwrap();
        for (t, column) in cross.column_iter().enumerate() {
            let mean = column.dot(&(&member.inverse * &b));
            let variance = VARIANCE + BIAS - column.dot(&(&member.inverse * column));
            means[t] += weight * mean;
            squares[t] += weight * (variance + mean * mean);
            without[t] += weight * (VARIANCE + BIAS - column.dot(&(&exact * column)));
        }
    }
    assert_close(found.means(&inputs).as_slice(), &means, "means");
    assert_close(found.variance_under_noiseless_sums(&inputs).unwrap().as_slice(), &without, "variances without noise");
    let variances: Vec<f64> = squares.iter().zip(&means).map(|(square, mean)| square - mean * mean).collect();
    let predicted = found.predict(&inputs);
    assert_eq!(
        predicted,
        found.predict_from_kernel_matrices(&grid().kernel_matrices(&example_site_features().sites, &inputs))
    );
    assert_close(predicted.function.mean().as_slice(), &means, "predicted means");
    assert_close(predicted.function.variance().as_slice(), &variances, "predicted variances");
    let noise = expected[0] * NOISES[0].value + expected[1] * NOISES[1].value;
    let observed: Vec<f64> = variances.iter().map(|variance| variance + noise).collect();
    assert_close(predicted.targets.variance().as_slice(), &observed, "variances of targets");
}
