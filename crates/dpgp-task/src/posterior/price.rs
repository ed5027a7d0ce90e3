//! The noise on gradients that a guarantee needs, computed by an accountant.

use crate::{AdviSetting, TaskError};
use dpgp_accounting::{
    Accountant, AccountantKind, AccountingCaveat, AccountingError, AssumePoisson, LossDistribution, Relation,
    Sampling, Schedule, noise_multiplier,
};
use dpgp_gp::advi::BatchSampling;
use dpgp_mechanisms::{GradientSetting, PrivacySetting};
use dpgp_number::Budget;

/// What is asked of an accountant; it determines the answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PriceQuestion {
    pub accountant: AccountantKind,
    pub relation: Relation,
    pub schedule: Schedule,
    pub budget: Budget,
}

/// The noise that a guarantee needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// Standard deviation of the noise over the clip.
    pub multiplier: f64,
    /// The epsilon that loss distributions give the same noise, sampling taken as Poisson.
    pub tight: f64,
    /// An upper bound on the true delta at the claimed epsilon, if the sampling is covered by a proof.
    pub delta_exact: Option<f64>,
    /// What the accountant leaves out.
    pub caveats: Vec<AccountingCaveat>,
}

impl PriceQuestion {
    /// The question about a training for the guarantee of a cell.
    ///
    /// # Errors
    /// [`TaskError`] for a guarantee that is none, which the checks of a spec refuse, and for more steps than an accountant
    /// counts.
    pub fn new(
        advi: &AdviSetting,
        gradient: &GradientSetting,
        cell: &PrivacySetting,
    ) -> Result<Self, TaskError> {
        let rate = advi.rate;
        let sampling = match advi.sampling {
            BatchSampling::Poisson => Sampling::Poisson { rate: rate.get() },
            BatchSampling::WithReplacement => Sampling::WithReplacement { rate: rate.get() },
            BatchSampling::WithoutReplacement => Sampling::WithoutReplacement { rate: rate.get() },
        };
        let steps = u32::try_from(advi.steps.get());
        let steps = steps.map_err(|_| TaskError::Missing { needed: "fewer than 2^32 steps" })?;
        Ok(Self {
            accountant: gradient.accountant,
            relation: gradient.relation,
            schedule: Schedule { sampling, steps },
            budget: Budget { epsilon: cell.epsilon, delta: cell.delta },
        })
    }

    /// The answer.
    ///
    /// # Errors
    /// [`AccountingError`] if no noise is enough, or its accountant has no proof for the sampling.
    pub fn price(&self) -> Result<Price, AccountingError> {
        let Self { relation, schedule, budget, .. } = *self;
        let (epsilon, delta) = (budget.epsilon.get(), budget.delta.get());
        let accountant = self.accountant.accountant();
        let multiplier = noise_multiplier(accountant.as_ref(), schedule, relation, budget)?;
        let event = schedule.with_noise(multiplier);
        let loss = LossDistribution::default();
        let tight = match self.accountant {
            // The noise is the least with this very epsilon.
            AccountantKind::LossDistribution => epsilon,
            _ => AssumePoisson(loss).epsilon(&event, relation, delta)?.upper,
        };
        let delta_exact = loss.delta(&event, relation, epsilon).ok().map(|spent| spent.upper);
        let caveats = accountant.delta(&event, relation, epsilon)?.caveats;
        Ok(Price { multiplier, tight, delta_exact, caveats })
    }
}
