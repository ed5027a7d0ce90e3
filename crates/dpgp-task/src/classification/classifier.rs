//! Classes, features and private Newton steps.

use nalgebra::{DMatrix, DVector};

use crate::model::Process;
use crate::noise::cloaking;
use crate::{Job, TaskError};
use dpgp_cloaking::CloakingOptions;
use dpgp_gp::{Features, NewtonStep};
use dpgp_linalg::gram_factor;
use dpgp_mechanisms::PrivateStep;
use dpgp_spec::setting::ThresholdSetting;

/// A training set as features, with its labels; test inputs likewise.
pub(crate) struct Classifier {
    pub features: Features,
    /// The public upper triangular R of `Phi = Q R`.
    root: DMatrix<f64>,
    pub inputs: DMatrix<f64>,
    /// The test inputs: the other rows, then the points asked for.
    pub test: DMatrix<f64>,
    /// Labels -1 and 1 of the training rows.
    pub labels: DVector<f64>,
    /// The classes of the test rows.
    pub truth: Vec<bool>,
    options: CloakingOptions,
}

impl Classifier {
    /// The first `train` rows of the sample train, the others and then the points `at` are test inputs.
    pub fn new(
        job: &Job<'_>,
        train: usize,
        positive: &ThresholdSetting,
        at: &[Vec<f64>],
    ) -> Result<Self, TaskError> {
        let (model, sample) = (job.model()?, job.sample);
        let train = train.min(sample.rows());
        let classes: Vec<bool> =
            sample.targets.iter().map(|y| positive.is.holds(y.partial_cmp(&positive.value.get()))).collect();
        let inputs = sample.inputs.rows(0, train).into_owned();
        let tested = sample.rows() - train;
        let test =
            DMatrix::from_fn(tested + at.len(), sample.inputs.ncols(), |i, j| match i.checked_sub(tested) {
                Some(point) => at[point][j],
                None => sample.inputs[(train + i, j)],
            });
        let kernel = model.kernel.covariance(&inputs);
        let process = Process::new(model, kernel.as_ref(), &inputs, job.placing("classification"));
        let features = process.features(&test)?;
        Ok(Self {
            root: gram_factor("Phi' Phi", &features.training)?.factor().transpose(),
            labels: DVector::from_fn(train, |i, _| if classes[i] { 1.0 } else { -1.0 }),
            truth: classes[train..].to_vec(),
            options: cloaking(&job.setting.privacy.mechanism)?,
            features,
            inputs,
            test,
        })
    }

    /// The latent values at the training inputs.
    pub fn latent(&self, weights: &DVector<f64>) -> DVector<f64> {
        &self.features.training * weights
    }

    /// The private Newton step from latent values.
    pub fn step(&self, latent: &DVector<f64>) -> Result<PrivateStep, TaskError> {
        let step = NewtonStep::from(&self.features.training, latent)?;
        let labels = self.labels.as_slice();
        Ok(PrivateStep::new(&step, &self.root, &self.inputs, labels, &self.options)?)
    }

    /// The share of test rows that are of the more frequent class.
    pub fn majority_share(&self) -> f64 {
        let positive = self.truth.iter().filter(|class| **class).count();
        positive.max(self.truth.len() - positive) as f64 / self.truth.len().max(1) as f64
    }

    /// The share of test rows whose class is the sign of the latent mean: where the averaged probability is above 1/2.
    pub fn accuracy(&self, weights: &DVector<f64>) -> f64 {
        let latent = &self.features.test * weights;
        let right = self.truth.iter().zip(latent.iter()).filter(|(class, f)| **class == (**f > 0.0));
        right.count() as f64 / self.truth.len().max(1) as f64
    }
}
