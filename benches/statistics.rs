//! The sums of honkela2021 over many rows, next to products of matrices with as many operations on the same threads.
//!
//! `cargo bench --bench statistics` prints the times of criterion. `cargo bench --bench statistics -- peak` prints, for
//! a million rows, 256 inducing inputs and two inputs, the medians of interleaved runs and their ratio, as `n m^2`
//! operations of the sums and `2 n m^2` of the full product.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::hint::black_box;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use dpgp::data::rows::InMemoryRows;
use dpgp::stream::{KernelSummand, QuantizedKernel, TargetQuantizer, sum_blocks};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use nalgebra::DMatrix;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Inducing inputs.
const M: usize = 256;

fn threads(number: usize) -> ThreadPool {
    match ThreadPoolBuilder::new().num_threads(number).build() {
        Ok(threads) => threads,
        Err(error) => panic!("{error}"),
    }
}

/// Two inputs and a target, in their rows' order.
fn columns(rows: usize) -> Vec<Vec<f64>> {
    let column = |step: f64| (0..rows).map(|i| (i as f64 * step).sin()).collect();
    vec![column(0.37), column(0.61), column(0.23)]
}

fn summand() -> KernelSummand {
    let z = DMatrix::from_fn(M, 2, |i, d| if d == 0 { i % 16 } else { i / 16 } as f64 / 7.5 - 1.0);
    let targets = TargetQuantizer { low: -1.0, high: 1.0, centre: 0.0, scale: 1.0, bound: 1.0 };
    KernelSummand { kernel: QuantizedKernel::new(1.0, &[0.2, 0.2], &z, 16.0), targets, filters: Vec::new(), inputs: 2 }
}

fn sums(columns: &[Vec<f64>], summand: &KernelSummand, threads: &ThreadPool) {
    let mut rows = InMemoryRows::new(columns.iter().map(Vec::as_slice).collect());
    match sum_blocks(&mut rows, 0..u64::MAX, summand, threads) {
        Ok(part) => drop(black_box(part.sums)),
        Err(error) => panic!("{error}"),
    }
}

/// Square matrices of this size: large enough for the peak, small enough for the caches.
const SIDE: usize = 1536;

/// Seconds of as many products of square matrices as there are threads, each on one of them.
fn products(side: usize, threads: &ThreadPool) -> f64 {
    let operands: Vec<[Mat<f64>; 3]> = (0..threads.current_num_threads())
        .map(|_| [1.0, 2.0, 0.0].map(|by| Mat::from_fn(side, side, |i, j| by * (i + 2 * j) as f64 * 1e-3)))
        .collect();
    let operands: Vec<Mutex<[Mat<f64>; 3]>> = operands.into_iter().map(Mutex::new).collect();
    let start = Instant::now();
    threads.broadcast(|context| {
        let Ok(mut matrices) = operands[context.index()].lock() else { return };
        let [left, right, out] = &mut *matrices;
        matmul(out.as_mut(), Accum::Replace, left.as_ref(), right.as_ref(), 1.0, Par::Seq);
    });
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Interleaved runs of both, and their ratio.
fn peak() {
    let (rows, summand) = (1_000_000, summand());
    let columns = columns(rows);
    for number in [1, 2] {
        let threads = threads(number);
        let (mut ours, mut product) = (Vec::new(), Vec::new());
        for _ in 0..9 {
            let start = Instant::now();
            sums(&columns, &summand, &threads);
            ours.push(start.elapsed().as_secs_f64());
            product.push((0..5).map(|_| products(SIDE, &threads)).fold(f64::INFINITY, f64::min));
        }
        let (seconds, product) = (median(ours), median(product));
        let speed = (rows * M * M) as f64 / seconds / 1e9;
        let most = 2.0 * (SIDE as f64).powi(3) * number as f64 / product / 1e9;
        println!(
            "{number} threads: A and B of {rows} rows, m = {M}, d = 2: {seconds:.3} s, {speed:.1} GFLOP/s; \
             matrix products {most:.1} GFLOP/s; ratio {:.3}",
            speed / most
        );
    }
}

fn benchmarks(criterion: &mut Criterion) {
    let (rows, summand) = (100_000, summand());
    let columns = columns(rows);
    let mut group = criterion.benchmark_group("statistics");
    group.throughput(Throughput::Elements(rows as u64)).sample_size(20);
    for number in [1, 2] {
        let threads = threads(number);
        group.bench_function(format!("sums/threads={number}"), |bencher| {
            bencher.iter(|| sums(&columns, &summand, &threads));
        });
        let side = ((rows * M * M / 2 / number) as f64).cbrt() as usize;
        group.bench_function(format!("products-of-as-many-operations/threads={number}"), |bencher| {
            bencher.iter_custom(|times| (0..times).map(|_| Duration::from_secs_f64(products(side, &threads))).sum());
        });
    }
    group.finish();
}

fn main() {
    if std::env::args().any(|argument| argument == "peak") {
        return peak();
    }
    let mut criterion = Criterion::default().configure_from_args();
    benchmarks(&mut criterion);
    criterion.final_summary();
}
