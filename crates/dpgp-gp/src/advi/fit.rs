//! Stochastic variational inference with clipped and noisy gradients.

use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;

use super::batch::{BatchSampling, batch_size};
use super::{Family, Guide, Model, WindowedAdaGrad};

/// How a guide is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Training {
    /// The variational family.
    pub family: Family,
    /// Steps T, each of which the accountant counts.
    pub steps: usize,
    /// The rate q at which a step samples rows.
    pub rate: f64,
    /// How it samples them.
    pub sampling: BatchSampling,
    /// The learning rate.
    pub learning_rate: f64,
    /// Bound c on the norm of one row's gradient; none without clipping.
    pub clip: Option<f64>,
    /// Standard deviation of the noise on the summed gradient, in the units of `clip`.
    pub noise: f64,
}

/// The random streams of a fit: one each, so that fits with and without noise see the same rows and draws.
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
/// Source: Jälkö, Dikmen and Honkela 2016, Section 3, with ADVI's parametrisation.
///
/// ```
/// use dpgp_gp::advi::{BatchSampling, Family, FitStreams, LogisticRegression, Training, fit};
/// use nalgebra::DMatrix;
/// use rand::SeedableRng;
/// use rand_pcg::Pcg64;
///
/// // One step on one row whose gradient is clipped to norm 0.01: AdaGrad then moves the guide by at most 0.01 / sqrt(0.1).
/// let model = LogisticRegression::new(&DMatrix::from_element(1, 2, 1e6), &[true], 1.0);
/// let training = Training {
///     family: Family::MeanField,
///     steps: 1,
///     rate: 1.0,
///     sampling: BatchSampling::Poisson,
///     learning_rate: 1.0,
///     clip: Some(0.01),
///     noise: 0.0,
/// };
/// let stream = Pcg64::seed_from_u64(1);
/// let mut streams = FitStreams { batches: stream.clone(), draws: stream.clone(), noise: stream };
/// let guide = fit(&model, &training, &mut streams);
/// let moved: f64 = guide.parameters.iter().map(|p| p * p).sum();
/// assert!(moved > 0.0 && moved <= 1e-4 / 0.1);
/// ```
pub fn fit(model: &dyn Model, training: &Training, streams: &mut FitStreams) -> Guide {
    let d = model.dimension();
    let mut guide = Guide::standard(training.family, d);
    let mut optimiser = WindowedAdaGrad::new(training.learning_rate, guide.parameters.len());
    let mut gradient = NoisyGradient::new(d, guide.parameters.len());
    for _ in 0..training.steps {
        gradient.draw(model, &guide, training, streams);
        optimiser.step(&mut guide.parameters, &gradient.sum);
    }
    guide
}

/// The gradient of a step, with the buffers that it is made in: allocated once, not once a row.
struct NoisyGradient {
    batch: Vec<usize>,
    n: Vec<f64>,
    z: Vec<f64>,
    prior: Vec<f64>,
    loss: Vec<f64>,
    row: Vec<f64>,
    sum: Vec<f64>,
}

impl NoisyGradient {
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
    fn draw(&mut self, model: &dyn Model, guide: &Guide, training: &Training, streams: &mut FitStreams) {
        let (rows, size) = (model.rows(), batch_size(model.rows(), training.rate) as f64);
        training.sampling.draw(rows, training.rate, &mut streams.batches, &mut self.batch);
        self.n.iter_mut().for_each(|n| *n = StandardNormal.sample(&mut streams.draws));
        guide.draw(&self.n, &mut self.z);
        model.log_prior(&self.z, &mut self.prior);
        self.sum.fill(0.0);
        for &row in &self.batch {
            model.log_likelihood(row, &self.z, &mut self.loss);
            for (loss, prior) in self.loss.iter_mut().zip(&self.prior) {
                // Prior and entropy are split over the rows of the batch, and so the clip takes its part of them too.
                *loss = -(rows as f64 * *loss + prior) / size;
            }
            guide.pull_back(&self.loss, &self.n, -1.0 / size, &mut self.row);
            // After the scaling by N / B: c bounds what is summed, which is what the noise is calibrated to.
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

/// What scales a vector to norm `clip` at most: over all parameters together, so that the bound is one on the whole row.
fn clip_factor(vector: &[f64], clip: f64) -> f64 {
    let norm = vector.iter().map(|g| g * g).sum::<f64>().sqrt();
    if norm > clip { clip / norm } else { 1.0 }
}
