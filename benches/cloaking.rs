//! Noise designs for the ages of the !Kung women at 100 test ages, C given and equal inputs merged; and in two dimensions
//! at size, with what building C and the factorisations cost beside it.
//!
//! Reads the ages from the mirror named by `DPGP_MIRROR` or from `data/cache`; without either, a stand-in of
//! as many distinct ages.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::cell::Cell;
use std::hint::black_box;
use std::path::PathBuf;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use dpgp::gp::{PredictionMap, exact_prediction_map, fitc_prediction_map};
use dpgp::kernel::{ExponentiatedQuadratic, Kernel};
use dpgp::linalg::{Cholesky, right_svd};
use dpgp::privacy::{CloakingOptions, DroppedDirectionRule, Objective, Solver, design_cloaking_noise};
use nalgebra::DMatrix;

fn ages() -> Vec<f64> {
    let places = [std::env::var_os("DPGP_MIRROR").map(PathBuf::from), Some(PathBuf::from("data/cache"))];
    let read = |place: PathBuf| std::fs::read_to_string(place.join("howell1/Howell1.csv")).ok();
    let Some(text) = places.into_iter().flatten().find_map(read) else {
        eprintln!("the !Kung data are not here: a stand-in of 84 distinct ages is used");
        return (0..287).map(|i| f64::from(i % 84)).collect();
    };
    let row = |line: &str| line.split(';').filter_map(|cell| cell.parse().ok()).collect::<Vec<f64>>();
    text.lines().skip(1).map(row).filter(|row| row[3] == 0.0).map(|row| row[2]).collect()
}

fn map() -> PredictionMap {
    let ages = ages();
    let training = DMatrix::from_column_slice(ages.len(), 1, &ages);
    let test = DMatrix::from_fn(100, 1, |i, _| 1.8 * i as f64);
    let kernel = ExponentiatedQuadratic::isotropic(1.0, 25.0);
    match exact_prediction_map(&kernel, 0.3, &training, &test) {
        Ok(map) => map,
        Err(error) => panic!("{error}"),
    }
}

fn designs(criterion: &mut Criterion) {
    let map = map();
    let (columns, counts) = (map.distinct_columns().clone(), map.targets_per_column());
    for (name, objective) in [("log-det", Objective::LogDet), ("trace", Objective::Trace)] {
        for rank_tolerance in [1e-8, 1e-12, 1e-14] {
            let (solver, release) = (Solver::InteriorPoint, DroppedDirectionRule::Projection);
            let options = CloakingOptions { objective, rank_tolerance, solver, release };
            if let Ok(design) = design_cloaking_noise(&columns, &counts, &options) {
                eprintln!(
                    "{name} {rank_tolerance:e}: {} columns, rank {}, {} steps, gap {:?}",
                    columns.ncols(),
                    design.rank,
                    design.steps,
                    design.gap
                );
            }
            criterion.bench_function(&format!("{name}/t=100/tolerance={rank_tolerance:e}"), |bencher| {
                bencher.iter(|| design_cloaking_noise(black_box(&columns), &counts, &options));
            });
        }
    }
}

/// Points that fill the square of side 10 evenly.
fn points(count: usize) -> DMatrix<f64> {
    let steps = [0.754_877_666_246_692_8, 0.569_840_290_998_053_3];
    DMatrix::from_fn(count, 2, |i, d| 10.0 * (0.5 + steps[d] * (i + 1) as f64).fract())
}

fn grid(wide: usize, high: usize) -> DMatrix<f64> {
    let place = |at: usize, of: usize| 10.0 * at as f64 / (of - 1) as f64;
    DMatrix::from_fn(wide * high, 2, |i, d| if d == 0 { place(i / high, wide) } else { place(i % high, high) })
}

/// An exponentiated quadratic kernel of lengthscale 1, noise variance 0.25, test inputs on a grid; `n = 100,000` by way of
/// 400 inducing inputs.
fn at_size(criterion: &mut Criterion) {
    let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
    let mut group = criterion.benchmark_group("two dimensions");
    group.sample_size(10);
    for (n, wide, high) in [(300, 10, 10), (1000, 15, 15), (5000, 20, 25), (100_000, 10, 10)] {
        let (training, test) = (points(n), grid(wide, high));
        let build = || match n {
            100_000 => fitc_prediction_map(&kernel, 0.25, &grid(20, 20), &training, &test),
            _ => exact_prediction_map(&kernel, 0.25, &training, &test),
        };
        let name = format!("n={n}/t={}", wide * high);
        group.bench_function(format!("{name}/map"), |bencher| bencher.iter(build));
        let Ok(map) = build() else { panic!("no map") };
        let counts = map.targets_per_column();
        for (objective_name, objective) in [("log-det", Objective::LogDet), ("trace", Objective::Trace)] {
            let (solver, release) = (Solver::InteriorPoint, DroppedDirectionRule::Projection);
            let options = CloakingOptions { objective, rank_tolerance: 1e-8, solver, release };
            group.bench_function(format!("{name}/{objective_name}"), |bencher| {
                bencher.iter(|| design_cloaking_noise(black_box(map.distinct_columns()), &counts, &options));
            });
        }
    }
    group.finish();
}

/// The factorisations in which designs and exact regressions spend their time, at the sizes of docs/speed.md and some others.
fn factorisations(criterion: &mut Criterion) {
    let kernel = ExponentiatedQuadratic::isotropic(1.0, 1.0);
    let covariance = |n: usize| {
        let mut k = kernel.matrix(&points(n), &points(n));
        (0..n).for_each(|i| k[(i, i)] += 0.25);
        k
    };
    let mut group = criterion.benchmark_group("factors");
    group.sample_size(10);
    for n in [220, 300, 4900] {
        let k = covariance(n);
        group.bench_function(format!("cholesky/{n}"), |bencher| {
            let factorise = |k: Cell<Option<_>>| {
                Cholesky::new_in_place("K", || k.take().unwrap_or_else(|| panic!("no second rung")))
            };
            bencher.iter_batched(|| Cell::new(Some(k.clone())), factorise, BatchSize::PerIteration);
        });
    }
    let root = match Cholesky::new("K", &covariance(220)) {
        Ok(factor) => factor.factor().transpose(),
        Err(error) => panic!("{error}"),
    };
    group.bench_function("right-svd/220", |bencher| bencher.iter(|| right_svd("L'", black_box(&root))));
    group.finish();
}

criterion_group!(benches, designs, at_size, factorisations);
criterion_main!(benches);
