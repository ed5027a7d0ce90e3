//! Noise for the predictions of a model, by cloaking or as a sample of its process.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::model::Process;
use super::{LinearRelease, OneTarget, Sampled, TaskError};
use crate::gp::{LinearMap, Representer};
use crate::kernel::Kernel;
use crate::privacy::{
    Caveat, Certificate, Cloak, CloakingOptions, FunctionNoise, FunctionSensitivity, Mechanism, Release,
    cloak,
};
use crate::setting::MechanismSetting;

/// The options of cloaking.
///
/// # Errors
/// [`TaskError::Missing`] for another mechanism.
pub(super) fn cloaking(mechanism: &MechanismSetting) -> Result<CloakingOptions, TaskError> {
    let MechanismSetting::Cloaking(setting) = mechanism else {
        return Err(TaskError::Missing { needed: "mechanism.cloaking" });
    };
    Ok(CloakingOptions {
        objective: setting.objective,
        rank_tolerance: setting.rank_tolerance.get(),
        solver: setting.solver,
        release: setting.release,
    })
}

/// The cloak of a map from targets to predictions.
pub(super) fn cloak_of(mechanism: &MechanismSetting, map: &LinearMap) -> Result<Cloak, TaskError> {
    Ok(cloak(map.columns(), &map.counts(), &cloaking(mechanism)?)?)
}

/// A noise design for predictions at t test inputs.
pub(super) struct Noise {
    /// Turns standard normal draws into noise at multiplier 1 and change 1 (t x r).
    pub map: DMatrix<f64>,
    /// The true sensitivity over the one that the noise is scaled by: more than 1 is too little noise.
    pub ratio: f64,
    design: NoiseDesign,
}

/// What the noise covers.
enum NoiseDesign {
    /// The predictions, as the cloak releases them.
    Cloak(Box<Cloak>),
    /// The mean as a function.
    Function(Box<NoisyFunction>),
}

/// A mean as a function, which gets a sample of its process.
struct NoisyFunction {
    /// Its weights, and the covariance of its basis.
    mean: Arc<(DMatrix<f64>, DMatrix<f64>)>,
    /// The sensitivity at change 1 that the noise is scaled by.
    bound: f64,
    /// At the test inputs.
    noise: FunctionNoise,
}

impl Noise {
    /// The design of a mechanism for a map from targets at the training inputs of a process to predictions at test inputs.
    pub fn new(
        mechanism: &MechanismSetting,
        process: &Process<'_>,
        test: &DMatrix<f64>,
        map: &LinearMap,
    ) -> Result<Self, TaskError> {
        if let MechanismSetting::Function(function) = mechanism {
            return Self::of_function(function.sensitivity, &process.representer()?, process.kernel, test);
        }
        let cloak = cloak_of(mechanism, map)?;
        Ok(Self {
            map: cloak.noise_map(),
            ratio: cloak.sensitivity,
            design: NoiseDesign::Cloak(Box::new(cloak)),
        })
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
        let noise = FunctionNoise::new(&kernel.matrix(test, test))?;
        let map = noise.noise_map() * bound;
        let mean = Arc::new((mean.weights.clone(), kernel.matrix(&mean.basis, &mean.basis)));
        let function = NoisyFunction { mean, bound, noise };
        Ok(Self { map, ratio: exact / bound, design: NoiseDesign::Function(Box::new(function)) })
    }

    /// With a ratio that is known to be at least this.
    pub fn covering(self, ratio: f64) -> Self {
        Self { ratio: self.ratio.max(ratio), ..self }
    }

    /// The sensitivity of a function at change 1 that the noise is scaled by; none of cloaking.
    pub fn bound(&self) -> Option<f64> {
        match &self.design {
            NoiseDesign::Cloak(_) => None,
            NoiseDesign::Function(function) => Some(function.bound),
        }
    }

    /// The mean that is released, without its noise: the map from sums over equal inputs to the predictions that the
    /// noise covers. `plain` where it covers all of it.
    pub fn released_columns(&self, plain: &LinearMap) -> DMatrix<f64> {
        match &self.design {
            NoiseDesign::Cloak(cloak) => cloak.mean_columns(),
            NoiseDesign::Function(_) => plain.columns().clone(),
        }
    }

    /// What independent noise of multiplier 1 is added to, before [`Noise::map`] maps both (r x k): `plain` whitened.
    pub fn whitened_columns(&self, plain: &LinearMap) -> DMatrix<f64> {
        match &self.design {
            NoiseDesign::Cloak(cloak) => cloak.whitened_columns().clone(),
            NoiseDesign::Function(function) => function.noise.whitened(plain.columns()) / function.bound,
        }
    }

    /// What is sampled with the noise times `scale`, where a target moves by at most `change`.
    pub fn sampled(&self, scale: f64, change: f64) -> Sampled {
        match &self.design {
            NoiseDesign::Cloak(cloak) => {
                Sampled::Linear { places: vec![vec![LinearRelease::of(cloak)]], scale, change }
            }
            NoiseDesign::Function(function) => {
                Sampled::Function { mean: Arc::clone(&function.mean), scale: scale * function.bound, change }
            }
        }
    }

    /// The standard deviations at multiplier 1 and change 1.
    pub fn standard_deviations(&self) -> DVector<f64> {
        DVector::from_fn(self.map.nrows(), |row, _| row_norm(&self.map, row))
    }

    /// The certificate of a release with it.
    pub fn certificate(&self, target: OneTarget, caveats: &[(Caveat, bool)]) -> Certificate {
        match &self.design {
            NoiseDesign::Cloak(cloak) => {
                target.cloaked(Release::Predictions, self.ratio, cloak.gap).with_caveats(caveats)
            }
            NoiseDesign::Function(_) => target
                .gaussian(Release::Function, Mechanism::Function, self.ratio)
                .certificate()
                .with_caveats(caveats)
                .with_caveats(&[(Caveat::InvalidSensitivity, self.ratio > 1.0)]),
        }
    }
}

/// The Euclidean norm of a row, also of one whose squares are too small for a double: far from all data the noise is tiny, and
/// must not be said to be none.
fn row_norm(map: &DMatrix<f64>, row: usize) -> f64 {
    let row = map.row(row);
    let largest = row.amax();
    // The square root of the least normal double: above it no square that counts is rounded away.
    if largest > f64::MIN_POSITIVE.sqrt() / f64::EPSILON || largest == 0.0 {
        return row.norm();
    }
    largest * (row / largest).norm()
}
