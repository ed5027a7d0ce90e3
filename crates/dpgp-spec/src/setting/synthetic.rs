//! Data that are generated.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::{Checked, range};
use dpgp_number::{Count, Fraction, NonNegative, Positive};

/// Data that are generated, anew in each replicate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum SyntheticSetting {
    /// Noisy diagonal stripes of two classes (0 and 1) over the square of side 10, denser at the bottom; then a test
    /// grid with its true classes.
    Stripes {
        /// Training points.
        points: Count,
        /// The share of the training points whose class is flipped.
        flips: Fraction,
        /// Test points along each side.
        grid: Count<1000, 0>,
    },
    /// A damped oscillation with noise over [-4, 4]; then a test grid with noise, and the same without.
    Sinc {
        /// Training points.
        points: Count,
        /// Standard deviation of the noise.
        noise: NonNegative,
        /// Test points.
        grid: Count<100_000, 0>,
    },
    /// A draw of a Gaussian process with noise over [-4, 4], along each input; then test points with noise, and the same without.
    GaussianProcess {
        /// Training points.
        points: Count,
        /// Standard deviation of the noise.
        noise: NonNegative,
        /// The lengthscale of the exponentiated quadratic kernel of variance 1.
        lengthscale: Positive,
        /// Test points.
        test: Count<100_000, 0>,
        /// The number of inputs.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        inputs: Count<2>,
    },
    /// Two half circles that hold each other, of classes 0 and 1.
    Moons {
        /// Points.
        points: Count,
        /// Standard deviation of the noise in either coordinate.
        noise: NonNegative,
    },
    /// Intertwined spiral arms, each of a class.
    Spirals {
        /// Points.
        points: Count,
        /// Arms.
        arms: Count<1000>,
        /// Standard deviation of the noise in either coordinate.
        noise: NonNegative,
    },
}

fn one() -> Count<2> {
    Count::literal::<1>()
}

fn is_one(inputs: &Count<2>) -> bool {
    inputs.get() == 1
}

impl SyntheticSetting {
    /// The number of inputs of the data.
    pub fn inputs(&self) -> usize {
        match self {
            Self::Sinc { .. } => 1,
            Self::GaussianProcess { inputs, .. } => inputs.get(),
            Self::Stripes { .. } | Self::Moons { .. } | Self::Spirals { .. } => 2,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Stripes { points, grid, .. } => points.get() + grid.get() * grid.get(),
            Self::Sinc { points, grid: test, .. } | Self::GaussianProcess { points, test, .. } => {
                points.get() + 2 * test.get()
            }
            Self::Moons { points, .. } | Self::Spirals { points, .. } => points.get(),
        }
    }

    /// Fails for a grid of one point, which has no ends.
    pub(super) fn check(&self) -> Checked {
        match self {
            Self::Sinc { grid, .. } => {
                let path = "data.source.synthetic.sinc.grid";
                range(path, grid.get() != 1, "0, or from 2 to 100000", grid.get() as f64)
            }
            _ => Ok(()),
        }
    }
}
