//! A surface from sums over rows: the summands, the release and the posterior.

use nalgebra::DMatrix;
use rand::Rng;

use crate::noisy_sums::{NoisySums, TargetSums};
use crate::sample::product_grid;
use crate::{Sample, Sampled, TaskError};
use crate::{Setting, SurfaceTask, TaskSetting};
use dpgp_accounting::{Caveat, Certificate, PrivacyUnit};
use dpgp_data::rows::InMemory;
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::variational::{Correction, Inducing, NoisyStatistics, Statistics, WeightPosterior, noise_aware};
use dpgp_mechanisms::SumsNoise;
use dpgp_mechanisms::public_targets;
use dpgp_mechanisms::{FeaturesSetting, PrivacySetting, Sections, SumsSetting};
use dpgp_noise::RoundedNoise;
use dpgp_spec::setting::{NoiseAwareSetting, RangeSetting};
use dpgp_stream::{PackedKernel, Summand, Sums, collect_here};

/// The noise on the sums of a surface.
#[derive(Debug, Clone)]
pub struct SumsGuarantee {
    /// Its size.
    pub noise: SumsNoise,
    /// The guarantee.
    pub certificate: Certificate,
    /// Its size against the sensitivity of A, in units of the model.
    pub record: RoundedNoise,
}

/// The model of a surface task.
#[derive(Debug, Clone)]
pub struct SurfaceModel {
    task: SurfaceTask,
    rule: NoiseAwareSetting,
    kernel: ExponentiatedQuadratic,
    variance: f64,
    noise_variance: f64,
    /// In units where every lengthscale is 1.
    mechanism: SumsSetting,
    ranges: Vec<RangeSetting>,
    summand: Summand,
    filtered: bool,
    unit: PrivacyUnit,
}

impl SurfaceModel {
    /// The model of a cell; none if it has another task or model, or targets without public bounds.
    pub fn new(setting: &Setting) -> Option<Self> {
        let TaskSetting::Surface(task) = &*setting.task else { return None };
        Self::of_task(task, setting)
    }

    pub(super) fn of_task(task: &SurfaceTask, setting: &Sections) -> Option<Self> {
        let sums = setting.privacy.mechanism.downcast::<SumsSetting>()?;
        let model = setting.model.as_deref()?;
        let inputs = setting.data.dimensions();
        let (variance, lengthscales) = model.lengthscales(inputs)?;
        let targets = public_targets(&setting.normalise, sums.target_bound?.get())?;
        let inducing = product_grid(&task.inducing);
        let mechanism = scaled(sums, &lengthscales);
        let ranges: Vec<RangeSetting> =
            task.inducing.iter().zip(&lengthscales).map(|(range, l)| relative(range, *l)).collect();
        let least = NoisySums::new(&mechanism, &ranges, variance, 1.0).least;
        Some(Self {
            task: task.clone(),
            rule: task.posterior?,
            kernel: ExponentiatedQuadratic::ard(variance, lengthscales.clone()),
            variance,
            noise_variance: model.noise_variance?.get(),
            mechanism,
            ranges,
            summand: Summand {
                kernel: PackedKernel::new(variance, &lengthscales, &inducing, least / variance),
                targets,
                filters: setting.data.comparisons(),
                inputs,
            },
            filtered: setting.data.filters_by_target(),
            unit: setting.data.unit(),
        })
    }

    /// Settings of the surface.
    pub fn task(&self) -> &SurfaceTask {
        &self.task
    }

    /// Summand of the rows of a file: the inputs, the target and the columns of the filters.
    pub fn summand(&self) -> &Summand {
        &self.summand
    }

    /// The sums over the rows of a sample, which have passed the filters.
    ///
    /// # Errors
    /// [`TaskError::Missing`] if a row has no place in them.
    pub(crate) fn sums(&self, sample: &Sample) -> Result<Sums, TaskError> {
        let mut columns = sample.input_columns();
        columns.push(&sample.targets);
        let summand = Summand { filters: Vec::new(), ..self.summand.clone() };
        let part = collect_here(&mut InMemory::new(columns), &summand);
        Ok(part.map_err(|_| TaskError::Missing { needed: "rows that it can sum" })?.sums)
    }

    /// The inducing inputs (m x d).
    pub fn points(&self) -> DMatrix<f64> {
        product_grid(&self.task.inducing)
    }

    /// With `K_ZZ` factorised.
    ///
    /// # Errors
    /// [`TaskError::Linalg`] if it cannot be.
    pub fn inducing(&self) -> Result<Inducing<'_>, TaskError> {
        Ok(Inducing::new(&self.kernel, &self.points())?)
    }

    /// The points of the figure; none if it has none.
    pub fn map(&self) -> DMatrix<f64> {
        self.task.points_of_map()
    }

    fn noisy_sums(&self) -> TargetSums<'_> {
        let sums = NoisySums::new(&self.mechanism, &self.ranges, self.variance, 1.0);
        TargetSums::within(self.summand.targets.bound, sums).of_records(self.unit.records())
    }

    /// The noise for the guarantee of a cell, and what is guaranteed.
    pub fn guarantee(&self, cell: &PrivacySetting) -> SumsGuarantee {
        let sums = self.noisy_sums();
        let (noise, certificate) = (sums.noise(cell), sums.certificate(cell).about(self.unit.clone()));
        let record = RoundedNoise { sensitivity: sums.sensitivity.least, sd: noise.sd_a };
        if cell.epsilon.get().is_infinite() {
            return SumsGuarantee { noise, certificate, record };
        }
        let certificate = certificate.with_caveats(&[(Caveat::PrivateFilter, self.filtered)]);
        SumsGuarantee { noise, certificate, record }
    }

    /// Samples drawn with this noise.
    pub(super) fn sampled(&self, noise: SumsNoise) -> Sampled {
        self.noisy_sums().sampled(noise)
    }

    /// The sums as the model takes them; without noise.
    pub fn statistics(&self, sums: &Sums) -> Statistics {
        sums.statistics(self.summand.units())
    }

    /// The sums with exactly rounded noise for the guarantee of a cell, which has one.
    ///
    /// # Errors
    /// [`TaskError::OutOfRange`] for noise beyond the arithmetic.
    pub fn release(
        &self,
        sums: &Sums,
        cell: &PrivacySetting,
        source: &mut impl Rng,
    ) -> Result<NoisyStatistics, TaskError> {
        Ok(self.guarantee(cell).noise.release_whole(sums.whole(self.summand.units()), source)?)
    }

    /// A simulation of a release, with floating-point noise of a seeded stream; the sums themselves without privacy.
    pub(super) fn simulated(
        &self,
        sums: &Statistics,
        cell: &PrivacySetting,
        stream: &mut impl Rng,
    ) -> (NoisyStatistics, SumsGuarantee) {
        let guarantee = self.guarantee(cell);
        let free = cell.epsilon.get().is_infinite();
        let noisy = if free { sums.exact() } else { guarantee.noise.release(sums, stream) };
        (noisy, guarantee)
    }

    /// The posterior from sums.
    ///
    /// # Errors
    /// [`TaskError::Linalg`] if the matrix of the sums cannot be inverted.
    pub fn posterior(
        &self,
        inducing: &Inducing<'_>,
        sums: &NoisyStatistics,
    ) -> Result<WeightPosterior, TaskError> {
        let rule = self.rule;
        Ok(noise_aware(
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
    pub(crate) fn added(
        &self,
        inducing: &Inducing<'_>,
        sums: &NoisyStatistics,
        posterior: &WeightPosterior,
    ) -> Result<DMatrix<f64>, TaskError> {
        let rule = self.rule;
        let unit = sums.scaled(1.0 / self.noise_variance);
        let plain = noise_aware(inducing, &unit, rule.regularisation, Correction::None)?;
        Ok(&posterior.covariance - plain.covariance)
    }

    /// Units of the target per unit of the model.
    pub fn scale(&self) -> f64 {
        self.summand.targets.scale
    }

    /// The standard deviation of a variance of the model, in units of the target; zero where rounding made it negative.
    pub(crate) fn sd(&self, variance: f64) -> f64 {
        self.scale() * variance.max(0.0).sqrt()
    }

    /// A value of the model in units of the target.
    pub fn in_units(&self, value: f64) -> f64 {
        self.summand.targets.centre + self.scale() * value
    }
}

/// The range in units of a lengthscale.
fn relative(range: &RangeSetting, lengthscale: f64) -> RangeSetting {
    RangeSetting { from: range.from / lengthscale, to: range.to / lengthscale, points: range.points }
}

/// The mechanism where inputs are in units of their lengthscales.
fn scaled(sums: &SumsSetting, lengthscales: &[f64]) -> SumsSetting {
    let mut sums = sums.clone();
    if let FeaturesSetting::Supremum(domain) = &mut sums.features {
        domain.iter_mut().zip(lengthscales).for_each(|(ends, l)| ends.iter_mut().for_each(|end| *end /= l));
    }
    sums
}
