//! The side of `speed.toml` that is ours: `peers WORK` runs a work of `works.py` twice, on the same inputs, and prints the
//! seconds of the second run and a number that shows that the work was done.
#![allow(clippy::unwrap_used, reason = "a measurement fails by panicking")]

use std::hint::black_box;
use std::time::Instant;

use dpgp::data::rows::InMemoryRows;
use dpgp::gp::{ExactRegression, exact_prediction_map};
use dpgp::kernel::ExponentiatedQuadratic;
use dpgp::linalg::{add_gram_lower, transposed_product};
use dpgp::number::Positive;
use dpgp::privacy::accounting::{
    Accountant, LossDistributionAccountant, NeighbourRelation, PrivacyEvent, RenyiAccountant, Sampling,
};
use dpgp::privacy::{CloakingOptions, DroppedDirectionRule, Objective, RoundedGaussian, Solver, design_cloaking_noise};
use dpgp::stream::{self, KernelSummand, TargetQuantizer, sum_blocks};
use nalgebra::DMatrix;
use rand::SeedableRng;

fn main() {
    let work = std::env::args().nth(1).unwrap();
    run(&work);
    let (seconds, value) = run(&work);
    println!("{}", serde_json::json!({ "seconds": seconds, "value": value }));
}

fn run(work: &str) -> (f64, f64) {
    let parts: Vec<&str> = work.split('-').collect();
    match parts[..] {
        ["cloak", n, wide, high] => design(n.parse().unwrap(), wide.parse().unwrap(), high.parse().unwrap()),
        ["sums", n] => sums(n.parse().unwrap()),
        ["gp", n] => regression(n.parse().unwrap(), 1.0),
        ["rough", n] => regression(n.parse().unwrap(), 0.1),
        ["pld", setting] => accountant(&LossDistributionAccountant::default(), setting),
        ["renyi", setting] => accountant(&RenyiAccountant, setting),
        ["noise", n] => noise(n.parse().unwrap()),
        ["product", n] => products(n.parse().unwrap()),
        ["gram", n] => outer_products(n.parse().unwrap()),
        _ => panic!("no such work: {work}"),
    }
}

/// Points that fill the square of side 10 evenly: multiples of the inverse plastic number and of its square, less
/// their integer parts.
fn points(count: usize) -> DMatrix<f64> {
    let steps = [0.754_877_666_246_692_8, 0.569_840_290_998_053_3];
    DMatrix::from_fn(count, 2, |i, d| 10.0 * (0.5 + steps[d] * (i + 1) as f64).fract())
}

fn grid(wide: usize, high: usize) -> DMatrix<f64> {
    let place = |at: usize, of: usize| 10.0 * at as f64 / (of - 1) as f64;
    DMatrix::from_fn(wide * high, 2, |i, d| if d == 0 { place(i / high, wide) } else { place(i % high, high) })
}

fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = Instant::now();
    let result = black_box(work());
    (start.elapsed().as_secs_f64(), result)
}

/// The log-det design for a map that is there; the value is `log det M` per direction.
fn design(n: usize, wide: usize, high: usize) -> (f64, f64) {
    let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
    let map = exact_prediction_map(&kernel, 0.25, &points(n), &grid(wide, high)).unwrap();
    let options = CloakingOptions {
        objective: Objective::LogDet,
        rank_tolerance: 1e-8,
        solver: Solver::InteriorPoint,
        release: DroppedDirectionRule::Projection,
    };
    let counts = map.targets_per_column();
    let (seconds, design) = timed(|| design_cloaking_noise(map.distinct_columns(), &counts, &options).unwrap());
    assert!(design.gap.unwrap() <= 1e-11);
    let logs = design.noise_factor().diagonal().map(|d| 2.0 * d.ln()).sum();
    (seconds, logs / design.rank as f64)
}

/// The sums A and B over n rows with 256 inducing inputs on a grid; the value is the sum of A and the trace of B, over n.
fn sums(n: usize) -> (f64, f64) {
    let x = points(n);
    let y: Vec<f64> = x.row_iter().map(|x| x[0].sin()).collect();
    let columns = x.as_slice().chunks_exact(n).chain(std::iter::once(y.as_slice())).collect();
    let targets = TargetQuantizer { low: -1.0, high: 1.0, centre: 0.0, scale: 1.0, bound: 1.0 };
    let kernel = stream::QuantizedKernel::new(1.0, &[1.0, 1.0], &grid(16, 16), 16.0);
    let summand = KernelSummand { kernel, targets, filters: Vec::new(), inputs: 2 };
    let threads = rayon::ThreadPoolBuilder::new().build().unwrap();
    let (seconds, part) =
        timed(|| sum_blocks(&mut InMemoryRows::new(columns), 0..u64::MAX, &summand, &threads).unwrap());
    let total = part.sums.statistics(summand.units());
    (seconds, (total.a.sum() + total.b.trace()) / n as f64)
}

/// Factorises at n points, predicts mean and variance at 500; the value is the sum of the means.
fn regression(n: usize, lengthscale: f64) -> (f64, f64) {
    let (training, test) = (points(n), grid(20, 25));
    let targets: Vec<f64> = training.row_iter().map(|x| x[0].sin() + (0.5 * x[1]).cos()).collect();
    let kernel = ExponentiatedQuadratic::isotropic(1.0, lengthscale);
    let (seconds, (mean, _)) =
        timed(|| ExactRegression::new(&kernel, 0.25, &training).unwrap().predict(&targets, &test));
    (seconds, mean.sum())
}

/// The epsilon of sub-sampled Gaussian steps.
fn accountant(accountant: &dyn Accountant, setting: &str) -> (f64, f64) {
    let (noise_multiplier, rate, steps, delta) = match setting {
        "1000" => (1.0, 0.01, 1000, 1e-5),
        _ => (0.6, 0.001, 10_000, 1e-7),
    };
    let event = PrivacyEvent { noise_multiplier, sampling: Sampling::Poisson { rate }, steps };
    let (seconds, epsilon) = timed(|| accountant.epsilon(&event, NeighbourRelation::AddRemove, delta));
    (seconds, epsilon.unwrap().upper)
}

/// Zeros with noise of standard deviation 1000; the value is that of what was drawn, over it.
fn noise(n: usize) -> (f64, f64) {
    let law = RoundedGaussian::new(Positive::new(1000.0).unwrap()).unwrap();
    let mut random = rand_pcg::Pcg64::seed_from_u64(1);
    let (seconds, drawn) = timed(|| law.add_noise(&vec![0; n], &mut random));
    let squares: f64 = drawn.iter().map(|number| (*number as f64).powi(2)).sum();
    (seconds, (squares / n as f64).sqrt() / 1000.0)
}

/// The value is the mean of the diagonal.
fn products(n: usize) -> (f64, f64) {
    let a = DMatrix::from_fn(n, n, |i, j| ((i + 3 * j) % 7) as f64);
    let (seconds, product) = timed(|| transposed_product(&a, &a));
    (seconds, product.trace() / n as f64)
}

/// The lower half of a product with the transpose; the value is the mean of the diagonal.
fn outer_products(n: usize) -> (f64, f64) {
    let a = DMatrix::from_fn(n, n, |i, j| ((i + 3 * j) % 7) as f64);
    let mut out = DMatrix::zeros(n, n);
    let (seconds, ()) = timed(|| add_gram_lower(&mut out, &a));
    (seconds, out.trace() / n as f64)
}
