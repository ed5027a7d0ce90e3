//! Gibbs' nonstationary kernel.

use nalgebra::DMatrix;

use super::{DensityLengthscale, Kernel};

/// `k(x, x') = variance * prod_l sqrt(2 r_l r'_l / (r_l^2 + r'_l^2)) exp(-(x_l - x'_l)^2 / (r_l^2 + r'_l^2))`
/// with `r_l = r_l(x_l)`, `r'_l = r_l(x'_l)` from a [`DensityLengthscale`].
///
/// Where the lengthscale is constant this is the exponentiated quadratic kernel with that lengthscale.
/// Source: Gibbs 1998, p. 48; Smith et al. 2021, Eq. 8.
#[derive(Debug, Clone)]
pub struct Gibbs {
    variance: f64,
    lengthscale: DensityLengthscale,
}

impl Gibbs {
    /// A kernel of the given variance whose lengthscale follows the density of public inputs.
    pub fn new(variance: f64, lengthscale: DensityLengthscale) -> Self {
        Self { variance, lengthscale }
    }

    /// Every row with its lengthscales: (coordinate, lengthscale) pairs.
    fn locate(&self, a: &DMatrix<f64>) -> Vec<Vec<(f64, f64)>> {
        let with = |(l, &x): (usize, &f64)| (x, self.lengthscale.at(l, x));
        a.row_iter().map(|row| row.iter().enumerate().map(with).collect()).collect()
    }

    fn between(&self, x: &[(f64, f64)], y: &[(f64, f64)]) -> f64 {
        let factors = x.iter().zip(y).map(|(&(a, r), &(b, s))| {
            let sum = r * r + s * s;
            (2.0 * r * s / sum).sqrt() * (-(a - b) * (a - b) / sum).exp()
        });
        self.variance * factors.product::<f64>()
    }
}

impl Kernel for Gibbs {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let row = |v: &[f64]| DMatrix::from_row_slice(1, v.len(), v);
        self.between(&self.locate(&row(x))[0], &self.locate(&row(y))[0])
    }

    fn variance(&self, _: &[f64]) -> f64 {
        self.variance
    }

    fn matrix(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
        let (left, right) = (self.locate(a), self.locate(b));
        DMatrix::from_fn(a.nrows(), b.nrows(), |i, j| self.between(&left[i], &right[j]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;

    #[test]
    fn a_constant_lengthscale_gives_the_exponentiated_quadratic() {
        let far = DMatrix::from_column_slice(1, 2, &[1e9, 1e9]);
        let gibbs = Gibbs::new(3.0, DensityLengthscale::new(&far, 1.0, 1.0, 7.0));
        let eq = ExponentiatedQuadratic::isotropic(3.0, 7.0);
        for (x, y) in [([0.0, 1.0], [2.0, -3.0]), ([5.0, 5.0], [5.0, 5.0])] {
            assert!((gibbs.value(&x, &y) - eq.value(&x, &y)).abs() < 1e-14);
        }
    }
}
