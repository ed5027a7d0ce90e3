//! The exponentiated quadratic kernel.

use fearless_simd::{Level, Simd, dispatch};
use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kernel, NamedKernel, Unfit, UnfitKey};
use crate::linalg::exponential;
use crate::number::Positive;

/// `k(x, x') = variance * exp(-sum_l (x_l - x'_l)^2 / (2 lengthscale_l^2))`.
///
/// One lengthscale is shared by all dimensions (isotropic), several are one per dimension (ARD).
/// The lengthscale has the units of the inputs, the variance those of the squared targets.
/// Source: Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), Eq. 4.9.
///
/// ```
/// use dpgp::kernel::{ExponentiatedQuadratic, Kernel};
/// let kernel = ExponentiatedQuadratic::isotropic(2.0, 1.0);
/// assert_eq!(kernel.value(&[0.0], &[0.0]), 2.0);
/// assert!((kernel.value(&[0.0], &[1.0]) - 2.0 * (-0.5f64).exp()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct ExponentiatedQuadratic {
    variance: f64,
    lengthscales: Vec<f64>,
}

impl ExponentiatedQuadratic {
    /// One lengthscale for every dimension.
    pub fn isotropic(variance: f64, lengthscale: f64) -> Self {
        Self { variance, lengthscales: vec![lengthscale] }
    }

    /// One lengthscale per dimension (automatic relevance determination).
    pub fn ard(variance: f64, lengthscales: Vec<f64>) -> Self {
        Self { variance, lengthscales }
    }

    fn lengthscale(&self, dimension: usize) -> f64 {
        let shared = self.lengthscales.len() == 1;
        self.lengthscales[if shared { 0 } else { dimension }]
    }
}

/// [`ExponentiatedQuadratic`] with one lengthscale, in a spec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct EqSetting {
    /// Variance.
    pub variance: Positive,
    /// Lengthscale, in units of the inputs.
    pub lengthscale: Positive,
}

impl NamedKernel for EqSetting {
    const EXAMPLE: &'static str = "{ variance = 2.5, lengthscale = 1.7 }";

    fn covariance(&self, _: &DMatrix<f64>) -> Box<dyn Kernel> {
        Box::new(ExponentiatedQuadratic::isotropic(self.variance.get(), self.lengthscale.get()))
    }
}

/// [`ExponentiatedQuadratic`] with one lengthscale per input, in a spec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct EqArdSetting {
    /// Variance.
    pub variance: Positive,
    /// Lengthscales, in units of the inputs.
    pub lengthscales: Vec<Positive>,
}

impl NamedKernel for EqArdSetting {
    const EXAMPLE: &'static str = "{ variance = 0.3, lengthscales = [0.8, 4.0] }";

    fn fits(&self, inputs: usize) -> Result<(), UnfitKey> {
        let found = self.lengthscales.len();
        if found == inputs {
            return Ok(());
        }
        Err(UnfitKey { key: "lengthscales".to_owned(), reason: Unfit::Dimension(found) })
    }

    fn covariance(&self, _: &DMatrix<f64>) -> Box<dyn Kernel> {
        let lengthscales = self.lengthscales.iter().map(|l| l.get()).collect();
        Box::new(ExponentiatedQuadratic::ard(self.variance.get(), lengthscales))
    }
}

impl Kernel for ExponentiatedQuadratic {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let scaled = x.iter().zip(y).enumerate().map(|(l, (a, b))| (a - b) / self.lengthscale(l));
        self.variance * (-0.5 * scaled.map(|r| r * r).sum::<f64>()).exp()
    }

    fn variance(&self, _: &[f64]) -> f64 {
        self.variance
    }

    fn matrix(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
        let mut out = DMatrix::zeros(a.nrows(), b.nrows());
        // `r^2 / (2 l^2) = (r / (sqrt 2 l))^2`: a multiplication for each pair in place of a division.
        let scales: Vec<f64> =
            (0..a.ncols()).map(|l| std::f64::consts::FRAC_1_SQRT_2 / self.lengthscale(l)).collect();
        let level = Level::new();
        dispatch!(level, simd => simd.vectorize(
            #[inline(always)]
            || fill(&mut out, a, b, &scales, self.variance)
        ));
        out
    }
}

/// Writes `variance exp(-sum_l scale_l^2 (a_il - b_jl)^2)` for all pairs of rows, column by column in loops that the
/// compiler turns into vector instructions.
#[inline(always)]
fn fill(out: &mut DMatrix<f64>, a: &DMatrix<f64>, b: &DMatrix<f64>, scales: &[f64], variance: f64) {
    let rows = out.nrows();
    for (j, values) in out.as_mut_slice().chunks_exact_mut(rows.max(1)).enumerate() {
        // An input of infinite lengthscale adds nothing.
        for (l, scale) in scales.iter().enumerate().filter(|(_, scale)| **scale > 0.0) {
            let inputs = &a.as_slice()[l * rows..(l + 1) * rows];
            subtract_squares(values, inputs, b[(j, l)], *scale);
        }
        for value in values {
            *value = variance * exponential(*value);
        }
    }
}

/// Subtracts `scale^2 (input - other)^2` from each value. Differences and not `a^2 + b^2 - 2 a b`: those cancel where inputs
/// are close and far from the origin.
#[inline(always)]
fn subtract_squares(values: &mut [f64], inputs: &[f64], other: f64, scale: f64) {
    for (value, input) in values.iter_mut().zip(inputs) {
        let distance = (input - other) * scale;
        *value = distance.mul_add(-distance, *value);
    }
}
