//! The selected candidate and its error.

use super::fold::CandidateFold;
use super::fold::Compared;
use super::judged::{Judge, Judged, clipped_range};
use crate::normalise::{caveats, normalise};
use crate::{Candidate, RowsSetting, SelectionTask};
use crate::{Certified, Frame, Job, Measured, TargetGuarantee, Task, TaskError};
use dpgp_accounting::{Caveat, Certificate};
use dpgp_linalg::largest;
use dpgp_mechanisms::PrivacySetting;
use dpgp_mechanisms::SensitivityRule;

/// The metrics `sse/NAME` and `sse-without-noise/NAME` (on the scale of the model), `most-moved/NAME` (the most that one target
/// moves a prediction, units of the target), `sensitivity/NAME`, `probability/NAME` and `rmse/NAME` (units of the target) of each
/// candidate, `map/NAME/I from J` for the pairs of rows that are asked for, `sse-without-noise/NAME/fold-I` if it asks for each fold, `lengthscale/L` of each lengthscale (its probability), and of
/// all: `expected-rmse` (the root of the expected squared error of what is selected), `mean-rmse`, `allowed` (candidates within the
/// threshold), `largest-sensitivity`, `largest-probability`, `uniform-rmse` (`expected-rmse` if all that are allowed were equally
/// likely), and `total-epsilon`, what the choice and the release after it spend by basic composition, where both are private.
impl Task for SelectionTask {
    fn measure(&self, job: &Job<'_>) -> Result<Vec<Measured>, TaskError> {
        let sample = job.sample;
        let normalised = normalise(&sample.targets, &job.setting.normalise);
        let rows = self.rows.unwrap_or(RowsSetting { from: 0, to: sample.rows() });
        let rows: Vec<usize> = (rows.from..rows.to.min(sample.rows())).collect();
        let (inputs, targets) = (sample.inputs.select_rows(&rows), normalised.select(&rows));
        let candidates = Compared { job, task: self, inputs: &inputs, targets: &targets }.candidates()?;
        let scale = normalised.scale;
        let range = clipped_range(&job.setting.normalise, scale);
        let judge = Judge { task: self, candidates: &candidates, rows: rows.len(), scale, range };
        let block = SelectionBlock { job, judge, caveats: caveats(job.setting, &normalised) };
        job.cells.iter().map(|cell| block.cell(cell)).collect()
    }
}

/// State shared by all cells of a block.
struct SelectionBlock<'a> {
    job: &'a Job<'a>,
    judge: Judge<'a>,
    caveats: [(Caveat, bool); 2],
}

impl SelectionBlock<'_> {
    fn cell(&self, cell: &PrivacySetting) -> Result<Measured, TaskError> {
        let (target, task) = (TargetGuarantee::from_privacy(cell)?, self.judge.task);
        let judged = self.judge.judged(target, task.epsilon.get());
        let certified = self.certified(target, &judged)?;
        let names = task.all_candidates();
        let mut metrics = if task.summary { Vec::new() } else { of_each(&names, &judged) };
        if !task.summary {
            metrics.extend(self.entries(&names));
            metrics.extend(self.of_folds(&names));
        }
        metrics.extend(by_lengthscale(task, &names, &judged.probability));
        metrics.extend(SelectionTask::OF_ALL.map(str::to_owned).into_iter().zip(of_all(&judged)));
        let total = target.epsilon + task.epsilon.get();
        if total.is_finite() {
            metrics.push((SelectionTask::TOTAL.to_owned(), total));
        }
        let Judged { probability, rmse, .. } = judged;
        let frame = Frame::new("candidates").with("probability", probability).with("value", rmse);
        Ok(certified.measured(0.0, metrics).with_frames(vec![frame]))
    }

    /// The entries of the maps that the task asks for.
    fn entries(&self, names: &[Candidate]) -> Vec<(String, f64)> {
        let Judge { task, candidates, .. } = self.judge;
        let of_candidates = names.iter().zip(candidates).flat_map(|(name, folds)| {
            let name = name.name();
            task.entries
                .iter()
                .map(move |&entry| (SelectionTask::of_entry(&name, entry), moved(folds, entry)))
        });
        of_candidates.collect()
    }

    /// The errors of single folds, if the task asks for them.
    fn of_folds(&self, names: &[Candidate]) -> Vec<(String, f64)> {
        let Judge { task, candidates, .. } = self.judge;
        if !task.each_fold {
            return Vec::new();
        }
        let of_candidates = names.iter().zip(candidates).flat_map(|(name, folds)| {
            let name = name.name();
            folds.iter().enumerate().map(move |(i, fold)| {
                let error = fold.squares(&fold.errors, 0.0, f64::INFINITY);
                (SelectionTask::of_fold(&name, i + 1), error)
            })
        });
        of_candidates.collect()
    }

    /// The guarantee of the index alone: it has an epsilon of its own, whatever that of the cell.
    fn certified(&self, target: TargetGuarantee, judged: &Judged) -> Result<Certified, TaskError> {
        let SelectionTask { epsilon, sensitivity, .. } = *self.judge.task;
        if epsilon.get().is_infinite() {
            return Ok(Certified::nothing());
        }
        let folds = self.judge.candidates.iter().flatten();
        let gaps: Option<Vec<f64>> = folds.map(|fold: &CandidateFold| fold.gap).collect();
        let valid = sensitivity == SensitivityRule::Corrected;
        let certificate =
            Certificate::exponential(target.neighbours(), epsilon.get(), valid).with_gap(gaps.map(largest));
        self.job.certify(certificate.with_caveats(&self.caveats), || {
            vec![self.judge.sampled(target, epsilon.get(), judged)]
        })
    }
}

/// How much the prediction of a row moves when the target of another moves by 1.
fn moved(folds: &[CandidateFold], [test, training]: [usize; 2]) -> f64 {
    let found = folds.iter().find_map(|fold| {
        let row = fold.tests.iter().position(|&row| row == test)?;
        let column = fold.columns.rows.iter().position(|&row| row == training)?;
        Some(fold.columns.columns[(row, column)])
    });
    found.unwrap_or(0.0)
}

fn of_each(names: &[Candidate], judged: &Judged) -> Vec<(String, f64)> {
    let Judged { sse, clean_sse, rmse, most_moved, sensitivity, probability, .. } = judged;
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
fn of_all(judged: &Judged) -> [f64; 6] {
    let Judged { probability, rmse, allowed, bound, .. } = judged;
    let expected = probability.iter().zip(rmse).map(|(p, r)| p * r * r).sum::<f64>().sqrt();
    let mean = rmse.iter().sum::<f64>() / rmse.len() as f64;
    let number = allowed.len() as f64;
    let uniform = (allowed.iter().map(|&i| rmse[i] * rmse[i]).sum::<f64>() / number.max(1.0)).sqrt();
    [expected, mean, number, *bound, largest(probability.iter().copied()), uniform]
}

/// `lengthscale/L`: the probability that a Gaussian process of this lengthscale is selected.
fn by_lengthscale(task: &SelectionTask, names: &[Candidate], probability: &[f64]) -> Vec<(String, f64)> {
    let lengthscales = task.gp.iter().flat_map(|grid| &grid.lengthscales);
    let metrics = lengthscales.map(|&wanted| {
        let candidates = names.iter().zip(probability);
        let own =
            candidates.filter(|(name, _)| matches!(name, Candidate::Gp(gp) if gp.lengthscale == wanted));
        (SelectionTask::of_lengthscale(wanted), own.map(|(_, p)| p).sum())
    });
    metrics.collect()
}
