//! Noise for the predictions of a model, by cloaking or as a sample of its process.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::witness::{LinearRelease, Sampled};
use super::{Streams, TaskError, model};
use crate::gp::{LinearMap, Representer, exact_representer, fitc_representer};
use crate::kernel::Kernel;
use crate::privacy::{
    Caveat, Certificate, Cloak, FunctionNoise, FunctionSensitivity, Mechanism, Neighbours, Release,
};
use crate::spec::{MechanismSetting, ModelSetting, PrivacySetting, Setting};

/// A noise design for predictions at t test inputs.
pub(super) struct Noise {
    /// Turns standard normal draws into noise at multiplier 1 and change 1 (t x r).
    pub map: DMatrix<f64>,
    /// The true sensitivity over the one that the noise is scaled by: more than 1 is too little noise.
    pub ratio: f64,
    /// The certified gap of a cloaking design.
    pub gap: Option<f64>,
    /// The sensitivity of a function at change 1 that the noise is scaled by.
    pub bound: Option<f64>,
    design: Design,
}

/// What the noise covers.
enum Design {
    /// The predictions, as the cloak releases them.
    Cloak(Box<Cloak>),
    /// The mean as a function: its weights and the covariance of its basis.
    Function(Arc<(DMatrix<f64>, DMatrix<f64>)>),
}

impl Noise {
    /// The design of the block's mechanism for a map from targets at training inputs to predictions at test inputs.
    pub fn new(
        block: &Setting,
        (setting, kernel): (&ModelSetting, &dyn Kernel),
        (training, test): (&DMatrix<f64>, &DMatrix<f64>),
        map: &LinearMap,
        (streams, purpose): (&Streams, &str),
    ) -> Result<Self, TaskError> {
        let mechanism = &block.privacy.mechanism;
        let MechanismSetting::Function(function) = mechanism else {
            let cloak = model::noise(mechanism, map)?;
            let (ratio, gap) = (cloak.sensitivity, cloak.gap);
            let map = cloak.noise_map();
            return Ok(Self { map, ratio, gap, bound: None, design: Design::Cloak(Box::new(cloak)) });
        };
        let mean = representer(setting, kernel, training, (streams, purpose))?;
        Self::of_function(function.sensitivity, &mean, kernel, test)
    }

    /// Samples of the process at the test inputs, scaled by a sensitivity of the mean.
    pub fn of_function(
        rule: FunctionSensitivity,
        mean: &Representer,
        kernel: &dyn Kernel,
        test: &DMatrix<f64>,
    ) -> Result<Self, TaskError> {
        let bound = rule.of(&mean.weights, &mean.norms);
        let exact = FunctionSensitivity::Exact.of(&mean.weights, &mean.norms);
        let map = FunctionNoise::new(&kernel.matrix(test, test))?.noise_map() * bound;
        let gram = kernel.matrix(&mean.basis, &mean.basis);
        let design = Design::Function(Arc::new((mean.weights.clone(), gram)));
        Ok(Self { map, ratio: exact / bound, gap: None, bound: Some(bound), design })
    }

    /// The mean that is released, without its noise: the map from sums over equal inputs to the predictions that the
    /// noise covers. `plain` where it covers all of it.
    pub fn released_columns(&self, plain: &LinearMap) -> DMatrix<f64> {
        match &self.design {
            Design::Cloak(cloak) => cloak.mean_columns(),
            Design::Function(_) => plain.columns().clone(),
        }
    }

    /// What is sampled with the noise times `scale`, where a target moves by at most `change`.
    pub fn sampled(&self, scale: f64, change: f64) -> Sampled {
        match &self.design {
            Design::Cloak(cloak) => {
                Sampled::Linear { places: vec![vec![LinearRelease::of(cloak)]], scale, change }
            }
            Design::Function(mean) => {
                Sampled::Function { mean: Arc::clone(mean), scale: scale * self.bound.unwrap_or(0.0), change }
            }
        }
    }

    /// The standard deviations at multiplier 1 and change 1.
    pub fn standard_deviations(&self) -> DVector<f64> {
        DVector::from_iterator(self.map.nrows(), self.map.row_iter().map(|row| row.norm()))
    }

    /// The certificate of a release with it, where one target changes.
    pub fn certificate(&self, cell: &PrivacySetting, caveats: &[(Caveat, bool)]) -> Certificate {
        let release = if self.bound.is_some() { Release::Function } else { Release::Predictions };
        let certificate = Certificate::gaussian(
            (release, Neighbours::OneTargetChanges(cell.change())),
            cell.calibration,
            (cell.epsilon, cell.delta),
            self.ratio,
            self.gap,
        );
        let certificate = match self.bound {
            Some(_) => certificate.by(Mechanism::Function(cell.calibration)),
            None => certificate,
        };
        let too_little = (Caveat::InvalidSensitivity, self.bound.is_some() && self.ratio > 1.0);
        certificate.with_caveats(caveats).with_caveats(&[too_little])
    }
}

/// The mean of a model as a function.
pub(super) fn representer(
    setting: &ModelSetting,
    kernel: &dyn Kernel,
    training: &DMatrix<f64>,
    (streams, purpose): (&Streams, &str),
) -> Result<Representer, TaskError> {
    let noise = setting.noise();
    Ok(match model::inducing(setting, training, streams, purpose) {
        None => exact_representer(kernel, noise, training)?,
        Some(inducing) => fitc_representer(kernel, noise, &inducing, training)?,
    })
}
