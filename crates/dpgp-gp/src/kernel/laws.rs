//! Tests of all kernels: laws, written once, that every registered kernel is tested against, and formulas at two
//! pairs of places.

use nalgebra::DMatrix;
use proptest::prelude::*;

use super::{
    KernelKeyError, KernelKeyErrorReason, KernelRescaling, KernelSetting, ProductSetting, SpecKernel, SumSetting,
};

/// The example of every registered kernel, with its word.
fn examples() -> Vec<(&'static str, KernelSetting)> {
    let texts = KernelSetting::EXAMPLES.iter().map(|(word, table)| (*word, format!("{word} = {table}")));
    texts.map(|(word, text)| (word, toml::from_str(&text).unwrap())).collect()
}

fn assert_positive_semidefinite(name: &str, k: &DMatrix<f64>) -> Result<(), TestCaseError> {
    prop_assert_eq!(k, &k.transpose(), "{} is not symmetric", name);
    let smallest = k.clone().symmetric_eigenvalues().min();
    prop_assert!(smallest > -1e-12 * k.trace(), "{} is not PSD: {}", name, smallest);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn symmetric_and_positive_semidefinite(points in prop::collection::vec(-8.0..8.0f64, 24)) {
        let x = DMatrix::from_row_slice(12, 2, &points);
        for (name, setting) in examples() {
            assert_positive_semidefinite(name, &setting.build_kernel(&x).matrix(&x, &x))?;
        }
    }

    #[test]
    fn matrix_diagonal_and_value_agree(points in prop::collection::vec(-8.0..8.0f64, 8)) {
        let x = DMatrix::from_row_slice(4, 2, &points);
        for (name, setting) in examples() {
            let kernel = setting.build_kernel(&x);
            let k = kernel.matrix(&x, &x);
            prop_assert_eq!(kernel.lower_triangle(&x).lower_triangle(), k.lower_triangle(), "{}", name);
            for i in 0..4 {
                let row: Vec<f64> = x.row(i).iter().copied().collect();
                prop_assert!((kernel.diagonal(&x)[i] - k[(i, i)]).abs() <= 1e-14 * k[(i, i)], "{}", name);
                for j in 0..4 {
                    let other: Vec<f64> = x.row(j).iter().copied().collect();
                    let same = (kernel.value(&row, &other) - k[(i, j)]).abs() <= 1e-13 * k.amax();
                    prop_assert!(same, "{}", name);
                    let bound = (k[(i, i)] * k[(j, j)]).sqrt();
                    prop_assert!(k[(i, j)].abs() <= bound * (1.0 + 1e-14), "{} breaks Cauchy-Schwarz", name);
                }
            }
        }
    }

    /// A stationary kernel knows differences alone, and not their signs, one by one.
    #[test]
    fn stationary_kernels_are_even_in_each_difference(points in prop::collection::vec(-1.0..1.0f64, 4)) {
        let scaled = KernelRescaling { sides: &[4.0, 3.0], stretch: 1.0, over: 1.0 };
        let mut checked = 0;
        for (name, setting) in examples() {
            let Some(stationary) = setting.as_stationary() else { continue };
            let kernel = stationary.build_scaled_kernel(scaled);
            let [x, y] = [[points[0], points[1]], [points[2], points[3]]];
            let differences = [x[0] - y[0], x[1] - y[1]];
            let expected = kernel.value(&x, &y);
            for [d1, d2] in [differences, [-differences[0], differences[1]], [differences[0], -differences[1]]] {
                let found = kernel.value(&[0.0, 0.0], &[d1, d2]);
                prop_assert!((found - expected).abs() <= 1e-12 * stationary.total_variance(), "{}: {} {}", name, d1, d2);
            }
            checked += 1;
        }
        prop_assert!(checked >= 5, "{}", checked);
    }

    /// The sum and the product of any two kernels are kernels: those whose matrices are sums and products.
    #[test]
    fn sums_and_products_are_kernels(points in prop::collection::vec(-8.0..8.0f64, 12)) {
        let x = DMatrix::from_row_slice(6, 2, &points);
        let all = examples();
        for ((name, a), (other, b)) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let parts = vec![a.clone(), b.clone()];
            let (left, right) = (a.build_kernel(&x).matrix(&x, &x), b.build_kernel(&x).matrix(&x, &x));
            let sum = SumSetting(parts.clone()).build_kernel(&x).matrix(&x, &x);
            let product = ProductSetting(parts).build_kernel(&x).matrix(&x, &x);
            prop_assert!((&sum - (&left + &right)).amax() <= 1e-14 * sum.amax(), "{} + {}", name, other);
            let expected = left.component_mul(&right);
            prop_assert!((&product - expected).amax() <= 1e-14 * product.amax(), "{} {}", name, other);
            assert_positive_semidefinite(name, &sum)?;
            assert_positive_semidefinite(name, &product)?;
        }
    }
}

/// What is read is written again with the same words, and fits the two inputs that examples are for.
#[test]
fn a_setting_is_written_as_it_is_read() {
    for (word, setting) in examples() {
        let written = toml::Value::try_from(&setting).unwrap();
        assert_eq!(written.as_table().unwrap().keys().collect::<Vec<_>>(), [word]);
        assert_eq!(written.try_into::<KernelSetting>().unwrap(), setting);
        assert_eq!(setting.check_input_count(2), Ok(()), "{word}");
    }
}

/// No parameter of a kernel may be negative; each says so by itself.
#[test]
fn negative_numbers_are_refused() {
    for (word, table) in KernelSetting::EXAMPLES {
        for (place, _) in table.match_indices("= ").filter(|(i, _)| !table[i + 2..].starts_with(['[', '{'])) {
            let (before, after) = table.split_at(place + 2);
            let negative = format!("{word} = {before}-{after}");
            assert!(toml::from_str::<KernelSetting>(&negative).is_err(), "{negative}");
        }
    }
}

#[test]
fn misfits_are_named_by_their_keys() {
    let setting: KernelSetting =
        toml::from_str("sum = [{ bias = { variance = 1 } }, { eq-ard = { variance = 1, lengthscales = [1] } }]")
            .unwrap();
    assert_eq!(setting.check_input_count(1), Ok(()));
    assert_eq!(setting.check_input_count(2).unwrap_err().key, "sum.1.eq-ard.lengthscales");
    assert_eq!(KernelSetting::Sum(SumSetting(Vec::new())).check_input_count(1).unwrap_err().key, "sum");
}

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
    let covariance = kernel.build_kernel(&places);
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
        (
            "eq-ard = { variance = 1.0, lengthscales = [1.0] }",
            "eq-ard.lengthscales",
            KernelKeyErrorReason::Dimension(1),
        ),
        (
            "matern = { smoothness = \"1/2\", variance = 1.0, lengthscales = [1.0, 1.0, 1.0] }",
            "matern.lengthscales",
            KernelKeyErrorReason::Dimension(3),
        ),
        (
            "rational-quadratic = { variance = 1.0, alpha = 1.0, lengthscales = [] }",
            "rational-quadratic.lengthscales",
            KernelKeyErrorReason::Empty,
        ),
        ("sum = []", "sum", KernelKeyErrorReason::Empty),
        (
            "product = [{ bias = { variance = 1.0 } }, { eq-ard = { variance = 1.0, lengthscales = [1.0] } }]",
            "product.1.eq-ard.lengthscales",
            KernelKeyErrorReason::Dimension(1),
        ),
    ] {
        assert_eq!(
            kernel_of(table).check_input_count(2),
            Err(KernelKeyError { key: key.to_owned(), reason }),
            "{table}"
        );
    }
}
