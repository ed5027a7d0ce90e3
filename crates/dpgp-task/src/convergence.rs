//! Newton steps of the Laplace approximation, with the distance from the mode after each step.

use nalgebra::DVector;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::classification::{ClassificationProblem, PrivateStepSequence};
use crate::measurement::{Metric, metric_names};
use crate::{
    AuditableCertificate, CellMeasurements, FigureTable, FitSize, MeasurableTask, ReplicateJob, TargetChangeGuarantee,
    TaskError, TaskRequirements, classification,
};
use dpgp_gp::newton_path;
use dpgp_mechanisms::{CellSections, PrivacySetting};
use dpgp_number::Count;
use dpgp_spec::setting::rules::check_leaves_test_rows;
use dpgp_spec::setting::{CheckResult, ThresholdSetting};

/// Newton steps after which the mode is found to rounding.
const TO_THE_MODE: usize = 100;

/// Why `first-step-share` is undefined.
const NO_WAY: &str = "the mode is zero, the starting point of the first step";

/// Values computed on a path to the mode.
pub(super) struct ConvergenceScores {
    share: f64,
    accuracy: f64,
}

/// The metrics of a path to the mode.
pub(super) const METRICS: [Metric<ConvergenceScores>; 2] = [
    Metric::with_undefined_reason("first-step-share", |path| path.share, NO_WAY),
    Metric::new("accuracy", |path| path.accuracy),
];

/// The metrics `first-step-share` (the share of the path from zero to the mode that the first step covers, in the sum of absolute
/// values) and `accuracy` (of the last step, on the test rows). Frame `trace`: the absolute distance of each latent value
/// from the mode after each step.
impl MeasurableTask for ConvergenceTask {
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        let classifier = ClassificationProblem::new(job, self.train.get(), &self.positive, &[])?;
        let mode = newton_path(&classifier.features.training, &classifier.labels, TO_THE_MODE)?;
        let mode = classifier
            .training_latent_values(mode.last().unwrap_or(&DVector::zeros(classifier.features.training.ncols())));
        job.measure_each_cell(|cell| self.measure_cell(job, cell, &classifier, &mode))
    }
}

impl ConvergenceTask {
    fn measure_cell(
        &self,
        job: &ReplicateJob<'_>,
        cell: &PrivacySetting,
        classifier: &ClassificationProblem,
        mode: &DVector<f64>,
    ) -> Result<CellMeasurements, TaskError> {
        let target = TargetChangeGuarantee::for_one_row(cell)?;
        if !target.is_private() {
            let path = newton_path(&classifier.features.training, &classifier.labels, self.steps.get())?;
            return Ok(measure_newton_path(classifier, mode, &path, AuditableCertificate::without_claim()));
        }
        // Each step spends the whole budget, and the claim is that of all of them.
        let mut steps = PrivateStepSequence::new(job, target, self.steps.get());
        let mut path: Vec<DVector<f64>> = Vec::with_capacity(self.steps.get());
        for place in 0..self.steps.get() {
            let latent = match path.last() {
                Some(weights) => classifier.training_latent_values(weights),
                None => DVector::zeros(classifier.labels.len()),
            };
            let step = classifier.private_newton_step(&latent)?;
            steps.record_step(place, &step);
            path.push(steps.draw_noisy_weights(&step));
        }
        Ok(measure_newton_path(classifier, mode, &path, steps.certify_sequence()?))
    }
}

fn measure_newton_path(
    classifier: &ClassificationProblem,
    mode: &DVector<f64>,
    path: &[DVector<f64>],
    certified: AuditableCertificate,
) -> CellMeasurements {
    let mut distances = vec![mode.abs()];
    distances.extend(path.iter().map(|weights| (classifier.training_latent_values(weights) - mode).abs()));
    let way = mode.abs().sum();
    let share = distances.get(1).map_or(0.0, |first| if way > 0.0 { 1.0 - first.sum() / way } else { f64::NAN });
    let accuracy = path.last().map_or(0.0, |weights| classifier.accuracy(weights));
    let mut frame = FigureTable::new("trace").with_column("iteration", (0..distances.len()).map(|i| i as f64));
    for i in 0..mode.len() {
        frame = frame.with_column(format!("element{}", i + 1), distances.iter().map(|d| d[i]));
    }
    let newton = ConvergenceScores { share, accuracy };
    certified.evaluate_metrics(classifier.features.jitter, &METRICS, &newton).with_frames(vec![frame])
}

/// The iterations with which the Laplace approximation finds the mode. With privacy, each step spends the full epsilon and delta.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvergenceTask {
    /// The number of training rows, taken from the beginning of the data. The others are test rows.
    pub train: Count,
    /// A row belongs to the positive class if this comparison holds for its target.
    pub positive: ThresholdSetting,
    /// The number of Newton steps.
    pub steps: Count,
}

impl TaskRequirements for ConvergenceTask {
    fn check(&self, setting: &CellSections) -> CheckResult {
        classification::check_classifier("task.convergence", setting)
    }

    fn metric_names(&self, _: u32) -> Vec<String> {
        metric_names(&METRICS)
    }

    fn check_row_count(&self, rows: usize) -> CheckResult {
        check_leaves_test_rows("task.convergence.train", self.train.get(), rows)
    }

    fn fit_size(&self, rows: usize) -> Option<FitSize> {
        let train = self.train.get().min(rows);
        Some(FitSize::from_test_size(train, rows - train))
    }
}
