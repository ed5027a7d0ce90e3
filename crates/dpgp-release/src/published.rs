//! Numbers that others published with noise of a known variance, and the best estimates of the exact ones. They cost nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use nalgebra::DMatrix;

use super::grid::points_from_matrix;
use super::moments_file::{ModelOverride, PostprocessedPredictions, data_setting_without_rows};
use super::{PublicPoints, ReleaseError};
use dpgp_gp::{DenoisedNumbers, FixedHyperparameters, MOST_NOISY_NUMBERS, NoisyNumbers, denoise_numbers};
use dpgp_number::Positive;
use dpgp_run::load_prediction_points;
use dpgp_task::{PredictionPoints, Predictions};

/// The noise of published numbers, as their publisher states it.
///
/// ```
/// use dpgp_release::PublishedNoise;
///
/// assert_eq!("laplace=2".parse::<PublishedNoise>()?.variance(), Some(8.0));
/// assert_eq!("variance=noise".parse::<PublishedNoise>()?.variance(), None); // in a column
/// assert!("laplace=-2".parse::<PublishedNoise>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum PublishedNoise {
    /// The same distribution for each number.
    Law(NoiseDistribution, Positive),
    /// A column with the variance of each number.
    Variances(String),
    /// A column with the standard deviation of each number.
    StandardDeviations(String),
}

/// The noise distributions that agencies use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoiseDistribution {
    /// Given by its standard deviation.
    Gaussian,
    /// On integers, given by the standard deviation of the Gaussian density that it is proportional to.
    DiscreteGaussian,
    /// Given by its scale.
    Laplace,
    /// On integers, given by its scale: `p(k)` is proportional to `exp(-|k| / scale)`.
    DiscreteLaplace,
}

impl FromStr for PublishedNoise {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            "expected gaussian=SD, discrete-gaussian=SD, laplace=SCALE, discrete-laplace=SCALE, variance=COLUMN or sd=COLUMN".to_owned()
        };
        let (name, value) = text.split_once('=').filter(|(_, value)| !value.is_empty()).ok_or_else(expected)?;
        let law = match name {
            "variance" => return Ok(Self::Variances(value.to_owned())),
            "sd" => return Ok(Self::StandardDeviations(value.to_owned())),
            "gaussian" => NoiseDistribution::Gaussian,
            "discrete-gaussian" => NoiseDistribution::DiscreteGaussian,
            "laplace" => NoiseDistribution::Laplace,
            "discrete-laplace" => NoiseDistribution::DiscreteLaplace,
            _ => return Err(expected()),
        };
        let number: f64 = value.parse().map_err(|_| format!("{value:?} is not a number"))?;
        Ok(Self::Law(law, Positive::new(number).map_err(|error| error.to_string())?))
    }
}

impl PublishedNoise {
    /// The variance of each number; none if a column holds it.
    ///
    /// A discrete Gaussian has at most the variance of its density's (Canonne, Kamath and Steinke 2020, corollary 9). A discrete
    /// Laplace with `q = exp(-1 / scale)` has `2 q / (1 - q)^2`.
    pub fn variance(&self) -> Option<f64> {
        let Self::Law(law, number) = self else { return None };
        let number = number.get();
        Some(match law {
            NoiseDistribution::Gaussian | NoiseDistribution::DiscreteGaussian => number * number,
            NoiseDistribution::Laplace => 2.0 * number * number,
            NoiseDistribution::DiscreteLaplace => 0.5 / (0.5 / number).sinh().powi(2),
        })
    }

    fn noise_column(&self) -> Option<&str> {
        match self {
            Self::Law(..) => None,
            Self::Variances(column) | Self::StandardDeviations(column) => Some(column),
        }
    }
}

/// Published numbers with their inputs and the variances of their noise.
#[derive(Debug)]
pub struct PublishedNumbers {
    inputs: Vec<String>,
    target: String,
    /// The inputs (n x d).
    places: DMatrix<f64>,
    numbers: Vec<f64>,
    noise_variances: Vec<f64>,
}

impl PublishedNumbers {
    /// Reads the columns of a CSV or Parquet file.
    ///
    /// # Errors
    /// [`ReleaseError`] if the file or a column cannot be read, a column is named twice, there are no rows or more than the model can
    /// take, or a variance is negative.
    pub fn read(path: &Path, inputs: &[String], target: &str, noise: &PublishedNoise) -> Result<Self, ReleaseError> {
        let fail = |cause: String| ReleaseError::NotPublished { path: path.to_path_buf(), cause };
        let mut columns = inputs.to_vec();
        columns.push(target.to_owned());
        columns.extend(noise.noise_column().map(str::to_owned));
        if let Some(twice) = (1..columns.len()).find(|column| columns[..*column].contains(&columns[*column])) {
            return Err(fail(format!("the column {:?} is named twice", columns[twice])));
        }
        let rows =
            load_prediction_points(path, &data_setting_without_rows(columns, None, BTreeMap::new()), None)?.inputs;
        let column = |column: usize| rows.column(column).iter().copied().collect::<Vec<f64>>();
        let noise_variances = match (noise.variance(), noise) {
            (Some(variance), _) => vec![variance; rows.nrows()],
            (None, PublishedNoise::StandardDeviations(_)) => {
                column(inputs.len() + 1).iter().map(|sd| sd * sd.abs()).collect()
            }
            (None, _) => column(inputs.len() + 1),
        };
        if let Some(row) = noise_variances.iter().position(|variance| *variance < 0.0) {
            return Err(fail(format!("row {} has a negative noise variance or sd", row + 1)));
        }
        match rows.nrows() {
            0 => return Err(fail("it has no rows".to_owned())),
            1..=MOST_NOISY_NUMBERS => {}
            many => {
                return Err(fail(format!("it has {many} rows; at most {MOST_NOISY_NUMBERS} can be used")));
            }
        }
        Ok(Self {
            inputs: inputs.to_vec(),
            target: target.to_owned(),
            places: rows.columns(0, inputs.len()).into_owned(),
            numbers: column(inputs.len()),
            noise_variances,
        })
    }

    /// The column of the numbers.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Estimates the exact numbers at points: `auto` stands for the inputs of the file. A kernel is used as it is; without one, a
    /// Matérn 3/2 kernel is averaged over lengthscales and variances. The noise variance is that of the exact numbers about a smooth
    /// function, in squared units of the target.
    ///
    /// # Errors
    /// [`ReleaseError`] if the points cannot be read, the kernel has other inputs, or a covariance cannot be factorised.
    pub fn predict(
        &self,
        at: PublicPoints<'_>,
        model: &ModelOverride,
    ) -> Result<PostprocessedPredictions, ReleaseError> {
        if model.kernel.as_ref().is_some_and(|kernel| kernel.check_input_count(self.inputs.len()).is_err()) {
            return Err(ReleaseError::NotReleasable("the kernel has the wrong number of inputs"));
        }
        let data = data_setting_without_rows(self.inputs.clone(), Some(self.target.clone()), BTreeMap::new());
        let points = match at {
            PublicPoints::File(file) => file.read(&data)?,
            PublicPoints::Grid(grid) => {
                PredictionPoints::with_equal_weights(grid.points(&data, Some(self.places.clone()))?)
            }
            PublicPoints::Held(points) => points_from_matrix(points, &data)?,
        };
        let Some(noisy) = NoisyNumbers::new(&self.places, &self.numbers, &self.noise_variances) else {
            return Err(ReleaseError::NotReleasable("a published number is not finite"));
        };
        let known =
            FixedHyperparameters { kernel: model.kernel.as_ref(), scatter: model.noise_variance.map(Positive::get) };
        let found = denoise_numbers(&noisy, known, &points.inputs).map_err(dpgp_task::TaskError::from)?;
        let DenoisedNumbers { mean, model_variance, noise_variance } = found;
        let roots = |variances: &nalgebra::DVector<f64>| variances.iter().map(|variance| variance.sqrt()).collect();
        let predictions = Predictions {
            mean: mean.as_slice().to_vec(),
            gp_sd: roots(&model_variance),
            noise_sd: roots(&noise_variance),
            least: None,
            combinations: None,
        };
        Ok(PostprocessedPredictions { data, points, predictions, warnings: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Variances of distributions, by their sums.
    #[test]
    fn laws_have_the_variances_of_their_densities() {
        for (text, density) in [
            ("discrete-laplace=0.7", (|k| (-k / 0.7).exp()) as fn(f64) -> f64),
            ("discrete-laplace=20", |k| (-k / 20.0).exp()),
            ("discrete-gaussian=1.5", |k| (-k * k / 4.5).exp()),
        ] {
            let weights = |power: i32| (1..2000).map(|k| f64::from(k).powi(power) * density(f64::from(k))).sum::<f64>();
            let exact = 2.0 * weights(2) / (1.0 + 2.0 * weights(0));
            let variance = text.parse::<PublishedNoise>().unwrap().variance().unwrap();
            assert!((variance / exact - 1.0).abs() < 1e-6, "{text}: {variance} {exact}");
        }
    }
}
