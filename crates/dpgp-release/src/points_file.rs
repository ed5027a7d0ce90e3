//! The points to predict at: of a file, or of a grid.

use std::path::Path;

use nalgebra::DMatrix;

use super::grid::own_places;
use super::{GridChoice, ReleaseError};
use dpgp_mechanisms::MomentsSetting;
use dpgp_run::load_points;
use dpgp_spec::setting::DataSetting;
use dpgp_task::{Points, Setting};

/// Where to predict; public.
#[derive(Debug, Clone, Copy)]
pub enum PublicPoints<'a> {
    /// The rows of a file.
    File(PointsFile<'a>),
    /// Points that need no file; all count alike.
    Grid(&'a GridChoice),
    /// Points in memory (t x d), in the order of the inputs; all count alike.
    Held(&'a DMatrix<f64>),
}

impl<'a> From<PointsFile<'a>> for PublicPoints<'a> {
    fn from(file: PointsFile<'a>) -> Self {
        Self::File(file)
    }
}

impl PublicPoints<'_> {
    /// Whether some count for more than others.
    pub(super) fn have_weights(self) -> bool {
        matches!(self, Self::File(PointsFile { weights: Some(_), .. }))
    }

    /// The points for a setting.
    ///
    /// # Errors
    /// [`ReleaseError`] if a file cannot be read or holds no points, or a grid is none of its inputs.
    pub(super) fn read(self, setting: &Setting) -> Result<Points, ReleaseError> {
        match self {
            Self::File(file) => file.read(&setting.data),
            Self::Grid(grid) => Ok(Points::even(grid.points(&setting.data, own_places(setting))?)),
            Self::Held(points) => held(points, &setting.data),
        }
    }
}

/// Fails where no point (t x d) lies in the public box: whoever means that has mistaken the order of the inputs, or their units.
///
/// # Errors
/// [`ReleaseError::OutsideBox`].
pub(super) fn ensure_inside(moments: &MomentsSetting, points: &DMatrix<f64>) -> Result<(), ReleaseError> {
    match moments.outside(points) == points.nrows() {
        true => Err(ReleaseError::OutsideBox),
        false => Ok(()),
    }
}

/// What is said of points (t x d) outside of the public box, which the model knows nothing of; nothing where all lie in it.
pub(super) fn outside_warning(moments: &MomentsSetting, points: &DMatrix<f64>) -> Option<String> {
    let (outside, all) = (moments.outside(points), points.nrows());
    (outside > 0).then(|| {
        format!(
            "{outside} of {all} points do not lie in the public box privacy.mechanism.moments.domain: predictions there are those at the \
             nearest places in it"
        )
    })
}

/// Points that a program holds.
///
/// # Errors
/// [`ReleaseError::NotReleasable`] if they have other inputs or numbers that are not finite.
pub(super) fn held(points: &DMatrix<f64>, data: &DataSetting) -> Result<Points, ReleaseError> {
    if points.ncols() != data.inputs.len() {
        return Err(ReleaseError::NotReleasable("the points are of other inputs"));
    }
    match points.iter().all(|x| x.is_finite()) {
        true => Ok(Points::even(points.clone())),
        false => Err(ReleaseError::NotReleasable("a point has a number that is not finite")),
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_memory_have_the_inputs_of_the_spec() {
        let data: DataSetting =
            toml::from_str("source.csv.path = \"rows.csv\"\ninputs = [\"x\", \"z\"]\ntarget = \"y\"\n")
                .unwrap();
        let points = DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(held(&points, &data).unwrap().inputs, points);
        let said = [DMatrix::zeros(2, 1), points.map(|x| x / 0.0)]
            .map(|wrong| held(&wrong, &data).unwrap_err().to_string());
        assert!(said[0].contains("other inputs") && said[1].contains("not finite"), "{said:?}");
    }

    #[test]
    fn weights_must_weigh() {
        assert!(can_weigh(&[0.0, 2.0]));
        assert!(!can_weigh(&[0.0]) && !can_weigh(&[-1.0, 2.0]) && !can_weigh(&[f64::INFINITY]));
    }
}
