//! Test accuracy of classification by regression on Dirichlet labels.

use nalgebra::DMatrix;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use super::measure::Measured;
use super::noisy_sums::split;
use super::{ClassModel, Measurement, Sample, Streams, TaskError};
use crate::gp::variational::{Inducing, Located, Prediction, Statistics};
use crate::spec::{DirichletRelease, DirichletTask, ModelSetting, PrivacySetting};
use crate::stream::class_of;

/// Draws of the latent functions that class probabilities average over.
const DRAWS: usize = 64;

/// The metrics `accuracy` (share of the test rows whose class has the greatest mean) and `log-loss` (mean
/// negative logarithm of the probability of the true class: the softmax of the latent functions, averaged over
/// 64 draws of them at each row).
pub(super) fn dirichlet(
    task: &DirichletTask,
    model: &ModelSetting,
    cells: &[&PrivacySetting],
    sample: &Sample,
    streams: &Streams,
) -> Result<Vec<Measured>, TaskError> {
    let Some(first) = cells.first() else { return Ok(Vec::new()) };
    let Some(model) = ClassModel::new(task, model, &first.mechanism) else { return Ok(Vec::new()) };
    let inducing = model.inducing()?;
    let classes: Result<Vec<usize>, TaskError> = sample.targets.iter().map(|y| class(task, *y)).collect();
    let classes = classes?;
    let (training, test) = split(&sample.inputs, task.train);
    let statistics = statistics(task, &model, &inducing, &training, &classes[..task.train]);
    let located = inducing.locate(&test);
    let truth = &classes[task.train..];
    let bench = Bench { model: &model, inducing: &inducing, statistics, located, truth };
    cells.iter().map(|cell| bench.cell(cell, streams)).collect()
}

/// The class that a target names.
fn class(task: &DirichletTask, target: f64) -> Result<usize, TaskError> {
    class_of(target, task.classes).ok_or(TaskError::UnknownClass { target, last: task.classes - 1 })
}

/// The sums that are released: over the rows of each class, or weighted over all rows for each class.
fn statistics(
    task: &DirichletTask,
    model: &ClassModel,
    inducing: &Inducing<'_>,
    inputs: &DMatrix<f64>,
    classes: &[usize],
) -> Vec<Statistics> {
    let labels = model.labels();
    let of_class = |class: usize| match task.release {
        DirichletRelease::ClassSums => {
            let rows: Vec<usize> = (0..classes.len()).filter(|&i| classes[i] == class).collect();
            Statistics::collect(inducing, &inputs.select_rows(&rows), |_| (1.0, 1.0))
        }
        DirichletRelease::WeightedSums(_) => Statistics::collect(inducing, inputs, |i| {
            let own = usize::from(classes[i] == class);
            (labels.target[own], 1.0 / labels.variance[own])
        }),
    };
    (0..task.classes).map(of_class).collect()
}

/// What all cells of a block share.
struct Bench<'a> {
    model: &'a ClassModel,
    inducing: &'a Inducing<'a>,
    statistics: Vec<Statistics>,
    located: Located,
    truth: &'a [usize],
}

impl Bench<'_> {
    fn cell(&self, cell: &PrivacySetting, streams: &Streams) -> Result<Measured, TaskError> {
        let mut stream = streams.of_block("noise");
        let (noisy, guarantee) = self.model.release(&self.statistics, cell, &mut stream)?;
        let posteriors = self.model.posteriors(self.inducing, &noisy)?;
        let jitter = posteriors.iter().fold(self.inducing.jitter(), |most, of| of.jitter.max(most));
        let predictions: Vec<Prediction> = posteriors.iter().map(|of| of.predict(&self.located)).collect();
        let measurement = |metric: &str, value: f64| Measurement {
            metric: metric.to_owned(),
            values: vec![value],
            certificate: guarantee.certificate.clone(),
            jitter,
        };
        let log_loss = self.log_loss(&predictions, &mut streams.of_block("draws"));
        let metrics =
            vec![measurement("accuracy", self.accuracy(&predictions)), measurement("log-loss", log_loss)];
        Ok(metrics.into())
    }

    fn accuracy(&self, predictions: &[Prediction]) -> f64 {
        let greatest = |i: usize| {
            (0..predictions.len()).fold(0, |best, class| {
                if predictions[class].mean[i] > predictions[best].mean[i] { class } else { best }
            })
        };
        let right = self.truth.iter().enumerate().filter(|(i, class)| greatest(*i) == **class).count();
        right as f64 / self.truth.len() as f64
    }

    fn log_loss(&self, predictions: &[Prediction], stream: &mut Pcg64) -> f64 {
        let mut draw = |i: usize| -> Vec<f64> {
            let latent = |p: &Prediction| {
                let z: f64 = StandardNormal.sample(stream);
                p.mean[i] + p.variance[i].sqrt() * z
            };
            softmax(&predictions.iter().map(latent).collect::<Vec<_>>())
        };
        let loss = |(i, &class): (usize, &usize)| {
            let probability = (0..DRAWS).map(|_| draw(i)[class]).sum::<f64>() / DRAWS as f64;
            -probability.max(f64::MIN_POSITIVE).ln()
        };
        self.truth.iter().enumerate().map(loss).sum::<f64>() / self.truth.len() as f64
    }
}

/// `e^f_j / sum_l e^f_l`.
fn softmax(latent: &[f64]) -> Vec<f64> {
    let most = latent.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = latent.iter().map(|f| (f - most).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|w| w / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Manifest;
    use crate::data::rows::InMemory;
    use crate::spec::{Experiment, TaskSetting};
    use crate::stream::{SumRows, Sums, collect_here};

    const SPEC: &str = r#"
experiment.title = "three classes"
data = { source.csv.path = "rows.csv", inputs = ["x", "y"], target = "class" }
model.kernel.eq = { variance = 1.7, lengthscale = 0.6 }
[task.dirichlet]
train = 40000
classes = 3
inducing = [{ from = -1.0, to = 1.0, points = 5 }, { from = -1.0, to = 1.0, points = 4 }]
alpha = 0.01
posterior = { regularisation = "tight", correction = "first-order" }
release = "class-sums"
[privacy]
epsilon = 1.0
delta = 1e-5
mechanism.sums = { features = "trivial", sensitivity = "exact" }
"#;

    /// The sums of the stream are those of the task.
    #[test]
    fn rows_in_memory_and_streamed_have_the_same_sums() {
        let manifest = Manifest::shipped().unwrap();
        let spec = Experiment::parse("s", "s.toml".as_ref(), SPEC.to_owned(), &manifest).unwrap();
        let setting = spec.cells[0].setting();
        let TaskSetting::Dirichlet(task) = &*setting.task else { panic!("another task") };
        let model = ClassModel::of(setting).unwrap();
        let column = |step: f64| (0..task.train).map(|i| (i as f64 * step).sin()).collect::<Vec<f64>>();
        let (inputs, targets) =
            ([column(0.37), column(0.011)], (0..task.train).map(|i| (i * i % 7 % 3) as f64));
        let sample = Sample::new(&inputs, targets.collect());
        let classes: Vec<usize> = sample.targets.iter().map(|y| class(task, *y).unwrap()).collect();
        let before = statistics(task, &model, &model.inducing().unwrap(), &sample.inputs, &classes);
        let summand = model.summand(&setting.data).unwrap();
        let mut rows = InMemory::new(vec![&inputs[0], &inputs[1], &sample.targets]);
        let total = collect_here(&mut rows, &summand).unwrap().total(summand.zero());
        for (before, streamed) in before.iter().zip(total.0.iter().map(Sums::statistics)) {
            assert_eq!(before.rows, streamed.rows);
            assert!((&before.a - &streamed.a).amax() < 1e-12 * before.a.amax());
            assert!((&before.b - &streamed.b).amax() < 1e-12 * before.b.amax());
        }
    }
}
