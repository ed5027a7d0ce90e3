//! The file with the points to predict at.

use std::path::Path;

use super::ReleaseError;
use crate::run::load_points;
use crate::setting::DataSetting;
use crate::task::Points;

/// A CSV or Parquet file with a row for each point; all of it is public.
#[derive(Debug, Clone, Copy)]
pub struct PointsFile<'a> {
    /// Its path.
    pub path: &'a Path,
    /// The column with the weights of the points, if they do not all count alike.
    pub weights: Option<&'a str>,
}

impl PointsFile<'_> {
    /// The points of the file.
    ///
    /// # Errors
    /// [`ReleaseError`] if it cannot be read, holds no point, or if a weight is negative or none is positive.
    pub(super) fn read(self, data: &DataSetting) -> Result<Points, ReleaseError> {
        let points = load_points(self.path, data, self.weights)?;
        if points.inputs.nrows() == 0 {
            return Err(ReleaseError::NoPoints(self.path.to_path_buf()));
        }
        if !points.weights.as_deref().is_none_or(can_weigh) {
            return Err(ReleaseError::BadWeights(self.path.to_path_buf()));
        }
        Ok(points)
    }
}

/// Whether none is negative and their sum is above zero and finite.
fn can_weigh(weights: &[f64]) -> bool {
    let sum: f64 = weights.iter().sum();
    weights.iter().all(|weight| *weight >= 0.0) && sum > 0.0 && sum.is_finite()
}
