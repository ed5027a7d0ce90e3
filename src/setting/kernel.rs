//! Covariance functions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Problem;
use super::rules::{Checked, dimension, fail, positive};

/// A covariance function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum KernelSetting {
    /// Exponentiated quadratic with one lengthscale.
    Eq {
        /// Variance.
        variance: f64,
        /// Lengthscale, in units of the inputs.
        lengthscale: f64,
    },
    /// Exponentiated quadratic with one lengthscale per input.
    EqArd {
        /// Variance.
        variance: f64,
        /// Lengthscales, in units of the inputs.
        lengthscales: Vec<f64>,
    },
    /// Gibbs' nonstationary kernel with lengthscales from the density of the inputs.
    Gibbs {
        /// Variance.
        variance: f64,
        /// Bandwidth h of the density estimate.
        bandwidth: f64,
        /// Inputs n wanted within a lengthscale.
        points: f64,
        /// Longest lengthscale m.
        longest: f64,
    },
    /// A constant.
    Bias {
        /// Variance.
        variance: f64,
    },
    /// A linear function through the origin.
    Linear {
        /// Variance of the slopes.
        variance: f64,
    },
    /// A periodic function.
    Periodic {
        /// Variance.
        variance: f64,
        /// Lengthscale, relative to the unit circle.
        lengthscale: f64,
        /// Period, in units of the inputs.
        period: f64,
    },
    /// The sum of several kernels.
    Sum(Vec<KernelSetting>),
    /// The product of several kernels.
    Product(Vec<KernelSetting>),
}

impl KernelSetting {
    /// Checks the numbers, for data with so many inputs.
    pub(super) fn check(&self, path: &str, inputs: usize) -> Checked {
        let all = |name: &str, values: &[(&str, f64)]| {
            values.iter().try_for_each(|(key, value)| positive(&format!("{path}.{name}.{key}"), *value))
        };
        match self {
            Self::Eq { variance, lengthscale } => {
                all("eq", &[("variance", *variance), ("lengthscale", *lengthscale)])
            }
            Self::EqArd { variance, lengthscales } => {
                positive(&format!("{path}.eq-ard.variance"), *variance)?;
                let path = format!("{path}.eq-ard.lengthscales");
                dimension(&path, inputs, lengthscales.len())?;
                lengthscales.iter().try_for_each(|l| positive(&path, *l))
            }
            Self::Gibbs { variance, bandwidth, points, longest } => {
                let values = [*variance, *bandwidth, *points, *longest];
                let keys = ["variance", "bandwidth", "points", "longest"].into_iter().zip(values);
                all("gibbs", &keys.collect::<Vec<_>>())
            }
            Self::Bias { variance } => all("bias", &[("variance", *variance)]),
            Self::Linear { variance } => all("linear", &[("variance", *variance)]),
            Self::Periodic { variance, lengthscale, period } => all(
                "periodic",
                &[("variance", *variance), ("lengthscale", *lengthscale), ("period", *period)],
            ),
            Self::Sum(parts) => combined(&format!("{path}.sum"), parts, inputs),
            Self::Product(parts) => combined(&format!("{path}.product"), parts, inputs),
        }
    }
}

fn combined(path: &str, parts: &[KernelSetting], inputs: usize) -> Checked {
    if parts.is_empty() {
        return fail(path, Problem::Empty);
    }
    parts.iter().enumerate().try_for_each(|(i, part)| part.check(&format!("{path}.{i}"), inputs))
}
