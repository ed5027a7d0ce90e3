//! Builds kernels and models from a spec.

use nalgebra::DMatrix;
use rand_pcg::Pcg64;
use sha2::{Digest, Sha256};

use super::sample::product_grid;
use super::{RandomStreams, RunCache, TaskError};
use dpgp_gp::kernel::Kernel;
use dpgp_gp::{
    ExactRegression, FitcRegression, KMeansOptions, KernelFeatures, PredictionMap, Representer, TargetSumCovariances,
    exact_features, exact_prediction_map, exact_representer, exact_target_sum_covariances, fitc_prediction_map,
    fitc_representer, fitc_target_sum_covariances, inducing_input_features, kmeans,
};
use dpgp_linalg::LinalgError;
use dpgp_number::Positive;
use dpgp_spec::setting::{InducingSetting, ModelSetting, SparseSetting};

/// Most Lloyd steps of one k-means restart.
const KMEANS_STEPS: usize = 300;

/// Places the inducing inputs of a training set.
#[derive(Clone, Copy)]
pub(super) struct InducingInputPlacer<'a> {
    pub streams: &'a RandomStreams,
    pub known: &'a RunCache,
    /// Tells the random streams of different training sets apart.
    pub purpose: &'a str,
}

impl InducingInputPlacer<'_> {
    fn inducing_inputs(&self, setting: &InducingSetting, training: &DMatrix<f64>) -> DMatrix<f64> {
        match setting {
            InducingSetting::Kmeans { centres, restarts } => {
                let options = KMeansOptions { centres: centres.get(), restarts: restarts.get(), steps: KMEANS_STEPS };
                self.kmeans_centres(options, training)
            }
            InducingSetting::Grid(ranges) => product_grid(ranges),
            InducingSetting::Points(points) => DMatrix::from_fn(points.len(), training.ncols(), |i, j| points[i][j]),
        }
    }

    /// Blocks that differ in their kernels alone share their centres.
    fn kmeans_centres(&self, options: KMeansOptions, training: &DMatrix<f64>) -> DMatrix<f64> {
        let mut stream = self.streams.data_stream(&format!("inducing {}", self.purpose));
        let question = KMeansCentresKey { inputs: digest(training), options, stream: stream.clone() };
        self.known.centres.get_or_compute(&question, || kmeans(training, options, &mut stream))
    }
}

/// All that centres of k-means depend on.
#[derive(Debug, Clone, PartialEq)]
pub struct KMeansCentresKey {
    /// Of the inputs that they are the centres of.
    inputs: [u8; 32],
    options: KMeansOptions,
    /// Where the random numbers begin.
    stream: Pcg64,
}

/// The SHA-256 digest of shape and values.
pub(super) fn digest(inputs: &DMatrix<f64>) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(inputs.nrows().to_le_bytes());
    inputs.iter().for_each(|value| digest.update(value.to_bits().to_le_bytes()));
    digest.finalize().into()
}

/// A Gaussian process on training inputs.
pub(super) struct GpOnTrainingInputs<'a> {
    setting: &'a ModelSetting,
    pub kernel: &'a dyn Kernel,
    training: &'a DMatrix<f64>,
    /// The inducing inputs of a sparse model.
    pub inducing: Option<DMatrix<f64>>,
}

/// Prediction of a process at test inputs.
pub(super) struct PredictionMapWithVariances {
    /// From training targets to predictions.
    pub map: PredictionMap,
    /// Of the latent function, in squared units of the normalised target.
    pub variance: Vec<f64>,
}

impl<'a> GpOnTrainingInputs<'a> {
    /// The process of a model.
    pub fn new(
        setting: &'a ModelSetting,
        kernel: &'a dyn Kernel,
        training: &'a DMatrix<f64>,
        placing: InducingInputPlacer<'_>,
    ) -> Self {
        let inducing = setting.sparse.as_ref().map(|sparse| match sparse {
            SparseSetting::Fitc { inducing } | SparseSetting::Sor { inducing, .. } => {
                placing.inducing_inputs(inducing, training)
            }
        });
        Self { setting, kernel, training, inducing }
    }

    /// The map from training targets to predictions at test inputs.
    pub fn prediction_map(&self, test: &DMatrix<f64>) -> Result<PredictionMap, TaskError> {
        Ok(self.with_observation_noise()?.prediction_map(test)?)
    }

    /// The map, and the variances beside it, from one factorisation, which for many rows is most of the work.
    pub fn prediction_map_with_variances(&self, test: &DMatrix<f64>) -> Result<PredictionMapWithVariances, TaskError> {
        Ok(self.with_observation_noise()?.prediction_map_with_variances(test)?)
    }

    /// The process, where its targets are observed with noise.
    pub fn with_observation_noise(&self) -> Result<GpWithObservationNoise<'_>, TaskError> {
        let Self { setting, kernel, training, inducing } = self;
        Ok(GpWithObservationNoise {
            noise: noise_variance(setting)?,
            kernel: *kernel,
            training,
            inducing: inducing.as_ref(),
        })
    }

    /// The features of a model of latent values at training and test inputs.
    pub fn features(&self, test: &DMatrix<f64>) -> Result<KernelFeatures, TaskError> {
        let jitter = match self.setting.sparse {
            Some(SparseSetting::Sor { jitter, .. }) => jitter.get(),
            Some(SparseSetting::Fitc { .. }) | None => 0.0,
        };
        Ok(match &self.inducing {
            None => exact_features(self.kernel, self.training, test)?,
            Some(inducing) => inducing_input_features(self.kernel, jitter, inducing, self.training, test)?,
        })
    }
}

/// A process whose targets are observed with noise.
pub(super) struct GpWithObservationNoise<'a> {
    pub kernel: &'a dyn Kernel,
    /// The variance of the observations about the process.
    noise: f64,
    training: &'a DMatrix<f64>,
    inducing: Option<&'a DMatrix<f64>>,
}

impl GpWithObservationNoise<'_> {
    /// The map from training targets to predictions at test inputs.
    pub fn prediction_map(&self, test: &DMatrix<f64>) -> Result<PredictionMap, LinalgError> {
        Ok(match self.inducing {
            None => exact_prediction_map(self.kernel, self.noise, self.training, test)?,
            Some(inducing) => fitc_prediction_map(self.kernel, self.noise, inducing, self.training, test)?,
        })
    }

    /// The map, and the variances beside it, from one factorisation, which for many rows is most of the work.
    pub fn prediction_map_with_variances(
        &self,
        test: &DMatrix<f64>,
    ) -> Result<PredictionMapWithVariances, LinalgError> {
        Ok(match self.inducing {
            None => {
                let exact = ExactRegression::new(self.kernel, self.noise, self.training)?;
                PredictionMapWithVariances { map: exact.prediction_map(test), variance: exact.variance(test) }
            }
            Some(inducing) => {
                let fitc = FitcRegression::new(self.kernel, self.noise, inducing, self.training)?;
                PredictionMapWithVariances { map: fitc.prediction_map(test), variance: fitc.variance(test) }
            }
        })
    }

    /// The joint prior of the latent values at test inputs and of the sums of targets that a map takes.
    pub fn prior_moments(&self, test: &DMatrix<f64>, map: &PredictionMap) -> Result<TargetSumCovariances, LinalgError> {
        Ok(match self.inducing {
            None => exact_target_sum_covariances(self.kernel, self.noise, self.training, test, map),
            Some(inducing) => fitc_target_sum_covariances(self.kernel, self.noise, inducing, test, self.training, map)?,
        })
    }

    /// The mean as a function of the inputs.
    pub fn mean_representer(&self) -> Result<Representer, LinalgError> {
        Ok(match self.inducing {
            None => exact_representer(self.kernel, self.noise, self.training)?,
            Some(inducing) => fitc_representer(self.kernel, self.noise, inducing, self.training)?,
        })
    }
}

/// The variance of the observations about the process.
///
/// # Errors
/// [`TaskError::Missing`], which the checks of a spec rule out for all tasks but classification.
pub(super) fn noise_variance(model: &ModelSetting) -> Result<f64, TaskError> {
    model.noise_variance.map(Positive::get).ok_or(TaskError::Missing { needed: "model.noise_variance" })
}
