//! What a private regression predicts.

use dpgp_gp::Predictive;
use dpgp_gp::variational::Prediction;

/// The mass of the interval whose coverage is measured.
pub(super) const MASS: f64 = 0.9;

/// What a run predicts at the test inputs.
pub(super) enum Predicted {
    /// The latent function, about which targets have the noise variance of the model.
    Function(Prediction),
    /// Targets.
    Targets {
        /// Their distributions.
        targets: Predictive,
        /// The mass of the central intervals that are said to hold [`MASS`] of them.
        level: f64,
    },
}

impl From<Prediction> for Predicted {
    fn from(prediction: Prediction) -> Self {
        Self::Function(prediction)
    }
}
