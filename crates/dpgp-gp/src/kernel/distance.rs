//! Kernels of the distance in units of lengthscales.

use nalgebra::DMatrix;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kernel, KernelKeyError, KernelKeyErrorReason, KernelRescaling, SpecKernel, StationarySpecKernel};
use dpgp_number::Positive;

/// One lengthscale for every input, or one for each.
#[derive(Debug, Clone)]
struct Lengthscales(Vec<f64>);

impl Lengthscales {
    pub fn new(lengthscales: Vec<f64>) -> Self {
        Self(lengthscales)
    }

    /// `sum_l (x_l - y_l)^2 / lengthscale_l^2`.
    pub fn scaled_squared_distance(&self, x: &[f64], y: &[f64]) -> f64 {
        let differences = x.iter().zip(y).zip(self.0.iter().cycle());
        differences.map(|((a, b), lengthscale)| ((a - b) / lengthscale).powi(2)).sum()
    }
}

/// Whether there is one lengthscale, or one for each of so many inputs.
pub(super) fn check_lengthscale_count(lengthscales: &[Positive], inputs: usize) -> Result<(), KernelKeyError> {
    let reason = match lengthscales.len() {
        0 => KernelKeyErrorReason::Empty,
        1 => return Ok(()),
        found if found == inputs => return Ok(()),
        found => KernelKeyErrorReason::Dimension(found),
    };
    Err(KernelKeyError { key: "lengthscales".to_owned(), reason })
}

/// How many times a process with a Matern kernel can be differentiated: fewer than nu times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Smoothness {
    /// nu = 1/2: continuous, like Brownian motion.
    #[serde(rename = "1/2")]
    Half,
    /// nu = 3/2: one derivative.
    #[serde(rename = "3/2")]
    ThreeHalves,
    /// nu = 5/2: two derivatives.
    #[serde(rename = "5/2")]
    FiveHalves,
}

/// With `r^2 = sum_l (x_l - x'_l)^2 / lengthscale_l^2`:
///
/// ```text
/// nu = 1/2: variance exp(-r),    3/2: variance (1 + s) exp(-s), s = sqrt(3) r,    5/2: variance (1 + s + s^2 / 3) exp(-s), s = sqrt(5) r.
/// ```
///
/// Source: Rasmussen and Williams 2006, Eqs. 4.17 and 4.18.
///
/// ```
/// use dpgp_gp::kernel::{Kernel, Matern, Smoothness};
/// let kernel = Matern::new(Smoothness::ThreeHalves, 2.0, vec![3f64.sqrt()]);
/// assert!((kernel.value(&[0.0], &[1.0]) - 2.0 * 2.0 * (-1f64).exp()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct Matern {
    smoothness: Smoothness,
    variance: f64,
    lengthscales: Lengthscales,
}

impl Matern {
    /// One lengthscale for every input, or one for each.
    pub fn new(smoothness: Smoothness, variance: f64, lengthscales: Vec<f64>) -> Self {
        Self { smoothness, variance, lengthscales: Lengthscales::new(lengthscales) }
    }
}

impl Kernel for Matern {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let r = self.lengthscales.scaled_squared_distance(x, y).sqrt();
        let (s, polynomial) = match self.smoothness {
            Smoothness::Half => (r, 1.0),
            Smoothness::ThreeHalves => {
                let s = 3f64.sqrt() * r;
                (s, 1.0 + s)
            }
            Smoothness::FiveHalves => {
                let s = 5f64.sqrt() * r;
                (s, 1.0 + s + s * s / 3.0)
            }
        };
        self.variance * polynomial * (-s).exp()
    }

    fn variance(&self, _: &[f64]) -> f64 {
        self.variance
    }
}

/// [`Matern`] in a spec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct MaternSetting {
    /// The smoothness nu: 1/2, 3/2 or 5/2. A process has fewer than nu derivatives.
    pub smoothness: Smoothness,
    /// Variance, in squared units of the target.
    pub variance: Positive,
    /// One lengthscale for all inputs, or one for each, in units of the inputs.
    pub lengthscales: Vec<Positive>,
}

impl SpecKernel for MaternSetting {
    const EXAMPLE: &'static str = "{ smoothness = \"5/2\", variance = 1.4, lengthscales = [1.1, 2.0] }";

    fn check_input_count(&self, inputs: usize) -> Result<(), KernelKeyError> {
        check_lengthscale_count(&self.lengthscales, inputs)
    }

    fn build_kernel(&self, _: &DMatrix<f64>) -> Box<dyn Kernel> {
        let lengthscales = self.lengthscales.iter().map(|l| l.get()).collect();
        Box::new(Matern::new(self.smoothness, self.variance.get(), lengthscales))
    }

    fn as_stationary(&self) -> Option<&dyn StationarySpecKernel> {
        Some(self)
    }
}

impl StationarySpecKernel for MaternSetting {
    fn total_variance(&self) -> f64 {
        self.variance.get()
    }

    fn scaled_lengthscales(&self, sides: &[f64]) -> Vec<f64> {
        KernelRescaling::new(sides).scale_lengthscales(&self.lengthscales)
    }

    fn build_scaled_kernel(&self, scaled: KernelRescaling<'_>) -> Box<dyn Kernel> {
        let (variance, lengthscales) =
            (self.variance.get() / scaled.over, scaled.scale_lengthscales(&self.lengthscales));
        Box::new(Matern::new(self.smoothness, variance, lengthscales))
    }
}

/// `k(x, x') = variance (1 + r^2 / (2 alpha))^(-alpha)` with `r^2 = sum_l (x_l - x'_l)^2 / lengthscale_l^2`: a mixture of
/// exponentiated quadratic kernels whose lengthscales spread the more, the less alpha is.
///
/// Source: Rasmussen and Williams 2006, Eq. 4.19.
///
/// ```
/// use dpgp_gp::kernel::{Kernel, RationalQuadratic};
/// let kernel = RationalQuadratic::new(2.0, 0.5, vec![1.0]);
/// assert!((kernel.value(&[0.0], &[1.0]) - 2.0 / 2f64.sqrt()).abs() < 1e-15);
/// ```
#[derive(Debug, Clone)]
pub struct RationalQuadratic {
    variance: f64,
    alpha: f64,
    lengthscales: Lengthscales,
}

impl RationalQuadratic {
    /// One lengthscale for every input, or one for each.
    pub fn new(variance: f64, alpha: f64, lengthscales: Vec<f64>) -> Self {
        Self { variance, alpha, lengthscales: Lengthscales::new(lengthscales) }
    }
}

impl Kernel for RationalQuadratic {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        let half = 0.5 * self.lengthscales.scaled_squared_distance(x, y) / self.alpha;
        // The logarithm of 1 + half keeps its digits where half is tiny, as it is for a large alpha.
        self.variance * (-self.alpha * half.ln_1p()).exp()
    }

    fn variance(&self, _: &[f64]) -> f64 {
        self.variance
    }
}

/// [`RationalQuadratic`] in a spec.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline, description = "")]
pub struct RationalQuadraticSetting {
    /// Variance, in squared units of the target.
    pub variance: Positive,
    /// How similar the lengthscales of the mixture are: the larger alpha, the more similar.
    pub alpha: Positive,
    /// One lengthscale for all inputs, or one for each, in units of the inputs.
    pub lengthscales: Vec<Positive>,
}

impl SpecKernel for RationalQuadraticSetting {
    const EXAMPLE: &'static str = "{ variance = 0.6, alpha = 1.5, lengthscales = [1.3] }";

    fn check_input_count(&self, inputs: usize) -> Result<(), KernelKeyError> {
        check_lengthscale_count(&self.lengthscales, inputs)
    }

    fn build_kernel(&self, _: &DMatrix<f64>) -> Box<dyn Kernel> {
        let lengthscales = self.lengthscales.iter().map(|l| l.get()).collect();
        Box::new(RationalQuadratic::new(self.variance.get(), self.alpha.get(), lengthscales))
    }

    fn as_stationary(&self) -> Option<&dyn StationarySpecKernel> {
        Some(self)
    }
}

impl StationarySpecKernel for RationalQuadraticSetting {
    fn total_variance(&self) -> f64 {
        self.variance.get()
    }

    fn scaled_lengthscales(&self, sides: &[f64]) -> Vec<f64> {
        KernelRescaling::new(sides).scale_lengthscales(&self.lengthscales)
    }

    fn build_scaled_kernel(&self, scaled: KernelRescaling<'_>) -> Box<dyn Kernel> {
        let (variance, lengthscales) =
            (self.variance.get() / scaled.over, scaled.scale_lengthscales(&self.lengthscales));
        Box::new(RationalQuadratic::new(variance, self.alpha.get(), lengthscales))
    }
}
