//! Public inducing inputs and the covariances of other inputs with them.

use nalgebra::{DMatrix, DVector};

use crate::kernel::Kernel;
use crate::variance::unexplained;
use dpgp_linalg::{Cholesky, LinalgError};

/// m public inducing inputs Z (m x d) of a kernel, with the factor of `K_ZZ`.
pub struct Inducing<'k> {
    kernel: &'k dyn Kernel,
    points: Vec<Vec<f64>>,
    k_zz: DMatrix<f64>,
    factor: Cholesky,
}

/// Inputs as the model sees them.
#[derive(Debug, Clone)]
pub struct Located {
    /// `k(x_i, z_j)`, (n x m).
    pub features: DMatrix<f64>,
    /// `k(x_i, x_i) - k_i' K_ZZ^-1 k_i`, what the inducing values leave open.
    pub conditional: DVector<f64>,
}

impl Located {
    /// `k_i' M k_i` for a matrix of the inducing inputs (m x m).
    pub fn forms(&self, matrix: &DMatrix<f64>) -> DVector<f64> {
        (&self.features * matrix).component_mul(&self.features).column_sum()
    }
}

impl<'k> Inducing<'k> {
    /// Factorises `K_ZZ`.
    ///
    /// # Errors
    /// [`LinalgError`] if `K_ZZ` cannot be factorised, even with jitter.
    pub fn new(kernel: &'k dyn Kernel, points: &DMatrix<f64>) -> Result<Self, LinalgError> {
        let k_zz = kernel.matrix(points, points);
        let factor = Cholesky::new("K_ZZ", &k_zz)?;
        let points = points.row_iter().map(|row| row.iter().copied().collect()).collect();
        Ok(Self { kernel, points, k_zz, factor })
    }

    /// The number m of inducing inputs.
    pub fn size(&self) -> usize {
        self.points.len()
    }

    /// `K_ZZ` (m x m).
    pub fn k_zz(&self) -> &DMatrix<f64> {
        &self.k_zz
    }

    /// What was added to the diagonal of `K_ZZ` where it was inverted.
    pub fn jitter(&self) -> f64 {
        self.factor.jitter()
    }

    /// Writes the covariances of one input with all inducing inputs, by place.
    pub(super) fn covariances(&self, input: &[f64], mut write: impl FnMut(usize, f64)) {
        for (j, point) in self.points.iter().enumerate() {
            write(j, self.kernel.value(point, input));
        }
    }

    /// The covariances of inputs (n x d) with the inducing inputs, (n x m).
    pub fn features(&self, inputs: &DMatrix<f64>) -> DMatrix<f64> {
        let mut features = DMatrix::zeros(inputs.nrows(), self.size());
        let mut input = vec![0.0; inputs.ncols()];
        for i in 0..inputs.nrows() {
            // A row is strided in memory; the kernel takes a slice.
            input.iter_mut().zip(inputs.row(i).iter()).for_each(|(to, from)| *to = *from);
            self.covariances(&input, |j, k| features[(i, j)] = k);
        }
        features
    }

    /// Inputs (n x d) with what the inducing values leave open.
    pub fn locate(&self, inputs: &DMatrix<f64>) -> Located {
        let features = self.features(inputs);
        let explained = self.factor.half_solve(&features.transpose());
        let conditional = DVector::from_vec(unexplained(self.kernel, inputs, &explained));
        Located { features, conditional }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;

    /// One inducing input at 0: at 1 the feature is `3 e^(-1/2)` and `3 - 3 e^-1` is open; at 0 nothing is.
    #[test]
    fn what_inducing_values_leave_open() {
        let kernel = ExponentiatedQuadratic::isotropic(3.0, 1.0);
        let inducing = Inducing::new(&kernel, &DMatrix::zeros(1, 1)).unwrap();
        assert_eq!((inducing.size(), inducing.k_zz()[(0, 0)], inducing.jitter()), (1, 3.0, 0.0));
        let at = inducing.locate(&DMatrix::from_column_slice(2, 1, &[0.0, 1.0]));
        let near = 3.0 * (-0.5f64).exp();
        assert!((at.features[0] - 3.0).abs() < 1e-15 && (at.features[1] - near).abs() < 1e-15);
        let open = 3.0 - 3.0 * (-1.0f64).exp();
        assert!(at.conditional[0].abs() < 1e-14 && (at.conditional[1] - open).abs() < 1e-14);
    }
}
