//! Selection of a configuration by the exponential mechanism, on cross-validated errors that include the noise.

use nalgebra::{DMatrix, DVector};
use rand_distr::{Distribution, StandardNormal};

use super::clipped_square::expected_square;
use super::cross_validation::{folds, others};
use super::measure::Measured;
use super::normalise::{caveats, normalise};
use super::witness::{Sampled, record, watched};
use super::{Frame, Measurement, Sample, Streams, TaskError, model};
use crate::gp::{LinearMap, exact, polynomial};
use crate::kernel::ExponentiatedQuadratic;
use crate::linalg::largest;
use crate::privacy::{
    Caveat, Certificate, FoldColumns, Neighbours, SensitivityRule, selection_probabilities, sse_sensitivity,
};
use crate::spec::{
    Candidate, GpCandidate, NormaliseSetting, PrivacySetting, RowsSetting, SelectionTask, Setting,
};

/// One fold of one candidate.
#[derive(Debug, Clone)]
struct Fold {
    columns: FoldColumns,
    /// The test rows.
    tests: Vec<usize>,
    /// Prediction minus target, on the scale of the model.
    errors: Vec<f64>,
    /// The noise at multiplier 1 and change 1.
    noise: Noise,
    /// The largest squared norm of a column.
    longest: f64,
    gap: Option<f64>,
}

/// How the noise enters the errors.
#[derive(Debug, Clone)]
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
    let candidates = bench.candidates(&names, &splits)?;
    Ok(cells.iter().map(|cell| bench.answer(cell, &names, &candidates, &caveats)).collect())
}

/// What the mechanism made of the candidates.
struct Judged {
    /// Of each candidate: its clipped error, the error in units of the target, its sensitivity, its probability.
    sse: Vec<f64>,
    rmse: Vec<f64>,
    sensitivity: Vec<f64>,
    probability: Vec<f64>,
    /// How many are within the threshold, and their largest sensitivity.
    allowed: usize,
    bound: f64,
}

/// Gaussian processes of several lengthscales to choose from, by cross-validation on some training rows.
pub(super) struct Choice<'a> {
    bench: Bench<'a>,
    candidates: Vec<Vec<Fold>>,
}

impl<'a> Choice<'a> {
    /// Among the candidates of a task, for targets on the scale of the model.
    pub fn new(
        block: &'a Setting,
        task: &'a SelectionTask,
        (inputs, targets): (&DMatrix<f64>, &[f64]),
        scale: f64,
        streams: &'a Streams,
    ) -> Result<Self, TaskError> {
        let splits = folds(targets.len(), task.split, streams);
        let (inputs, targets) = (inputs.clone(), targets.to_vec());
        let bench = Bench { block, task, inputs, targets, scale, streams };
        let candidates = bench.candidates(&task.all_candidates(), &splits)?;
        Ok(Self { bench, candidates })
    }

    /// The probability with which each is chosen, with this budget.
    pub fn probabilities(&self, cell: &PrivacySetting, epsilon: f64) -> Vec<f64> {
        self.bench.judge(cell, &self.candidates, epsilon, None).probability
    }

    /// Tells the witness of a cell what is chosen from, where the release after it has the budget of `rest`.
    pub fn tell(&self, cell: &PrivacySetting, rest: &PrivacySetting, epsilon: f64) {
        if watched() {
            self.bench.judge(rest, &self.candidates, epsilon, Some(cell));
        }
    }
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
    fn candidates(&self, names: &[Candidate], splits: &[Vec<usize>]) -> Result<Vec<Vec<Fold>>, TaskError> {
        let of = |candidate: &Candidate| -> Result<Vec<Fold>, TaskError> {
            let folds = splits.iter().enumerate();
            folds.map(|(number, test)| self.fold(candidate, number, test)).collect()
        };
        names.iter().map(of).collect()
    }

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
            tests: test.to_vec(),
            noise,
            longest: largest(map.columns().column_iter().map(|column| column.norm_squared())),
            columns: FoldColumns { columns: map.expand(), rows: training },
            gap: cloak.gap,
        })
    }

    /// What the exponential mechanism makes of all candidates, with this budget; told to the witness of a cell.
    fn judge(
        &self,
        cell: &PrivacySetting,
        candidates: &[Vec<Fold>],
        epsilon: f64,
        told: Option<&PrivacySetting>,
    ) -> Judged {
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
        let allowed: Vec<usize> = (0..candidates.len()).filter(|&i| within(&candidates[i])).collect();
        let of_allowed = |values: &[f64]| allowed.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let bound = largest(of_allowed(&sensitivity));
        if let (true, Some(told)) = (epsilon.is_finite(), told) {
            record(told, || {
                let candidates = allowed.iter().map(|&i| candidates[i].clone()).collect();
                Sampled::Exponential(Box::new(Selected {
                    candidates,
                    rows: self.targets.len(),
                    noise,
                    clip,
                    change,
                    epsilon,
                    sensitivity: bound,
                    range: self.range(),
                }))
            });
        }
        let chances = selection_probabilities(&of_allowed(&sse), bound, epsilon);
        let mut probability = vec![0.0; candidates.len()];
        allowed.iter().zip(&chances).for_each(|(&i, p)| probability[i] = *p);
        Judged { sse, rmse, sensitivity, probability, allowed: allowed.len(), bound }
    }

    fn answer(
        &self,
        cell: &PrivacySetting,
        names: &[Candidate],
        candidates: &[Vec<Fold>],
        caveats: &[(Caveat, bool)],
    ) -> Measured {
        let task = self.task;
        let Judged { sse, rmse, sensitivity, probability, allowed, bound } =
            self.judge(cell, candidates, task.epsilon, Some(cell));
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
        let of_all = of_all.zip([expected, mean, allowed as f64, bound, most]);
        let of_lengthscales = by_lengthscale(task, names, &probability);
        let frame =
            Frame::new("candidates").with("probability", probability.clone()).with("value", rmse.clone());
        let metrics = of_each.chain(of_lengthscales).chain(of_all);
        let metrics = metrics.map(|(metric, value)| measurement(metric, value)).collect();
        Measured { metrics, frames: vec![frame] }
    }

    /// The range of targets on the scale of the model, where they are clipped.
    fn range(&self) -> Option<(f64, f64)> {
        let half = match self.block.normalise.as_ref() {
            NormaliseSetting::Bounds { low, high, .. } | NormaliseSetting::Standardised { low, high } => {
                0.5 * (high - low)
            }
            NormaliseSetting::Private { clip, .. } => (*clip)?,
            NormaliseSetting::None | NormaliseSetting::Constants { .. } => return None,
        };
        Some((-half / self.scale, half / self.scale))
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
    folds.iter().map(|fold| fold.sum(&fold.errors, noise, clip)).sum()
}

impl Fold {
    fn sum(&self, errors: &[f64], noise: f64, clip: f64) -> f64 {
        match &self.noise {
            Noise::Deviations(sds) => {
                errors.iter().zip(sds).map(|(e, sd)| expected_square(*e, noise * sd, clip)).sum()
            }
            Noise::Draws(draws) => {
                let square = |(e, z): (&f64, &f64)| (e + noise * z).clamp(-clip, clip).powi(2);
                let of_draw = |draw: &Vec<f64>| errors.iter().zip(draw).map(square).sum::<f64>();
                draws.iter().map(of_draw).sum::<f64>() / draws.len() as f64
            }
        }
    }
}

/// What the exponential mechanism chose from, as a function of the targets.
#[derive(Debug)]
pub struct Selected {
    /// The folds of each candidate that is allowed.
    candidates: Vec<Vec<Fold>>,
    /// The number of targets.
    pub rows: usize,
    /// What multiplies the noise of each prediction.
    noise: f64,
    /// Errors are clipped to this, on the scale of the model; infinite without a clip.
    pub clip: f64,
    /// The most that one target changes.
    pub change: f64,
    /// The budget.
    pub epsilon: f64,
    /// The sensitivity that was used.
    pub sensitivity: f64,
    /// The range of targets, where they are clipped to one.
    pub range: Option<(f64, f64)>,
}

impl Selected {
    /// The number of candidates.
    pub fn candidates(&self) -> usize {
        self.candidates.len()
    }

    /// The errors of a candidate's predictions as a linear map of the targets: a row for each tested row.
    pub fn error_map(&self, candidate: usize) -> DMatrix<f64> {
        let mut map = DMatrix::zeros(self.rows, self.rows);
        for fold in &self.candidates[candidate] {
            for (i, &test) in fold.tests.iter().enumerate() {
                for (k, &row) in fold.columns.rows.iter().enumerate() {
                    map[(test, row)] = fold.columns.columns[(i, k)];
                }
                map[(test, test)] = -1.0;
            }
        }
        map
    }

    /// The sum of squared errors of a candidate from its errors, with the noise and the clip of the task.
    pub fn sum(&self, candidate: usize, errors: &DVector<f64>) -> f64 {
        let of = |fold: &Fold| {
            let errors: Vec<f64> = fold.tests.iter().map(|&test| errors[test]).collect();
            fold.sum(&errors, self.noise, self.clip)
        };
        self.candidates[candidate].iter().map(of).sum()
    }

    /// The columns of a candidate's folds.
    pub fn columns(&self, candidate: usize) -> impl Iterator<Item = &FoldColumns> {
        self.candidates[candidate].iter().map(|fold| &fold.columns)
    }
}
