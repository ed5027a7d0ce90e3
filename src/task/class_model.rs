//! A classifier from sums over rows: what is summed, what is released, and the posteriors that follow.

use nalgebra::DMatrix;
use rand::Rng;

use super::TaskError;
use super::grid::grid;
use super::noisy_sums::NoisySums;
use super::surface_model::SumsGuarantee;
use super::witness::{RecordReleases, Sampled, WeightedLabel, record};
use crate::gp::variational::{
    DirichletLabels, Inducing, NoisyStatistics, Statistics, WeightPosterior, noise_aware,
};
use crate::kernel::ExponentiatedQuadratic;
use crate::privacy::{Caveat, HeteroscedasticRule, SumsNoise, class_sums_sensitivity};
use crate::spec::{
    DataSetting, DirichletRelease, DirichletTask, MechanismSetting, ModelSetting, PrivacySetting, Setting,
    TaskSetting,
};
use crate::stream::{ClassSummand, Kernel};

/// The model of a Dirichlet task.
#[derive(Debug, Clone)]
pub struct ClassModel {
    task: DirichletTask,
    labels: DirichletLabels,
    kernel: ExponentiatedQuadratic,
    variance: f64,
    lengthscale: f64,
    mechanism: MechanismSetting,
}

impl ClassModel {
    /// None if the kernel is another than the exponentiated quadratic.
    pub fn new(task: &DirichletTask, model: &ModelSetting, mechanism: &MechanismSetting) -> Option<Self> {
        let (variance, lengthscale) = model.exponentiated_quadratic()?;
        Some(Self {
            task: task.clone(),
            labels: DirichletLabels::new(task.alpha),
            kernel: ExponentiatedQuadratic::isotropic(variance, lengthscale),
            variance,
            lengthscale,
            mechanism: mechanism.clone(),
        })
    }

    /// The model of a cell; none if it has another task or model.
    pub fn of(setting: &Setting) -> Option<Self> {
        let TaskSetting::Dirichlet(task) = &*setting.task else { return None };
        Self::new(task, setting.model.as_deref()?, &setting.privacy.mechanism)
    }

    /// The inducing inputs (m x d).
    pub fn points(&self) -> DMatrix<f64> {
        grid(&self.task.inducing)
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
        let inputs = data.inputs.len();
        let lengthscales = vec![self.lengthscale; inputs];
        Some(ClassSummand {
            kernel: Kernel::new(self.variance, &lengthscales, &self.points()),
            classes: self.task.classes,
            filters: data.filter.iter().map(|filter| (filter.is, filter.value)).collect(),
            inputs,
        })
    }

    /// The sums of all classes with noise for the guarantee of a cell, and what is guaranteed.
    ///
    /// # Errors
    /// [`TaskError`] for another mechanism.
    pub fn release(
        &self,
        sums: &[Statistics],
        cell: &PrivacySetting,
        stream: &mut impl Rng,
    ) -> Result<(Vec<NoisyStatistics>, SumsGuarantee), TaskError> {
        let noisy = NoisySums::new(&self.mechanism, &self.task.inducing, (self.variance, self.lengthscale))?;
        let sensitivities = self.sensitivities(&noisy);
        let noise = noisy.noise(cell.calibration, (cell.epsilon, cell.delta), sensitivities.0);
        record(cell, || Sampled::Records(self.sampled(&noisy, noise)));
        let printed = self.task.release == DirichletRelease::WeightedSums(HeteroscedasticRule::Published);
        let caveats = [(Caveat::InvalidSensitivity, printed)];
        let certificate = noisy.certificate(cell, sensitivities).with_caveats(&caveats);
        let guarantee = SumsGuarantee { noise, certificate, mu: sensitivities.1 / noise.sd_a };
        Ok((sums.iter().map(|sums| noise.release(sums, stream)).collect(), guarantee))
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
        let posterior = |class: usize| {
            let unit = match self.task.release {
                DirichletRelease::ClassSums => self.labels.class(noisy, class),
                DirichletRelease::WeightedSums(_) => noisy[class].clone(),
            };
            Ok(noise_aware(inducing, &unit, rule.regularisation, rule.correction)?)
        };
        (0..self.task.classes).map(posterior).collect()
    }

    /// A pair of sums for each class, and how records of each class enter it.
    fn sampled(&self, sums: &NoisySums<'_>, noise: SumsNoise) -> RecordReleases {
        let labels = &self.labels;
        let enters = |class: usize, of: usize| {
            let own = usize::from(class == of);
            match self.task.release {
                DirichletRelease::ClassSums => WeightedLabel { a: own as f64, b: own as f64 },
                DirichletRelease::WeightedSums(_) => {
                    let weight = 1.0 / labels.variance[own];
                    WeightedLabel { a: weight * labels.target[own], b: weight }
                }
            }
        };
        let classes = 0..self.task.classes;
        let of = |class| sums.sampled(noise, classes.clone().map(|of| enters(class, of)).collect());
        sums.together(classes.clone().map(of).collect())
    }

    /// What noise is scaled by, and what is known to be enough. Every record takes part in the weighted sums of
    /// all classes.
    fn sensitivities(&self, sums: &NoisySums<'_>) -> (f64, f64) {
        let labels = &self.labels;
        match self.task.release {
            DirichletRelease::ClassSums => {
                let of = |features| class_sums_sensitivity(features, sums.setting.split);
                (of(sums.features), of(sums.least))
            }
            DirichletRelease::WeightedSums(rule) => {
                let bound = labels.target[0].abs().max(labels.target[1].abs());
                let (assumed, least) = sums.sensitivities(bound);
                let range =
                    (labels.variance[1].min(labels.variance[0]), labels.variance[0].max(labels.variance[1]));
                let all = (self.task.classes as f64).sqrt();
                (
                    all * assumed * rule.factor(range),
                    all * least * HeteroscedasticRule::Corrected.factor(range),
                )
            }
        }
    }
}
