//! The account of 2016: classic Gaussian noise, amplification by sampling, advanced composition.

use super::error::{check_delta, check_epsilon};
use super::root::Bracket;
use super::{Accountant, AccountingCaveat, AccountingError, Event, Relation, Sampling, Spent};

/// Advanced composition as Jälkö, Dikmen and Honkela 2016, Section 3.2, apply it, with `delta' = delta / 2`:
///
/// `delta_iter = (delta - delta') / (T q)`, `epsilon_iter = sqrt(2 ln(1.25 / delta_iter)) / sigma`,
/// `s = ln(1 + q (e^epsilon_iter - 1))`, `epsilon = sqrt(2 T ln(1/delta')) s + T s (e^s - 1)`.
///
/// `sigma` is the noise per unit of sensitivity: half the noise multiplier for replace-one neighbours (the paper's
/// noise is `2 sigma c` for contributions clipped at `c`), all of it for add-remove. The paper leaves `delta_iter >= 1`
/// open, which no mechanism needs; it is taken as 1 then.
///
/// The first formula needs `epsilon_iter < 1` (Dwork and Roth 2014, Theorem A.1). The third is proved for Poisson
/// sampling (Balle, Barthe and Gaboardi 2018, Theorems 2 and 8) and, for replace-one neighbours, for sampling
/// without replacement (Theorem 9). Beyond, the numbers are given with a caveat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdvancedComposition;

/// `T`, `q` and `delta` in the formulas above.
struct Budget {
    steps: f64,
    rate: f64,
    delta: f64,
}

impl Budget {
    fn new(event: &Event, delta: f64) -> Self {
        Self { steps: f64::from(event.steps), rate: event.sampling.rate(), delta }
    }

    fn epsilon_per_step(&self, sigma: f64) -> f64 {
        let delta = 0.5 * self.delta / (self.steps * self.rate);
        (2.0 * (1.25 / delta.min(1.0)).ln()).sqrt() / sigma
    }

    fn total(&self, epsilon_per_step: f64) -> f64 {
        let s = (self.rate * epsilon_per_step.exp_m1()).ln_1p();
        (2.0 * self.steps * (2.0 / self.delta).ln()).sqrt() * s + self.steps * s * s.exp_m1()
    }

    fn epsilon(&self, sigma: f64) -> f64 {
        self.total(self.epsilon_per_step(sigma))
    }
}

fn caveats(event: &Event, relation: Relation, budget: &Budget) -> Vec<AccountingCaveat> {
    let mut caveats = Vec::new();
    let per_step = budget.epsilon_per_step(sigma(event, relation));
    if per_step >= 1.0 {
        caveats.push(AccountingCaveat::EpsilonPerStep { per_step, limit: budget.total(1.0) });
    }
    match (event.sampling, relation) {
        (Sampling::FullBatch | Sampling::Poisson { .. }, _) => {}
        (Sampling::WithoutReplacement { .. }, Relation::ReplaceOne) => {}
        (sampling, _) => caveats.push(AccountingCaveat::UnprovedAmplification(sampling, relation)),
    }
    caveats
}

fn sigma(event: &Event, relation: Relation) -> f64 {
    event.noise_multiplier / relation.sensitivity()
}

impl Accountant for AdvancedComposition {
    fn name(&self) -> &'static str {
        "advanced composition"
    }

    fn epsilon(&self, event: &Event, relation: Relation, delta: f64) -> Result<Spent, AccountingError> {
        event.check()?;
        check_delta(delta)?;
        let budget = Budget::new(event, delta);
        let upper = budget.epsilon(sigma(event, relation));
        Ok(Spent { caveats: caveats(event, relation, &budget), ..Spent::at_most(upper) })
    }

    /// The epsilon falls as delta grows, so the least delta is a root along `ln delta`; 1 if there is none.
    fn delta(&self, event: &Event, relation: Relation, epsilon: f64) -> Result<Spent, AccountingError> {
        event.check()?;
        check_epsilon(epsilon)?;
        let excess = |log_delta: f64| {
            Ok(Budget::new(event, log_delta.exp()).epsilon(sigma(event, relation)) - epsilon)
        };
        let upper = match Bracket::search(excess, (-10.0, 5.0), (-700.0, 0.0))? {
            Some(bracket) => bracket.narrow(excess, 1e-13)?.high.0.exp(),
            None if excess(0.0)? > 0.0 => 1.0,
            None => (-700f64).exp(),
        };
        let caveats = caveats(event, relation, &Budget::new(event, upper));
        Ok(Spent { caveats, ..Spent::at_most(upper) })
    }
}
