//! Sensitivities of histograms and of functions.

use dpgp::gp::{Representer, exact_representer, fitc_representer};
use dpgp::kernel::{ExponentiatedQuadratic, Kernel};
use dpgp::privacy::accounting::NeighbourRelation;
use dpgp::privacy::{BinStatistic, FunctionSensitivity, histogram_sensitivity};
use nalgebra::DMatrix;
use proptest::prelude::*;

proptest! {
    /// No change of one target within [0, 1] moves a statistic by more than its sensitivity.
    #[test]
    fn sensitivities_are_bounds(
        targets in prop::collection::vec(0.0..=1.0f64, 1..9),
        at in 0usize..9,
        to in 0.0..=1.0f64,
    ) {
        let mut moved = targets.clone();
        let at = at % targets.len();
        moved[at] = to;
        for statistic in [BinStatistic::Count, BinStatistic::Mean, BinStatistic::Median] {
            let change = (statistic.compute(&targets).unwrap() - statistic.compute(&moved).unwrap()).abs();
            prop_assert!(change <= statistic.sensitivity(targets.len(), 1.0) + 1e-15);
        }
    }
}

/// The bounds are reached.
#[test]
fn sensitivities_are_tight() {
    let moves = |a: &[f64], b: &[f64], statistic: BinStatistic| {
        let change = (statistic.compute(a).unwrap() - statistic.compute(b).unwrap()).abs();
        assert_eq!(change, statistic.sensitivity(a.len(), 1.0));
    };
    moves(&[0.0, 0.0, 1.0, 1.0], &[1.0, 0.0, 1.0, 1.0], BinStatistic::Median);
    moves(&[0.0, 0.0, 1.0], &[0.0, 1.0, 1.0], BinStatistic::Median);
    moves(&[0.0, 0.0], &[0.0, 1.0], BinStatistic::Mean);
    assert_eq!(BinStatistic::Mean.compute(&[]), None);
    assert_eq!(histogram_sensitivity(NeighbourRelation::ReplaceOne), 2f64.sqrt());
}

#[test]
fn norms_of_a_matrix() {
    let weights = DMatrix::from_row_slice(2, 3, &[1.0, -2.0, 4.0, -3.0, 0.5, 0.0]);
    for (rule, expected) in [
        (FunctionSensitivity::Published, 7.0),
        (FunctionSensitivity::Column, 4.0),
        (FunctionSensitivity::SameSign, 5.0),
        (FunctionSensitivity::Exact, 0.9),
    ] {
        assert_eq!(rule.sensitivity(&weights, &[0.3, 0.9, 0.2]), expected);
    }
}

/// The column bound holds; and at any finite set of inputs the change of the mean, measured by the covariance
/// of the noise, is at most the exact sensitivity, and comes up to it where the inputs hold the basis.
#[test]
fn the_exact_sensitivity_covers_every_finite_set() {
    let training = DMatrix::from_fn(9, 1, |i, _| 0.8 * i as f64);
    let inducing = DMatrix::from_column_slice(2, 1, &[1.0, 5.0]);
    let kernel = ExponentiatedQuadratic::isotropic(1.0, 0.6);
    let means = [
        exact_representer(&kernel, 0.2, &training).unwrap(),
        fitc_representer(&kernel, 0.2, &inducing, &training).unwrap(),
    ];
    for mean in means {
        let exact = FunctionSensitivity::Exact.sensitivity(&mean.weights, &mean.norms);
        assert!(exact <= FunctionSensitivity::Column.sensitivity(&mean.weights, &mean.norms));
        let elsewhere = DMatrix::from_fn(6, 1, |i, _| 1.3 * i as f64 - 1.0);
        assert!(change(&kernel, &mean, &elsewhere) < exact);
        assert!((change(&kernel, &mean, &mean.basis) - exact).abs() < 1e-8);
    }
}

/// The greatest change of a mean at test inputs when one target moves by 1, in the metric of the process's covariance.
fn change(kernel: &dyn Kernel, mean: &Representer, test: &DMatrix<f64>) -> f64 {
    let factor = kernel.matrix(test, test).cholesky().unwrap().l();
    let moved = factor.solve_lower_triangular(&(kernel.matrix(test, &mean.basis) * &mean.weights)).unwrap();
    moved.column_iter().map(|c| c.norm()).fold(0.0, f64::max)
}
