//! The hot paths whose instructions `scripts/instruction-counts` counts: `hot_paths NAME` runs one of them once.
#![allow(clippy::unwrap_used, reason = "a measurement fails by panicking")]

use std::hint::black_box;

use dpgp::gp::variational::draw_from_prior;
use dpgp::gp::{exact_prediction_map, exact_target_sum_covariances};
use dpgp::kernel::{BinKernel, BinObservation, Bins, ExponentiatedQuadratic};
use dpgp::number::Positive;
use dpgp::privacy::accounting::{Accountant, LossDistributionAccountant, NeighbourRelation, PrivacyEvent, Sampling};
use dpgp::privacy::{
    CloakingOptions, DroppedDirectionRule, Objective, PredictionRiskProblem, RoundedGaussian, Solver,
    design_cloaking_noise, design_minimum_risk_prediction,
};
use dpgp::stream;
use nalgebra::DMatrix;
use rand::SeedableRng;
use rand_pcg::Pcg64;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("cloaking") => cloaking(),
        Some("kernel-and-cholesky") => kernel_and_cholesky(),
        Some("sufficient-statistics") => sufficient_statistics(),
        Some("loss-distribution") => loss_distribution(),
        Some("smooth-regression") => smooth_regression(),
        Some("least-risk") => least_risk(),
        Some("bin-covariances") => bin_covariances(),
        Some("rounded-noise") => rounded_noise(),
        Some("draw-from-prior") => draw_of_many_values(),
        _ => panic!("hot_paths NAME, by the names in benches/instructions.toml"),
    }
}

fn points(count: usize, dimensions: usize) -> DMatrix<f64> {
    DMatrix::from_fn(count, dimensions, |i, d| 10.0 * (0.618_033_988_7 * (i + 1) as f64 * (d + 1) as f64).fract())
}

/// Both objectives, without the map that they are for.
fn cloaking() {
    let columns = DMatrix::from_fn(30, 150, |i, j| (0.3 * ((i * i + 1) * j) as f64 + i as f64).sin());
    for objective in [Objective::LogDet, Objective::Trace] {
        let (solver, release) = (Solver::InteriorPoint, DroppedDirectionRule::Projection);
        let options = CloakingOptions { objective, rank_tolerance: 1e-8, solver, release };
        black_box(design_cloaking_noise(&columns, &[1; 150], &options).unwrap());
    }
}

fn kernel_and_cholesky() {
    let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
    black_box(exact_prediction_map(&kernel, 0.25, &points(400, 2), &points(40, 2)).unwrap());
}

/// By the low rank of the covariances.
fn smooth_regression() {
    let kernel = ExponentiatedQuadratic::isotropic(1.0, 4.0);
    black_box(exact_prediction_map(&kernel, 0.25, &points(600, 2), &points(40, 2)).unwrap());
}

fn least_risk() {
    let kernel = ExponentiatedQuadratic::isotropic(1.0, 2.0);
    let (inputs, test) = (points(120, 2), points(20, 2));
    let map = exact_prediction_map(&kernel, 0.25, &inputs, &test).unwrap();
    let problem =
        PredictionRiskProblem::with_equal_weights(exact_target_sum_covariances(&kernel, 0.25, &inputs, &test, &map));
    black_box(design_minimum_risk_prediction(&problem, 4.0).unwrap());
}

fn bin_covariances() {
    let side = (0.0, 1.0, 5);
    let kernel = BinKernel { variance: 1.0, lengthscales: vec![0.5; 4], observed: BinObservation::Average };
    black_box(kernel.matrix(&Bins::grid(&[side; 4])));
}

fn rounded_noise() {
    let law = RoundedGaussian::new(Positive::new(1000.0).unwrap()).unwrap();
    black_box(law.add_noise(&[0; 2000], &mut Pcg64::seed_from_u64(1)));
}

/// At so many inputs that most of them are not among those where pivots are looked for.
fn draw_of_many_values() {
    let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
    black_box(draw_from_prior(&kernel, &points(20_000, 1), &mut Pcg64::seed_from_u64(1)));
}

fn sufficient_statistics() {
    let x = points(8000, 2);
    let targets: Vec<i64> = (0..8000).map(|i| (f64::from(i).sin() * 1e12) as i64).collect();
    let columns: Vec<&[f64]> = x.as_slice().chunks_exact(8000).collect();
    let kernel = stream::QuantizedKernel::new(1.0, &[1.0, 1.0], &points(64, 2), 8.0);
    let mut sums = stream::KernelSums::zero(64);
    kernel.add_rows_to_sums(&columns, &targets, &mut sums, &mut stream::SumScratch::default());
    black_box(sums);
}

fn loss_distribution() {
    let event = PrivacyEvent { noise_multiplier: 2.0, sampling: Sampling::Poisson { rate: 0.02 }, steps: 100 };
    black_box(LossDistributionAccountant::default().epsilon(&event, NeighbourRelation::AddRemove, 1e-5).unwrap());
}
