//! Stochastic variational inference with clipped and noisy gradients.

use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use super::batch::{Sampling, batch_size};
use super::{Family, Guide, Model, WindowedAdaGrad};

/// How a guide is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    /// The variational family.
    pub family: Family,
    /// Steps T.
    pub steps: usize,
    /// The rate q at which a step samples rows.
    pub rate: f64,
    /// How it samples them.
    pub sampling: Sampling,
    /// The learning rate.
    pub learning_rate: f64,
    /// Bound c on the norm of one row's gradient; none without clipping.
    pub clip: Option<f64>,
    /// Standard deviation of the noise on the summed gradient.
    pub noise: f64,
}

/// The random streams of a fit.
#[derive(Debug, Clone)]
pub struct FitStreams {
    /// Rows of each step.
    pub batches: Pcg64,
    /// Draws of the guide.
    pub draws: Pcg64,
    /// Privacy noise.
    pub noise: Pcg64,
}

/// Minimises the negative evidence lower bound from the standard normal guide.
///
/// Each step draws one `z = mu + L n` for the whole batch. The gradient of row i, over all parameters of the guide, is that of
/// `-(N/B) log p(y_i | z) - (1/B) log p(z) - (1/B) H`, H the entropy; it is clipped to norm c, summed over
/// the batch, and Gaussian noise is added. One row thus moves the sum by at most c (added or removed) or 2 c (replaced).
///
/// Source: Jälkö, Dikmen and Honkela 2016, Algorithm 1, with ADVI's parametrisation.
pub fn fit(model: &dyn Model, training: &Training, streams: &mut FitStreams) -> Guide {
    let d = model.dimension();
    let mut guide = Guide::standard(training.family, d);
    let mut optimiser = WindowedAdaGrad::new(training.learning_rate, guide.parameters.len());
    let mut work = Work::new(d, guide.parameters.len());
    for _ in 0..training.steps {
        work.step(model, &guide, training, streams);
        optimiser.step(&mut guide.parameters, &work.sum);
    }
    guide
}

/// The buffers of a step.
struct Work {
    batch: Vec<usize>,
    n: Vec<f64>,
    z: Vec<f64>,
    prior: Vec<f64>,
    loss: Vec<f64>,
    row: Vec<f64>,
    sum: Vec<f64>,
}

impl Work {
    fn new(d: usize, parameters: usize) -> Self {
        Self {
            batch: Vec::new(),
            n: vec![0.0; d],
            z: vec![0.0; d],
            prior: vec![0.0; d],
            loss: vec![0.0; d],
            row: vec![0.0; parameters],
            sum: vec![0.0; parameters],
        }
    }

    /// The noisy sum of clipped gradients.
    fn step(&mut self, model: &dyn Model, guide: &Guide, training: &Training, streams: &mut FitStreams) {
        let (rows, size) = (model.rows(), batch_size(model.rows(), training.rate) as f64);
        training.sampling.draw(rows, training.rate, &mut streams.batches, &mut self.batch);
        self.n.iter_mut().for_each(|n| *n = StandardNormal.sample(&mut streams.draws));
        guide.draw(&self.n, &mut self.z);
        model.log_prior(&self.z, &mut self.prior);
        self.sum.fill(0.0);
        for &row in &self.batch {
            model.log_likelihood(row, &self.z, &mut self.loss);
            for (loss, prior) in self.loss.iter_mut().zip(&self.prior) {
                *loss = -(rows as f64 * *loss + prior) / size;
            }
            guide.pull_back(&self.loss, &self.n, -1.0 / size, &mut self.row);
            let factor = training.clip.map_or(1.0, |clip| clip_factor(&self.row, clip));
            self.sum.iter_mut().zip(&self.row).for_each(|(sum, g)| *sum += factor * g);
        }
        if training.noise > 0.0 {
            for sum in &mut self.sum {
                let noise: f64 = StandardNormal.sample(&mut streams.noise);
                *sum += training.noise * noise;
            }
        }
    }
}

/// What scales a vector to norm `clip` at most.
fn clip_factor(vector: &[f64], clip: f64) -> f64 {
    let norm = vector.iter().map(|g| g * g).sum::<f64>().sqrt();
    if norm > clip { clip / norm } else { 1.0 }
}
