//! Laws of all kernels, written once: every registered kernel is tested against them.

use nalgebra::DMatrix;
use proptest::prelude::*;

use super::{KernelSetting, ProductSetting, SpecKernel, SumSetting};

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
            assert_positive_semidefinite(name, &setting.covariance(&x).matrix(&x, &x))?;
        }
    }

    #[test]
    fn matrix_diagonal_and_value_agree(points in prop::collection::vec(-8.0..8.0f64, 8)) {
        let x = DMatrix::from_row_slice(4, 2, &points);
        for (name, setting) in examples() {
            let kernel = setting.covariance(&x);
            let k = kernel.matrix(&x, &x);
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

    /// The sum and the product of any two kernels are kernels: those whose matrices are sums and products.
    #[test]
    fn sums_and_products_are_kernels(points in prop::collection::vec(-8.0..8.0f64, 12)) {
        let x = DMatrix::from_row_slice(6, 2, &points);
        let all = examples();
        for ((name, a), (other, b)) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            let parts = vec![a.clone(), b.clone()];
            let (left, right) = (a.covariance(&x).matrix(&x, &x), b.covariance(&x).matrix(&x, &x));
            let sum = SumSetting(parts.clone()).covariance(&x).matrix(&x, &x);
            let product = ProductSetting(parts).covariance(&x).matrix(&x, &x);
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
