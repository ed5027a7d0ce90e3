//! The hot paths whose instructions `scripts/instruction-counts` counts: `hot_paths NAME` runs one of them once.
#![allow(clippy::unwrap_used, reason = "a measurement fails by panicking")]

use std::hint::black_box;

use dpgp::gp::exact;
use dpgp::kernel::ExponentiatedQuadratic;
use dpgp::privacy::accounting::{Accountant, Event, LossDistribution, Relation, Sampling};
use dpgp::privacy::{CloakingOptions, Objective, ReleaseRecipe, Solver, cloak};
use dpgp::stream;
use nalgebra::DMatrix;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("cloaking") => cloaking(),
        Some("kernel-and-cholesky") => kernel_and_cholesky(),
        Some("sufficient-statistics") => sufficient_statistics(),
        Some("loss-distribution") => loss_distribution(),
        _ => panic!("hot_paths cloaking | kernel-and-cholesky | sufficient-statistics | loss-distribution"),
    }
}

fn points(count: usize, dimensions: usize) -> DMatrix<f64> {
    DMatrix::from_fn(count, dimensions, |i, d| {
        10.0 * (0.618_033_988_7 * (i + 1) as f64 * (d + 1) as f64).fract()
    })
}

/// Both objectives, without the map that they are for.
fn cloaking() {
    let columns = DMatrix::from_fn(30, 150, |i, j| (0.3 * ((i * i + 1) * j) as f64 + i as f64).sin());
    for objective in [Objective::LogDet, Objective::Trace] {
        let (solver, release) = (Solver::InteriorPoint, ReleaseRecipe::Projection);
        let options = CloakingOptions { objective, rank_tolerance: 1e-8, solver, release };
        black_box(cloak(&columns, &[1; 150], &options).unwrap());
    }
}

fn kernel_and_cholesky() {
    let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
    black_box(exact(&kernel, 0.25, &points(400, 2), &points(40, 2)).unwrap());
}

fn sufficient_statistics() {
    let x = points(8000, 2);
    let targets: Vec<i64> = (0..8000).map(|i| (f64::from(i).sin() * 1e12) as i64).collect();
    let columns: Vec<&[f64]> = x.as_slice().chunks_exact(8000).collect();
    let kernel = stream::PackedKernel::new(1.0, &[1.0, 1.0], &points(64, 2), 8.0);
    let mut sums = stream::Sums::zero(64);
    kernel.add(&columns, &targets, &mut sums, &mut stream::Scratch::default());
    black_box(sums);
}

fn loss_distribution() {
    let event = Event { noise_multiplier: 2.0, sampling: Sampling::Poisson { rate: 0.02 }, steps: 100 };
    black_box(LossDistribution::default().epsilon(&event, Relation::AddRemove, 1e-5).unwrap());
}
