//! Noise for the predictions of a model, with its guarantees about one target or about the targets of one
//! person.

use nalgebra::{DMatrix, DVector};

use super::model::{GpOnTrainingInputs, GpWithObservationNoise};
use super::{AuditedMechanism, TaskError};
use dpgp_accounting::{
    CalibratedGaussianRelease, Calibration, Certificate, CertifiedMechanism, Guarantee, GuaranteeCaveat, Neighbours,
    ReleaseKind,
};
use dpgp_cloaking::CloakingOptions;
use dpgp_gp::kernel::Kernel;
use dpgp_gp::{PredictionMap, Representer, TargetSumCovariances};
use dpgp_linalg::LinalgError;
use dpgp_mechanisms::{
    AuditedLinearMechanism, CloakingSetting, LinearFit, LinearMechanism, LinearNoise, MechanismSetting, PrivacySetting,
    noise_standard_deviations,
};
use dpgp_spec::setting::DataSetting;

/// The options of cloaking by noise on the predictions of the model.
///
/// # Errors
/// [`TaskError::Missing`] for another mechanism or objective, which the checks of a spec rule out.
pub(super) fn cloaking_options(mechanism: &MechanismSetting) -> Result<CloakingOptions, TaskError> {
    let setting = mechanism.downcast::<CloakingSetting>();
    let setting = setting.ok_or(TaskError::Missing { needed: "mechanism.cloaking" })?;
    setting.options().map_err(|_| TaskError::Missing { needed: "the objective \"log-det\" or \"trace\"" })
}

/// A noise design for predictions at t test inputs.
pub(super) struct PredictionNoise {
    /// Turns standard normal draws into noise at multiplier 1 and change 1 (t x r).
    pub map: DMatrix<f64>,
    /// The true sensitivity over the one that the noise is scaled by: more than 1 is too little noise.
    pub ratio: f64,
    /// The variances of the latent values given what is released (t, squared units of the model), for the noise that the
    /// design was made for; none if model and noise are independent errors of the mean.
    pub variances: Option<Vec<f64>>,
    /// The map from sums over equal inputs to predictions without noise (t x k), where it is not that of the design.
    mean: Option<DMatrix<f64>>,
    design: Box<dyn LinearNoise>,
}

impl PredictionNoise {
    /// Wraps the design of a mechanism.
    pub fn new(design: Box<dyn LinearNoise>) -> Self {
        Self {
            map: design.noise_map(),
            ratio: design.true_to_assumed_sensitivity_ratio(),
            variances: design.latent_variances(),
            mean: None,
            design,
        }
    }

    /// With the best linear predictions given what is released with noise of the standard deviation `scale` (units of
    /// the model): post-processing, which costs no budget.
    pub fn with_denoised_predictions(
        self,
        moments: &TargetSumCovariances,
        plain: &PredictionMap,
        scale: f64,
    ) -> Result<Self, TaskError> {
        let combined = self.whitened_columns(plain);
        let given = moments.condition_on_noisy_sums(&combined, scale)?;
        let mean = &given.map * combined;
        Ok(Self { map: given.map, mean: Some(mean), variances: Some(given.variances), ..self })
    }

    /// Raises the ratio to at least this, so that a certificate states the larger of two sensitivities.
    pub fn with_minimum_sensitivity_ratio(self, ratio: f64) -> Self {
        Self { ratio: self.ratio.max(ratio), ..self }
    }

    /// The sensitivity of a function at change 1 that the noise is scaled by; none if no function is released.
    pub fn function_sensitivity(&self) -> Option<f64> {
        self.design.function_sensitivity()
    }

    /// The distance from the least noise, where it is known.
    pub fn optimality_gap(&self) -> Option<f64> {
        self.design.optimality_gap()
    }

    /// The mean that is released, without its noise: the map from sums over equal inputs to the predictions that the
    /// noise covers. `plain` where it covers all of it.
    pub fn noiseless_prediction_map(&self, plain: &PredictionMap) -> DMatrix<f64> {
        self.mean.clone().unwrap_or_else(|| self.design.released_columns(plain))
    }

    /// Predictions without noise (t) if all targets equal `value`: the released columns times the number of rows of
    /// each distinct input, times `value`, in its units. Exactly 0 for 0.
    pub fn predict_constant(&self, plain: &PredictionMap, value: f64) -> DVector<f64> {
        let counts = plain.targets_per_column().into_iter().map(|count| count as f64 * value).collect();
        self.noiseless_prediction_map(plain) * DVector::from_vec(counts)
    }

    /// The whitened columns W (r x k). Independent noise is added to `W y`, and the noise design then maps the sum to
    /// predictions.
    pub fn whitened_columns(&self, plain: &PredictionMap) -> DMatrix<f64> {
        self.design.whitened_columns(plain)
    }

    /// The very matrices that noise is drawn with.
    pub fn audited_linear_mechanism(&self) -> AuditedLinearMechanism {
        self.design.audited_mechanism()
    }

    /// The mechanism that draws the noise times `scale`, where a target moves by at most `change`.
    pub fn audited_mechanism(&self, scale: f64, change: f64) -> AuditedMechanism {
        match self.audited_linear_mechanism() {
            AuditedLinearMechanism::Numbers(release) => {
                AuditedMechanism::Linear { places: vec![vec![release]], scale, change }
            }
            AuditedLinearMechanism::Function { mean, bound } => {
                AuditedMechanism::Function { mean, scale: scale * bound, change }
            }
        }
    }

    /// The variances of the latent values about the released predictions without their noise (t), for noise times
    /// `scale` (units of the model). Without variances of the design these are `variance`, those of the model.
    /// Otherwise the variances of the noise, `(scale sd)^2`, are subtracted, so that both add up to the variances of
    /// all errors.
    pub fn latent_variances_excluding_noise(&self, variance: Vec<f64>, scale: f64) -> Vec<f64> {
        let Some(variances) = &self.variances else { return variance };
        let noise = self.standard_deviations();
        // Nothing but rounding makes it negative, where nearly all of the error is noise.
        variances.iter().zip(noise.iter()).map(|(all, sd)| (all - (scale * sd).powi(2)).max(0.0)).collect()
    }

    /// The standard deviations at multiplier 1 and change 1.
    pub fn standard_deviations(&self) -> DVector<f64> {
        noise_standard_deviations(&self.map)
    }

    /// The certificate of a release with it.
    pub fn certificate(&self, target: TargetChangeGuarantee, caveats: &[(GuaranteeCaveat, bool)]) -> Certificate {
        self.certificate_for_release_kind(self.design.release_kind(), target, self.ratio, self.optimality_gap())
            .with_caveats(caveats)
            .with_caveats(&[(
                GuaranteeCaveat::InvalidSensitivity,
                self.function_sensitivity().is_some() && self.ratio > 1.0,
            )])
    }

    /// The certificate of a release with the noise of this design. `ratio` is its sensitivity over the one that the noise is scaled by.
    pub fn certificate_for_release_kind(
        &self,
        release: ReleaseKind,
        target: TargetChangeGuarantee,
        ratio: f64,
        gap: Option<f64>,
    ) -> Certificate {
        target
            .calibrated_gaussian_release(release, self.design.certified_mechanism(), ratio)
            .certificate()
            .with_optimality_gap(gap)
    }
}

/// One design for all sizes of noise, or one for each.
pub(super) struct NoiseDesigns(Vec<NoiseDesignForScale>);

struct NoiseDesignForScale {
    /// The standard deviation that it is for (units of the model); none for any.
    only: Option<f64>,
    noise: PredictionNoise,
}

/// Input of the design of releases.
pub(super) struct NoiseDesigner<'a> {
    pub mechanism: &'a MechanismSetting,
    pub process: &'a GpOnTrainingInputs<'a>,
    /// The test inputs.
    pub test: &'a DMatrix<f64>,
    /// From the targets to predictions at them.
    pub map: &'a PredictionMap,
    /// Whether predictions are the best ones given what is released.
    pub denoise: bool,
    /// Public weights of the test inputs, where not all count alike: for a design of least risk.
    pub weights: Option<&'a [f64]>,
}

impl NoiseDesigner<'_> {
    /// The design for noise of this standard deviation (units of the model).
    pub fn design_noise(&self, scale: f64) -> Result<PredictionNoise, TaskError> {
        let (mechanism, fit) = (
            self.linear_mechanism()?,
            GpAtTestInputs { process: self.process.with_observation_noise()?, designer: self },
        );
        let noise = PredictionNoise::new(mechanism.design_noise(&fit, scale)?);
        if !self.denoise || mechanism.designs_for_one_noise_scale() {
            return Ok(noise);
        }
        noise.with_denoised_predictions(&fit.prior_moments()?, self.map, scale)
    }

    fn linear_mechanism(&self) -> Result<&dyn LinearMechanism, TaskError> {
        self.mechanism.as_linear().ok_or(TaskError::Missing { needed: "a mechanism that releases predictions" })
    }

    /// The designs for noise of these standard deviations, of which zero is none.
    pub fn design_noises(&self, scales: &[f64]) -> Result<NoiseDesigns, TaskError> {
        if !self.linear_mechanism()?.designs_for_one_noise_scale() && !self.denoise {
            return Ok(NoiseDesigns(vec![NoiseDesignForScale { only: None, noise: self.design_noise(1.0)? }]));
        }
        let private = scales.iter().filter(|scale| **scale > 0.0);
        let designs =
            private.map(|&scale| Ok(NoiseDesignForScale { only: Some(scale), noise: self.design_noise(scale)? }));
        designs.collect::<Result<_, TaskError>>().map(NoiseDesigns)
    }
}

/// A process at the test inputs of a designer.
struct GpAtTestInputs<'a> {
    process: GpWithObservationNoise<'a>,
    designer: &'a NoiseDesigner<'a>,
}

impl LinearFit for GpAtTestInputs<'_> {
    fn linear_map(&self) -> &PredictionMap {
        self.designer.map
    }

    fn test_inputs(&self) -> &DMatrix<f64> {
        self.designer.test
    }

    fn kernel(&self) -> &dyn Kernel {
        self.process.kernel
    }

    fn mean_representer(&self) -> Result<Representer, LinalgError> {
        self.process.mean_representer()
    }

    fn prior_moments(&self) -> Result<TargetSumCovariances, LinalgError> {
        self.process.prior_moments(self.designer.test, self.designer.map)
    }

    fn test_weights(&self) -> Option<&[f64]> {
        self.designer.weights
    }
}

impl NoiseDesigns {
    /// The design for noise of this standard deviation.
    ///
    /// # Errors
    /// [`TaskError::Missing`] if none was made.
    pub fn noise_at_scale(&self, scale: f64) -> Result<&PredictionNoise, TaskError> {
        let own = self.0.iter().find(|design| design.only.is_none_or(|only| only == scale));
        own.map(|design| &design.noise).ok_or(TaskError::Missing { needed: "a noise design for this scale" })
    }
}

/// The guarantee of a cell that hides a change of one target, or of those of one person, where inputs are public.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TargetChangeGuarantee {
    /// The most that one target changes, in units of the target.
    pub change: f64,
    /// The most targets that change at once: the rows of one person.
    pub rows: u64,
    /// Epsilon; infinite without privacy.
    pub epsilon: f64,
    /// Delta.
    pub delta: f64,
    /// How the noise is set from both.
    pub calibration: Calibration,
}

impl TargetChangeGuarantee {
    /// The guarantee of a cell about one row.
    ///
    /// # Errors
    /// [`TaskError::Missing`] where nothing bounds the change, which the checks of a spec rule out.
    pub fn for_one_row(cell: &PrivacySetting) -> Result<Self, TaskError> {
        let PrivacySetting { epsilon, delta, calibration, .. } = *cell;
        let change = cell.change.ok_or(TaskError::Missing { needed: "privacy.change" })?;
        Ok(Self { change: change.get(), rows: 1, epsilon: epsilon.get(), delta: delta.get(), calibration })
    }

    /// The same about the rows of one person, where the data say whose they are. Its certificates are to say so
    /// ([`Certificate::with_privacy_unit`]).
    ///
    /// # Errors
    /// As [`TargetChangeGuarantee::for_one_row`].
    pub fn for_privacy_unit(cell: &PrivacySetting, data: &DataSetting) -> Result<Self, TaskError> {
        Ok(Self { rows: data.privacy_unit().max_records(), ..Self::for_one_row(cell)? })
    }

    /// With another epsilon.
    pub fn with_epsilon(self, epsilon: f64) -> Self {
        Self { epsilon, ..self }
    }

    pub fn is_private(self) -> bool {
        self.epsilon.is_finite()
    }

    /// The noise multiplier; zero without privacy.
    pub fn noise_multiplier(self) -> f64 {
        self.calibration.sigma(self.epsilon, self.delta)
    }

    /// The most that all targets of one person change together, in units of the target: `change rows`.
    pub fn total_change(self) -> f64 {
        self.change * self.rows as f64
    }

    /// The factor on noise that is designed for one target, a change of 1 and multiplier 1: `change rows sigma`, in
    /// units of the target.
    ///
    /// Obligation: the targets of one person move a linear map no further than one target that moves by as much as all
    /// of them together, by the triangle inequality.
    pub fn noise_scale_in_target_units(self) -> f64 {
        self.total_change() * self.noise_multiplier()
    }

    pub fn neighbours(self) -> Neighbours {
        Neighbours::OneTargetChanges(self.change)
    }

    /// The event of Gaussian noise where the release moves by `sensitivity`, in units of what the noise is scaled by;
    /// its certificate claims nothing without privacy.
    pub fn calibrated_gaussian_release(
        self,
        release: ReleaseKind,
        mechanism: fn(Calibration) -> CertifiedMechanism,
        sensitivity: f64,
    ) -> CalibratedGaussianRelease {
        CalibratedGaussianRelease {
            release,
            neighbours: self.neighbours(),
            mechanism,
            calibration: self.calibration,
            guarantee: Guarantee { epsilon: self.epsilon, delta: self.delta },
            sensitivity,
        }
    }
}
