//! Laws of the linear models, each checked by an independent computation.

use nalgebra::{DMatrix, DVector};

use super::{exact_prediction_map, fitc_prediction_map};
use crate::kernel::{ExponentiatedQuadratic, Kernel};

fn inputs() -> (DMatrix<f64>, DMatrix<f64>, Vec<f64>) {
    let training = DMatrix::from_fn(12, 1, |i, _| (i as f64 * 0.7) + (i as f64).sin() * 0.2);
    let test = DMatrix::from_column_slice(4, 1, &[-1.0, 2.2, 5.0, 12.0]);
    let targets = (0..12).map(|i| (i as f64 * 0.6).cos()).collect();
    (training, test, targets)
}

/// FITC with every training input as an inducing input is exact regression.
#[test]
fn fitc_with_all_inputs_is_exact() {
    let (training, test, _) = inputs();
    let kernel = ExponentiatedQuadratic::isotropic(1.5, 0.8);
    let full = exact_prediction_map(&kernel, 0.2, &training, &test).unwrap().to_full_matrix();
    let sparse = fitc_prediction_map(&kernel, 0.2, &training, &training, &test).unwrap().to_full_matrix();
    assert!((full - sparse).amax() < 1e-9);
}

/// The FITC predictive mean as the dense joint Gaussian gives it: `Q_*f (Q_ff + diag(K - Q) + s^2 I)^-1 y`.
#[test]
fn fitc_agrees_with_its_dense_definition() {
    let (training, test, targets) = inputs();
    let inducing = DMatrix::from_column_slice(3, 1, &[0.5, 3.0, 7.0]);
    let kernel = ExponentiatedQuadratic::isotropic(1.5, 2.0);
    let k_mm_inverse = kernel.matrix(&inducing, &inducing).try_inverse().unwrap();
    let k_nm = kernel.matrix(&training, &inducing);
    let q = &k_nm * &k_mm_inverse * k_nm.transpose();
    let mut dense = q.clone();
    for i in 0..12 {
        dense[(i, i)] = 1.5 + 0.2;
    }
    let q_star = kernel.matrix(&test, &inducing) * &k_mm_inverse * k_nm.transpose();
    let expected = q_star * dense.try_inverse().unwrap() * DVector::from_vec(targets.clone());
    let map = fitc_prediction_map(&kernel, 0.2, &inducing, &training, &test).unwrap();
    assert!((map.predict(&targets) - expected).amax() < 1e-10);
}

/// Without noise, exact regression interpolates.
#[test]
fn exact_regression_interpolates() {
    let (training, _, targets) = inputs();
    let kernel = ExponentiatedQuadratic::isotropic(1.0, 0.5);
    let mean = exact_prediction_map(&kernel, 1e-10, &training, &training).unwrap().predict(&targets);
    assert!((mean - DVector::from_vec(targets)).amax() < 1e-6);
}
