//! The exponentiated quadratic kernel.

use fearless_simd::{Level, Simd, dispatch};
use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ExponentiatedQuadraticTerm, Kernel, KernelKeyError, KernelKeyErrorReason, KernelRescaling, SpecKernel,
    StationarySpecKernel,
};
use dpgp_linalg::{exponential_of_nonpositive, for_each_piece_in_parallel};
use dpgp_number::Positive;

/// `k(x, x') = variance * exp(-sum_l (x_l - x'_l)^2 / (2 lengthscale_l^2))`.
///
/// One lengthscale is shared by all dimensions (isotropic), several are one per dimension (ARD).
/// The lengthscale has the units of the inputs, the variance those of the squared targets.
/// Source: Rasmussen and Williams, Gaussian Processes for Machine Learning (2006), Eq. 4.9.
///
/// ```
/// use dpgp_gp::kernel::{ExponentiatedQuadratic, Kernel};
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
pub struct ExponentiatedQuadraticSetting {
    /// Variance.
    pub variance: Positive,
    /// Lengthscale, in units of the inputs.
    pub lengthscale: Positive,
}

impl SpecKernel for ExponentiatedQuadraticSetting {
    const EXAMPLE: &'static str = "{ variance = 2.5, lengthscale = 1.7 }";

    fn build_kernel(&self, _: &DMatrix<f64>) -> Box<dyn Kernel> {
        Box::new(ExponentiatedQuadratic::isotropic(self.variance.get(), self.lengthscale.get()))
    }

    fn as_stationary(&self) -> Option<&dyn StationarySpecKernel> {
        Some(self)
    }
}

impl StationarySpecKernel for ExponentiatedQuadraticSetting {
    fn total_variance(&self) -> f64 {
        self.variance.get()
    }

    fn scaled_lengthscales(&self, sides: &[f64]) -> Vec<f64> {
        KernelRescaling::new(sides).scale_lengthscales(&[self.lengthscale])
    }

    fn build_scaled_kernel(&self, scaled: KernelRescaling<'_>) -> Box<dyn Kernel> {
        let (variance, lengthscales) =
            (self.variance.get() / scaled.over, scaled.scale_lengthscales(&[self.lengthscale]));
        Box::new(ExponentiatedQuadratic::ard(variance, lengthscales))
    }

    fn exponentiated_quadratic_terms(&self, sides: &[f64]) -> Option<Vec<ExponentiatedQuadraticTerm>> {
        Some(vec![ExponentiatedQuadraticTerm {
            variance: self.variance.get(),
            lengthscales: self.scaled_lengthscales(sides),
        }])
    }
}

/// [`ExponentiatedQuadratic`] with one lengthscale per input, in a spec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct ArdExponentiatedQuadraticSetting {
    /// Variance.
    pub variance: Positive,
    /// Lengthscales, in units of the inputs.
    pub lengthscales: Vec<Positive>,
}

impl SpecKernel for ArdExponentiatedQuadraticSetting {
    const EXAMPLE: &'static str = "{ variance = 0.3, lengthscales = [0.8, 4.0] }";

    fn check_input_count(&self, inputs: usize) -> Result<(), KernelKeyError> {
        let found = self.lengthscales.len();
        if found == inputs {
            return Ok(());
        }
        Err(KernelKeyError { key: "lengthscales".to_owned(), reason: KernelKeyErrorReason::Dimension(found) })
    }

    fn build_kernel(&self, _: &DMatrix<f64>) -> Box<dyn Kernel> {
        let lengthscales = self.lengthscales.iter().map(|l| l.get()).collect();
        Box::new(ExponentiatedQuadratic::ard(self.variance.get(), lengthscales))
    }

    fn as_stationary(&self) -> Option<&dyn StationarySpecKernel> {
        Some(self)
    }
}

impl StationarySpecKernel for ArdExponentiatedQuadraticSetting {
    fn total_variance(&self) -> f64 {
        self.variance.get()
    }

    fn scaled_lengthscales(&self, sides: &[f64]) -> Vec<f64> {
        KernelRescaling::new(sides).scale_lengthscales(&self.lengthscales)
    }

    fn build_scaled_kernel(&self, scaled: KernelRescaling<'_>) -> Box<dyn Kernel> {
        let (variance, lengthscales) =
            (self.variance.get() / scaled.over, scaled.scale_lengthscales(&self.lengthscales));
        Box::new(ExponentiatedQuadratic::ard(variance, lengthscales))
    }

    fn exponentiated_quadratic_terms(&self, sides: &[f64]) -> Option<Vec<ExponentiatedQuadraticTerm>> {
        Some(vec![ExponentiatedQuadraticTerm {
            variance: self.variance.get(),
            lengthscales: self.scaled_lengthscales(sides),
        }])
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
        self.write_matrix(a, b, |_| 0)
    }

    fn lower_triangle(&self, a: &DMatrix<f64>) -> DMatrix<f64> {
        self.write_matrix(a, a, |column| column)
    }
}

impl ExponentiatedQuadratic {
    /// The matrix with zeros above row `first_row(j)` of each column j.
    fn write_matrix(
        &self,
        a: &DMatrix<f64>,
        b: &DMatrix<f64>,
        first_row: impl Fn(usize) -> usize + Sync,
    ) -> DMatrix<f64> {
        let mut out = DMatrix::zeros(a.nrows(), b.nrows());
        // `r^2 / (2 l^2) = (r / (sqrt 2 l))^2`: a multiplication for each pair in place of a division.
        let scales: Vec<f64> = (0..a.ncols()).map(|l| std::f64::consts::FRAC_1_SQRT_2 / self.lengthscale(l)).collect();
        let columns = (PIECE / a.nrows().max(1)).max(1);
        let pairs = KernelColumnWriter { a, b, scales: &scales, variance: self.variance };
        for_each_piece_in_parallel(out.as_mut_slice().chunks_mut(columns * a.nrows().max(1)), |place, values| {
            pairs.write_kernel_columns(place * columns, &first_row, values);
        });
        out
    }
}

/// Entries that a thread writes at a time: their exponentials take a few tenths of a millisecond.
const PIECE: usize = 1 << 18;

/// All pairs of rows of two matrices.
struct KernelColumnWriter<'a> {
    a: &'a DMatrix<f64>,
    b: &'a DMatrix<f64>,
    scales: &'a [f64],
    variance: f64,
}

impl KernelColumnWriter<'_> {
    /// Writes the columns from `first` on; of each column j, the rows from `first_row(j)` on.
    fn write_kernel_columns(&self, first: usize, first_row: &impl Fn(usize) -> usize, values: &mut [f64]) {
        let level = Level::new();
        dispatch!(level, simd => simd.vectorize(
            #[inline(always)]
            || self.write_kernel_values(first, first_row, values)
        ));
    }

    /// Writes `variance exp(-sum_l scale_l^2 (a_il - b_jl)^2)` column by column, in loops that the compiler turns into vector
    /// instructions.
    #[inline(always)]
    fn write_kernel_values(&self, first: usize, first_row: &impl Fn(usize) -> usize, values: &mut [f64]) {
        let rows = self.a.nrows();
        for (column, values) in (first..).zip(values.chunks_exact_mut(rows.max(1))) {
            let top = first_row(column);
            let values = &mut values[top..];
            // An input of infinite lengthscale adds nothing.
            for (l, scale) in self.scales.iter().enumerate().filter(|(_, scale)| **scale > 0.0) {
                let inputs = &self.a.as_slice()[l * rows + top..(l + 1) * rows];
                subtract_scaled_squared_distances(values, inputs, self.b[(column, l)], *scale);
            }
            for value in values {
                *value = self.variance * exponential_of_nonpositive(*value);
            }
        }
    }
}

/// Subtracts `scale^2 (input - other)^2` from each value. Differences and not `a^2 + b^2 - 2 a b`: those cancel where inputs
/// are close and far from the origin.
#[inline(always)]
fn subtract_scaled_squared_distances(values: &mut [f64], inputs: &[f64], other: f64, scale: f64) {
    for (value, input) in values.iter_mut().zip(inputs) {
        let distance = (input - other) * scale;
        *value = distance.mul_add(-distance, *value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In pieces, the last of which is short, on several threads and on one: to the last bit the columns by themselves.
    #[test]
    fn pieces_are_parts_of_the_whole() {
        let kernel = ExponentiatedQuadratic::ard(1.7, vec![0.3, f64::INFINITY, 2.0]);
        let a = DMatrix::from_fn(3000, 3, |i, j| (0.1 * (i * (j + 1)) as f64).sin());
        let b = DMatrix::from_fn(900, 3, |i, j| (0.3 * (i + 5 * j) as f64).cos());
        let whole = kernel.matrix(&a, &b);
        assert!(whole.len() > 2 * PIECE);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        assert_eq!(pool.install(|| kernel.matrix(&a, &b)), whole);
        let (square, lower) = (kernel.matrix(&a, &a), kernel.lower_triangle(&a));
        assert_eq!(lower, square.lower_triangle());
        for j in [0, 349, 350, 698, 699, 899] {
            let column = kernel.matrix(&a, &b.rows(j, 1).into_owned());
            assert_eq!(column.as_slice(), whole.column(j).as_slice(), "{j}");
            let expected = kernel.value(&[a[(7, 0)], a[(7, 1)], a[(7, 2)]], &[b[(j, 0)], b[(j, 1)], b[(j, 2)]]);
            assert!((column[7] / expected - 1.0).abs() < 1e-12);
        }
    }
}
