//! What classification and its convergence share: classes, features, private Newton steps.

use nalgebra::{DMatrix, DVector};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use super::{Sample, Streams, TaskError, model};
use crate::gp::{Features, NewtonStep};
use crate::linalg::{gram_factor, largest};
use crate::privacy::{Calibration, Caveat, Certificate, CloakingOptions, Neighbours, PrivateStep, Release};
use crate::spec::{ModelSetting, PrivacySetting, Setting, ThresholdSetting};

/// What a flipped label, -1 or 1, moves by.
pub(super) const LABEL_CHANGE: f64 = 2.0;

/// A training set as features, with its labels; test inputs likewise.
pub(super) struct Problem {
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
    chosen_by_target: bool,
}

impl Problem {
    /// The first `train` rows of the sample train, the others and then the points `at` are test inputs.
    pub fn new(
        block: &Setting,
        model: &ModelSetting,
        (train, positive): (usize, &ThresholdSetting),
        at: &[Vec<f64>],
        (sample, streams): (&Sample, &Streams),
    ) -> Result<Self, TaskError> {
        let train = train.min(sample.rows());
        let class = |y: &f64| positive.is.holds(y.partial_cmp(&positive.value));
        let inputs = sample.inputs.rows(0, train).into_owned();
        let tested = sample.rows() - train;
        let test =
            DMatrix::from_fn(tested + at.len(), sample.inputs.ncols(), |i, j| match i.checked_sub(tested) {
                Some(point) => at[point][j],
                None => sample.inputs[(train + i, j)],
            });
        let features = model::features(model, (&inputs, &test), streams, "classification")?;
        Ok(Self {
            root: gram_factor("Phi' Phi", &features.training)?.factor().transpose(),
            labels: DVector::from_fn(train, |i, _| if class(&sample.targets[i]) { 1.0 } else { -1.0 }),
            truth: sample.targets[train..].iter().map(class).collect(),
            options: model::options(&block.privacy.mechanism)?,
            chosen_by_target: block.data.chosen_by_target(),
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

    /// The share of test rows whose class is the sign of the latent mean: where the averaged probability is above 1/2.
    pub fn accuracy(&self, weights: &DVector<f64>) -> f64 {
        let latent = &self.features.test * weights;
        let right = self.truth.iter().zip(latent.iter()).filter(|(class, f)| **class == (**f > 0.0));
        right.count() as f64 / self.truth.len().max(1) as f64
    }

    /// The certificate of some private steps, each at (epsilon, delta).
    pub fn certificate(
        &self,
        cell: &PrivacySetting,
        (epsilon, delta): (f64, f64),
        steps: usize,
        taken: &[(f64, Option<f64>)],
    ) -> Certificate {
        let gaps: Option<Vec<f64>> = taken.iter().map(|(_, gap)| *gap).collect();
        Certificate::gaussian_steps(
            (Release::LatentFunction, Neighbours::OneTargetChanges(cell.change())),
            cell.calibration,
            (epsilon, delta),
            steps,
            largest(taken.iter().map(|(sensitivity, _)| *sensitivity)),
            gaps.map(largest),
        )
        .with_caveats(&[(Caveat::PrivateFilter, self.chosen_by_target)])
    }
}

/// The noise multiplier of a step, in units of the labels.
pub(super) fn scale(cell: &PrivacySetting, calibration: Calibration, (epsilon, delta): (f64, f64)) -> f64 {
    cell.change() * calibration.sigma(epsilon, delta)
}

/// The weights after a private step, with fresh noise.
pub(super) fn noisy(step: &PrivateStep, scale: f64, stream: &mut Pcg64) -> DVector<f64> {
    let rank = step.cloak().noise_factor().ncols();
    step.weights(scale, &DVector::from_fn(rank, |_, _| StandardNormal.sample(stream)))
}
