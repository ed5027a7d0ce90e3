//! The account of 2016: classic Gaussian noise, amplification by sampling, advanced composition.

use super::root::{Bracket, BracketSearchRange};
use super::{
    Accountant, AccountingCaveat, AccountingError, EpsilonOrDeltaBounds, GivenEpsilonOrDelta, NeighbourRelation,
    PrivacyEvent, Sampling,
};

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
///
/// ```
/// use dpgp_accounting::{Accountant, AdvancedCompositionAccountant, PrivacyEvent, NeighbourRelation, Sampling};
/// // One full step at delta_iter = delta' = 0.05 and sigma = sqrt(2 ln 25): epsilon_iter = s = 1.
/// let noise_multiplier = (2.0 * 25f64.ln()).sqrt();
/// let event = PrivacyEvent { noise_multiplier, sampling: Sampling::FullBatch, steps: 1 };
/// let spent = AdvancedCompositionAccountant.epsilon(&event, NeighbourRelation::AddRemove, 0.1)?;
/// let expected = (2.0 * 20f64.ln()).sqrt() + 1f64.exp_m1();
/// assert!((spent.upper / expected - 1.0).abs() < 1e-14);
/// # Ok::<(), dpgp_accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdvancedCompositionAccountant;

/// The numbers in the formulas above but for delta.
struct AdvancedCompositionParameters {
    /// `T`.
    steps: f64,
    /// `q`.
    rate: f64,
    sigma: f64,
}

impl AdvancedCompositionParameters {
    fn new(event: &PrivacyEvent, relation: NeighbourRelation) -> Self {
        let sigma = event.noise_multiplier / relation.unit_norm_sum_sensitivity();
        Self { steps: f64::from(event.steps), rate: event.sampling.rate(), sigma }
    }

    fn epsilon_per_step(&self, delta: f64) -> f64 {
        let delta = 0.5 * delta / (self.steps * self.rate);
        (2.0 * (1.25 / delta.min(1.0)).ln()).sqrt() / self.sigma
    }

    fn total_epsilon(&self, delta: f64, epsilon_per_step: f64) -> f64 {
        // ln_1p and expm1 keep the digits of small rates, at which s is about q epsilon_iter.
        let s = (self.rate * epsilon_per_step.exp_m1()).ln_1p();
        (2.0 * self.steps * (2.0 / delta).ln()).sqrt() * s + self.steps * s * s.exp_m1()
    }

    fn epsilon(&self, delta: f64) -> f64 {
        self.total_epsilon(delta, self.epsilon_per_step(delta))
    }

    /// The epsilon falls as delta grows, so the least delta is a root along `ln delta`; 1 if there is none.
    fn delta(&self, epsilon: f64) -> Result<f64, AccountingError> {
        let excess = |log_delta: f64| Ok(self.epsilon(log_delta.exp()) - epsilon);
        let search = BracketSearchRange { start: -10.0, stride: 5.0, least: -700.0, greatest: 0.0 };
        Ok(match Bracket::search(excess, search)? {
            Some(bracket) => bracket.narrow(excess, 1e-13)?.high.x.exp(),
            None if excess(0.0)? > 0.0 => 1.0,
            None => (-700f64).exp(),
        })
    }

    fn caveats(&self, event: &PrivacyEvent, relation: NeighbourRelation, delta: f64) -> Vec<AccountingCaveat> {
        let mut caveats = Vec::new();
        let per_step = self.epsilon_per_step(delta);
        if per_step >= 1.0 {
            caveats.push(AccountingCaveat::EpsilonPerStep { per_step, limit: self.total_epsilon(delta, 1.0) });
        }
        match (event.sampling, relation) {
            (Sampling::FullBatch | Sampling::Poisson { .. }, _) => {}
            (Sampling::WithoutReplacement { .. }, NeighbourRelation::ReplaceOne) => {}
            (sampling, _) => caveats.push(AccountingCaveat::UnprovedAmplification(sampling, relation)),
        }
        caveats
    }
}

impl Accountant for AdvancedCompositionAccountant {
    fn name(&self) -> &'static str {
        "advanced composition"
    }

    fn bound_missing_parameter(
        &self,
        event: &PrivacyEvent,
        relation: NeighbourRelation,
        given: GivenEpsilonOrDelta,
    ) -> Result<EpsilonOrDeltaBounds, AccountingError> {
        let composition = AdvancedCompositionParameters::new(event, relation);
        let (upper, delta) = match given {
            GivenEpsilonOrDelta::Delta(delta) => (composition.epsilon(delta), delta),
            GivenEpsilonOrDelta::Epsilon(epsilon) => {
                let delta = composition.delta(epsilon)?;
                (delta, delta)
            }
        };
        Ok(EpsilonOrDeltaBounds {
            caveats: composition.caveats(event, relation, delta),
            ..EpsilonOrDeltaBounds::from_upper_bound(upper)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in the example above: one full step at `delta' = 0.05` with `epsilon_iter = 1`.
    fn one_step(sampling: Sampling) -> PrivacyEvent {
        PrivacyEvent { noise_multiplier: (2.0 * 25f64.ln()).sqrt(), sampling, steps: 1 }
    }

    /// Privacy loss on added records.
    fn spent(given: GivenEpsilonOrDelta) -> EpsilonOrDeltaBounds {
        AdvancedCompositionAccountant
            .bound_missing_parameter(&one_step(Sampling::FullBatch), NeighbourRelation::AddRemove, given)
            .unwrap()
    }

    #[test]
    fn delta_is_found_from_epsilon() {
        let epsilon = (2.0 * 20f64.ln()).sqrt() + 1f64.exp_m1();
        let delta = spent(GivenEpsilonOrDelta::Epsilon(epsilon)).upper;
        assert!((delta / 0.1 - 1.0).abs() < 1e-9, "{delta}");
        // At delta = 1 the step has sqrt(2 ln 2.5) / sigma = .534, and the total is 1.004: no delta is enough for less.
        assert_eq!(spent(GivenEpsilonOrDelta::Epsilon(0.1)).upper, 1.0);
    }

    /// The limit is the total of a step with epsilon 1, which this one has at delta = 0.1; a larger delta has less.
    #[test]
    fn a_step_of_one_or_more_is_not_proved() {
        assert_eq!(spent(GivenEpsilonOrDelta::Delta(0.101)).caveats, []);
        let caveats = spent(GivenEpsilonOrDelta::Delta(0.05)).caveats;
        let [AccountingCaveat::EpsilonPerStep { per_step, limit }] = caveats[..] else {
            panic!("one caveat: {caveats:?}");
        };
        assert!((per_step - (50f64.ln() / 25f64.ln()).sqrt()).abs() < 1e-14);
        assert!((limit - ((2.0 * 40f64.ln()).sqrt() + 1f64.exp_m1())).abs() < 1e-14);
    }

    #[test]
    fn amplification_is_proved_of_some_schemes() {
        let (rate, replaced, added) = (0.1, NeighbourRelation::ReplaceOne, NeighbourRelation::AddRemove);
        for (sampling, relation, proved) in [
            (Sampling::FullBatch, added, true),
            (Sampling::Poisson { rate }, added, true),
            (Sampling::Poisson { rate }, replaced, true),
            (Sampling::WithoutReplacement { rate }, replaced, true),
            (Sampling::WithoutReplacement { rate }, added, false),
            (Sampling::WithReplacement { rate }, replaced, false),
        ] {
            let event = PrivacyEvent { noise_multiplier: 100.0, sampling, steps: 1 };
            let caveats = AdvancedCompositionAccountant
                .bound_missing_parameter(&event, relation, GivenEpsilonOrDelta::Delta(0.01))
                .unwrap()
                .caveats;
            let expected = [AccountingCaveat::UnprovedAmplification(sampling, relation)];
            assert_eq!(caveats, expected[usize::from(proved)..], "{sampling:?} {relation:?}");
        }
    }

    /// A hundred steps on a tenth: `delta_iter = 0.05 / 10`, and `s = ln(1 + (e^1 - 1) / 10)` for the noise at which a step has 1.
    #[test]
    fn samples_share_delta_and_shrink_epsilon() {
        let noise_multiplier = (2.0 * 250f64.ln()).sqrt();
        let event = PrivacyEvent { noise_multiplier, sampling: Sampling::Poisson { rate: 0.1 }, steps: 100 };
        let found = AdvancedCompositionAccountant
            .bound_missing_parameter(&event, NeighbourRelation::AddRemove, GivenEpsilonOrDelta::Delta(0.1))
            .unwrap()
            .upper;
        let s = (1.0 + 0.1 * 1f64.exp_m1()).ln();
        let expected = (200.0 * 20f64.ln()).sqrt() * s + 100.0 * s * s.exp_m1();
        assert!((found / expected - 1.0).abs() < 1e-13, "{found} {expected}");
        // Far above all epsilons the least delta is that of the search.
        let least = AdvancedCompositionAccountant
            .bound_missing_parameter(&event, NeighbourRelation::AddRemove, GivenEpsilonOrDelta::Epsilon(1e9))
            .unwrap()
            .upper;
        assert!(least > 0.0 && least < 1e-300, "{least:e}");
    }
}
