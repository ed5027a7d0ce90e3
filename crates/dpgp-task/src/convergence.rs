//! Newton steps of the Laplace approximation, with the distance from the mode after each step.

use nalgebra::DVector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::classification::{Classifier, Steps};
use crate::measurement::{Metric, names};
use crate::{
    Certified, FittedRows, Frame, Job, Measured, TargetGuarantee, Task, TaskError, TaskSpec, classification,
};
use dpgp_gp::newton_path;
use dpgp_mechanisms::{PrivacySetting, Sections};
use dpgp_number::Count;
use dpgp_spec::setting::rules::to_test;
use dpgp_spec::setting::{Checked, ThresholdSetting};

/// Newton steps after which the mode is found to rounding.
const TO_THE_MODE: usize = 100;

/// Why `first-step-share` is undefined.
const NO_WAY: &str = "the mode is zero, the starting point of the first step";

/// Values computed on a path to the mode.
pub(super) struct NewtonPath {
    share: f64,
    accuracy: f64,
}

/// The metrics of a path to the mode.
pub(super) const METRICS: [Metric<NewtonPath>; 2] = [
    Metric::undefined("first-step-share", |path| path.share, NO_WAY),
    Metric::new("accuracy", |path| path.accuracy),
];

/// The metrics `first-step-share` (the share of the path from zero to the mode that the first step covers, in the sum of absolute
/// values) and `accuracy` (of the last step, on the test rows). Frame `trace`: the absolute distance of each latent value
/// from the mode after each step.
impl Task for ConvergenceTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        let classifier = Classifier::new(job, self.train.get(), &self.positive, &[])?;
        let mode = newton_path(&classifier.features.training, &classifier.labels, TO_THE_MODE)?;
        let mode =
            classifier.latent(mode.last().unwrap_or(&DVector::zeros(classifier.features.training.ncols())));
        job.cells.iter().map(|cell| self.cell(job, cell, &classifier, &mode)).collect()
    }
}

impl ConvergenceTask {
    fn cell(
        &self,
        job: &Job<'_>,
        cell: &PrivacySetting,
        classifier: &Classifier,
        mode: &DVector<f64>,
    ) -> Result<Measured, TaskError> {
        let target = TargetGuarantee::from_privacy(cell)?;
        if !target.is_private() {
            let path = newton_path(&classifier.features.training, &classifier.labels, self.steps.get())?;
            return Ok(measured(classifier, mode, &path, Certified::nothing()));
        }
        // Each step spends the whole budget, and the claim is that of all of them.
        let mut steps = Steps::new(job, target, self.steps.get());
        let mut path: Vec<DVector<f64>> = Vec::with_capacity(self.steps.get());
        for place in 0..self.steps.get() {
            let latent = match path.last() {
                Some(weights) => classifier.latent(weights),
                None => DVector::zeros(classifier.labels.len()),
            };
            let step = classifier.step(&latent)?;
            steps.see(place, &step);
            path.push(steps.weights(&step));
        }
        Ok(measured(classifier, mode, &path, steps.certified()?))
    }
}

fn measured(
    classifier: &Classifier,
    mode: &DVector<f64>,
    path: &[DVector<f64>],
    certified: Certified,
) -> Measured {
    let mut distances = vec![mode.abs()];
    distances.extend(path.iter().map(|weights| (classifier.latent(weights) - mode).abs()));
    let way = mode.abs().sum();
    let share =
        distances.get(1).map_or(0.0, |first| if way > 0.0 { 1.0 - first.sum() / way } else { f64::NAN });
    let accuracy = path.last().map_or(0.0, |weights| classifier.accuracy(weights));
    let mut frame = Frame::new("trace").with("iteration", (0..distances.len()).map(|i| i as f64));
    for i in 0..mode.len() {
        frame = frame.with(format!("element{}", i + 1), distances.iter().map(|d| d[i]));
    }
    let newton = NewtonPath { share, accuracy };
    certified.scored(classifier.features.jitter, &METRICS, &newton).with_frames(vec![frame])
}

/// The path of the Laplace approximation to its mode. Each step with privacy spends all of epsilon and delta.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvergenceTask {
    /// The number of rows at the beginning of the data that are training rows; the others are test rows.
    pub train: Count,
    /// The class of a row: positive if this comparison holds for its target.
    pub positive: ThresholdSetting,
    /// Newton steps.
    pub steps: Count,
}

impl TaskSpec for ConvergenceTask {
    fn check(&self, setting: &Sections) -> Checked {
        classification::check("task.convergence", setting)
    }

    fn metrics(&self, _: u32) -> Vec<String> {
        names(&METRICS)
    }

    fn check_rows(&self, rows: usize) -> Checked {
        to_test("task.convergence.train", self.train.get(), rows)
    }

    fn fitted_rows(&self, rows: usize) -> Option<FittedRows> {
        let train = self.train.get().min(rows);
        Some(FittedRows::of_test(train, rows - train))
    }
}
