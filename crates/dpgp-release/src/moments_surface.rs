//! The surface that released moments tell, asked as often as wanted.

use nalgebra::DMatrix;

use super::little_known::little_known;
use super::points_file::{ensure_inside, held, outside_warning};
use super::{FilePredictions, MomentsFile, OtherModel, PublicPoints, ReleaseError};
use dpgp_gp::sites::SiteMixture;
use dpgp_mechanisms::{MomentsModel, ReleasedMoments, SurfacePrediction};
use dpgp_spec::setting::DataSetting;
use dpgp_task::{Points, Predictions};

/// A release and a model of it.
pub(super) struct KnownMoments {
    pub data: DataSetting,
    /// Where a grid without a file has its points.
    pub places: DMatrix<f64>,
    pub model: MomentsModel,
    pub moments: ReleasedMoments,
}

/// The posterior of a release: computed once, then asked at any points. It follows from noisy numbers alone.
pub struct MomentsSurface {
    known: KnownMoments,
    posterior: SiteMixture,
}

impl KnownMoments {
    /// The points to predict at.
    ///
    /// # Errors
    /// [`ReleaseError`] if they cannot be read or are none of the inputs.
    pub fn points(&self, at: PublicPoints<'_>) -> Result<Points, ReleaseError> {
        match at {
            PublicPoints::File(file) => file.read(&self.data),
            PublicPoints::Grid(grid) => Ok(Points::even(grid.points(&self.data, Some(self.places.clone()))?)),
            PublicPoints::Held(points) => held(points, &self.data),
        }
    }

    /// Its posterior.
    ///
    /// # Errors
    /// [`ReleaseError::Task`] if a covariance cannot be factorised.
    pub fn surface(self) -> Result<MomentsSurface, ReleaseError> {
        let posterior = self.model.posterior(&self.moments)?;
        Ok(MomentsSurface { known: self, posterior })
    }
}

impl MomentsFile {
    /// The posterior by the model of the file or another one.
    ///
    /// # Errors
    /// [`ReleaseError`] if the kernel does not fit, or a covariance cannot be factorised.
    pub fn surface(self, other: OtherModel) -> Result<MomentsSurface, ReleaseError> {
        self.known(other)?.surface()
    }
}

impl MomentsSurface {
    /// Predictions at points.
    ///
    /// # Errors
    /// [`ReleaseError`] if the points cannot be read or are none of the inputs.
    pub fn predict(&self, at: PublicPoints<'_>) -> Result<FilePredictions, ReleaseError> {
        self.at_points(self.known.points(at)?)
    }

    pub(super) fn at_points(&self, points: Points) -> Result<FilePredictions, ReleaseError> {
        ensure_inside(self.known.model.mechanism(), &points.inputs)?;
        let prediction = self.known.model.predict(&self.posterior, &points.inputs)?;
        let SurfacePrediction { mean, model_sd, noise_sd } = prediction;
        let predictions = Predictions { mean, gp_sd: model_sd, noise_sd };
        let outside = outside_warning(self.known.model.mechanism(), &points.inputs);
        let warnings = outside.into_iter().chain(little_known(&predictions)).collect();
        Ok(FilePredictions { data: self.known.data.clone(), points, predictions, warnings })
    }
}
