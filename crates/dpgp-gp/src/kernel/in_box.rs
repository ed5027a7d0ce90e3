//! Stationary kernels on a box.

use super::{ExponentiatedQuadraticTerm, Kernel, KernelSetting};
use dpgp_number::Positive;

/// A kernel of the difference of its inputs alone, in units of a box. A kernel that says what it is there serves mechanisms that see a
/// process through its frequencies.
///
/// Obligation: the covariance is even in each difference by itself, `k(d_1, ..., -d_l, ...) = k(d_1, ..., d_l, ...)`: the spectrum on the
/// torus is computed from cosines alone.
pub trait StationarySpecKernel {
    /// `k(x, x)`.
    fn total_variance(&self) -> f64;

    /// The lengthscales in units of the sides: of each part that has some, one for each input, part after part. Of a periodic kernel
    /// those of equal curvature at zero.
    fn scaled_lengthscales(&self, sides: &[f64]) -> Vec<f64>;

    /// The covariance function between points in units of the sides.
    fn build_scaled_kernel(&self, scaled: KernelRescaling<'_>) -> Box<dyn Kernel>;

    /// The exponentiated quadratic kernels that it is the sum of, if it is one.
    fn exponentiated_quadratic_terms(&self, _sides: &[f64]) -> Option<Vec<ExponentiatedQuadraticTerm>> {
        None
    }

    /// Whether it is a sum of functions of one input or two.
    fn is_sum_over_inputs_or_pairs(&self) -> bool {
        false
    }
}

/// The units of a box, and what a kernel on it is changed by.
#[derive(Debug, Clone, Copy)]
pub struct KernelRescaling<'a> {
    /// The sides.
    pub sides: &'a [f64],
    /// Factor of lengthscales; periods stay.
    pub stretch: f64,
    /// Divisor of the variance.
    pub over: f64,
}

impl KernelRescaling<'_> {
    /// One lengthscale for all inputs or one for each, in units of the sides.
    pub fn scale_lengthscales(self, lengthscales: &[Positive]) -> Vec<f64> {
        let pairs = self.sides.iter().zip(lengthscales.iter().cycle());
        pairs.map(|(side, lengthscale)| lengthscale.get() / side * self.stretch).collect()
    }

    /// As they are.
    pub fn new(sides: &[f64]) -> KernelRescaling<'_> {
        KernelRescaling { sides, stretch: 1.0, over: 1.0 }
    }
}

/// A stationary kernel of a spec on a box whose sides are the units of its inputs.
///
/// ```
/// use dpgp_gp::kernel::{BoxKernel, Kernel, KernelSetting};
/// let setting: KernelSetting = toml::from_str("eq = { variance = 2.0, lengthscale = 10.0 }")?;
/// let kernel = BoxKernel::new(&setting, vec![40.0]).ok_or("stationary")?;
/// assert_eq!((kernel.variance(), kernel.shortest_lengthscale()), (2.0, 0.25));
/// let wide = kernel.correlation_kernel(2.0);
/// assert!((wide.value(&[0.0], &[0.5]) - (-0.5f64).exp()).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct BoxKernel {
    setting: KernelSetting,
    sides: Vec<f64>,
    variance: f64,
}

/// The most inputs that a function of all of them is seen at by moments.
const MOST_TOGETHER: usize = 4;

impl BoxKernel {
    /// None of a kernel that is not stationary.
    pub fn new(setting: &KernelSetting, sides: Vec<f64>) -> Option<Self> {
        let variance = setting.as_stationary()?.total_variance();
        Some(Self { setting: setting.clone(), sides, variance })
    }

    /// `k(x, x)`.
    pub fn variance(&self) -> f64 {
        self.variance
    }

    /// The number of inputs.
    pub fn dimensions(&self) -> usize {
        self.sides.len()
    }

    /// Whether its process can be seen through Fourier moments: with more than four inputs only a sum of functions of few of them.
    pub fn supports_fourier_moments(&self) -> bool {
        self.is_sum_over_inputs_or_pairs() || self.dimensions() <= MOST_TOGETHER
    }

    /// The kernel over its variance, in units of the box, all lengthscales that much longer; periods stay.
    pub fn correlation_kernel(&self, stretch: f64) -> Box<dyn Kernel> {
        let scaled = KernelRescaling { sides: &self.sides, stretch, over: self.variance };
        self.setting.as_stationary().map_or_else(
            || Box::new(ConstantKernel(0.0)) as Box<dyn Kernel>,
            |kernel| kernel.build_scaled_kernel(scaled),
        )
    }

    /// The shortest lengthscale, in units of the box; of a periodic kernel that of equal curvature at zero.
    pub fn shortest_lengthscale(&self) -> f64 {
        let lengthscales = self.setting.as_stationary().map(|kernel| kernel.scaled_lengthscales(&self.sides));
        lengthscales.into_iter().flatten().fold(f64::INFINITY, f64::min)
    }

    /// The shortest lengthscale along each input, in units of the box.
    pub fn shortest_lengthscale_per_input(&self) -> Vec<f64> {
        let all =
            self.setting.as_stationary().map(|kernel| kernel.scaled_lengthscales(&self.sides)).unwrap_or_default();
        let shortest = |input: usize| all.iter().skip(input).step_by(self.sides.len().max(1)).copied();
        (0..self.sides.len()).map(|input| shortest(input).fold(f64::INFINITY, f64::min)).collect()
    }

    /// The exponentiated quadratic kernels that it is the sum of, in units of the box; none of another kernel.
    pub fn exponentiated_quadratic_terms(&self) -> Option<Vec<ExponentiatedQuadraticTerm>> {
        self.setting.as_stationary()?.exponentiated_quadratic_terms(&self.sides)
    }

    /// Whether it is a sum of functions of one input or two.
    pub fn is_sum_over_inputs_or_pairs(&self) -> bool {
        self.setting.as_stationary().is_some_and(StationarySpecKernel::is_sum_over_inputs_or_pairs)
    }
}

/// The same value everywhere.
pub(super) struct ConstantKernel(pub f64);

impl Kernel for ConstantKernel {
    fn value(&self, _: &[f64], _: &[f64]) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    fn setting(text: &str) -> KernelSetting {
        toml::from_str(text).unwrap()
    }

    /// In units of the box it is the kernel itself, whatever it is made of.
    #[test]
    fn correlations_are_those_of_the_kernel() {
        let sides = vec![4.0, 0.5];
        let inputs = DMatrix::from_row_slice(3, 2, &[0.1, 0.9, 0.7, 0.2, 0.35, 0.6]);
        let mut scaled = inputs.clone();
        sides.iter().enumerate().for_each(|(l, side)| scaled.column_mut(l).scale_mut(*side));
        let periodic = "periodic = { variance = 1.5, lengthscale = 0.8, period = 1.7 }";
        let matern = "matern = { smoothness = \"3/2\", variance = 0.5, lengthscales = [0.4] }";
        let sum = format!("sum = [{{ {periodic} }}, {{ {matern} }}, {{ bias = {{ variance = 0.2 }} }}]");
        let product = format!("product = [{{ {periodic} }}, {{ {matern} }}]");
        let mut tried = 0;
        for (word, example) in KernelSetting::EXAMPLES {
            let text = format!("{word} = {example}");
            tried += usize::from(agrees(&text, &sides, &inputs, &scaled));
        }
        assert!(tried >= 7, "only {tried} kernels are stationary");
        assert!(agrees(&sum, &sides, &inputs, &scaled) && agrees(&product, &sides, &inputs, &scaled));
    }

    fn agrees(text: &str, sides: &[f64], inputs: &DMatrix<f64>, scaled: &DMatrix<f64>) -> bool {
        let setting = setting(text);
        let Some(kernel) = BoxKernel::new(&setting, sides.to_vec()) else { return false };
        let expected = setting.build_kernel(scaled).matrix(scaled, scaled);
        let found = kernel.correlation_kernel(1.0).matrix(inputs, inputs) * kernel.variance();
        assert!((found - &expected).amax() < 1e-12 * expected.amax(), "{text}");
        assert!(kernel.shortest_lengthscale() > 0.0);
        true
    }

    #[test]
    fn periods_are_not_stretched() {
        let periodic = setting("periodic = { variance = 1.5, lengthscale = 0.8, period = 0.25 }");
        let wide = BoxKernel::new(&periodic, vec![1.0]).unwrap().correlation_kernel(3.0);
        assert!((wide.value(&[0.1], &[0.6]) - 1.0).abs() < 1e-12);
        let opposite = wide.value(&[0.0], &[0.125]);
        assert!((opposite - (-2.0 / (2.4f64).powi(2)).exp()).abs() < 1e-12);
    }
}
