//! Noise for the predictions of a model.

use nalgebra::{DMatrix, DVector};

use super::{OneTarget, Sampled, TaskError};
use dpgp_accounting::{Caveat, Certificate, Release};
use dpgp_cloaking::CloakingOptions;
use dpgp_gp::{LinearMap, PriorMoments};
use dpgp_mechanisms::{CloakingSetting, LinearEvidence, LinearNoise, MechanismSetting, deviations};

/// The options of cloaking by noise on the predictions of the model.
///
/// # Errors
/// [`TaskError::Missing`] for another mechanism or objective, which the checks of a spec rule out.
pub(super) fn cloaking_options(mechanism: &MechanismSetting) -> Result<CloakingOptions, TaskError> {
    let setting = mechanism.of::<CloakingSetting>();
    let setting = setting.ok_or(TaskError::Missing { needed: "mechanism.cloaking" })?;
    setting.options().map_err(|_| TaskError::Missing { needed: "an objective of noise alone" })
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
    design: Box<dyn LinearNoise>,
}

impl Noise {
    /// What a mechanism has designed.
    pub fn new(design: Box<dyn LinearNoise>) -> Self {
        Self { map: design.map(), ratio: design.ratio(), variances: design.variances(), mean: None, design }
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

    /// The sensitivity of a function at change 1 that the noise is scaled by; none where no function is released.
    pub fn bound(&self) -> Option<f64> {
        self.design.function_bound()
    }

    /// The distance from the least noise, where it is known.
    pub fn gap(&self) -> Option<f64> {
        self.design.gap()
    }

    /// The mean that is released, without its noise: the map from sums over equal inputs to the predictions that the
    /// noise covers. `plain` where it covers all of it.
    pub fn released_columns(&self, plain: &LinearMap) -> DMatrix<f64> {
        self.mean.clone().unwrap_or_else(|| self.design.released_columns(plain))
    }

    /// What predictions without noise are of targets that all equal `value`; exactly 0 of 0.
    pub fn of_constant(&self, plain: &LinearMap, value: f64) -> DVector<f64> {
        let counts = plain.counts().into_iter().map(|count| count as f64 * value).collect();
        self.released_columns(plain) * DVector::from_vec(counts)
    }

    /// What independent noise of multiplier 1 is added to, before [`Noise::map`] maps both (r x k): `plain` whitened.
    pub fn whitened_columns(&self, plain: &LinearMap) -> DMatrix<f64> {
        self.design.whitened_columns(plain)
    }

    /// The very matrices that noise is drawn with.
    pub fn evidence(&self) -> LinearEvidence {
        self.design.evidence()
    }

    /// What is sampled with the noise times `scale`, where a target moves by at most `change`.
    pub fn sampled(&self, scale: f64, change: f64) -> Sampled {
        match self.evidence() {
            LinearEvidence::Numbers(release) => {
                Sampled::Linear { places: vec![vec![release]], scale, change }
            }
            LinearEvidence::Function { mean, bound } => {
                Sampled::Function { mean, scale: scale * bound, change }
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
        deviations(&self.map)
    }

    /// The certificate of a release with it.
    pub fn certificate(&self, target: OneTarget, caveats: &[(Caveat, bool)]) -> Certificate {
        self.certificate_of(self.design.release(), target, self.ratio, self.gap())
            .with_caveats(caveats)
            .with_caveats(&[(Caveat::InvalidSensitivity, self.bound().is_some() && self.ratio > 1.0)])
    }

    /// The certificate of something that is released with noise of this design.
    pub fn certificate_of(
        &self,
        release: Release,
        target: OneTarget,
        ratio: f64,
        gap: Option<f64>,
    ) -> Certificate {
        target.gaussian(release, self.design.certified(), ratio).certificate().with_gap(gap)
    }
}
