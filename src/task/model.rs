//! From the words of a spec to kernels, models and noise designs.

use nalgebra::DMatrix;

use super::{Streams, TaskError};
use crate::gp::{KMeans, LinearMap, exact, fitc, kmeans};
use crate::kernel::{DensityLengthscale, ExponentiatedQuadratic, Gibbs, Kernel};
use crate::privacy::{Cloak, CloakingOptions, cloak};
use crate::spec::{InducingSetting, KernelSetting, MechanismSetting, ModelSetting, SparseSetting};

/// Most Lloyd steps of one k-means restart.
const KMEANS_STEPS: usize = 300;

/// The kernel of a setting; a density lengthscale follows all (public) inputs.
pub(super) fn kernel(setting: &KernelSetting, inputs: &DMatrix<f64>) -> Box<dyn Kernel> {
    match setting {
        KernelSetting::Eq { variance, lengthscale } => {
            Box::new(ExponentiatedQuadratic::isotropic(*variance, *lengthscale))
        }
        KernelSetting::EqArd { variance, lengthscales } => {
            Box::new(ExponentiatedQuadratic::ard(*variance, lengthscales.clone()))
        }
        KernelSetting::Gibbs { variance, bandwidth, points, longest } => {
            let lengthscale = DensityLengthscale::new(inputs, *bandwidth, *points, *longest);
            Box::new(Gibbs::new(*variance, lengthscale))
        }
    }
}

/// The map of a model from training targets to test predictions. `purpose` tells the random streams of
/// different training sets apart.
pub(super) fn map(
    model: &ModelSetting,
    kernel: &dyn Kernel,
    (training, test): (&DMatrix<f64>, &DMatrix<f64>),
    streams: &Streams,
    purpose: &str,
) -> Result<LinearMap, TaskError> {
    let noise = model.noise_variance;
    Ok(match &model.sparse {
        None => exact(kernel, noise, training, test)?,
        Some(SparseSetting::Fitc { inducing }) => {
            let inducing = inducing_inputs(inducing, training, streams, purpose);
            fitc(kernel, noise, &inducing, training, test)?
        }
    })
}

fn inducing_inputs(
    setting: &InducingSetting,
    training: &DMatrix<f64>,
    streams: &Streams,
    purpose: &str,
) -> DMatrix<f64> {
    match setting {
        InducingSetting::Kmeans { centres, restarts } => {
            let options = KMeans { centres: *centres, restarts: *restarts, steps: KMEANS_STEPS };
            kmeans(training, options, &mut streams.of_data(&format!("inducing {purpose}")))
        }
        InducingSetting::Points(points) => {
            DMatrix::from_fn(points.len(), training.ncols(), |i, j| points[i][j])
        }
    }
}

/// The noise design of a mechanism for a map.
pub(super) fn noise(mechanism: &MechanismSetting, map: &LinearMap) -> Result<Cloak, TaskError> {
    let MechanismSetting::Cloaking(setting) = mechanism else {
        return Err(TaskError::WrongMechanism { needed: "cloaking" });
    };
    let options = CloakingOptions {
        objective: setting.objective,
        rank_tolerance: setting.rank_tolerance,
        solver: setting.solver,
        release: setting.release,
    };
    Ok(cloak(map.columns(), &map.counts(), &options)?)
}
