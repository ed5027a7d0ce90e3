//! From the words of a spec to kernels, models and noise designs.

use nalgebra::DMatrix;

use super::grid::grid;
use super::{Streams, TaskError};
use crate::gp::{
    Features, KMeans, LinearMap, exact, exact_features, exact_variance, fitc, fitc_variance, kmeans,
    regressor_features,
};
use crate::kernel::{
    Bias, DensityLengthscale, ExponentiatedQuadratic, Gibbs, Kernel, Linear, Periodic, Product, Sum,
};
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
        KernelSetting::Bias { variance } => Box::new(Bias::new(*variance)),
        KernelSetting::Linear { variance } => Box::new(Linear::new(*variance)),
        KernelSetting::Periodic { variance, lengthscale, period } => {
            Box::new(Periodic::new(*variance, *lengthscale, *period))
        }
        KernelSetting::Sum(parts) => Box::new(Sum::new(parts.iter().map(|p| kernel(p, inputs)).collect())),
        KernelSetting::Product(parts) => {
            Box::new(Product::new(parts.iter().map(|p| kernel(p, inputs)).collect()))
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
    let noise = model.noise();
    Ok(match inducing(model, training, streams, purpose) {
        None => exact(kernel, noise, training, test)?,
        Some(inducing) => fitc(kernel, noise, &inducing, training, test)?,
    })
}

/// The variances of the latent function at the test inputs, in squared units of the normalised target.
pub(super) fn variance(
    model: &ModelSetting,
    kernel: &dyn Kernel,
    (training, test): (&DMatrix<f64>, &DMatrix<f64>),
    streams: &Streams,
    purpose: &str,
) -> Result<Vec<f64>, TaskError> {
    let noise = model.noise();
    Ok(match inducing(model, training, streams, purpose) {
        None => exact_variance(kernel, noise, training, test)?,
        Some(inducing) => fitc_variance(kernel, noise, &inducing, training, test)?,
    })
}

/// The features of a model of latent values at training and test inputs.
pub(super) fn features(
    model: &ModelSetting,
    (training, test): (&DMatrix<f64>, &DMatrix<f64>),
    streams: &Streams,
    purpose: &str,
) -> Result<Features, TaskError> {
    let kernel = kernel(&model.kernel, training);
    let jitter = match model.sparse {
        Some(SparseSetting::Sor { jitter, .. }) => jitter,
        Some(SparseSetting::Fitc { .. }) | None => 0.0,
    };
    Ok(match inducing(model, training, streams, purpose) {
        None => exact_features(kernel.as_ref(), training, test)?,
        Some(inducing) => regressor_features(kernel.as_ref(), jitter, &inducing, training, test)?,
    })
}

/// The inducing inputs of a sparse model.
pub(super) fn inducing(
    model: &ModelSetting,
    training: &DMatrix<f64>,
    streams: &Streams,
    purpose: &str,
) -> Option<DMatrix<f64>> {
    let (SparseSetting::Fitc { inducing } | SparseSetting::Sor { inducing, .. }) = model.sparse.as_ref()?;
    Some(inducing_inputs(inducing, training, streams, purpose))
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
        InducingSetting::Grid(ranges) => grid(ranges),
        InducingSetting::Points(points) => {
            DMatrix::from_fn(points.len(), training.ncols(), |i, j| points[i][j])
        }
    }
}

/// The noise design of a mechanism for a map.
pub(super) fn noise(mechanism: &MechanismSetting, map: &LinearMap) -> Result<Cloak, TaskError> {
    Ok(cloak(map.columns(), &map.counts(), &options(mechanism)?)?)
}

/// The options of cloaking.
pub(super) fn options(mechanism: &MechanismSetting) -> Result<CloakingOptions, TaskError> {
    let MechanismSetting::Cloaking(setting) = mechanism else {
        return Err(TaskError::WrongMechanism { needed: "cloaking" });
    };
    Ok(CloakingOptions {
        objective: setting.objective,
        rank_tolerance: setting.rank_tolerance,
        solver: setting.solver,
        release: setting.release,
    })
}
