//! Sums and products of kernels.

use nalgebra::DMatrix;

use super::Kernel;

/// `k(x, x') = sum_i k_i(x, x')`: the sum of independent processes.
pub struct Sum {
    parts: Vec<Box<dyn Kernel>>,
}

/// `k(x, x') = prod_i k_i(x, x')`; positive semidefinite by the Schur product theorem.
pub struct Product {
    parts: Vec<Box<dyn Kernel>>,
}

impl Sum {
    /// The sum of these kernels.
    pub fn new(parts: Vec<Box<dyn Kernel>>) -> Self {
        Self { parts }
    }
}

impl Product {
    /// The product of these kernels.
    pub fn new(parts: Vec<Box<dyn Kernel>>) -> Self {
        Self { parts }
    }
}

impl Kernel for Sum {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        self.parts.iter().map(|part| part.value(x, y)).sum()
    }

    fn variance(&self, x: &[f64]) -> f64 {
        self.parts.iter().map(|part| part.variance(x)).sum()
    }

    fn matrix(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
        let zero = DMatrix::zeros(a.nrows(), b.nrows());
        self.parts.iter().fold(zero, |sum, part| sum + part.matrix(a, b))
    }
}

impl Kernel for Product {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        self.parts.iter().map(|part| part.value(x, y)).product()
    }

    fn variance(&self, x: &[f64]) -> f64 {
        self.parts.iter().map(|part| part.variance(x)).product()
    }

    fn matrix(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
        let one = DMatrix::from_element(a.nrows(), b.nrows(), 1.0);
        self.parts.iter().fold(one, |product, part| product.component_mul(&part.matrix(a, b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Bias, ExponentiatedQuadratic, Linear};

    fn parts() -> Vec<Box<dyn Kernel>> {
        let eq = ExponentiatedQuadratic::isotropic(1.5, 2.0);
        vec![Box::new(Bias::new(3.0)), Box::new(Linear::new(0.5)), Box::new(eq)]
    }

    #[test]
    fn matrices_are_sums_and_products_of_the_parts() {
        let x = DMatrix::from_row_slice(3, 2, &[0.0, 1.0, 2.0, -1.0, 0.5, 4.0]);
        let matrices: Vec<DMatrix<f64>> = parts().iter().map(|part| part.matrix(&x, &x)).collect();
        let sum = &matrices[0] + &matrices[1] + &matrices[2];
        let product = matrices[0].component_mul(&matrices[1]).component_mul(&matrices[2]);
        assert!((Sum::new(parts()).matrix(&x, &x) - sum).amax() < 1e-14);
        assert!((Product::new(parts()).matrix(&x, &x) - product).amax() < 1e-14);
    }
}
