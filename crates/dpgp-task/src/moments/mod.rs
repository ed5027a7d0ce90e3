//! The model behind noisy Fourier moments, for surfaces, releases and leaderboards.

mod designs;
mod guarantee;
mod model;
mod preview;
mod question;
mod reference;
mod released;
mod surface;

pub use guarantee::MomentsGuarantee;
pub(super) use guarantee::{LEAST_SIGMA, certificate, sigma};
pub use model::MomentsModel;
pub(super) use model::SimulatedMoments;
pub(super) use question::DesignQuestion;
pub(super) use reference::{check, in_box, reference, stationary};
pub use released::ReleasedMoments;
pub use surface::SurfacePrediction;
