//! Stationary kernels on a box.

use super::{
    Bias, EqPart, ExponentiatedQuadratic, Kernel, KernelSetting, Matern, Periodic, ProductKernel,
    RationalQuadratic, SumKernel,
};
use dpgp_linalg::number::Positive;

/// A stationary kernel of a spec on a box whose sides are the units of its inputs.
///
/// ```
/// use dpgp_gp::kernel::{BoxKernel, Kernel, KernelSetting};
/// let setting: KernelSetting = toml::from_str("eq = { variance = 2.0, lengthscale = 10.0 }")?;
/// let kernel = BoxKernel::new(&setting, vec![40.0]).ok_or("stationary")?;
/// assert_eq!((kernel.variance(), kernel.shortest()), (2.0, 0.25));
/// let wide = kernel.correlations(2.0);
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
        Some(Self { setting: setting.clone(), sides, variance: height(setting)? })
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
    pub fn has_moments(&self) -> bool {
        self.is_additive() || self.dimensions() <= MOST_TOGETHER
    }

    /// The kernel over its variance, in units of the box, all lengthscales that much longer; periods stay.
    pub fn correlations(&self, stretch: f64) -> Box<dyn Kernel> {
        self.of(&self.setting, stretch, self.variance)
    }

    /// The shortest lengthscale, in units of the box; of a periodic kernel that of equal curvature at zero.
    pub fn shortest(&self) -> f64 {
        self.shortest_of(&self.setting)
    }

    /// The exponentiated quadratic kernels that it is the sum of, in units of the box; none of another kernel.
    pub fn exponentiated_quadratics(&self) -> Option<Vec<EqPart>> {
        let lengthscales = match &self.setting {
            KernelSetting::Eq(eq) => self.relative(&[eq.lengthscale], 1.0),
            KernelSetting::EqArd(eq) => self.relative(&eq.lengthscales, 1.0),
            KernelSetting::Additive(additive) => return Some(additive.parts(&self.sides)),
            _ => return None,
        };
        Some(vec![EqPart { variance: self.variance, lengthscales }])
    }

    /// Whether it is a sum of functions of one input or two.
    pub fn is_additive(&self) -> bool {
        matches!(self.setting, KernelSetting::Additive(_))
    }

    /// One lengthscale for all inputs or one for each, in units of the box.
    fn relative(&self, lengthscales: &[Positive], stretch: f64) -> Vec<f64> {
        let pairs = self.sides.iter().zip(lengthscales.iter().cycle());
        pairs.map(|(side, lengthscale)| lengthscale.get() / side * stretch).collect()
    }

    /// A part of the kernel, its variance over a number.
    fn of(&self, part: &KernelSetting, stretch: f64, over: f64) -> Box<dyn Kernel> {
        match part {
            KernelSetting::Eq(eq) => Box::new(ExponentiatedQuadratic::ard(
                eq.variance.get() / over,
                self.relative(&[eq.lengthscale], stretch),
            )),
            KernelSetting::EqArd(eq) => Box::new(ExponentiatedQuadratic::ard(
                eq.variance.get() / over,
                self.relative(&eq.lengthscales, stretch),
            )),
            KernelSetting::Matern(matern) => Box::new(Matern::new(
                matern.smoothness,
                matern.variance.get() / over,
                self.relative(&matern.lengthscales, stretch),
            )),
            KernelSetting::RationalQuadratic(kernel) => Box::new(RationalQuadratic::new(
                kernel.variance.get() / over,
                kernel.alpha.get(),
                self.relative(&kernel.lengthscales, stretch),
            )),
            KernelSetting::Additive(additive) => {
                let units: Vec<f64> = self.sides.iter().map(|side| side / stretch).collect();
                additive.over(over, &units)
            }
            KernelSetting::Periodic(periodic) => {
                Box::new(Waves { periodic: periodic.clone(), sides: self.sides.clone(), stretch, over })
            }
            KernelSetting::Sum(parts) => {
                Box::new(SumKernel(parts.0.iter().map(|part| self.of(part, stretch, over)).collect()))
            }
            KernelSetting::Product(parts) => {
                let mut factors: Vec<Box<dyn Kernel>> = vec![Box::new(Constant(1.0 / over))];
                factors.extend(parts.0.iter().map(|part| self.of(part, stretch, 1.0)));
                Box::new(ProductKernel(factors))
            }
            KernelSetting::Bias(Bias { variance }) => Box::new(Constant(variance.get() / over)),
            // No such kernel is made of these.
            KernelSetting::Gibbs(_) | KernelSetting::Linear(_) => Box::new(Constant(0.0)),
        }
    }

    fn shortest_of(&self, part: &KernelSetting) -> f64 {
        let lengthscales = match part {
            KernelSetting::Eq(eq) => self.relative(&[eq.lengthscale], 1.0),
            KernelSetting::EqArd(eq) => self.relative(&eq.lengthscales, 1.0),
            KernelSetting::Matern(matern) => self.relative(&matern.lengthscales, 1.0),
            KernelSetting::RationalQuadratic(kernel) => self.relative(&kernel.lengthscales, 1.0),
            KernelSetting::Additive(additive) => self.relative(&additive.lengthscales, 1.0),
            // exp(-2 sin^2(pi r / p) / l^2) is exp(-r^2 / (2 (p l / (2 pi))^2)) for short distances r.
            KernelSetting::Periodic(Periodic { lengthscale, period, .. }) => {
                let near = lengthscale.get() / std::f64::consts::TAU;
                self.relative(&[*period], near)
            }
            KernelSetting::Sum(parts) => parts.0.iter().map(|part| self.shortest_of(part)).collect(),
            KernelSetting::Product(parts) => parts.0.iter().map(|part| self.shortest_of(part)).collect(),
            KernelSetting::Bias(_) | KernelSetting::Gibbs(_) | KernelSetting::Linear(_) => Vec::new(),
        };
        lengthscales.into_iter().fold(f64::INFINITY, f64::min)
    }
}

/// `k(x, x)` of a stationary kernel.
fn height(setting: &KernelSetting) -> Option<f64> {
    match setting {
        KernelSetting::Eq(eq) => Some(eq.variance.get()),
        KernelSetting::EqArd(eq) => Some(eq.variance.get()),
        KernelSetting::Matern(matern) => Some(matern.variance.get()),
        KernelSetting::RationalQuadratic(kernel) => Some(kernel.variance.get()),
        KernelSetting::Additive(additive) => Some(additive.height()),
        KernelSetting::Periodic(periodic) => Some(periodic.variance.get()),
        KernelSetting::Bias(bias) => Some(bias.variance.get()),
        KernelSetting::Sum(parts) => parts.0.iter().map(height).sum(),
        KernelSetting::Product(parts) => parts.0.iter().map(height).product(),
        KernelSetting::Gibbs(_) | KernelSetting::Linear(_) => None,
    }
}

/// The same value everywhere.
struct Constant(f64);

impl Kernel for Constant {
    fn value(&self, _: &[f64], _: &[f64]) -> f64 {
        self.0
    }
}

/// A periodic kernel in units of a box, its variance over a number.
struct Waves {
    periodic: Periodic,
    sides: Vec<f64>,
    stretch: f64,
    over: f64,
}

impl Kernel for Waves {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let lengthscale = self.stretch * self.periodic.lengthscale.get();
        let (period, mut squares) = (self.periodic.period.get(), 0.0);
        for ((a, b), side) in x.iter().zip(y).zip(&self.sides) {
            squares += ((std::f64::consts::PI * side * (a - b) / period).sin() / lengthscale).powi(2);
        }
        self.periodic.variance.get() / self.over * (-2.0 * squares).exp()
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
        assert_eq!(tried, 7, "eq, eq-ard, matern, rational-quadratic, additive, periodic and bias");
        assert!(agrees(&sum, &sides, &inputs, &scaled) && agrees(&product, &sides, &inputs, &scaled));
    }

    fn agrees(text: &str, sides: &[f64], inputs: &DMatrix<f64>, scaled: &DMatrix<f64>) -> bool {
        let setting = setting(text);
        let Some(kernel) = BoxKernel::new(&setting, sides.to_vec()) else { return false };
        let expected = setting.covariance(scaled).matrix(scaled, scaled);
        let found = kernel.correlations(1.0).matrix(inputs, inputs) * kernel.variance();
        assert!((found - &expected).amax() < 1e-12 * expected.amax(), "{text}");
        assert!(kernel.shortest() > 0.0);
        true
    }

    #[test]
    fn periods_are_not_stretched() {
        let periodic = setting("periodic = { variance = 1.5, lengthscale = 0.8, period = 0.25 }");
        let wide = BoxKernel::new(&periodic, vec![1.0]).unwrap().correlations(3.0);
        assert!((wide.value(&[0.1], &[0.6]) - 1.0).abs() < 1e-12);
        let opposite = wide.value(&[0.0], &[0.125]);
        assert!((opposite - (-2.0 / (2.4f64).powi(2)).exp()).abs() < 1e-12);
    }
}
