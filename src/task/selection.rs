//! Selection of a configuration by the exponential mechanism, on cross-validated errors that include the noise.

use nalgebra::{DMatrix, DVector};
use rand_distr::{Distribution, StandardNormal};

use super::clipped_square::expected_square;
use super::cross_validation::{folds, others};
use super::measure::Measured;
use super::normalise::{caveats, normalise};
use super::{Frame, Measurement, Sample, Streams, TaskError, model};
use crate::gp::{LinearMap, exact, polynomial};
use crate::kernel::ExponentiatedQuadratic;
use crate::linalg::largest;
use crate::privacy::{
    Caveat, Certificate, FoldColumns, Neighbours, SensitivityRule, selection_probabilities, sse_sensitivity,
};
use crate::spec::{Candidate, GpCandidate, PrivacySetting, RowsSetting, SelectionTask, Setting};

/// One fold of one candidate.
struct Fold {
    columns: FoldColumns,
    /// Prediction minus target, on the scale of the model.
    errors: Vec<f64>,
    /// The noise at multiplier 1 and change 1.
    noise: Noise,
    /// The largest squared norm of a column.
    longest: f64,
    gap: Option<f64>,
}

/// How the noise enters the errors.
enum Noise {
    /// By its standard deviations: the expectation is exact.
    Deviations(Vec<f64>),
    /// By sampled values, one list per draw.
    Draws(Vec<Vec<f64>>),
}

/// The metrics `sse/NAME` (on the scale of the model), `sensitivity/NAME`, `probability/NAME` and `rmse/NAME` (units of the
/// target) of each candidate, `lengthscale/L` of each lengthscale (its probability), and of all: `expected-rmse` (the root of the expected squared error of what is selected),
/// `mean-rmse`, `allowed` (candidates within the threshold), `largest-sensitivity`, `largest-probability`.
pub(super) fn selection(
    block: &Setting,
    task: &SelectionTask,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Measured>, TaskError> {
    let whole = normalise(&sample.targets, &block.normalise);
    let rows = task.rows.unwrap_or(RowsSetting { from: 0, to: sample.rows() });
    let rows: Vec<usize> = (rows.from..rows.to.min(sample.rows())).collect();
    let targets: Vec<f64> = rows.iter().map(|&row| whole.targets[row]).collect();
    let inputs = sample.inputs.select_rows(&rows);
    let caveats = caveats(block, &whole);
    let splits = folds(rows.len(), task.split, streams);
    let names = task.all_candidates();
    let bench = Bench { block, task, inputs, targets, scale: whole.scale, streams };
    let of = |candidate: &Candidate| -> Result<Vec<Fold>, TaskError> {
        let folds = splits.iter().enumerate();
        folds.map(|(number, test)| bench.fold(candidate, number, test)).collect()
    };
    let candidates: Result<Vec<Vec<Fold>>, TaskError> = names.iter().map(of).collect();
    let candidates = candidates?;
    Ok(cells.iter().map(|cell| bench.answer(cell, &names, &candidates, &caveats)).collect())
}

/// What all candidates share.
struct Bench<'a> {
    block: &'a Setting,
    task: &'a SelectionTask,
    inputs: DMatrix<f64>,
    /// Targets on the scale of the model.
    targets: Vec<f64>,
    /// Units of the target per unit of that scale.
    scale: f64,
    streams: &'a Streams,
}

impl Bench<'_> {
    fn fold(&self, candidate: &Candidate, number: usize, test: &[usize]) -> Result<Fold, TaskError> {
        let training = others(self.targets.len(), test);
        let inputs = |rows: &[usize]| self.inputs.select_rows(rows);
        let map: LinearMap = match candidate {
            Candidate::Polynomial(degree) => polynomial(*degree, &inputs(&training), &inputs(test))?,
            Candidate::Gp(GpCandidate { lengthscale, noise_variance, variance }) => {
                let kernel = ExponentiatedQuadratic::isotropic(*variance, *lengthscale);
                exact(&kernel, *noise_variance, &inputs(&training), &inputs(test))?
            }
        };
        let targets: Vec<f64> = training.iter().map(|&row| self.targets[row]).collect();
        let predictions = map.predict(&targets);
        let error = |(i, &row): (usize, &usize)| predictions[i] - self.targets[row];
        let cloak = model::noise(&self.block.privacy.mechanism, &map)?;
        let noise = match self.task.draws {
            None => Noise::Deviations(cloak.standard_deviations().iter().copied().collect()),
            Some(draws) => {
                let mut stream = self.streams.of_block(&format!("noise {} fold {number}", candidate.name()));
                let map = cloak.noise_map();
                let draw = |_| {
                    let unit = DVector::from_fn(map.ncols(), |_, _| StandardNormal.sample(&mut stream));
                    (&map * unit).iter().copied().collect()
                };
                Noise::Draws((0..draws).map(draw).collect())
            }
        };
        Ok(Fold {
            errors: test.iter().enumerate().map(error).collect(),
            noise,
            longest: largest(map.columns().column_iter().map(|column| column.norm_squared())),
            columns: FoldColumns { columns: map.expand(), rows: training },
            gap: cloak.gap,
        })
    }

    fn answer(
        &self,
        cell: &PrivacySetting,
        names: &[Candidate],
        candidates: &[Vec<Fold>],
        caveats: &[(Caveat, bool)],
    ) -> Measured {
        let Self { task, scale, .. } = self;
        let change = cell.change() / scale;
        let noise = change * cell.calibration.sigma(cell.epsilon, cell.delta);
        let clip = task.clip.map_or(f64::INFINITY, |clip| clip * change);
        let sse: Vec<f64> = candidates.iter().map(|folds| sum(folds, noise, clip)).collect();
        let unclipped = candidates.iter().map(|folds| sum(folds, noise, f64::INFINITY));
        let rmse = unclipped.map(|sse| scale * (sse / self.targets.len() as f64).sqrt());
        let rmse: Vec<f64> = rmse.collect();
        let sensitivity: Vec<f64> = candidates.iter().map(|folds| self.sensitivity(folds, change)).collect();
        let threshold = task.threshold.unwrap_or(f64::INFINITY);
        let within = |folds: &Vec<Fold>| folds.iter().all(|f| change * change * f.longest <= threshold);
        let allowed: Vec<usize> = (0..names.len()).filter(|&i| within(&candidates[i])).collect();
        let of_allowed = |values: &[f64]| allowed.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let bound = largest(of_allowed(&sensitivity));
        let chances = selection_probabilities(&of_allowed(&sse), bound, task.epsilon);
        let mut probability = vec![0.0; names.len()];
        allowed.iter().zip(&chances).for_each(|(&i, p)| probability[i] = *p);
        let expected = probability.iter().zip(&rmse).map(|(p, r)| p * r * r).sum::<f64>().sqrt();
        let certificate = self.certificate(cell, candidates, caveats);
        let measurement = |metric: String, value: f64| Measurement {
            metric,
            values: vec![value],
            certificate: certificate.clone(),
            jitter: 0.0,
        };
        let lists =
            [("sse", &sse), ("sensitivity", &sensitivity), ("probability", &probability), ("rmse", &rmse)];
        let of_each = lists.into_iter().filter(|_| !task.summary).flat_map(|(metric, values)| {
            let named = names.iter().zip(values);
            named.map(move |(candidate, value)| (format!("{metric}/{}", candidate.name()), *value))
        });
        let mean = rmse.iter().sum::<f64>() / names.len() as f64;
        let most = largest(probability.iter().copied());
        let of_all = SelectionTask::OF_ALL.map(str::to_owned).into_iter();
        let of_all = of_all.zip([expected, mean, allowed.len() as f64, bound, most]);
        let of_lengthscales = by_lengthscale(task, names, &probability);
        let frame =
            Frame::new("candidates").with("probability", probability.clone()).with("value", rmse.clone());
        let metrics = of_each.chain(of_lengthscales).chain(of_all);
        let metrics = metrics.map(|(metric, value)| measurement(metric, value)).collect();
        Measured { metrics, frames: vec![frame] }
    }

    fn sensitivity(&self, folds: &[Fold], change: f64) -> f64 {
        let columns: Vec<FoldColumns> = folds.iter().map(|fold| fold.columns.clone()).collect();
        sse_sensitivity(self.task.sensitivity, &columns, self.targets.len(), change)
    }

    fn certificate(
        &self,
        cell: &PrivacySetting,
        candidates: &[Vec<Fold>],
        caveats: &[(Caveat, bool)],
    ) -> Certificate {
        if self.task.epsilon.is_infinite() {
            return Certificate::none();
        }
        let gaps: Option<Vec<f64>> = candidates.iter().flatten().map(|fold| fold.gap).collect();
        let valid = self.task.sensitivity == SensitivityRule::Corrected;
        let neighbours = Neighbours::OneTargetChanges(cell.change());
        Certificate::exponential(neighbours, self.task.epsilon, valid, gaps.map(largest))
            .with_caveats(caveats)
    }
}

/// `lengthscale/L`: the probability that a Gaussian process of this lengthscale is selected.
fn by_lengthscale(task: &SelectionTask, names: &[Candidate], probability: &[f64]) -> Vec<(String, f64)> {
    let of = |&wanted: &f64| {
        let is = |candidate: &Candidate| matches!(candidate, Candidate::Gp(gp) if gp.lengthscale == wanted);
        let chances = names.iter().zip(probability).filter(|(candidate, _)| is(candidate)).map(|(_, p)| p);
        (SelectionTask::of_lengthscale(wanted), chances.sum())
    };
    task.gp.iter().flat_map(|grid| grid.lengthscales.iter().map(of)).collect()
}

/// The sum of squared errors with the noise, errors clipped: expected, or the mean over draws.
fn sum(folds: &[Fold], noise: f64, clip: f64) -> f64 {
    let of_fold = |fold: &Fold| -> f64 {
        match &fold.noise {
            Noise::Deviations(sds) => {
                fold.errors.iter().zip(sds).map(|(e, sd)| expected_square(*e, noise * sd, clip)).sum()
            }
            Noise::Draws(draws) => {
                let square = |(e, z): (&f64, &f64)| (e + noise * z).clamp(-clip, clip).powi(2);
                let of_draw = |draw: &Vec<f64>| fold.errors.iter().zip(draw).map(square).sum::<f64>();
                draws.iter().map(of_draw).sum::<f64>() / draws.len() as f64
            }
        }
    };
    folds.iter().map(of_fold).sum()
}
