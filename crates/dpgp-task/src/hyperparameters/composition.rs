//! A choice by composition.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::measure::{CandidatePair, HyperparametersBlock, PreparedSums, greatest};
use crate::{Sampled, TaskError};
use dpgp_mechanisms::PrivacySetting;
use dpgp_mechanisms::SumsNoise;

/// One release per lengthscale, `sqrt(lengthscales)` times as noisy, serves all standard deviations. The mean
/// log-likelihoods of all pairs, clipped to `clip` nats below their greatest value, are one vector with sensitivity
/// `clip sqrt(pairs) / rows`. Training and validation rows are apart, so that either may spend all of the budget.
pub(super) struct Composition<'a> {
    block: &'a HyperparametersBlock<'a>,
    clip: f64,
    /// The noise multiplier.
    sigma: f64,
    pairs: usize,
}

impl<'a> Composition<'a> {
    pub fn new(block: &'a HyperparametersBlock<'a>, cell: &PrivacySetting, clip: f64) -> Self {
        let sigma = cell.calibration.sigma(cell.epsilon.get(), cell.delta.get());
        Self { block, clip, sigma, pairs: block.prepared.len() * block.task.noise_sds.len() }
    }

    /// The noise on the sums of a lengthscale.
    fn noise(&self, prepared: &PreparedSums<'_>) -> SumsNoise {
        let releases = (self.block.prepared.len() as f64).sqrt();
        let sums = &prepared.sums;
        SumsNoise::new(self.sigma * releases * sums.sensitivity.assumed, sums.sums.setting.split.get())
    }

    /// The standard deviation of the noise on a mean.
    fn sd(&self) -> f64 {
        self.sigma * self.clip * (self.pairs as f64).sqrt() / self.block.observed.len() as f64
    }

    pub fn sampled(&self) -> Vec<Sampled> {
        let HyperparametersBlock { prepared, observed, .. } = self.block;
        let sums = prepared.iter().map(|p| p.sums.released(self.noise(p))).collect();
        let means =
            Sampled::Means { sd: self.sd(), means: self.pairs, range: self.clip, rows: observed.len() };
        vec![Sampled::Records(prepared[0].sums.sums.together(sums)), means]
    }

    /// The pair with the greatest noisy mean.
    pub fn best(&self, stream: &mut impl Rng) -> Result<CandidatePair, TaskError> {
        let (mut best, mut pair) = (f64::NEG_INFINITY, CandidatePair { lengthscale: 0, noise_sd: 0 });
        for (lengthscale, prepared) in self.block.prepared.iter().enumerate() {
            let noisy = self.noise(prepared).release(&prepared.statistics, stream);
            for (noise_sd, sd) in self.block.task.noise_sds.iter().enumerate() {
                let candidate = CandidatePair { lengthscale, noise_sd };
                let prediction = self.block.predict(candidate, &noisy)?;
                let most = greatest(sd.get());
                let densities = prediction.observed(sd.get() * sd.get()).log_densities(self.block.observed);
                let sum: f64 = densities.iter().map(|v| v.clamp(most - self.clip, most)).sum();
                let noise: f64 = StandardNormal.sample(stream);
                let score = sum / self.block.observed.len() as f64 + self.sd() * noise;
                if score > best {
                    (best, pair) = (score, candidate);
                }
            }
        }
        Ok(pair)
    }
}
