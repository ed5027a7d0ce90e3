//! The axes of an ellipsoid.

use nalgebra::{DMatrix, DVector};
use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use dpgp_linalg::{LinalgError, product, right_svd};

/// The least eigenvalue of a second moment, over its greatest: less counts as this much. It keeps the noise along each axis within three orders of
/// magnitude, so that rounding is far below all of it, and adds next to nothing to the trace.
const FLOOR: f64 = 1e-6;

/// Noise that is independent along orthogonal axes: its covariance is `U diag(variances) U'`.
#[derive(Debug, Clone, PartialEq)]
pub struct NoiseAxes {
    /// U, an axis a column (k x k).
    pub axes: DMatrix<f64>,
    /// The variances along them (k).
    pub variances: DVector<f64>,
}

/// The roots of the eigenvalues of a second moment, with its axes.
pub(super) struct Roots {
    pub axes: DMatrix<f64>,
    /// None is less than a floor (k).
    pub raised: DVector<f64>,
    /// `tr M^(1/2)`, without any floor.
    pub trace: f64,
}

impl Roots {
    /// Of a positive semidefinite matrix.
    ///
    /// # Errors
    /// [`LinalgError`] if it is not finite, or its axes are not found.
    pub fn new(moment: &DMatrix<f64>) -> Result<Self, LinalgError> {
        // The singular values of such a matrix are its eigenvalues, and the right singular vectors its axes.
        let found = right_svd("the second moment of the differences of records", moment)?;
        let floor = FLOOR * found.s[0];
        Ok(Self {
            trace: found.s.iter().map(|value| value.sqrt()).sum(),
            raised: found.s.map(|value| value.max(floor).sqrt()),
            axes: found.v,
        })
    }
}

impl NoiseAxes {
    /// The same variance along every coordinate.
    pub fn spherical(size: usize, variance: f64) -> Self {
        Self { axes: DMatrix::identity(size, size), variances: DVector::from_element(size, variance) }
    }

    /// Features (n x k) along the axes.
    pub fn along(&self, features: &DMatrix<f64>) -> DMatrix<f64> {
        product(features, &self.axes)
    }

    /// Features (n x k) along the axes, in standard deviations: their squared lengths are `D' S^-1 D`.
    pub fn whitened(&self, features: &DMatrix<f64>) -> DMatrix<f64> {
        let mut along = self.along(features);
        for (mut column, variance) in along.column_iter_mut().zip(self.variances.iter()) {
            column /= variance.sqrt();
        }
        along
    }

    /// Every variance times a factor.
    pub fn scaled(&self, factor: f64) -> Self {
        Self { axes: self.axes.clone(), variances: &self.variances * factor }
    }

    /// `U diag(variances) U'` (k x k).
    pub fn covariance(&self) -> DMatrix<f64> {
        let mut scaled = self.axes.clone();
        for (mut column, variance) in scaled.column_iter_mut().zip(self.variances.iter()) {
            column *= *variance;
        }
        product(&scaled, &self.axes.transpose())
    }

    /// Sums along the axes with noise of `sigma` times these standard deviations: a simulation, in floating point.
    pub fn noisy(&self, along: &DVector<f64>, sigma: f64, stream: &mut impl Rng) -> DVector<f64> {
        along.zip_map(&self.variances, |sum, variance| {
            let normal: f64 = StandardNormal.sample(stream);
            sum + sigma * variance.sqrt() * normal
        })
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    use super::*;

    /// The same stream's standard normals, in order, times `sigma sqrt(variance)`.
    #[test]
    fn noise_along_an_axis_has_its_standard_deviation() {
        let axes = NoiseAxes {
            axes: DMatrix::identity(3, 3),
            variances: DVector::from_column_slice(&[4.0, 9.0, 0.25]),
        };
        let noisy = axes.noisy(&DVector::from_element(3, 1.0), 10.0, &mut Pcg64::seed_from_u64(3));
        let mut stream = Pcg64::seed_from_u64(3);
        for (noisy, sd) in noisy.iter().zip([20.0, 30.0, 5.0]) {
            let normal: f64 = StandardNormal.sample(&mut stream);
            assert!((noisy - 1.0 - sd * normal).abs() < 1e-12, "{noisy}");
        }
    }
}
