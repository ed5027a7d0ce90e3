//! Sums and products of kernels.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::in_box::ConstantKernel;
use super::{
    Kernel, KernelKeyError, KernelKeyErrorReason, KernelRescaling, KernelSetting, SpecKernel, StationarySpecKernel,
};

/// `k(x, x') = sum_i k_i(x, x')`: the sum of independent processes.
///
/// ```
/// use dpgp_gp::kernel::{ExponentiatedQuadratic, Kernel, ProductKernel, SumKernel};
/// let parts = || -> Vec<Box<dyn Kernel>> {
///     [2.0, 5.0].map(|variance| -> Box<dyn Kernel> { Box::new(ExponentiatedQuadratic::isotropic(variance, 1.0)) }).into()
/// };
/// assert_eq!(SumKernel(parts()).value(&[0.0], &[0.0]), 2.0 + 5.0);
/// assert_eq!(ProductKernel(parts()).value(&[0.0], &[0.0]), 2.0 * 5.0);
/// ```
pub struct SumKernel(pub Vec<Box<dyn Kernel>>);

/// `k(x, x') = prod_i k_i(x, x')`; positive semidefinite by the Schur product theorem.
pub struct ProductKernel(pub Vec<Box<dyn Kernel>>);

/// Entries of a sum that are computed together, so that they stay in the cache from one part to the next.
const BLOCK: usize = 1 << 14;

/// [`SumKernel`] in a spec: the tables of its parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, description = "")]
pub struct SumSetting(pub Vec<KernelSetting>);

/// [`ProductKernel`] in a spec: the tables of its parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline, description = "")]
pub struct ProductSetting(pub Vec<KernelSetting>);

impl SpecKernel for SumSetting {
    const EXAMPLE: &'static str = "[{ bias = { variance = 0.7 } }, { linear = { variance = 0.4 } }]";

    fn check_input_count(&self, inputs: usize) -> Result<(), KernelKeyError> {
        check_parts(&self.0, inputs)
    }

    fn build_kernel(&self, inputs: &DMatrix<f64>) -> Box<dyn Kernel> {
        Box::new(SumKernel(self.0.iter().map(|part| part.build_kernel(inputs)).collect()))
    }

    fn as_stationary(&self) -> Option<&dyn StationarySpecKernel> {
        (stationary_parts(&self.0).count() == self.0.len()).then_some(self as &dyn StationarySpecKernel)
    }
}

impl StationarySpecKernel for SumSetting {
    fn total_variance(&self) -> f64 {
        stationary_parts(&self.0).map(StationarySpecKernel::total_variance).sum()
    }

    fn scaled_lengthscales(&self, sides: &[f64]) -> Vec<f64> {
        stationary_parts(&self.0).flat_map(|part| part.scaled_lengthscales(sides)).collect()
    }

    fn build_scaled_kernel(&self, scaled: KernelRescaling<'_>) -> Box<dyn Kernel> {
        Box::new(SumKernel(stationary_parts(&self.0).map(|part| part.build_scaled_kernel(scaled)).collect()))
    }
}

impl SpecKernel for ProductSetting {
    const EXAMPLE: &'static str = SumSetting::EXAMPLE;

    fn check_input_count(&self, inputs: usize) -> Result<(), KernelKeyError> {
        check_parts(&self.0, inputs)
    }

    fn build_kernel(&self, inputs: &DMatrix<f64>) -> Box<dyn Kernel> {
        Box::new(ProductKernel(self.0.iter().map(|part| part.build_kernel(inputs)).collect()))
    }

    fn as_stationary(&self) -> Option<&dyn StationarySpecKernel> {
        (stationary_parts(&self.0).count() == self.0.len()).then_some(self as &dyn StationarySpecKernel)
    }
}

impl StationarySpecKernel for ProductSetting {
    fn total_variance(&self) -> f64 {
        stationary_parts(&self.0).map(StationarySpecKernel::total_variance).product()
    }

    fn scaled_lengthscales(&self, sides: &[f64]) -> Vec<f64> {
        stationary_parts(&self.0).flat_map(|part| part.scaled_lengthscales(sides)).collect()
    }

    fn build_scaled_kernel(&self, scaled: KernelRescaling<'_>) -> Box<dyn Kernel> {
        let parts = KernelRescaling { over: 1.0, ..scaled };
        let mut factors: Vec<Box<dyn Kernel>> = vec![Box::new(ConstantKernel(1.0 / scaled.over))];
        factors.extend(stationary_parts(&self.0).map(|part| part.build_scaled_kernel(parts)));
        Box::new(ProductKernel(factors))
    }
}

/// The parts that are stationary.
fn stationary_parts(parts: &[KernelSetting]) -> impl Iterator<Item = &dyn StationarySpecKernel> {
    parts.iter().filter_map(KernelSetting::as_stationary)
}

/// Whether there are parts, all of which fit.
fn check_parts(parts: &[KernelSetting], inputs: usize) -> Result<(), KernelKeyError> {
    if parts.is_empty() {
        return Err(KernelKeyError { key: String::new(), reason: KernelKeyErrorReason::Empty });
    }
    let mut places = parts.iter().enumerate();
    places.try_for_each(|(i, part)| part.check_input_count(inputs).map_err(|unfit| unfit.with_key_prefix(i)))
}

impl Kernel for SumKernel {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        self.0.iter().map(|part| part.value(x, y)).sum()
    }

    fn variance(&self, x: &[f64]) -> f64 {
        self.0.iter().map(|part| part.variance(x)).sum()
    }

    fn matrix(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
        let mut sum = DMatrix::zeros(a.nrows(), b.nrows());
        let together = (BLOCK / a.nrows().max(1)).max(1);
        for start in (0..b.nrows()).step_by(together) {
            let here = together.min(b.nrows() - start);
            let rows = b.rows(start, here).into_owned();
            let mut columns = sum.columns_mut(start, here);
            self.0.iter().for_each(|part| columns += part.matrix(a, &rows));
        }
        sum
    }
}

impl Kernel for ProductKernel {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        self.0.iter().map(|part| part.value(x, y)).product()
    }

    fn variance(&self, x: &[f64]) -> f64 {
        self.0.iter().map(|part| part.variance(x)).product()
    }

    fn matrix(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
        let one = DMatrix::from_element(a.nrows(), b.nrows(), 1.0);
        self.0.iter().fold(one, |product, part| product.component_mul(&part.matrix(a, b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::ExponentiatedQuadratic;

    /// Of the first input alone.
    fn part(lengthscale: f64) -> ExponentiatedQuadratic {
        ExponentiatedQuadratic::ard(lengthscale, vec![lengthscale, f64::INFINITY])
    }

    /// To the last bit the entries of the parts, added in their order, in every block of columns.
    #[test]
    fn a_matrix_is_the_sum_of_its_parts() {
        let sum = SumKernel(vec![Box::new(part(0.7)), Box::new(part(1.9)), Box::new(part(0.2))]);
        let a = DMatrix::from_fn(200, 2, |i, j| (0.37 * (i + 3 * j) as f64).sin());
        let b = DMatrix::from_fn(230, 2, |i, j| (0.11 * (i * (j + 1)) as f64).cos());
        let found = sum.matrix(&a, &b);
        let expected = part(0.7).matrix(&a, &b) + part(1.9).matrix(&a, &b) + part(0.2).matrix(&a, &b);
        assert!(a.nrows() * b.nrows() > 2 * BLOCK && found == expected);
    }
}
