//! The sums of a regression.

use dpgp::data::Comparison;
use dpgp::data::rows::InMemoryRows;
use dpgp::stream::{KernelSummand, KernelSums, TargetQuantizer, sum_rows_serially};

use super::rows::{N, covariance, kernel, same_in_parts, wave};

fn summand() -> KernelSummand {
    let targets = TargetQuantizer { low: -2.0, high: 2.0, centre: 0.0, scale: 2.0, bound: 1.0 };
    KernelSummand { kernel: kernel(), targets, filters: vec![(Comparison::Greater, -2.5)], inputs: 2 }
}

/// Against plain sums over the rows that pass.
#[test]
fn filters_and_clips() {
    let columns = vec![wave(0.37), wave(0.011), wave(0.23), wave(0.41)];
    let total = same_in_parts(&summand(), &columns);
    let kept: Vec<usize> = (0..N).filter(|i| columns[3][*i] > -2.5).collect();
    assert_eq!(total.rows, kept.len() as u64);
    assert_eq!(total.clipped, kept.iter().filter(|i| columns[2][**i].abs() > 2.0).count() as u64);
    let targets: Vec<f64> = kept.iter().map(|i| columns[2][*i].clamp(-2.0, 2.0) / 2.0).collect();
    let squares: f64 = targets.iter().map(|y| y * y).sum();
    let (units, found) = (summand().units(), total.statistics(summand().units()));
    assert!((total.squares as f64 * units.squares / squares - 1.0).abs() < 1e-9);
    let k: Vec<f64> = kept.iter().map(|row| covariance(&columns, *row)).collect();
    let a: f64 = k.iter().zip(&targets).map(|(k, y)| k * y).sum();
    // A correlation is rounded to 2^-22.
    let most = targets.iter().map(|y| y.abs()).sum::<f64>() * f64::from(-23).exp2();
    assert!((found.a[0] - a).abs() < most, "{} {a}", found.a[0]);
    let b: f64 = k.iter().map(|k| k * k).sum();
    assert!((found.b[(0, 0)] / b - 1.0).abs() < 1e-6);
}

#[test]
fn no_rows_are_no_blocks() {
    let mut rows = InMemoryRows::new(vec![&[], &[], &[], &[]]);
    let part = sum_rows_serially(&mut rows, &summand()).unwrap();
    assert_eq!((part.blocks, part.sums), (0..0, KernelSums::zero(12)));
}
