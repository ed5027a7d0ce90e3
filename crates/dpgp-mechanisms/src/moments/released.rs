//! Noisy moments, and the surface that follows from them.

use nalgebra::{DMatrix, DVector};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::model::scale_and_clip_to_box;
use super::{FourierMomentsDesign, Frequencies, MomentsModel, ReleasedCellSums};
use crate::MechanismError;
use dpgp_gp::cells::{CellPosterior, CellPrior, GridMeans};
use dpgp_gp::sites::{
    FeatureSums, FunctionAndTargetPredictions, HyperparameterGrid, InputPosterior, Lattice, NoisyFeatureSums,
    SiteFeatures, SiteProcessPosterior, fit_site_mixture,
};
use dpgp_number::Positive;

/// Released moments and all that is needed to use them, as a file holds them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ReleasedMoments {
    /// Sums of waves.
    Waves(ReleasedFourierMoments),
    /// Sums and counts of cells.
    Cells(ReleasedCellSums),
}

impl<'de> Deserialize<'de> for ReleasedMoments {
    /// Cells have levels; an error is that of the kind.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let moments = match value.get("levels") {
            Some(_) => serde_json::from_value(value).map(Self::Cells),
            None => serde_json::from_value(value).map(Self::Waves),
        };
        moments.map_err(D::Error::custom)
    }
}

impl ReleasedMoments {
    /// The number of rows, which may have noise.
    pub fn row_count(&self) -> usize {
        let (Self::Waves(ReleasedFourierMoments { rows, .. }) | Self::Cells(ReleasedCellSums { rows, .. })) = self;
        usize::try_from(*rows).unwrap_or(usize::MAX)
    }

    /// Whether there are such moments of so many inputs: every number is finite, noise is positive, and each frequency or cell has its
    /// numbers.
    pub fn is_valid(&self, inputs: usize) -> bool {
        match self {
            Self::Waves(waves) => waves.is_valid(inputs),
            Self::Cells(cells) => cells.matching_tree(Lattice::for_inputs(inputs)).is_some(),
        }
    }
}

/// What follows from released moments: a mixture of processes.
pub enum MomentsPosterior {
    /// From waves.
    Sites(SiteProcessPosterior),
    /// From cells.
    Cells(CellPosterior),
    /// From the cells of one grid, without a process.
    Grid(GridMeans),
}

impl MomentsPosterior {
    /// At points (t x d) in units of the box.
    fn predict(&self, points: &DMatrix<f64>) -> FunctionAndTargetPredictions {
        match self {
            Self::Sites(mixture) => mixture.predict(points),
            Self::Cells(posterior) => posterior.predict(points),
            Self::Grid(means) => means.predict(points),
        }
    }

    fn variance_under_noiseless_sums(&self, points: &DMatrix<f64>) -> Result<DVector<f64>, MechanismError> {
        Ok(match self {
            Self::Sites(mixture) => mixture.variance_under_noiseless_sums(points)?,
            Self::Cells(posterior) => posterior.variance_without_privacy_noise(points)?,
            Self::Grid(means) => means.variance_without_privacy_noise(points),
        })
    }

    fn means(&self, points: &DMatrix<f64>) -> DVector<f64> {
        match self {
            Self::Sites(mixture) => mixture.means(points),
            Self::Cells(posterior) => posterior.means(points),
            Self::Grid(means) => means.means(points),
        }
    }
}

/// Released moments of waves; in units of the box and of the model's targets. A
/// frequency j has two numbers, that of `cos(2 pi j.x / P)` and that of the sine; the zero has one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleasedFourierMoments {
    /// P, in sides of the box.
    pub period: f64,
    /// The number of rows.
    pub rows: u64,
    /// The standard deviation of its noise; zero where it is public.
    pub rows_sd: f64,
    /// The frequencies of the sums that targets weigh.
    pub frequencies: Vec<Vec<i64>>,
    /// Those sums.
    pub weighted: Vec<f64>,
    /// The standard deviations of their noise.
    pub weighted_sd: Vec<f64>,
    /// The frequencies of the plain sums.
    pub pairs: Vec<Vec<i64>>,
    /// Those sums.
    pub plain: Vec<f64>,
    /// The standard deviations of their noise.
    pub plain_sd: Vec<f64>,
    /// The sum of squared targets.
    pub squares: f64,
    /// The standard deviation of its noise.
    pub squares_sd: f64,
}

impl ReleasedFourierMoments {
    /// Of noisy sums by a design.
    pub(super) fn new(design: &FourierMomentsDesign, noisy: &NoisyFeatureSums) -> Self {
        Self {
            period: design.period,
            rows: noisy.sums.rows as u64,
            rows_sd: noisy.rows.sqrt(),
            frequencies: design.frequencies.vectors().to_vec(),
            weighted: noisy.sums.weighted.as_slice().to_vec(),
            weighted_sd: standard_deviations(&noisy.weighted),
            pairs: design.pairs.vectors().to_vec(),
            plain: noisy.sums.plain.as_slice().to_vec(),
            plain_sd: standard_deviations(&noisy.plain),
            squares: noisy.sums.squares,
            squares_sd: noisy.squares.sqrt(),
        }
    }

    /// Whether there are such moments of so many inputs: every number is finite, noise is positive, and each frequency has its
    /// numbers.
    pub fn is_valid(&self, inputs: usize) -> bool {
        let Self { period, rows, rows_sd, squares, squares_sd, .. } = self;
        let weighted =
            NoisyFrequencySums { vectors: &self.frequencies, numbers: &self.weighted, sds: &self.weighted_sd };
        let plain = NoisyFrequencySums { vectors: &self.pairs, numbers: &self.plain, sds: &self.plain_sd };
        // Few rows leave nothing to say of the plain sums: a design may have none.
        !weighted.vectors.is_empty()
            && weighted.is_valid(inputs)
            && plain.is_valid(inputs)
            && (1.0..=1e3).contains(period)
            && (1..=1 << 48).contains(rows)
            && (0.0..f64::INFINITY).contains(rows_sd)
            && squares.is_finite()
            && Positive::new(*squares_sd).is_ok()
    }

    /// Input of a model: the features at its sites, and the noisy sums.
    pub(super) fn to_features_and_sums(&self, additive: bool) -> (SiteFeatures, NoisyFeatureSums) {
        let [frequencies, pairs] =
            [&self.frequencies, &self.pairs].map(|list| Frequencies::from_vectors(list.iter().cloned()));
        let features = frequencies.site_features(&pairs, self.period, additive);
        let noisy = NoisyFeatureSums {
            sums: FeatureSums {
                rows: usize::try_from(self.rows).unwrap_or(usize::MAX),
                weighted: DVector::from_column_slice(&self.weighted),
                plain: DVector::from_column_slice(&self.plain),
                squares: self.squares,
            },
            weighted: variances_from_sds(&self.weighted_sd),
            plain: variances_from_sds(&self.plain_sd),
            squares: self.squares_sd * self.squares_sd,
            rows: self.rows_sd * self.rows_sd,
        };
        (features, noisy)
    }
}

/// The numbers of some frequencies.
struct NoisyFrequencySums<'a> {
    vectors: &'a [Vec<i64>],
    numbers: &'a [f64],
    sds: &'a [f64],
}

/// No entry of a frequency is larger: sums of them must not overflow.
const MOST_TURNS: u64 = 1 << 20;

impl NoisyFrequencySums<'_> {
    /// The vectors must be those of a half space and in its order, each with its numbers, and all noise positive.
    fn is_valid(&self, inputs: usize) -> bool {
        let entries = self.vectors.iter().flatten();
        let small = entries.clone().all(|entry| entry.unsigned_abs() <= MOST_TURNS);
        if !small || self.vectors.iter().any(|vector| vector.len() != inputs) {
            return false;
        }
        let frequencies = Frequencies::from_vectors(self.vectors.iter().cloned());
        frequencies.vectors() == self.vectors
            && frequencies.column_count() == self.numbers.len()
            && self.sds.len() == self.numbers.len()
            && self.numbers.iter().all(|number| number.is_finite())
            && self.sds.iter().all(|sd| Positive::new(*sd).is_ok())
    }
}

fn standard_deviations(variances: &DVector<f64>) -> Vec<f64> {
    variances.iter().map(|variance| variance.sqrt()).collect()
}

fn variances_from_sds(sds: &[f64]) -> DVector<f64> {
    DVector::from_iterator(sds.len(), sds.iter().map(|sd| sd * sd))
}

/// The surface at some points, in units of the target.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfacePrediction {
    /// Means.
    pub mean: Vec<f64>,
    /// Standard deviations of the function under the model, if sums and counts were known without noise.
    pub model_sd: Vec<f64>,
    /// What the noise adds to them, in the root of a sum of squares.
    pub noise_sd: Vec<f64>,
}

impl MomentsModel {
    /// The processes that follow from released moments.
    ///
    /// # Errors
    /// [`MechanismError::Linalg`] if a covariance cannot be factorised.
    pub fn posterior(&self, released: &ReleasedMoments) -> Result<MomentsPosterior, MechanismError> {
        let reference = self.reference_model(released.row_count())?;
        match released {
            ReleasedMoments::Waves(waves) => Ok(MomentsPosterior::Sites(
                self.build_mixture(waves, &HyperparameterGrid::around_reference(&reference))?,
            )),
            ReleasedMoments::Cells(cells) => {
                let tree =
                    cells.matching_tree(self.summand().lattice).ok_or(MechanismError::Missing("nested cells"))?;
                if self.mechanism().cells_per_input.is_some() {
                    let means = GridMeans::new(&tree, &cells.to_cell_sums(), reference.bound);
                    return means.map(MomentsPosterior::Grid).ok_or(MechanismError::Missing("a grid of cells"));
                }
                let prior = CellPrior { kernel: reference.kernel, bound: reference.bound };
                Ok(MomentsPosterior::Cells(CellPosterior::new(&tree, &cells.to_cell_sums(), &prior)?))
            }
        }
    }

    /// The weight of each choice of a grid by the evidence of released moments, by lengthscale, then by variance, then by noise.
    ///
    /// # Errors
    /// [`MechanismError::Linalg`] if a covariance cannot be factorised.
    pub fn evidence_weights(
        &self,
        released: &ReleasedMoments,
        grid: &HyperparameterGrid,
    ) -> Result<Vec<f64>, MechanismError> {
        let ReleasedMoments::Waves(waves) = released else {
            return Err(MechanismError::Missing("moments of waves"));
        };
        Ok(self.build_mixture(waves, grid)?.hyperparameter_weights().to_vec())
    }

    fn build_mixture(
        &self,
        released: &ReleasedFourierMoments,
        grid: &HyperparameterGrid,
    ) -> Result<SiteProcessPosterior, MechanismError> {
        let (features, noisy) = released.to_features_and_sums(self.is_sum_over_inputs_or_pairs());
        let inputs = InputPosterior::new(&features, &noisy)?;
        Ok(fit_site_mixture(&features, &noisy, &inputs, grid)?)
    }

    /// The surface at points (t x d), in units of the inputs.
    ///
    /// # Errors
    /// [`MechanismError::Linalg`] if a covariance cannot be factorised.
    pub fn predict(
        &self,
        posterior: &MomentsPosterior,
        points: &DMatrix<f64>,
    ) -> Result<SurfacePrediction, MechanismError> {
        let points = scale_and_clip_to_box(points, &self.mechanism().domain);
        let function = posterior.predict(&points).function;
        let of_model = posterior.variance_under_noiseless_sums(&points)?;
        let scale = self.summand().targets.scale;
        let (mut model_sd, mut noise_sd) = (Vec::new(), Vec::new());
        for (variance, of_model) in function.variance().iter().zip(of_model.iter()) {
            let of_model = of_model.min(*variance);
            model_sd.push(scale * of_model.sqrt());
            noise_sd.push(scale * (variance - of_model).sqrt());
        }
        let mean = function.mean().iter().map(|mean| self.to_target_units(*mean)).collect();
        Ok(SurfacePrediction { mean, model_sd, noise_sd })
    }

    /// The function and targets at points (t x d), in units of the model.
    pub fn predict_in_model_units(
        &self,
        posterior: &MomentsPosterior,
        points: &DMatrix<f64>,
    ) -> FunctionAndTargetPredictions {
        posterior.predict(&scale_and_clip_to_box(points, &self.mechanism().domain))
    }

    /// The means alone, at as many points as there are.
    pub fn means(&self, posterior: &MomentsPosterior, points: &DMatrix<f64>) -> Vec<f64> {
        let points = scale_and_clip_to_box(points, &self.mechanism().domain);
        posterior.means(&points).iter().map(|mean| self.to_target_units(*mean)).collect()
    }

    /// A value of the model in units of the target.
    pub fn to_target_units(&self, value: f64) -> f64 {
        self.summand().targets.centre + self.summand().targets.scale * value
    }
}
