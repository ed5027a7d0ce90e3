//! What noisy gradients cost, computed once for all replicates.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::advi;
use crate::privacy::accounting::{
    Accountant, AccountantKind, AccountingCaveat, AccountingError, AssumePoisson, Event, LossDistribution,
    Relation, Sampling, noise_multiplier,
};
use crate::spec::AdviSetting;

/// What is asked of an accountant; it determines the answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Question {
    pub accountant: AccountantKind,
    pub relation: Relation,
    pub sampling: Sampling,
    pub steps: u32,
    pub epsilon: f64,
    pub delta: f64,
}

/// The noise that a guarantee needs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Price {
    /// Standard deviation of the noise over the clip.
    pub multiplier: f64,
    /// The epsilon that loss distributions give the same noise, sampling taken as Poisson.
    pub tight: f64,
    /// An upper bound on the true delta at the claimed epsilon, if the sampling is covered by a proof.
    pub delta_exact: Option<f64>,
    /// What the accountant leaves out.
    pub caveats: Vec<AccountingCaveat>,
}

impl Question {
    /// The question about a training.
    pub fn new(
        advi: &AdviSetting,
        (accountant, relation): (AccountantKind, Relation),
        (epsilon, delta): (f64, f64),
    ) -> Self {
        let rate = advi.rate;
        let sampling = match advi.sampling {
            advi::Sampling::Poisson => Sampling::Poisson { rate },
            advi::Sampling::WithReplacement => Sampling::WithReplacement { rate },
            advi::Sampling::WithoutReplacement => Sampling::WithoutReplacement { rate },
        };
        let steps = u32::try_from(advi.steps).unwrap_or(u32::MAX);
        Self { accountant, relation, sampling, steps, epsilon, delta }
    }

    /// The event with this noise.
    pub fn event(&self, noise_multiplier: f64) -> Event {
        Event { noise_multiplier, sampling: self.sampling, steps: self.steps }
    }

    /// The answer; replicates and threads that ask the same share one computation.
    pub fn price(&self) -> Result<Price, AccountingError> {
        static KNOWN: Mutex<BTreeMap<String, Answer>> = Mutex::new(BTreeMap::new());
        let answer = {
            let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(format!("{self:?}")).or_default())
        };
        answer.get_or_init(|| self.compute()).clone()
    }

    fn compute(&self) -> Result<Price, AccountingError> {
        let Self { relation, epsilon, delta, .. } = *self;
        let accountant = self.accountant.accountant();
        let multiplier =
            noise_multiplier(accountant.as_ref(), (self.sampling, self.steps), relation, (epsilon, delta))?;
        let event = self.event(multiplier);
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

type Answer = Arc<OnceLock<Result<Price, AccountingError>>>;
