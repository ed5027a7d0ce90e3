//! Data that are generated.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{Checked, count, positive, range};

/// Data that are generated, anew in each replicate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SyntheticSetting {
    /// Noisy diagonal stripes of two classes (0 and 1) over the square of side 10, denser at the bottom; then a test
    /// grid with its true classes.
    Stripes {
        /// Training points.
        points: usize,
        /// The share of the training points whose class is flipped.
        flips: f64,
        /// Test points along each side.
        grid: usize,
    },
    /// A damped oscillation with noise over [-4, 4]; then a test grid with noise, and the same without.
    Sinc {
        /// Training points.
        points: usize,
        /// Standard deviation of the noise.
        noise: f64,
        /// Test points.
        grid: usize,
    },
    /// A draw of a Gaussian process with noise over [-4, 4]; then test points with noise, and the same without.
    GaussianProcess {
        /// Training points.
        points: usize,
        /// Standard deviation of the noise.
        noise: f64,
        /// The lengthscale of the exponentiated quadratic kernel of variance 1.
        lengthscale: f64,
        /// Test points.
        test: usize,
    },
    /// Two half circles that hold each other, of classes 0 and 1.
    Moons {
        /// Points.
        points: usize,
        /// Standard deviation of the noise in either coordinate.
        noise: f64,
    },
    /// Intertwined spiral arms, each of a class.
    Spirals {
        /// Points.
        points: usize,
        /// Arms.
        arms: usize,
        /// Standard deviation of the noise in either coordinate.
        noise: f64,
    },
}

impl SyntheticSetting {
    /// The number of inputs of the data.
    pub fn inputs(&self) -> usize {
        match self {
            Self::Sinc { .. } | Self::GaussianProcess { .. } => 1,
            Self::Stripes { .. } | Self::Moons { .. } | Self::Spirals { .. } => 2,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Stripes { points, grid, .. } => points + grid * grid,
            Self::Sinc { points, grid: test, .. } | Self::GaussianProcess { points, test, .. } => {
                points + 2 * test
            }
            Self::Moons { points, .. } | Self::Spirals { points, .. } => *points,
        }
    }

    /// Checks the numbers.
    pub(super) fn check(&self) -> Checked {
        let path = format!("data.source.synthetic.{}", self.name());
        count(&format!("{path}.points"), self.points())?;
        match *self {
            Self::Stripes { flips, grid, .. } => {
                range(&format!("{path}.flips"), (0.0..=1.0).contains(&flips), "from 0 to 1", flips)?;
                range(&format!("{path}.grid"), grid <= 1000, "at most 1000", grid as f64)
            }
            Self::Sinc { noise, grid, .. } => {
                sd(&path, noise)?;
                let inside = grid != 1 && grid <= 100_000;
                range(&format!("{path}.grid"), inside, "0, or from 2 to 100000", grid as f64)
            }
            Self::GaussianProcess { noise, lengthscale, test, .. } => {
                sd(&path, noise)?;
                positive(&format!("{path}.lengthscale"), lengthscale)?;
                range(&format!("{path}.test"), test <= 100_000, "at most 100000", test as f64)
            }
            Self::Moons { noise, .. } => sd(&path, noise),
            Self::Spirals { arms, noise, .. } => {
                range(&format!("{path}.arms"), (1..=1000).contains(&arms), "from 1 to 1000", arms as f64)?;
                sd(&path, noise)
            }
        }
    }

    /// The name of the kind, as specs write it.
    fn name(&self) -> &'static str {
        match self {
            Self::Stripes { .. } => "stripes",
            Self::Sinc { .. } => "sinc",
            Self::GaussianProcess { .. } => "gaussian-process",
            Self::Moons { .. } => "moons",
            Self::Spirals { .. } => "spirals",
        }
    }

    /// Training points.
    fn points(&self) -> usize {
        match *self {
            Self::Stripes { points, .. }
            | Self::Sinc { points, .. }
            | Self::GaussianProcess { points, .. }
            | Self::Moons { points, .. }
            | Self::Spirals { points, .. } => points,
        }
    }
}

/// The standard deviation of the noise, which may be zero.
fn sd(path: &str, noise: f64) -> Checked {
    range(&format!("{path}.noise"), noise >= 0.0 && noise.is_finite(), "at least 0 and finite", noise)
}
