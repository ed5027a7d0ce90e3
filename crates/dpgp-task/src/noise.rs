//! Noise for the predictions of a model, by cloaking or as a sample of its process.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::model::Process;
use super::{LinearRelease, OneTarget, Sampled, TaskError};
use dpgp_accounting::{Caveat, Certificate, Mechanism, Release};
use dpgp_cloaking::{Cloak, CloakingOptions, RiskDesign, RiskProblem, cloak, risk_cloak};
use dpgp_gp::kernel::Kernel;
use dpgp_gp::{LinearMap, PriorMoments, Representer};
use dpgp_mechanisms::{FunctionNoise, FunctionSensitivity};
use dpgp_spec::setting::MechanismSetting;

/// The options of cloaking by noise on the predictions of the model.
///
/// # Errors
/// [`TaskError::Missing`] for another mechanism or objective, which the checks of a spec rule out.
pub(super) fn cloaking(mechanism: &MechanismSetting) -> Result<CloakingOptions, TaskError> {
    let MechanismSetting::Cloaking(setting) = mechanism else {
        return Err(TaskError::Missing { needed: "mechanism.cloaking" });
    };
    setting.options().map_err(|_| TaskError::Missing { needed: "an objective of noise alone" })
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
    /// The variances of the latent values given what is released (t, squared units of the model), for the noise that the
    /// design was made for; none where model and noise are independent errors of the mean.
    pub variances: Option<Vec<f64>>,
    /// The map from sums over equal inputs to predictions without noise (t x k), where it is not that of the design.
    mean: Option<DMatrix<f64>>,
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
            variances: None,
            mean: None,
            design: NoiseDesign::Cloak(Box::new(cloak)),
        })
    }

    /// Predictions and noise of the least expected squared error, the weighted sum over test inputs, for noise of the standard
    /// deviation `scale` (units of the model).
    pub fn of_least_risk(problem: &RiskProblem, scale: f64) -> Result<Self, TaskError> {
        let RiskDesign { cloak, variances, .. } = risk_cloak(problem, scale)?;
        Ok(Self {
            map: cloak.noise_map(),
            ratio: cloak.sensitivity,
            variances: Some(variances),
            mean: None,
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
        Ok(Self {
            map,
            ratio: exact / bound,
            variances: None,
            mean: None,
            design: NoiseDesign::Function(Box::new(function)),
        })
    }

    /// With the best linear predictions given what is released with noise of the standard deviation `scale` (units of the model):
    /// post-processing, which costs no budget.
    pub fn denoised(self, moments: &PriorMoments, plain: &LinearMap, scale: f64) -> Result<Self, TaskError> {
        let combined = self.whitened_columns(plain);
        let given = moments.given(&combined, scale)?;
        let mean = &given.map * combined;
        Ok(Self { map: given.map, mean: Some(mean), variances: Some(given.variances), ..self })
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
        if let Some(mean) = &self.mean {
            return mean.clone();
        }
        match &self.design {
            NoiseDesign::Cloak(cloak) => cloak.mean_columns(),
            NoiseDesign::Function(_) => plain.columns().clone(),
        }
    }

    /// What predictions without noise are of targets that all equal `value`; exactly 0 of 0.
    pub fn of_constant(&self, plain: &LinearMap, value: f64) -> DVector<f64> {
        let counts = plain.counts().into_iter().map(|count| count as f64 * value).collect();
        self.released_columns(plain) * DVector::from_vec(counts)
    }

    /// What independent noise of multiplier 1 is added to, before [`Noise::map`] maps both (r x k): `plain` whitened.
    pub fn whitened_columns(&self, plain: &LinearMap) -> DMatrix<f64> {
        match &self.design {
            NoiseDesign::Cloak(cloak) => cloak.whitened_columns().clone(),
            NoiseDesign::Function(function) => function.noise.whitened(plain.columns()) / function.bound,
        }
    }

    /// The cloak, if it is one.
    pub fn cloak(&self) -> Option<&Cloak> {
        match &self.design {
            NoiseDesign::Cloak(cloak) => Some(cloak),
            NoiseDesign::Function(_) => None,
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

    /// The variances of the latent values about what is released, without its noise, where the model alone leaves `variance`; for
    /// noise times `scale`. With the variances of the noise they add up to those of all errors.
    pub fn model_variances(&self, variance: Vec<f64>, scale: f64) -> Vec<f64> {
        let Some(variances) = &self.variances else { return variance };
        let noise = self.standard_deviations();
        // Nothing but rounding makes it negative, where nearly all of the error is noise.
        variances.iter().zip(noise.iter()).map(|(all, sd)| (all - (scale * sd).powi(2)).max(0.0)).collect()
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
