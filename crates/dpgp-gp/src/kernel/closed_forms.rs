//! Tests of kernels against their formulas, at two pairs of places.

use nalgebra::DMatrix;

use super::{KernelError, KernelKeyError, KernelSetting};

#[derive(serde::Deserialize)]
struct Named {
    kernel: KernelSetting,
}

fn kernel_of(table: &str) -> KernelSetting {
    let Named { kernel } = toml::from_str(&format!("kernel.{table}")).unwrap();
    kernel
}

/// Of a table at (0, 0) and (1, -2), and at (1, -2) and itself; the whole matrix must have the same values.
fn values(table: &str) -> [f64; 2] {
    let kernel = kernel_of(table);
    kernel.check_input_count(2).unwrap();
    let places = DMatrix::from_row_slice(2, 2, &[0.0, 0.0, 1.0, -2.0]);
    let covariance = kernel.covariance(&places);
    let [apart, same] = [covariance.value(&[0.0, 0.0], &[1.0, -2.0]), covariance.variance(&[1.0, -2.0])];
    let matrix = covariance.matrix(&places, &places);
    assert!((matrix[(0, 1)] - apart).abs() < 1e-14 && (matrix[(1, 0)] - apart).abs() < 1e-14, "{table}");
    assert!((covariance.diagonal(&places)[1] - same).abs() < 1e-14 && (matrix[(1, 1)] - same).abs() < 1e-14);
    assert!((covariance.value(&[1.0, -2.0], &[1.0, -2.0]) - same).abs() < 1e-14, "{table}");
    [apart, same]
}

/// With lengthscales 2 and 4 the squared distance is `1/4 + 1/4`, with one of 2 it is `1/4 + 1`.
#[test]
fn stationary_kernels() {
    let (s3, s5, r) = (1.5f64.sqrt(), 2.5f64.sqrt(), 0.5f64.sqrt());
    for (table, expected) in [
        ("eq = { variance = 3.0, lengthscale = 2.0 }", 3.0 * f64::exp(-0.625)),
        ("eq-ard = { variance = 3.0, lengthscales = [2.0, 4.0] }", 3.0 * f64::exp(-0.25)),
        ("matern = { smoothness = \"1/2\", variance = 3.0, lengthscales = [2.0, 4.0] }", 3.0 * (-r).exp()),
        (
            "matern = { smoothness = \"3/2\", variance = 3.0, lengthscales = [2.0, 4.0] }",
            3.0 * (1.0 + s3) * (-s3).exp(),
        ),
        (
            "matern = { smoothness = \"5/2\", variance = 3.0, lengthscales = [2.0, 4.0] }",
            3.0 * (1.0 + s5 + 2.5 / 3.0) * (-s5).exp(),
        ),
        ("matern = { smoothness = \"1/2\", variance = 3.0, lengthscales = [2.0] }", 3.0 * f64::exp(-(1.25f64.sqrt()))),
        // `(1 + .5 / (2 * 3))^-3`.
        (
            "rational-quadratic = { variance = 2.0, alpha = 3.0, lengthscales = [2.0, 4.0] }",
            2.0 * (1.0 + 0.5 / 6.0f64).powi(-3),
        ),
        // Sines of pi/6 and -pi/3: squares of 1/4 and 3/4, over a squared lengthscale of 4.
        ("periodic = { variance = 1.5, lengthscale = 2.0, period = 6.0 }", 1.5 * f64::exp(-0.5)),
    ] {
        let [apart, same] = values(table);
        let variance: f64 = table.split("variance = ").nth(1).unwrap()[..3].parse().unwrap();
        assert!((apart - expected).abs() < 1e-14 && same == variance, "{table}: {apart} {expected} {same}");
    }
}

#[test]
fn kernels_of_parts() {
    assert_eq!(values("bias = { variance = 0.5 }"), [0.5, 0.5]);
    assert_eq!(values("linear = { variance = 2.0 }"), [0.0, 10.0]);
    let eq = 3.0 * f64::exp(-0.625);
    let parts = "[{ bias = { variance = 0.5 } }, { eq = { variance = 3.0, lengthscale = 2.0 } }, { bias = { variance = 4.0 } }]";
    let [apart, same] = values(&format!("sum = {parts}"));
    assert!((apart - 4.5 - eq).abs() < 1e-14 && same == 7.5, "{apart} {same}");
    let [apart, same] = values(&format!("product = {parts}"));
    assert!((apart - 2.0 * eq).abs() < 1e-14 && same == 6.0, "{apart} {same}");
}

/// What does not fit two inputs is named down to its key.
#[test]
fn tables_that_do_not_fit_are_named() {
    for (table, key, reason) in [
        ("eq-ard = { variance = 1.0, lengthscales = [1.0] }", "eq-ard.lengthscales", KernelError::Dimension(1)),
        (
            "matern = { smoothness = \"1/2\", variance = 1.0, lengthscales = [1.0, 1.0, 1.0] }",
            "matern.lengthscales",
            KernelError::Dimension(3),
        ),
        (
            "rational-quadratic = { variance = 1.0, alpha = 1.0, lengthscales = [] }",
            "rational-quadratic.lengthscales",
            KernelError::Empty,
        ),
        ("sum = []", "sum", KernelError::Empty),
        (
            "product = [{ bias = { variance = 1.0 } }, { eq-ard = { variance = 1.0, lengthscales = [1.0] } }]",
            "product.1.eq-ard.lengthscales",
            KernelError::Dimension(1),
        ),
    ] {
        assert_eq!(
            kernel_of(table).check_input_count(2),
            Err(KernelKeyError { key: key.to_owned(), reason }),
            "{table}"
        );
    }
}
