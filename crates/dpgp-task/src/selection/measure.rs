//! The selected candidate and its error.

use super::fold::{CandidateComparison, CandidateFold};
use super::judged::{CandidateScorer, CandidateScores, clipped_target_range};
use crate::normalise::{normalisation_caveats, normalise};
use crate::summary::mean;
use crate::{
    AuditableCertificate, CellMeasurements, FigureTable, MeasurableTask, ModelCandidate, ReplicateJob, RowRangeSetting,
    SelectionTask, TargetChangeGuarantee, TaskError,
};
use dpgp_accounting::{Certificate, GuaranteeCaveat};
use dpgp_linalg::largest_or_nan;
use dpgp_mechanisms::{PrivacySetting, SseSensitivityRule};

/// The metrics `sse/NAME` and `sse-without-noise/NAME` (on the scale of the model), `most-moved/NAME` (the most that one target
/// moves a prediction, units of the target), `sensitivity/NAME`, `probability/NAME` and `rmse/NAME` (units of the target) of each
/// candidate, `map/NAME/I from J` for the pairs of rows that are asked for, `sse-without-noise/NAME/fold-I` if it asks for each fold, `lengthscale/L` of each lengthscale (its probability), and of
/// all: `expected-rmse` (the root of the expected squared error of what is selected), `mean-rmse`, `allowed` (candidates within the
/// threshold), `largest-sensitivity`, `largest-probability`, `uniform-rmse` (`expected-rmse` if all that are allowed were equally
/// likely), and `total-epsilon`, what the choice and the release after it spend by basic composition, where both are private.
impl MeasurableTask for SelectionTask {
    fn measure_cells(&self, job: &ReplicateJob<'_>) -> Result<Vec<CellMeasurements>, TaskError> {
        let sample = job.sample;
        let normalised = normalise(&sample.targets, &job.setting.normalise);
        let rows = self.rows.unwrap_or(RowRangeSetting { from: 0, to: sample.row_count() });
        let rows: Vec<usize> = (rows.from..rows.to.min(sample.row_count())).collect();
        let (inputs, targets) = (sample.inputs.select_rows(&rows), normalised.select(&rows));
        let candidates =
            CandidateComparison { job, task: self, inputs: &inputs, targets: &targets }.evaluate_candidates()?;
        let scale = normalised.scale;
        let range = clipped_target_range(&job.setting.normalise, scale);
        let judge = CandidateScorer { task: self, candidates: &candidates, rows: rows.len(), scale, range };
        let block = SelectionReplicateState { job, judge, caveats: normalisation_caveats(job.setting, &normalised) };
        job.cells.iter().map(|cell| block.measure_cell(cell)).collect()
    }
}

struct SelectionReplicateState<'a> {
    job: &'a ReplicateJob<'a>,
    judge: CandidateScorer<'a>,
    caveats: [(GuaranteeCaveat, bool); 2],
}

impl SelectionReplicateState<'_> {
    fn measure_cell(&self, cell: &PrivacySetting) -> Result<CellMeasurements, TaskError> {
        let (target, task) = (TargetChangeGuarantee::for_one_row(cell)?, self.judge.task);
        let judged = self.judge.score_candidates(target, task.epsilon.get());
        let certified = self.certify_selected_index(target, &judged)?;
        let names = task.all_candidates();
        let mut metrics = if task.summary { Vec::new() } else { candidate_metrics(&names, &judged) };
        if !task.summary {
            metrics.extend(self.map_entry_metrics(&names));
            metrics.extend(self.fold_error_metrics(&names));
        }
        metrics.extend(lengthscale_probability_metrics(task, &names, &judged.probability));
        metrics.extend(SelectionTask::OF_ALL.map(str::to_owned).into_iter().zip(summary_values(&judged)));
        let total = target.epsilon + task.epsilon.get();
        if total.is_finite() {
            metrics.push((SelectionTask::TOTAL.to_owned(), total));
        }
        let CandidateScores { probability, rmse, .. } = judged;
        let frame = FigureTable::new("candidates").with_column("probability", probability).with_column("value", rmse);
        Ok(certified.into_measurements(0.0, metrics).with_frames(vec![frame]))
    }

    /// The entries of the maps that the task asks for.
    fn map_entry_metrics(&self, names: &[ModelCandidate]) -> Vec<(String, f64)> {
        let CandidateScorer { task, candidates, .. } = self.judge;
        let of_candidates = names.iter().zip(candidates).flat_map(|(name, folds)| {
            let name = name.name();
            task.entries.iter().map(move |&entry| {
                (SelectionTask::map_entry_metric_name(&name, entry), prediction_change(folds, entry))
            })
        });
        of_candidates.collect()
    }

    /// The errors of single folds, if the task asks for them.
    fn fold_error_metrics(&self, names: &[ModelCandidate]) -> Vec<(String, f64)> {
        let CandidateScorer { task, candidates, .. } = self.judge;
        if !task.each_fold {
            return Vec::new();
        }
        let of_candidates = names.iter().zip(candidates).flat_map(|(name, folds)| {
            let name = name.name();
            folds.iter().enumerate().map(move |(i, fold)| {
                let error = fold.sum_noisy_clipped_squares(&fold.errors, 0.0, f64::INFINITY);
                (SelectionTask::fold_error_metric_name(&name, i + 1), error)
            })
        });
        of_candidates.collect()
    }

    /// The guarantee of the index alone: it has an epsilon of its own, whatever that of the cell.
    fn certify_selected_index(
        &self,
        target: TargetChangeGuarantee,
        judged: &CandidateScores,
    ) -> Result<AuditableCertificate, TaskError> {
        let SelectionTask { epsilon, sensitivity, .. } = *self.judge.task;
        if epsilon.get().is_infinite() {
            return Ok(AuditableCertificate::without_claim());
        }
        let folds = self.judge.candidates.iter().flatten();
        let gaps: Option<Vec<f64>> = folds.map(|fold: &CandidateFold| fold.gap).collect();
        let valid = sensitivity == SseSensitivityRule::Corrected;
        let certificate = Certificate::exponential(target.neighbours(), epsilon.get(), valid)
            .with_optimality_gap(gaps.map(largest_or_nan));
        self.job.auditable_certificate(certificate.with_caveats(&self.caveats), || {
            vec![self.judge.audited_mechanism(target, epsilon.get(), judged)]
        })
    }
}

/// How much the prediction of a row moves when the target of another moves by 1.
fn prediction_change(folds: &[CandidateFold], [test, training]: [usize; 2]) -> f64 {
    let found = folds.iter().find_map(|fold| {
        let row = fold.tests.iter().position(|&row| row == test)?;
        let column = fold.columns.rows.iter().position(|&row| row == training)?;
        Some(fold.columns.columns[(row, column)])
    });
    found.unwrap_or(0.0)
}

fn candidate_metrics(names: &[ModelCandidate], judged: &CandidateScores) -> Vec<(String, f64)> {
    let CandidateScores { sse, clean_sse, rmse, most_moved, sensitivity, probability, .. } = judged;
    let lists = [sse, clean_sse, most_moved, sensitivity, probability, rmse];
    let lists: Vec<(&str, &Vec<f64>)> = SelectionTask::OF_EACH.into_iter().zip(lists).collect();
    let mut metrics = Vec::with_capacity(lists.len() * names.len());
    for (metric, values) in lists {
        let named = names.iter().map(|candidate| format!("{metric}/{}", candidate.name()));
        metrics.extend(named.zip(values.iter().copied()));
    }
    metrics
}

/// In the order of [`SelectionTask::OF_ALL`].
fn summary_values(judged: &CandidateScores) -> [f64; 6] {
    let CandidateScores { probability, rmse, allowed, bound, .. } = judged;
    let expected = probability.iter().zip(rmse).map(|(p, r)| p * r * r).sum::<f64>().sqrt();
    let mean = mean(rmse);
    let number = allowed.len() as f64;
    let uniform = (allowed.iter().map(|&i| rmse[i] * rmse[i]).sum::<f64>() / number.max(1.0)).sqrt();
    [expected, mean, number, *bound, largest_or_nan(probability.iter().copied()), uniform]
}

/// `lengthscale/L`: the probability that a Gaussian process of this lengthscale is selected.
fn lengthscale_probability_metrics(
    task: &SelectionTask,
    names: &[ModelCandidate],
    probability: &[f64],
) -> Vec<(String, f64)> {
    let lengthscales = task.gp.iter().flat_map(|grid| &grid.lengthscales);
    let metrics = lengthscales.map(|&wanted| {
        let candidates = names.iter().zip(probability);
        let own = candidates.filter(|(name, _)| matches!(name, ModelCandidate::Gp(gp) if gp.lengthscale == wanted));
        (SelectionTask::lengthscale_probability_metric_name(wanted), own.map(|(_, p)| p).sum())
    });
    metrics.collect()
}
