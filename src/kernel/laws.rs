//! Laws that every kernel obeys, written once and run by each.

use nalgebra::DMatrix;
use proptest::prelude::*;

use super::{
    Bias, DensityLengthscale, ExponentiatedQuadratic, Gibbs, Kernel, Linear, Periodic, Product, Sum,
};

fn kernels(inputs: &DMatrix<f64>) -> Vec<(&'static str, Box<dyn Kernel>)> {
    let parts = || -> Vec<Box<dyn Kernel>> {
        vec![Box::new(Bias::new(0.7)), Box::new(Linear::new(0.4)), Box::new(Periodic::new(1.1, 0.9, 5.0))]
    };
    let density = DensityLengthscale::new(inputs, 1.5, 4.0, 20.0);
    vec![
        ("eq", Box::new(ExponentiatedQuadratic::isotropic(2.5, 1.7))),
        ("eq, ard", Box::new(ExponentiatedQuadratic::ard(0.3, vec![0.8, 4.0]))),
        ("gibbs", Box::new(Gibbs::new(1.3, density))),
        ("bias", Box::new(Bias::new(0.7))),
        ("linear", Box::new(Linear::new(0.4))),
        ("periodic", Box::new(Periodic::new(1.1, 0.9, 5.0))),
        ("sum", Box::new(Sum::new(parts()))),
        ("product", Box::new(Product::new(parts()))),
    ]
}

fn smallest_eigenvalue(k: &DMatrix<f64>) -> f64 {
    k.clone().symmetric_eigenvalues().min()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn symmetric_and_positive_semidefinite(points in prop::collection::vec(-8.0..8.0f64, 24)) {
        let x = DMatrix::from_row_slice(12, 2, &points);
        for (name, kernel) in kernels(&x) {
            let k = kernel.matrix(&x, &x);
            prop_assert_eq!(&k, &k.transpose(), "{} is not symmetric", name);
            prop_assert!(smallest_eigenvalue(&k) > -1e-12 * k.trace(), "{} is not PSD", name);
        }
    }

    #[test]
    fn matrix_diagonal_and_value_agree(points in prop::collection::vec(-8.0..8.0f64, 8)) {
        let x = DMatrix::from_row_slice(4, 2, &points);
        for (name, kernel) in kernels(&x) {
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
}
