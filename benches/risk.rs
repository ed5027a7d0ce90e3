//! Risk-optimal designs in two dimensions: inputs that fill the unit square, an exponentiated quadratic kernel, noise variance 0.1,
//! targets that change by at most 4, delta = 1e-5.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::hint::black_box;
use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use dpgp::gp::{CovarianceRepresentation, TargetSumCovariances};
use dpgp::linalg::pivoted_cholesky;
use dpgp::privacy::{PredictionRiskProblem, design_minimum_risk_prediction};
use nalgebra::DMatrix;

/// Noise multipliers of the analytic Gaussian mechanism at epsilon 0.1, 1 and 10.
const MULTIPLIERS: [f64; 3] = [30.749566131977, 3.730631634816, 0.499888619709];

struct Size {
    groups: usize,
    wide: usize,
    high: usize,
    lengthscale: f64,
}

const SIZES: [Size; 4] = [
    Size { groups: 83, wide: 10, high: 10, lengthscale: 0.3 },
    Size { groups: 300, wide: 10, high: 10, lengthscale: 0.3 },
    Size { groups: 1000, wide: 15, high: 15, lengthscale: 0.2 },
    Size { groups: 5000, wide: 20, high: 25, lengthscale: 0.2 },
];

/// Points that fill the unit square evenly.
fn inputs(count: usize) -> Vec<[f64; 2]> {
    let steps = [0.754_877_666_246_692_8, 0.569_840_290_998_053_3];
    (0..count).map(|i| steps.map(|step| (0.5 + step * (i + 1) as f64).fract())).collect()
}

fn grid(size: &Size) -> Vec<[f64; 2]> {
    let place = |at: usize, of: usize| at as f64 / (of - 1) as f64;
    (0..size.wide * size.high).map(|i| [place(i / size.high, size.wide), place(i % size.high, size.high)]).collect()
}

fn kernel(x: &[f64; 2], y: &[f64; 2], lengthscale: f64) -> f64 {
    let squared: f64 = x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum();
    (-0.5 * squared / lengthscale.powi(2)).exp()
}

fn problem(size: &Size) -> PredictionRiskProblem {
    let (inputs, points) = (inputs(size.groups), grid(size));
    let column = |j: usize, out: &mut [f64]| {
        out.iter_mut().zip(&inputs).for_each(|(k, x)| *k = kernel(x, &inputs[j], size.lengthscale));
    };
    PredictionRiskProblem::with_equal_weights(TargetSumCovariances {
        cross: DMatrix::from_fn(points.len(), inputs.len(), |i, j| kernel(&points[i], &inputs[j], size.lengthscale)),
        shared: Arc::new(CovarianceRepresentation::of_factor(
            pivoted_cholesky(&vec![1.0; inputs.len()], column, 1e-10).factor,
        )),
        own: vec![0.1; inputs.len()],
        variances: vec![1.0; points.len()],
    })
}

fn designs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("risk");
    group.sample_size(10);
    for size in &SIZES {
        let problem = problem(size);
        for multiplier in MULTIPLIERS {
            let noise_sd = 4.0 * multiplier;
            let name = format!("n={}/t={}/multiplier={multiplier:.2}", size.groups, problem.moments.cross.nrows());
            if let Ok(design) = design_minimum_risk_prediction(&problem, noise_sd) {
                eprintln!("{name}: rank {}, {} products, gap {:e}", design.cloak.rank, design.steps, design.gap);
            }
            group.bench_function(name, |bencher| {
                bencher.iter(|| design_minimum_risk_prediction(black_box(&problem), noise_sd))
            });
        }
    }
    group.finish();
}

criterion_group!(benches, designs);
criterion_main!(benches);
