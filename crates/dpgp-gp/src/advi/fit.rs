//! Stochastic variational inference with clipped and noisy gradients, by AdaGrad with a window, and the mode
//! of the posterior. The accountant must price the sampling scheme in use, because the three schemes amplify
//! privacy differently. AdaGrad post-processes noisy gradients, so it costs no privacy.

use rand::RngExt;
use rand::seq::index;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::BayesianModel;

/// The Gaussian family that approximates the posterior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VariationalFamily {
    /// Independent parameters: `N(mu, diag exp(2 omega))`.
    MeanField,
    /// `N(mu, L L')` with L lower triangular and `exp(omega)` on the diagonal of L. It has `d (d + 3) / 2` parameters.
    FullRank,
}

/// A member of a family. Its parameters stand one after the other: `mu` (d), `omega` (d), and for the full-rank family
/// the entries of L below the diagonal, row by row.
///
/// ```
/// use dpgp_gp::advi::{VariationalFamily, VariationalGaussian};
/// // mu = (1, 2), omega = (0, ln 3) and L_21 = 0.5: z = (1 + n_1, 2 + 0.5 n_1 + 3 n_2).
/// let mut guide = VariationalGaussian::standard_normal(VariationalFamily::FullRank, 2);
/// guide.parameters = vec![1.0, 2.0, 0.0, 3f64.ln(), 0.5];
/// let z = guide.transform_standard_normal(vec![2.0, -1.0]).z;
/// assert!((z[0] - 3.0).abs() < 1e-15 && z[1].abs() < 1e-14);
/// assert!((guide.standard_deviations()[1] - 9.25f64.sqrt()).abs() < 1e-14);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct VariationalGaussian {
    /// The parameters.
    pub parameters: Vec<f64>,
    dimension: usize,
    family: VariationalFamily,
}

impl VariationalGaussian {
    /// The standard normal distribution.
    pub fn standard_normal(family: VariationalFamily, dimension: usize) -> Self {
        let below = match family {
            VariationalFamily::MeanField => 0,
            VariationalFamily::FullRank => dimension * (dimension - 1) / 2,
        };
        Self { parameters: vec![0.0; 2 * dimension + below], dimension, family }
    }

    /// The mean (d).
    pub fn mean(&self) -> &[f64] {
        &self.parameters[..self.dimension]
    }

    /// Standard deviations (d): the norms of the rows of L.
    pub fn standard_deviations(&self) -> Vec<f64> {
        let rows = (0..self.dimension).map(|i| {
            let below: f64 = (0..i).map(|j| self.factor_lower_entry(i, j).powi(2)).sum();
            (self.factor_diagonal_entry(i).powi(2) + below).sqrt()
        });
        rows.collect()
    }

    /// `z = mu + L n` for a standard normal `n` (d).
    pub fn transform_standard_normal(&self, n: Vec<f64>) -> GuideDraw {
        let diagonal: Vec<f64> = (0..self.dimension).map(|i| self.factor_diagonal_entry(i)).collect();
        let entries = (0..self.dimension).map(|i| {
            let below: f64 = (0..i).map(|j| self.factor_lower_entry(i, j) * n[j]).sum();
            self.parameters[i] + diagonal[i] * n[i] + below
        });
        GuideDraw { z: entries.collect(), n, diagonal, family: self.family }
    }

    /// The entry of L on the diagonal: positive whatever omega is, so that no step leaves the family.
    fn factor_diagonal_entry(&self, i: usize) -> f64 {
        self.parameters[self.dimension + i].exp()
    }

    /// The entry of L in row i and column j < i.
    fn factor_lower_entry(&self, i: usize, j: usize) -> f64 {
        match self.family {
            VariationalFamily::MeanField => 0.0,
            VariationalFamily::FullRank => self.parameters[2 * self.dimension + i * (i - 1) / 2 + j],
        }
    }
}

/// A draw of a guide, with what turns gradients in `z` into gradients in the parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct GuideDraw {
    /// `z = mu + L n` (d).
    pub z: Vec<f64>,
    n: Vec<f64>,
    /// The diagonal of L.
    diagonal: Vec<f64>,
    family: VariationalFamily,
}

impl GuideDraw {
    /// Turns the gradient of a loss with respect to `z` into its gradient with respect to the parameters of the guide, plus `entropy`
    /// times the gradient of the entropy (`sum omega` and a constant).
    pub fn backpropagate_gradient(&self, loss: &[f64], entropy: f64, gradient: &mut [f64]) {
        let d = self.z.len();
        gradient[..d].copy_from_slice(loss);
        for (((gradient, loss), diagonal), n) in gradient[d..].iter_mut().zip(loss).zip(&self.diagonal).zip(&self.n) {
            // `dz_i / d omega_i = exp(omega_i) n_i`, and the entropy of `N(mu, L L')` is `ln det L` and a constant.
            *gradient = loss * diagonal * n + entropy;
        }
        if self.family == VariationalFamily::FullRank {
            let mut rest = gradient[2 * d..].iter_mut();
            for (i, loss) in loss.iter().enumerate() {
                // `dz_i / d L_ij = n_j`.
                self.n[..i].iter().zip(&mut rest).for_each(|(n, g)| *g = loss * n);
            }
        }
    }
}

/// How a guide is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VariationalFitOptions {
    /// The variational family.
    pub family: VariationalFamily,
    /// The number of steps T. The accountant counts each of them.
    pub steps: usize,
    /// The rate q at which a step samples rows.
    pub rate: f64,
    /// How it samples them.
    pub sampling: BatchSampling,
    /// The learning rate.
    pub learning_rate: f64,
    /// The bound c on the norm of one row's gradient, or `None` without clipping.
    pub clip: Option<f64>,
    /// Standard deviation of the noise on the summed gradient, in the units of `clip`.
    pub noise: f64,
}

/// The random streams of a fit: one each, so that fits with and without noise see the same rows and draws.
#[derive(Debug, Clone)]
pub struct FitRandomStreams {
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
/// use dpgp_gp::advi::{BatchSampling, VariationalFamily, FitRandomStreams, BayesianLogisticModel, VariationalFitOptions, fit_variational_posterior};
/// use nalgebra::DMatrix;
/// use rand::SeedableRng;
/// use rand_pcg::Pcg64;
///
/// // One step on one row whose gradient is clipped to norm 0.01: AdaGrad then moves the guide by at most 0.01 / sqrt(0.1).
/// let model = BayesianLogisticModel::new(&DMatrix::from_element(1, 2, 1e6), &[true], 1.0);
/// let training = VariationalFitOptions {
///     family: VariationalFamily::MeanField,
///     steps: 1,
///     rate: 1.0,
///     sampling: BatchSampling::Poisson,
///     learning_rate: 1.0,
///     clip: Some(0.01),
///     noise: 0.0,
/// };
/// let stream = Pcg64::seed_from_u64(1);
/// let mut streams = FitRandomStreams { batches: stream.clone(), draws: stream.clone(), noise: stream };
/// let guide = fit_variational_posterior(&model, &training, &mut streams);
/// let moved: f64 = guide.parameters.iter().map(|p| p * p).sum();
/// assert!(moved > 0.0 && moved <= 1e-4 / 0.1);
/// ```
pub fn fit_variational_posterior(
    model: &dyn BayesianModel,
    training: &VariationalFitOptions,
    streams: &mut FitRandomStreams,
) -> VariationalGaussian {
    let d = model.dimension();
    let mut guide = VariationalGaussian::standard_normal(training.family, d);
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
    prior: Vec<f64>,
    loss: Vec<f64>,
    row: Vec<f64>,
    sum: Vec<f64>,
}

impl NoisyGradient {
    fn new(d: usize, parameters: usize) -> Self {
        Self {
            batch: Vec::new(),
            prior: vec![0.0; d],
            loss: vec![0.0; d],
            row: vec![0.0; parameters],
            sum: vec![0.0; parameters],
        }
    }

    /// The noisy sum of clipped gradients.
    fn draw(
        &mut self,
        model: &dyn BayesianModel,
        guide: &VariationalGaussian,
        training: &VariationalFitOptions,
        streams: &mut FitRandomStreams,
    ) {
        let (rows, size) = (model.row_count(), batch_size(model.row_count(), training.rate) as f64);
        training.sampling.draw(rows, training.rate, &mut streams.batches, &mut self.batch);
        let n = StandardNormal.sample_iter(&mut streams.draws).take(model.dimension());
        let draw = guide.transform_standard_normal(n.collect());
        model.log_prior(&draw.z, &mut self.prior);
        self.sum.fill(0.0);
        for &row in &self.batch {
            model.write_likelihood_gradient(row, &draw.z, &mut self.loss);
            for (loss, prior) in self.loss.iter_mut().zip(&self.prior) {
                // Prior and entropy are split over the rows of the batch, and so the clip takes its part of them too.
                *loss = -(rows as f64 * *loss + prior) / size;
            }
            draw.backpropagate_gradient(&self.loss, -1.0 / size, &mut self.row);
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

/// Factor that scales a vector to norm `clip` at most: over all parameters together, so that the bound is one on the
/// whole row.
fn clip_factor(vector: &[f64], clip: f64) -> f64 {
    let norm = vector.iter().map(|g| g * g).sum::<f64>().sqrt();
    if norm > clip { clip / norm } else { 1.0 }
}

/// How the rows of a step are drawn from all n training rows, at the sampling rate q.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BatchSampling {
    /// `floor(q n)` rows, each drawn from all n rows.
    WithReplacement,
    /// `floor(q n)` distinct rows.
    WithoutReplacement,
    /// Each row independently, with probability q.
    Poisson,
}

impl BatchSampling {
    /// Draws the rows of one step. They replace the contents of `batch`.
    pub fn draw(self, rows: usize, rate: f64, stream: &mut Pcg64, batch: &mut Vec<usize>) {
        batch.clear();
        let size = batch_size(rows, rate);
        match self {
            Self::WithReplacement => batch.extend((0..size).map(|_| stream.random_range(0..rows))),
            Self::WithoutReplacement => batch.extend(index::sample(stream, rows, size)),
            Self::Poisson => draw_poisson_batch(rows, rate, stream, batch),
        }
    }
}

/// Each row with probability q, by the gaps between the rows taken, which are geometric: `floor(ln u / ln(1 - q))`.
fn draw_poisson_batch(rows: usize, rate: f64, stream: &mut Pcg64, batch: &mut Vec<usize>) {
    // A draw a row taken, not a draw a row. With q = 1 the logarithm is -inf, the scale -0 and every gap 0.
    let scale = 1.0 / (-rate).ln_1p();
    let mut row = 0;
    while row < rows {
        // In (0, 1], where the logarithm is finite.
        let u: f64 = 1.0 - stream.random::<f64>();
        let gap = (u.ln() * scale).floor();
        // Compared as a float: a tiny rate makes gaps that no integer holds.
        if gap >= (rows - row) as f64 {
            return;
        }
        row += gap as usize;
        batch.push(row);
        row += 1;
    }
}

/// Rows of a step (the expected number, rounded down, with Poisson sampling); at least one.
///
/// ```
/// use dpgp_gp::advi::batch_size;
/// assert_eq!(batch_size(3341, 0.1), 334);
/// assert_eq!(batch_size(50, 0.001), 1);
/// ```
pub fn batch_size(rows: usize, rate: f64) -> usize {
    ((rate * rows as f64).floor() as usize).clamp(1, rows)
}

/// Gradients that the window remembers.
const WINDOW: usize = 10;
/// Constant added to the sum of squares. Gradients below its root make steps that are as small: noise alone does not
/// move a parameter by the whole rate.
const OFFSET: f64 = 0.1;

/// `theta -= rate g / sqrt(sum of the last 10 g^2 + 0.1)`, elementwise. Source: `adagrad_window` of PyMC3, on which
/// Jälkö, Dikmen and Honkela 2016 build.
///
/// ```
/// use dpgp_gp::advi::WindowedAdaGrad;
/// let mut theta = [1.0];
/// WindowedAdaGrad::new(0.5, 1).step(&mut theta, &[3.0]);
/// assert_eq!(theta[0], 1.0 - 0.5 * 3.0 / 9.1f64.sqrt());
/// ```
#[derive(Debug, Clone)]
pub struct WindowedAdaGrad {
    rate: f64,
    /// The last squared gradients, the oldest overwritten (WINDOW x parameters).
    squares: Vec<Vec<f64>>,
    step: usize,
}

impl WindowedAdaGrad {
    /// An optimiser with this learning rate, for this number of parameters.
    pub fn new(rate: f64, parameters: usize) -> Self {
        Self { rate, squares: vec![vec![0.0; parameters]; WINDOW], step: 0 }
    }

    /// Takes one step down a gradient.
    pub fn step(&mut self, parameters: &mut [f64], gradient: &[f64]) {
        // A ring: the newest squares take the place of the oldest ones.
        let oldest = &mut self.squares[self.step % WINDOW];
        oldest.iter_mut().zip(gradient).for_each(|(square, g)| *square = g * g);
        self.step += 1;
        for (i, (parameter, g)) in parameters.iter_mut().zip(gradient).enumerate() {
            // Added up anew: a running sum would keep the rounding of squares that have left the window.
            let sum: f64 = self.squares.iter().map(|squares| squares[i]).sum();
            *parameter -= self.rate * g / (sum + OFFSET).sqrt();
        }
    }
}

/// Iterations after which the search gives up.
const MOST: usize = 10_000;

/// Maximises the log joint density by gradient ascent with Barzilai-Borwein steps and backtracking, until the largest
/// element of the gradient is below `tolerance`. None if it does not get there.
///
/// The step is `s's / s't` for the change s in z and the decrease t in the gradient: the inverse curvature along s. Source:
/// Barzilai and Borwein 1988.
pub fn find_posterior_mode(model: &dyn BayesianModel, tolerance: f64) -> Option<Vec<f64>> {
    let d = model.dimension();
    let (mut z, mut gradient) = (vec![0.0; d], vec![0.0; d]);
    let mut value = model.log_joint(&z, &mut gradient);
    // The curvature grows with the number of rows.
    let mut step = 1.0 / model.row_count().max(1) as f64;
    for _ in 0..MOST {
        if gradient.iter().all(|g| g.abs() <= tolerance) {
            return Some(z);
        }
        let mut next_gradient = vec![0.0; d];
        let (next, next_value) = loop {
            let next: Vec<f64> = z.iter().zip(&gradient).map(|(z, g)| z + step * g).collect();
            let next_value = model.log_joint(&next, &mut next_gradient);
            // A rounding error may look like a loss at the very top.
            if next_value >= value - 1e-12 * value.abs() {
                break (next, next_value);
            }
            step *= 0.5;
            if step < f64::MIN_POSITIVE {
                return None;
            }
        };
        let change: Vec<f64> = next.iter().zip(&z).map(|(a, b)| a - b).collect();
        let falls = gradient.iter().zip(&next_gradient).map(|(before, after)| before - after);
        let moved: f64 = change.iter().map(|s| s * s).sum();
        let turned: f64 = change.iter().zip(falls).map(|(s, t)| s * t).sum();
        // Where the gradient does not fall along the way there is no curvature to go by, and steps grow.
        step = if turned > 0.0 { moved / turned } else { 2.0 * step };
        (z, value, gradient) = (next, next_value, next_gradient);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_forgets() {
        let mut optimiser = WindowedAdaGrad::new(0.5, 1);
        let mut theta = [0.0];
        optimiser.step(&mut theta, &[3.0]);
        assert_eq!(theta[0], -0.5 * 3.0 / 9.1f64.sqrt());
        for _ in 0..10 {
            optimiser.step(&mut theta, &[1.0]);
        }
        let before = theta[0];
        optimiser.step(&mut theta, &[1.0]);
        assert_eq!(theta[0], before - 0.5 / 10.1f64.sqrt());
    }
}
