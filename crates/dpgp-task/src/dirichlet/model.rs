//! A classifier from sums over rows: what is summed, what is released, and the posteriors that follow.

use nalgebra::DMatrix;
use rand::Rng;

use crate::grid::product_grid;
use crate::noisy_sums::{NoisySums, Sensitivity};
use crate::{DirichletRelease, DirichletTask, Setting, TaskSetting};
use crate::{RecordReleases, Sampled, SumsGuarantee, TaskError, WeightedLabel};
use dpgp_accounting::{Caveat, PrivacyUnit};
use dpgp_gp::kernel::ExponentiatedQuadratic;
use dpgp_gp::variational::{
    DirichletLabels, Inducing, NoisyStatistics, Statistics, SumsUnits, WeightPosterior, noise_aware,
};
use dpgp_mechanisms::{HeteroscedasticRule, SumsNoise, class_sums_sensitivity};
use dpgp_mechanisms::{PrivacySetting, Sections, SumsSetting};
use dpgp_noise::RoundedNoise;
use dpgp_spec::setting::DataSetting;
use dpgp_stream::{ClassSummand, ClassSums, PackedKernel};

/// The model of a Dirichlet task.
#[derive(Debug, Clone)]
pub struct ClassModel {
    task: DirichletTask,
    labels: DirichletLabels,
    kernel: ExponentiatedQuadratic,
    variance: f64,
    lengthscale: f64,
    mechanism: SumsSetting,
    unit: PrivacyUnit,
}

impl ClassModel {
    /// The model of a cell; none if it has another task or mechanism, or another kernel than the exponentiated quadratic.
    pub fn of(setting: &Setting) -> Option<Self> {
        let TaskSetting::Dirichlet(task) = &*setting.task else { return None };
        Self::of_task(task, setting)
    }

    pub(super) fn of_task(task: &DirichletTask, setting: &Sections) -> Option<Self> {
        let mechanism = setting.privacy.mechanism.of::<SumsSetting>()?;
        let (variance, lengthscale) = setting.model.as_deref()?.exponentiated_quadratic()?;
        Some(Self {
            task: task.clone(),
            labels: DirichletLabels::new(task.alpha.get()),
            kernel: ExponentiatedQuadratic::isotropic(variance, lengthscale),
            variance,
            lengthscale,
            mechanism: mechanism.clone(),
            unit: setting.data.unit(),
        })
    }

    /// What the spec says of the classes.
    pub fn task(&self) -> &DirichletTask {
        &self.task
    }

    /// The inducing inputs (m x d).
    pub fn points(&self) -> DMatrix<f64> {
        product_grid(&self.task.inducing)
    }

    /// The Gaussian targets of labels.
    pub fn labels(&self) -> &DirichletLabels {
        &self.labels
    }

    /// With `K_ZZ` factorised.
    ///
    /// # Errors
    /// [`TaskError::Linalg`] if it cannot be.
    pub fn inducing(&self) -> Result<Inducing<'_>, TaskError> {
        Ok(Inducing::new(&self.kernel, &self.points())?)
    }

    /// What is summed over the rows of a file: the inputs, the class and the columns of the filters. None where the
    /// release is of weighted sums, which are not sums over the rows of each class.
    pub fn summand(&self, data: &DataSetting) -> Option<ClassSummand> {
        if self.task.release != DirichletRelease::ClassSums {
            return None;
        }
        let inputs = data.dimensions();
        let lengthscales = vec![self.lengthscale; inputs];
        Some(ClassSummand {
            kernel: PackedKernel::new(
                self.variance,
                &lengthscales,
                &self.points(),
                self.noisy_sums().least / self.variance,
            ),
            classes: self.task.classes.get(),
            filters: data.comparisons(),
            inputs,
        })
    }

    /// The sums of all classes with exactly rounded noise for the guarantee of a cell.
    ///
    /// # Errors
    /// [`TaskError::OutOfRange`] for noise beyond the arithmetic.
    pub fn release(
        &self,
        sums: &ClassSums,
        units: SumsUnits,
        cell: &PrivacySetting,
        source: &mut impl Rng,
    ) -> Result<Vec<NoisyStatistics>, TaskError> {
        let noise = self.guarantee(cell).noise;
        let noisy = sums.0.iter().map(|sums| noise.release_whole(sums.whole(units), source));
        Ok(noisy.collect::<Result<_, _>>()?)
    }

    /// A simulation of a release, with floating-point noise of a seeded stream.
    pub(super) fn simulated(
        &self,
        sums: &[Statistics],
        cell: &PrivacySetting,
        stream: &mut impl Rng,
    ) -> (Vec<NoisyStatistics>, SumsGuarantee) {
        let guarantee = self.guarantee(cell);
        (sums.iter().map(|sums| guarantee.noise.release(sums, stream)).collect(), guarantee)
    }

    /// The noise for the guarantee of a cell, and what is guaranteed.
    pub fn guarantee(&self, cell: &PrivacySetting) -> SumsGuarantee {
        let sums = self.noisy_sums();
        let sensitivity = self.sensitivity(&sums).times(self.unit.records());
        let noise = sums.noise(cell, sensitivity);
        let printed = self.task.release == DirichletRelease::WeightedSums(HeteroscedasticRule::Published);
        let caveats = [(Caveat::InvalidSensitivity, printed)];
        let certificate = sums.certificate(cell, sensitivity).about(self.unit.clone()).with_caveats(&caveats);
        let record = RoundedNoise { sensitivity: sensitivity.least, sd: noise.sd_a };
        SumsGuarantee { noise, certificate, record }
    }

    fn noisy_sums(&self) -> NoisySums<'_> {
        NoisySums::new(&self.mechanism, &self.task.inducing, self.variance, self.lengthscale)
    }

    /// The posterior of the latent function of each class, from what was released.
    ///
    /// # Errors
    /// [`TaskError::Linalg`] if a matrix of the sums cannot be inverted.
    pub fn posteriors(
        &self,
        inducing: &Inducing<'_>,
        noisy: &[NoisyStatistics],
    ) -> Result<Vec<WeightPosterior>, TaskError> {
        let rule = self.task.posterior;
        let posteriors = (0..self.task.classes.get()).map(|class| {
            let unit = match self.task.release {
                DirichletRelease::ClassSums => self.labels.class(noisy, class),
                DirichletRelease::WeightedSums(_) => noisy[class].clone(),
            };
            Ok(noise_aware(inducing, &unit, rule.regularisation, rule.correction)?)
        });
        posteriors.collect()
    }

    /// A pair of sums for each class, and how records of each class enter it.
    pub(super) fn sampled(&self, noise: SumsNoise) -> Sampled {
        let (sums, classes) = (self.noisy_sums(), self.task.classes.get());
        let pairs = (0..classes).map(|class| {
            let labels = (0..classes).map(|of| self.label(class == of));
            sums.sampled(noise, labels.collect())
        });
        let releases = sums.together(pairs.collect());
        Sampled::Records(RecordReleases { records: self.unit.records(), ..releases })
    }

    /// How a record enters the sums of a class: its own or another.
    fn label(&self, own: bool) -> WeightedLabel {
        let place = usize::from(own);
        match self.task.release {
            DirichletRelease::ClassSums => WeightedLabel { a: place as f64, b: place as f64 },
            DirichletRelease::WeightedSums(_) => {
                let weight = 1.0 / self.labels.variance[place];
                WeightedLabel { a: weight * self.labels.target[place], b: weight }
            }
        }
    }

    /// What one record moves. It takes part in the weighted sums of all classes.
    fn sensitivity(&self, sums: &NoisySums<'_>) -> Sensitivity {
        let DirichletLabels { target, variance } = &self.labels;
        match self.task.release {
            DirichletRelease::ClassSums => Sensitivity {
                assumed: class_sums_sensitivity(sums.features, sums.setting.split.get()),
                least: class_sums_sensitivity(sums.least, sums.setting.split.get()),
            },
            DirichletRelease::WeightedSums(rule) => {
                let of_one = sums.sensitivity(target[0].abs().max(target[1].abs()));
                let (least, greatest) = (variance[1].min(variance[0]), variance[0].max(variance[1]));
                let all = (self.task.classes.get() as f64).sqrt();
                Sensitivity {
                    assumed: all * of_one.assumed * rule.factor(least, greatest),
                    least: all * of_one.least * HeteroscedasticRule::Corrected.factor(least, greatest),
                }
            }
        }
    }
}
