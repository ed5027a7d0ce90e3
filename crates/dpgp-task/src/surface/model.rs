//! A surface from sums over rows: the summands, the release and the posterior.

use nalgebra::DMatrix;
use rand::Rng;

use crate::noisy_sums::{BoundedTargetSums, NoisySumsBounds, range_in_lengthscales, sums_setting_in_lengthscales};
use crate::sample::product_grid;
use crate::{AuditedMechanism, CellSetting, Sample, SurfaceTask, TaskError, TaskSetting};
use dpgp_accounting::{Certificate, GuaranteeCaveat, PrivacyUnit};
use dpgp_data::rows::InMemoryRows;
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::variational::{
    InducingInputs, NoiseCorrection, NoisySufficientStatistics, SufficientStatistics, WeightPosterior,
    noise_aware_posterior,
};
use dpgp_mechanisms::{CellSections, PrivacySetting, SumsNoise, SumsSetting, public_target_quantizer};
use dpgp_noise::RoundedNoiseParameters;
use dpgp_spec::setting::{NoiseAwareInverseSetting, RangeSetting};
use dpgp_stream::{KernelSummand, KernelSums, QuantizedKernel, sum_rows_serially};

/// The noise on the sums of a surface.
#[derive(Debug, Clone)]
pub struct CertifiedSumsNoise {
    /// Its size.
    pub noise: SumsNoise,
    /// The guarantee.
    pub certificate: Certificate,
    /// Its size against the sensitivity of A, in units of the model.
    pub record: RoundedNoiseParameters,
}

/// The model of a surface task.
#[derive(Debug, Clone)]
pub struct SurfaceModel {
    task: SurfaceTask,
    rule: NoiseAwareInverseSetting,
    kernel: ExponentiatedQuadratic,
    variance: f64,
    noise_variance: f64,
    /// In units where every lengthscale is 1.
    mechanism: SumsSetting,
    ranges: Vec<RangeSetting>,
    summand: KernelSummand,
    filtered: bool,
    unit: PrivacyUnit,
}

impl SurfaceModel {
    /// The model of a cell; none if it has another task or model, or targets without public bounds.
    pub fn new(setting: &CellSetting) -> Option<Self> {
        let TaskSetting::Surface(task) = &*setting.task else { return None };
        Self::from_task(task, setting)
    }

    pub(super) fn from_task(task: &SurfaceTask, setting: &CellSections) -> Option<Self> {
        let sums = setting.privacy.mechanism.downcast::<SumsSetting>()?;
        let model = setting.model.as_deref()?;
        let inputs = setting.data.dimensions();
        let (variance, lengthscales) = model.variance_and_lengthscales(inputs)?;
        let targets = public_target_quantizer(&setting.normalise, sums.target_bound?.get())?;
        let inducing = product_grid(&task.inducing);
        let mechanism = sums_setting_in_lengthscales(sums, &lengthscales);
        let ranges: Vec<RangeSetting> =
            task.inducing.iter().zip(&lengthscales).map(|(range, l)| range_in_lengthscales(range, *l)).collect();
        let least = NoisySumsBounds::new(&mechanism, &ranges, variance, 1.0).least;
        Some(Self {
            task: task.clone(),
            rule: task.posterior?,
            kernel: ExponentiatedQuadratic::ard(variance, lengthscales.clone()),
            variance,
            noise_variance: model.noise_variance?.get(),
            mechanism,
            ranges,
            summand: KernelSummand {
                kernel: QuantizedKernel::new(variance, &lengthscales, &inducing, least / variance),
                targets,
                filters: setting.data.row_filter_comparisons(),
                inputs,
            },
            filtered: setting.data.filters_by_target(),
            unit: setting.data.privacy_unit(),
        })
    }

    /// Settings of the surface.
    pub fn task(&self) -> &SurfaceTask {
        &self.task
    }

    /// The columns of a file that the sums read: the inputs, the target and the columns of the filters.
    pub fn summand(&self) -> &KernelSummand {
        &self.summand
    }

    /// The sums over the rows of a sample, which have passed the filters.
    ///
    /// # Errors
    /// [`TaskError::Missing`] if a row has no place in them.
    pub(crate) fn sums(&self, sample: &Sample) -> Result<KernelSums, TaskError> {
        let mut columns = sample.input_columns();
        columns.push(&sample.targets);
        let summand = KernelSummand { filters: Vec::new(), ..self.summand.clone() };
        let part = sum_rows_serially(&mut InMemoryRows::new(columns), &summand);
        Ok(part.map_err(|_| TaskError::Missing { needed: "rows that it can sum" })?.sums)
    }

    /// The inducing inputs (m x d).
    pub fn inducing_inputs(&self) -> DMatrix<f64> {
        product_grid(&self.task.inducing)
    }

    /// With `K_ZZ` factorised.
    ///
    /// # Errors
    /// [`TaskError::Linalg`] if it cannot be.
    pub fn factorise_inducing(&self) -> Result<InducingInputs<'_>, TaskError> {
        Ok(InducingInputs::new(&self.kernel, &self.inducing_inputs())?)
    }

    /// The points of the figure; none if it has none.
    pub fn figure_points(&self) -> DMatrix<f64> {
        self.task.figure_points()
    }

    fn target_sums(&self) -> BoundedTargetSums<'_> {
        let sums = NoisySumsBounds::new(&self.mechanism, &self.ranges, self.variance, 1.0);
        BoundedTargetSums::with_target_bound(self.summand.targets.bound, sums)
            .with_neighbour_record_count(self.unit.max_records())
    }

    /// The noise for the guarantee of a cell, and what is guaranteed.
    pub fn certified_noise(&self, cell: &PrivacySetting) -> CertifiedSumsNoise {
        let sums = self.target_sums();
        let (noise, certificate) = (sums.noise(cell), sums.certificate(cell).with_privacy_unit(self.unit.clone()));
        let record = RoundedNoiseParameters { sensitivity: sums.sensitivity.least, sd: noise.sd_a };
        if cell.epsilon.get().is_infinite() {
            return CertifiedSumsNoise { noise, certificate, record };
        }
        let certificate = certificate.with_caveats(&[(GuaranteeCaveat::PrivateFilter, self.filtered)]);
        CertifiedSumsNoise { noise, certificate, record }
    }

    /// Samples drawn with this noise.
    pub(super) fn audited_mechanism(&self, noise: SumsNoise) -> AuditedMechanism {
        self.target_sums().audited_mechanism(noise)
    }

    /// The sums as the model takes them; without noise.
    pub fn sufficient_statistics(&self, sums: &KernelSums) -> SufficientStatistics {
        sums.statistics(self.summand.units())
    }

    /// The sums with exactly rounded noise for the guarantee of a cell, which has one.
    ///
    /// # Errors
    /// [`TaskError::OutOfRange`] for noise that is too large for the arithmetic.
    pub fn release(
        &self,
        sums: &KernelSums,
        cell: &PrivacySetting,
        source: &mut impl Rng,
    ) -> Result<NoisySufficientStatistics, TaskError> {
        Ok(self.certified_noise(cell).noise.release_integers(sums.as_integer_sums(self.summand.units()), source)?)
    }

    /// A simulation of a release, with floating-point noise of a seeded stream; the sums themselves without privacy.
    pub(super) fn simulate_release(
        &self,
        sums: &SufficientStatistics,
        cell: &PrivacySetting,
        stream: &mut impl Rng,
    ) -> (NoisySufficientStatistics, CertifiedSumsNoise) {
        let guarantee = self.certified_noise(cell);
        let free = cell.epsilon.get().is_infinite();
        let noisy = if free { sums.with_zero_noise() } else { guarantee.noise.simulate_release(sums, stream) };
        (noisy, guarantee)
    }

    /// The posterior from sums.
    ///
    /// # Errors
    /// [`TaskError::Linalg`] if the matrix of the sums cannot be inverted.
    pub fn posterior(
        &self,
        inducing: &InducingInputs<'_>,
        sums: &NoisySufficientStatistics,
    ) -> Result<WeightPosterior, TaskError> {
        let rule = self.rule;
        Ok(noise_aware_posterior(
            inducing,
            &sums.scaled(1.0 / self.noise_variance),
            rule.regularisation,
            rule.correction,
        )?)
    }

    /// Covariance of the weights from the noise on the sums, by the rule of the task.
    ///
    /// # Errors
    /// As [`SurfaceModel::posterior`].
    pub(crate) fn weight_noise_covariance(
        &self,
        inducing: &InducingInputs<'_>,
        sums: &NoisySufficientStatistics,
        posterior: &WeightPosterior,
    ) -> Result<DMatrix<f64>, TaskError> {
        let rule = self.rule;
        let unit = sums.scaled(1.0 / self.noise_variance);
        let plain = noise_aware_posterior(inducing, &unit, rule.regularisation, NoiseCorrection::None)?;
        Ok(&posterior.covariance - plain.covariance)
    }

    /// Units of the target per unit of the model.
    pub fn target_scale(&self) -> f64 {
        self.summand.targets.scale
    }

    /// The standard deviation of a variance of the model, in units of the target; zero where rounding made it negative.
    pub(crate) fn sd_in_target_units(&self, variance: f64) -> f64 {
        self.target_scale() * variance.max(0.0).sqrt()
    }

    /// A value of the model in units of the target.
    pub fn to_target_units(&self, value: f64) -> f64 {
        self.summand.targets.centre + self.target_scale() * value
    }
}
