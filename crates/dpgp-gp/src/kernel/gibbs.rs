//! Gibbs' nonstationary kernel, with lengthscales that follow the density of public inputs.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kernel, SpecKernel};
use dpgp_number::{Positive, normal_pdf};

/// `k(x, x') = variance * prod_l sqrt(2 r_l r'_l / (r_l^2 + r'_l^2)) exp(-(x_l - x'_l)^2 / (r_l^2 + r'_l^2))`
/// with `r_l = r_l(x_l)`, `r'_l = r_l(x'_l)` from a [`DensityLengthscale`].
///
/// Where the lengthscale is constant this is the exponentiated quadratic kernel with that lengthscale.
/// Source: Gibbs 1998, p. 48; Smith et al. 2021, Eq. 8.
///
/// ```
/// use dpgp_gp::kernel::{DensityLengthscale, GibbsKernel, Kernel};
/// use nalgebra::DMatrix;
/// // The only input of the density is far away, so that the lengthscale is 2 everywhere: 3 exp(-2^2 / (2^2 + 2^2)).
/// let density = DensityLengthscale::new(&DMatrix::from_element(1, 1, 1e9), 1.0, 1.0, 2.0);
/// let kernel = GibbsKernel::new(3.0, density);
/// assert!((kernel.value(&[5.0], &[7.0]) - 3.0 * (-0.5f64).exp()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct GibbsKernel {
    variance: f64,
    lengthscale: DensityLengthscale,
}

impl GibbsKernel {
    /// A kernel of the given variance whose lengthscale follows the density of public inputs.
    pub fn new(variance: f64, lengthscale: DensityLengthscale) -> Self {
        Self { variance, lengthscale }
    }

    /// Every row with its lengthscales: (coordinate, lengthscale) pairs.
    fn attach_lengthscales(&self, a: &DMatrix<f64>) -> Vec<Vec<(f64, f64)>> {
        // Once a row: the density is a sum over all public inputs, and a pair is cheap beside it.
        let rows = a.row_iter();
        rows.map(|row| row.iter().enumerate().map(|(l, &x)| (x, self.lengthscale.lengthscale_at(l, x))).collect())
            .collect()
    }

    /// The covariance of two rows with their lengthscales.
    fn row_covariance(&self, x: &[(f64, f64)], y: &[(f64, f64)]) -> f64 {
        let factors = x.iter().zip(y).map(|(&(a, r), &(b, s))| {
            let sum = r * r + s * s;
            (2.0 * r * s / sum).sqrt() * (-(a - b) * (a - b) / sum).exp()
        });
        self.variance * factors.product::<f64>()
    }
}

/// [`GibbsKernel`] in a spec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct GibbsSetting {
    /// Variance.
    pub variance: Positive,
    /// Bandwidth of the density estimate, in units of the inputs.
    pub bandwidth: Positive,
    /// The approximate number of inputs within a lengthscale.
    pub points: Positive,
    /// Upper bound on the lengthscales, in units of the inputs.
    pub longest: Positive,
}

impl GibbsSetting {
    /// The lengthscale that follows the density of public inputs (n x d).
    pub fn lengthscale(&self, inputs: &DMatrix<f64>) -> DensityLengthscale {
        DensityLengthscale::new(inputs, self.bandwidth.get(), self.points.get(), self.longest.get())
    }
}

impl SpecKernel for GibbsSetting {
    const EXAMPLE: &'static str = "{ variance = 1.3, bandwidth = 1.5, points = 4.0, longest = 20.0 }";

    fn build_kernel(&self, inputs: &DMatrix<f64>) -> Box<dyn Kernel> {
        Box::new(GibbsKernel::new(self.variance.get(), self.lengthscale(inputs)))
    }
}

impl Kernel for GibbsKernel {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let located = self.attach_lengthscales(&DMatrix::from_row_slice(2, x.len(), &[x, y].concat()));
        self.row_covariance(&located[0], &located[1])
    }

    fn variance(&self, _: &[f64]) -> f64 {
        self.variance
    }

    fn matrix(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
        let (left, right) = (self.attach_lengthscales(a), self.attach_lengthscales(b));
        DMatrix::from_fn(a.nrows(), b.nrows(), |i, j| self.row_covariance(&left[i], &right[j]))
    }
}

/// Per dimension l, `r_l(x) = 1 / (1/longest + rho_l(x_l) / points)` with the kernel density estimate
/// `rho_l(x) = sum_i N(x; x_il, bandwidth^2)` over the public inputs: about `points` inputs lie within
/// a lengthscale, and no lengthscale exceeds `longest`. The bandwidth and the longest lengthscale have units of the inputs.
///
/// Source: Smith et al. 2021, Section 3.1; the inputs are public, so no budget is spent.
#[derive(Debug, Clone)]
pub struct DensityLengthscale {
    inputs: Vec<Vec<f64>>,
    bandwidth: f64,
    points: f64,
    longest: f64,
}

impl DensityLengthscale {
    /// The lengthscale for these public inputs (n x d).
    pub fn new(inputs: &DMatrix<f64>, bandwidth: f64, points: f64, longest: f64) -> Self {
        let inputs = inputs.column_iter().map(|c| c.iter().copied().collect()).collect();
        Self { inputs, bandwidth, points, longest }
    }

    /// `r_l(x)` for the coordinate `x` along `dimension`.
    pub fn lengthscale_at(&self, dimension: usize, x: f64) -> f64 {
        let h = self.bandwidth;
        let density: f64 = self.inputs[dimension].iter().map(|&xi| normal_pdf((x - xi) / h) / h).sum();
        // Reciprocals add, so that the shorter of the two wins and the lengthscale has no kink.
        1.0 / (1.0 / self.longest + density / self.points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;

    #[test]
    fn a_constant_lengthscale_gives_the_exponentiated_quadratic() {
        let far = DMatrix::from_column_slice(1, 2, &[1e9, 1e9]);
        let gibbs = GibbsKernel::new(3.0, DensityLengthscale::new(&far, 1.0, 1.0, 7.0));
        let eq = ExponentiatedQuadratic::isotropic(3.0, 7.0);
        for (x, y) in [([0.0, 1.0], [2.0, -3.0]), ([5.0, 5.0], [5.0, 5.0])] {
            assert!((gibbs.value(&x, &y) - eq.value(&x, &y)).abs() < 1e-14);
        }
    }

    #[test]
    fn far_from_all_inputs_the_lengthscale_is_the_longest() {
        let inputs = DMatrix::from_column_slice(3, 1, &[0.0, 1.0, 2.0]);
        let r = DensityLengthscale::new(&inputs, 1.0, 10.0, 50.0);
        assert!((r.lengthscale_at(0, 1e3) - 50.0).abs() < 1e-12);
        assert!(r.lengthscale_at(0, 1.0) < r.lengthscale_at(0, 3.0));
    }

    #[test]
    fn one_input_gives_the_closed_form() {
        let inputs = DMatrix::from_column_slice(1, 1, &[3.0]);
        let r = DensityLengthscale::new(&inputs, 2.0, 4.0, 8.0);
        let density = 1.0 / (2.0 * std::f64::consts::TAU.sqrt());
        assert!((r.lengthscale_at(0, 3.0) - 1.0 / (0.125 + density / 4.0)).abs() < 1e-14);
    }
}
