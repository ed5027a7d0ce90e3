//! Tests of laws that hold for all models and guides.

use nalgebra::DMatrix;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::*;

fn inputs(rows: usize) -> DMatrix<f64> {
    DMatrix::from_fn(rows, 2, |i, j| ((3 * i + 5 * j) % 7) as f64 / 3.0 - 1.0)
}

fn models() -> Vec<Box<dyn BayesianModel>> {
    let classes: Vec<bool> = (0..9).map(|i| i % 3 != 1).collect();
    let targets: Vec<f64> = (0..9).map(|i| f64::from(i) * 0.3 - 1.0).collect();
    vec![
        Box::new(BayesianLogisticModel::new(&inputs(9), &classes, 1.5)),
        Box::new(BayesianLinearModel::new(&inputs(9), &targets, 2.0)),
    ]
}

/// Central differences of a function.
fn differences(at: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let step = 1e-5;
    let slopes = (0..at.len()).map(|i| {
        let [mut above, mut below] = [at.to_vec(), at.to_vec()];
        (above[i], below[i]) = (at[i] + step, at[i] - step);
        (f(&above) - f(&below)) / (2.0 * step)
    });
    slopes.collect()
}

fn assert_close(a: &[f64], b: &[f64]) {
    let close = a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-7 * (1.0 + a.abs()));
    assert!(close && a.len() == b.len(), "{a:?} is not {b:?}");
}

#[test]
fn gradients_are_those_of_the_densities() {
    let mut random = Pcg64::seed_from_u64(1);
    for model in models() {
        let d = model.dimension();
        for _ in 0..5 {
            let z: Vec<f64> = (0..d).map(|_| random.random_range(-2.0..2.0)).collect();
            let mut gradient = vec![0.0; d];
            model.log_prior(&z, &mut gradient);
            assert_close(&gradient, &differences(&z, |z| model.log_prior(z, &mut vec![0.0; d])));
            for row in 0..model.row_count() {
                model.write_likelihood_gradient(row, &z, &mut gradient);
                let expected = differences(&z, |z| model.log_likelihood(row, z));
                assert_close(&gradient, &expected);
            }
        }
    }
}

#[test]
fn guides_pull_gradients_back() {
    let n = vec![0.7, -1.1, 0.4];
    for family in [VariationalFamily::MeanField, VariationalFamily::FullRank] {
        let mut guide = VariationalGaussian::standard_normal(family, 3);
        guide.parameters.iter_mut().enumerate().for_each(|(i, p)| *p = 0.1 * i as f64 - 0.2);
        let draw = guide.transform_standard_normal(n.clone());
        let in_z: Vec<f64> = draw.z.iter().enumerate().map(|(i, z)| 2.0 * (i as f64 + 1.0) * (z - 0.3)).collect();
        let mut gradient = vec![0.0; guide.parameters.len()];
        draw.backpropagate_gradient(&in_z, 0.25, &mut gradient);
        let expected = differences(&guide.parameters, |parameters| {
            let mut moved = guide.clone();
            moved.parameters.copy_from_slice(parameters);
            let z = moved.transform_standard_normal(n.clone()).z;
            let loss: f64 = z.iter().enumerate().map(|(i, z)| (i as f64 + 1.0) * (z - 0.3).powi(2)).sum();
            loss + 0.25 * parameters[3..6].iter().sum::<f64>()
        });
        assert_close(&gradient, &expected);
    }
}

#[test]
fn the_mode_is_stationary() {
    for model in models() {
        let z = find_posterior_mode(model.as_ref(), 1e-9).unwrap();
        let mut gradient = vec![0.0; z.len()];
        model.log_joint(&z, &mut gradient);
        assert!(gradient.iter().all(|g| g.abs() <= 1e-9), "{gradient:?}");
    }
}

/// A Gaussian likelihood of known noise and a Gaussian prior have a Gaussian posterior, which the guides can reach.
struct Conjugate;

impl BayesianModel for Conjugate {
    fn dimension(&self) -> usize {
        2
    }

    fn row_count(&self) -> usize {
        40
    }

    fn log_likelihood(&self, row: usize, z: &[f64]) -> f64 {
        -0.5 * conjugate_residual(row, z).1.powi(2)
    }

    fn write_likelihood_gradient(&self, row: usize, z: &[f64], gradient: &mut [f64]) {
        let (x, residual) = conjugate_residual(row, z);
        gradient.copy_from_slice(&[residual * x[0], residual * x[1]]);
    }

    fn log_prior(&self, z: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.copy_from_slice(&[-z[0], -z[1]]);
        -0.5 * (z[0] * z[0] + z[1] * z[1])
    }
}

/// The inputs of a row and its residual.
fn conjugate_residual(row: usize, z: &[f64]) -> ([f64; 2], f64) {
    let x = [1.0, if row.is_multiple_of(2) { 1.0 } else { -0.2 }];
    (x, 0.8 * x[0] - 0.5 * x[1] - x[0] * z[0] - x[1] * z[1])
}

/// Streams that are seeded with 1, 2 and 3.
fn streams() -> FitRandomStreams {
    let [batches, draws, noise] = [1, 2, 3].map(Pcg64::seed_from_u64);
    FitRandomStreams { batches, draws, noise }
}

#[test]
fn full_rank_finds_a_gaussian_posterior_and_mean_field_its_precisions() {
    // Precision I + X'X with X'X = 20 [[2, .8], [.8, 1.04]].
    let precision = nalgebra::Matrix2::<f64>::new(41.0, 16.0, 16.0, 21.8);
    let covariance = precision.try_inverse().unwrap();
    let mean = covariance * nalgebra::Vector2::new(0.8 * 40.0 - 0.5 * 16.0, 0.8 * 16.0 - 0.5 * 20.8);
    for family in [VariationalFamily::MeanField, VariationalFamily::FullRank] {
        let sampling = BatchSampling::WithReplacement;
        let training = VariationalFitOptions {
            family,
            steps: 20_000,
            rate: 1.0,
            sampling,
            learning_rate: 0.002,
            clip: None,
            noise: 0.0,
        };
        let guide = fit_variational_posterior(&Conjugate, &training, &mut streams());
        let expected: Vec<f64> = (0..2)
            .map(|i| match family {
                VariationalFamily::MeanField => 1.0 / precision[(i, i)].sqrt(),
                VariationalFamily::FullRank => covariance[(i, i)].sqrt(),
            })
            .collect();
        for i in 0..2 {
            assert!((guide.mean()[i] - mean[i]).abs() < 0.03, "{family:?}: {:?} is not {mean}", guide.mean());
            let ratio = guide.standard_deviations()[i] / expected[i];
            assert!((ratio - 1.0).abs() < 0.12, "{family:?}: sd {i} is {ratio} of what it should be");
        }
    }
}

#[test]
fn batches_have_the_size_and_the_rows_that_they_should() {
    let mut stream = Pcg64::seed_from_u64(4);
    let mut batch = Vec::new();
    for _ in 0..20 {
        BatchSampling::WithReplacement.draw(50, 0.3, &mut stream, &mut batch);
        assert!(batch.len() == 15 && batch.iter().all(|&row| row < 50));
        BatchSampling::WithoutReplacement.draw(50, 0.3, &mut stream, &mut batch);
        let distinct: std::collections::BTreeSet<usize> = batch.iter().copied().collect();
        assert_eq!((batch.len(), distinct.len()), (15, 15));
    }
    let mut total = 0;
    for _ in 0..2000 {
        BatchSampling::Poisson.draw(50, 0.3, &mut stream, &mut batch);
        assert!(batch.windows(2).all(|pair| pair[0] < pair[1]));
        total += batch.len();
    }
    BatchSampling::Poisson.draw(50, 1.0, &mut stream, &mut batch);
    assert_eq!(batch.len(), 50);
    // The mean of 2000 binomial draws has a standard error of .07.
    assert!((total as f64 / 2000.0 - 15.0).abs() < 0.3, "{total}");
}

/// Clipping bounds what one row does to the sum, whatever the row.
#[test]
fn one_row_moves_the_sum_by_the_clip_at_most() {
    let training = VariationalFitOptions {
        family: VariationalFamily::MeanField,
        steps: 1,
        rate: 1.0,
        sampling: BatchSampling::WithReplacement,
        learning_rate: 1.0,
        clip: Some(0.01),
        noise: 0.0,
    };
    for label in [false, true] {
        let model = BayesianLogisticModel::new(&DMatrix::from_element(1, 2, 1e6), &[label], 1.0);
        let parameters = fit_variational_posterior(&model, &training, &mut streams()).parameters;
        // One step of AdaGrad with a small gradient g moves by g / sqrt(g^2 + .1).
        let gradient: Vec<f64> = parameters.iter().map(|p| p.abs() * (0.1 / (1.0 - p * p)).sqrt()).collect();
        let norm = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
        assert!(norm <= 0.01 * (1.0 + 1e-9) && norm > 0.0099, "{norm}");
    }
}
