//! Public inducing inputs and the covariances of other inputs with them. On a regular grid, the second sum
//! becomes a sum over midpoints.

use nalgebra::{DMatrix, DVector};

use super::GaussianBumpGrid;
use crate::kernel::Kernel;
use crate::predictive::unexplained_variances;
use dpgp_linalg::{Cholesky, LinalgError};

/// m public inducing inputs Z (m x d) of a kernel, with the factor of `K_ZZ`.
pub struct InducingInputs<'k> {
    kernel: &'k dyn Kernel,
    points: Vec<Vec<f64>>,
    k_zz: DMatrix<f64>,
    factor: Cholesky,
}

/// Inputs as the model sees them.
#[derive(Debug, Clone)]
pub struct CovariancesWithConditionalVariances {
    /// `k(x_i, z_j)`, (n x m).
    pub features: DMatrix<f64>,
    /// `k(x_i, x_i) - k_i' K_ZZ^-1 k_i`, what the inducing values leave open.
    pub conditional: DVector<f64>,
}

impl CovariancesWithConditionalVariances {
    /// `k_i' M k_i` for a matrix of the inducing inputs (m x m).
    pub fn quadratic_forms(&self, matrix: &DMatrix<f64>) -> DVector<f64> {
        (&self.features * matrix).component_mul(&self.features).column_sum()
    }
}

impl<'k> InducingInputs<'k> {
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

    /// Jitter on the diagonal of `K_ZZ` where it was inverted.
    pub fn jitter(&self) -> f64 {
        self.factor.jitter()
    }

    /// Writes the covariances of one input with all inducing inputs, by place.
    pub(super) fn write_covariances(&self, input: &[f64], mut write: impl FnMut(usize, f64)) {
        for (j, point) in self.points.iter().enumerate() {
            write(j, self.kernel.value(point, input));
        }
    }

    /// The covariances of inputs (n x d) with the inducing inputs, (n x m).
    pub fn inducing_covariances(&self, inputs: &DMatrix<f64>) -> DMatrix<f64> {
        let mut features = DMatrix::zeros(inputs.nrows(), self.size());
        let mut input = vec![0.0; inputs.ncols()];
        for i in 0..inputs.nrows() {
            // A row is strided in memory; the kernel takes a slice.
            input.iter_mut().zip(inputs.row(i).iter()).for_each(|(to, from)| *to = *from);
            self.write_covariances(&input, |j, k| features[(i, j)] = k);
        }
        features
    }

    /// Inputs (n x d) with what the inducing values leave open.
    pub fn covariances_with_conditional_variances(&self, inputs: &DMatrix<f64>) -> CovariancesWithConditionalVariances {
        let features = self.inducing_covariances(inputs);
        let explained = self.factor.lower_solve(&features.transpose());
        let conditional = DVector::from_vec(unexplained_variances(self.kernel, inputs, &explained));
        CovariancesWithConditionalVariances { features, conditional }
    }
}

/// Inducing inputs on the product of equally spaced sides, the last input fastest, for an exponentiated quadratic kernel.
///
/// The product of two covariances is a bump at the midpoint of their inducing inputs, half as wide squared:
///
/// ```text
/// k(x, z) k(x, z') = v^2 exp(-|z - z'|^2 / (4 l^2)) p(x),   p(x) = exp(-|x - (z + z') / 2|^2 / l^2).
/// ```
///
/// So B is a fixed pattern times the sums of p at the midpoints, of which a side of g points has `2 g - 1`: `(2 g - 1)^d` numbers tell all
/// that `g^d (g^d + 1) / 2` do.
///
/// ```
/// use dpgp_gp::variational::InducingGrid;
/// let grid = InducingGrid { sides: vec![vec![0.0, 1.0, 2.0]], variance: 1.0, lengthscale: 1.0 };
/// assert_eq!((grid.covariance_bumps().len(), grid.covariance_product_bumps().len()), (3, 5));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct InducingGrid {
    /// The points along each input, equally spaced.
    pub sides: Vec<Vec<f64>>,
    /// v.
    pub variance: f64,
    /// l.
    pub lengthscale: f64,
}

impl InducingGrid {
    /// `k(x, z)` for all inducing inputs z.
    pub fn covariance_bumps(&self) -> GaussianBumpGrid {
        GaussianBumpGrid::new(self.sides.clone(), self.lengthscale, self.variance)
    }

    /// p at all midpoints.
    pub fn covariance_product_bumps(&self) -> GaussianBumpGrid {
        GaussianBumpGrid::new(self.midpoint_axes(), self.lengthscale * std::f64::consts::FRAC_1_SQRT_2, 1.0)
    }

    /// The midpoints along each input.
    pub fn midpoint_axes(&self) -> Vec<Vec<f64>> {
        self.sides.iter().map(|side| points_and_midpoints(side)).collect()
    }

    /// The squared length of what one at each midpoint is in B: `w_s = v^4 sum exp(-|z - z'|^2 / (2 l^2))` over the ordered pairs whose
    /// midpoint it is. In the metric in which entries beside the diagonal of B count twice, the length of a record's part of B
    /// is `sum_s w_s p_s^2`, squared.
    pub fn midpoint_weights(&self) -> DVector<f64> {
        let mut sums = DVector::zeros(self.covariance_product_bumps().len());
        self.for_each_inducing_pair(|pair| sums[pair.midpoint] += pair.share * pair.share);
        sums
    }

    /// The sums over midpoints that are nearest to a noisy B (m x m), by least squares in the same metric.
    ///
    /// Obligation: where noise on B is spherical in this metric with the standard deviation `sd`, they tell all that B does: their noise
    /// is independent with the variances `sd^2 / w_s`, since no entry of B has a share in two midpoints.
    pub fn fold_onto_midpoints(&self, b: &DMatrix<f64>) -> DVector<f64> {
        let mut sums = DVector::zeros(self.covariance_product_bumps().len());
        self.for_each_inducing_pair(|pair| sums[pair.midpoint] += pair.share * b[(pair.one, pair.other)]);
        sums.component_div(&self.midpoint_weights())
    }

    fn for_each_inducing_pair(&self, mut visit: impl FnMut(InducingPair)) {
        let size: usize = self.sides.iter().map(Vec::len).product();
        for one in 0..size {
            for other in 0..size {
                visit(self.pair(one, other));
            }
        }
    }

    fn pair(&self, one: usize, other: usize) -> InducingPair {
        let (mut rest, mut place, mut square) = ([one, other], 1, 0.0);
        let mut midpoint = 0;
        for side in self.sides.iter().rev() {
            let [i, j] = rest.map(|rest| rest % side.len());
            midpoint += place * (i + j);
            square += ((side[i] - side[j]) / self.lengthscale).powi(2);
            place *= 2 * side.len() - 1;
            rest = rest.map(|rest| rest / side.len());
        }
        InducingPair { one, other, midpoint, share: self.variance.powi(2) * (-0.25 * square).exp() }
    }
}

/// Two inducing inputs, the place of their midpoint, and what multiplies p in the product of their covariances.
struct InducingPair {
    one: usize,
    other: usize,
    midpoint: usize,
    share: f64,
}

fn points_and_midpoints(side: &[f64]) -> Vec<f64> {
    (0..2 * side.len() - 1).map(|sum| 0.5 * (side[sum / 2] + side[sum.div_ceil(2)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;

    /// One inducing input at 0: at 1 the feature is `3 e^(-1/2)` and `3 - 3 e^-1` is open; at 0 nothing is.
    #[test]
    fn what_inducing_values_leave_open() {
        let kernel = ExponentiatedQuadratic::isotropic(3.0, 1.0);
        let inducing = InducingInputs::new(&kernel, &DMatrix::zeros(1, 1)).unwrap();
        assert_eq!((inducing.size(), inducing.k_zz()[(0, 0)], inducing.jitter()), (1, 3.0, 0.0));
        let at = inducing.covariances_with_conditional_variances(&DMatrix::from_column_slice(2, 1, &[0.0, 1.0]));
        let near = 3.0 * (-0.5f64).exp();
        assert!((at.features[0] - 3.0).abs() < 1e-15 && (at.features[1] - near).abs() < 1e-15);
        let open = 3.0 - 3.0 * (-1.0f64).exp();
        assert!(at.conditional[0].abs() < 1e-14 && (at.conditional[1] - open).abs() < 1e-14);
    }
}

#[cfg(test)]
mod inducing_grid_tests {
    use super::*;

    fn grid() -> InducingGrid {
        InducingGrid { sides: vec![vec![0.0, 0.7, 1.4], vec![-1.0, 1.0]], variance: 1.3, lengthscale: 0.9 }
    }

    #[test]
    fn products_of_covariances_are_bumps_at_midpoints() {
        let (grid, inputs) = (grid(), DMatrix::from_row_slice(2, 2, &[0.4, 0.1, 2.0, -1.5]));
        let (k, p) = (grid.covariance_bumps().features(&inputs), grid.covariance_product_bumps().features(&inputs));
        for row in 0..2 {
            let b = k.row(row).transpose() * k.row(row);
            // Without noise the sums at the midpoints come back, and the length is that of the matrix.
            assert!((grid.fold_onto_midpoints(&b) - p.row(row).transpose()).amax() < 1e-13);
            let length = grid.midpoint_weights().dot(&p.row(row).transpose().map(|p| p * p));
            assert!((length - b.norm_squared()).abs() < 1e-13);
        }
    }

    /// Least squares: what is left of any matrix has no share in any midpoint.
    #[test]
    fn what_folding_leaves_is_orthogonal() {
        let grid = grid();
        let b = DMatrix::from_fn(6, 6, |i, j| ((3 * i * i + 3 * j * j + i + j) as f64).sin());
        let folded = grid.fold_onto_midpoints(&b);
        let mut rest = b.clone();
        grid.for_each_inducing_pair(|pair| rest[(pair.one, pair.other)] -= pair.share * folded[pair.midpoint]);
        assert!(rest.amax() > 0.1 && grid.fold_onto_midpoints(&rest).amax() < 1e-13);
    }
}
