//! Candidates of a private selection.

use rand::{Rng, RngExt};

use super::measure::{CandidatePair, HyperparametersBlock, PreparedSums, greatest};
use crate::{BudgetRule, RefusalRule};
use crate::{SelectionDraws, TaskError};
use dpgp_accounting::{gaussian_rho, zcdp_rho_classic};
use dpgp_mechanisms::PrivacySetting;
use dpgp_mechanisms::{PrivateSelection, SumsNoise, Within, coinpress_mean, coinpress_shares};
use dpgp_number::Budget;

/// How a candidate is scored.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrawRules {
    /// Steps of CoinPress.
    pub steps: usize,
    pub refuse: RefusalRule,
    pub budget: BudgetRule,
}

/// Draws of candidates: a release, and the CoinPress mean of its log-likelihoods.
pub(super) struct Draws<'a> {
    block: &'a HyperparametersBlock<'a>,
    /// The noise on the sums of each lengthscale.
    noise: Vec<SumsNoise>,
    shares: Vec<f64>,
    refuse: RefusalRule,
}

impl<'a> Draws<'a> {
    pub fn new(
        block: &'a HyperparametersBlock<'a>,
        cell: &PrivacySetting,
        selection: &PrivateSelection,
        rules: DrawRules,
    ) -> Self {
        let Budget { epsilon, delta } = selection.draw;
        let rho = match rules.budget {
            BudgetRule::Concentrated => zcdp_rho_classic(epsilon.get(), delta.get()),
            BudgetRule::Gaussian => gaussian_rho(epsilon.get(), delta.get()),
        };
        let each = PrivacySetting { epsilon, delta, ..cell.clone() };
        let noise = block.prepared.iter().map(|prepared| prepared.sums.noise(&each)).collect();
        Self { block, noise, shares: coinpress_shares(rules.steps, rho), refuse: rules.refuse }
    }

    /// What one selection samples from.
    pub fn sampled(&self, selection: PrivateSelection) -> SelectionDraws {
        let HyperparametersBlock { prepared, task, observed, .. } = self.block;
        let mut sums = Vec::with_capacity(prepared.len());
        let mut ranges = Vec::with_capacity(prepared.len() * task.noise_sds.len());
        for (prepared, noise) in prepared.iter().zip(&self.noise) {
            sums.push(prepared.sums.sums.together(vec![prepared.sums.released(*noise)]));
            for noise_sd in &task.noise_sds {
                let radius = radius(prepared, noise_sd.get());
                ranges.push((greatest(noise_sd.get()) - radius, radius));
            }
        }
        SelectionDraws { selection, sums, rows: observed.len(), ranges, shares: self.shares.clone() }
    }

    /// The score of a candidate drawn at random; none where it is refused.
    pub fn draw(&self, stream: &mut impl Rng) -> Result<Option<(f64, CandidatePair)>, TaskError> {
        let HyperparametersBlock { prepared, task, observed, .. } = self.block;
        let lengthscale = stream.random_range(0..prepared.len());
        let pair = CandidatePair { lengthscale, noise_sd: stream.random_range(0..task.noise_sds.len()) };
        let (prepared, noise_sd) = (&prepared[pair.lengthscale], task.noise_sds[pair.noise_sd]);
        let noisy = self.noise[pair.lengthscale].release(&prepared.statistics, stream);
        let prediction = self.block.predict(pair, &noisy)?;
        let mut densities = prediction.observed(noise_sd.get() * noise_sd.get()).log_densities(observed);
        let (most, radius) = (greatest(noise_sd.get()), radius(prepared, noise_sd.get()));
        densities.iter_mut().for_each(|v| *v = v.clamp(most - 2.0 * radius, most));
        let within = Within { centre: most - radius, radius };
        let mean = coinpress_mean(&mut densities, within, &self.shares, stream);
        let score = mean * observed.len() as f64;
        // The printed rule compares the sum of many log-likelihoods with the greatest of one.
        let tested = match self.refuse {
            RefusalRule::Published => score,
            RefusalRule::Corrected => mean,
        };
        Ok((tested <= most).then_some((score, pair)))
    }
}

/// Half the range that log-likelihoods are clipped to.
fn radius(prepared: &PreparedSums<'_>, noise_sd: f64) -> f64 {
    (prepared.sums.bound / noise_sd).powi(2)
}
