//! The interface of accountants, their names, answers and errors, and those that record an assumption that is not proved.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{
    AdvancedCompositionAccountant, ExactGaussianAccountant, LossDistributionAccountant, NeighbourRelation,
    PrivacyEvent, RenyiAccountant, Sampling, gaussian_delta_upper_bound, gaussian_epsilon_at_mu,
};

/// A reason why a bound is weaker than it looks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum AccountingCaveat {
    /// The classic theorem on Gaussian noise needs `epsilon < 1` in each step.
    EpsilonPerStep {
        /// The epsilon of each step.
        per_step: f64,
        /// The total epsilon from which on a step has 1 or more.
        limit: f64,
    },
    /// Amplification by sampling is not proved for this scheme and these neighbours.
    UnprovedAmplification(Sampling, NeighbourRelation),
    /// Accounted for as if each record were sampled independently.
    TreatedAsPoisson(Sampling),
    /// A replaced record is accounted for as an added record of twice the size. This bounds each step, but is not
    /// proved to be a bound under composition.
    DoubledSensitivity,
}

impl fmt::Display for AccountingCaveat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EpsilonPerStep { per_step, limit } => write!(
                f,
                "epsilon {per_step:.3} per step is outside the proof of the classic calibration (total epsilon \
                 above {limit:.3})"
            ),
            Self::UnprovedAmplification(sampling, relation) => {
                write!(f, "amplification is not proved for {sampling} and {relation}")
            }
            Self::TreatedAsPoisson(sampling) => write!(f, "{sampling} is treated as Poisson sampling"),
            Self::DoubledSensitivity => f.write_str(
                "a replaced record is treated as a record of twice the size, but no proof covers this under composition",
            ),
        }
    }
}

/// An enclosure of an epsilon or a delta.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EpsilonOrDeltaBounds {
    /// A lower bound on the true value, or zero if none is known.
    pub lower: f64,
    /// An upper bound on the true value, subject to the caveats.
    pub upper: f64,
    /// Caveats of the bounds.
    pub caveats: Vec<AccountingCaveat>,
}

impl EpsilonOrDeltaBounds {
    /// A bound from above alone.
    pub(super) fn from_upper_bound(upper: f64) -> Self {
        Self { lower: 0.0, upper, caveats: Vec::new() }
    }

    /// With one more caveat.
    fn with_caveat(mut self, caveat: AccountingCaveat) -> Self {
        self.caveats.push(caveat);
        self
    }
}

/// The number of a guarantee that is given; the other one is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GivenEpsilonOrDelta {
    /// Epsilon is asked for.
    Delta(f64),
    /// Delta is asked for.
    Epsilon(f64),
}

/// Bounds the epsilon or delta of events, and refuses events that the accountant's proof does not cover.
pub trait Accountant {
    /// The name that messages use.
    fn name(&self) -> &'static str;

    /// Bounds on the number that is not given, for an event and a number that are in range.
    ///
    /// # Errors
    /// [`AccountingError::Refused`] where its proof does not cover the event.
    fn bound_missing_parameter(
        &self,
        event: &PrivacyEvent,
        relation: NeighbourRelation,
        given: GivenEpsilonOrDelta,
    ) -> Result<EpsilonOrDeltaBounds, AccountingError>;

    /// The least epsilon at which the event is (epsilon, `delta`)-differentially private.
    ///
    /// # Errors
    /// [`AccountingError`] if the event is refused or a number is out of range.
    fn epsilon(
        &self,
        event: &PrivacyEvent,
        relation: NeighbourRelation,
        delta: f64,
    ) -> Result<EpsilonOrDeltaBounds, AccountingError> {
        event.check()?;
        if !(delta > 0.0 && delta < 1.0) {
            return Err(AccountingError::out_of_range("delta", "between 0 and 1", delta));
        }
        self.bound_missing_parameter(event, relation, GivenEpsilonOrDelta::Delta(delta))
    }

    /// The least delta at which the event is (`epsilon`, delta)-differentially private.
    ///
    /// # Errors
    /// [`AccountingError`] if the event is refused or a number is out of range.
    fn delta(
        &self,
        event: &PrivacyEvent,
        relation: NeighbourRelation,
        epsilon: f64,
    ) -> Result<EpsilonOrDeltaBounds, AccountingError> {
        event.check()?;
        if !(epsilon >= 0.0 && epsilon.is_finite()) {
            return Err(AccountingError::out_of_range("epsilon", "finite and not negative", epsilon));
        }
        self.bound_missing_parameter(event, relation, GivenEpsilonOrDelta::Epsilon(epsilon))
    }

    /// The refusal of an event: why its proof does not cover it, and the events that it accepts.
    fn refusal(
        &self,
        event: &PrivacyEvent,
        relation: NeighbourRelation,
        why: &'static str,
        accepted: &'static str,
    ) -> AccountingError {
        let (accountant, sampling) = (self.name(), event.sampling);
        AccountingError::Refused { accountant, sampling, relation, why, accepted }
    }
}

/// An epsilon and a delta of which one was given and the other computed, as an upper bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComputedGuarantee {
    /// Epsilon.
    pub epsilon: f64,
    /// Delta.
    pub delta: f64,
    /// A lower bound on the computed number; none if the number is exact up to rounding.
    pub at_least: Option<f64>,
}

impl ComputedGuarantee {
    /// The guarantee of Gaussian releases whose squared mu add up to `mu^2`.
    ///
    /// ```
    /// use dpgp_accounting::{ComputedGuarantee, GivenEpsilonOrDelta, composed_mu, gaussian_delta};
    /// let mu = composed_mu([0.3, 0.4, 0.5]);
    /// let found = ComputedGuarantee::from_mu(mu, GivenEpsilonOrDelta::Delta(1e-6));
    /// assert!((gaussian_delta(1.0 / mu, found.epsilon) / 1e-6 - 1.0).abs() < 1e-9);
    /// ```
    pub fn from_mu(mu: f64, given: GivenEpsilonOrDelta) -> Self {
        let (epsilon, delta) = match given {
            GivenEpsilonOrDelta::Delta(delta) => (gaussian_epsilon_at_mu(mu, delta), delta),
            GivenEpsilonOrDelta::Epsilon(epsilon) => (epsilon, gaussian_delta_upper_bound(1.0 / mu, epsilon)),
        };
        Self { epsilon, delta, at_least: None }
    }

    /// The guarantee of steps of the Gaussian mechanism: exact up to rounding for full batches, by loss distributions for samples.
    ///
    /// # Errors
    /// [`AccountingError`] if the event is refused or a number is out of range.
    pub fn from_steps(
        event: &PrivacyEvent,
        relation: NeighbourRelation,
        given: GivenEpsilonOrDelta,
    ) -> Result<Self, AccountingError> {
        let exact = event.sampling.rate_one_as_full_batch() == Sampling::FullBatch;
        let accountant: Box<dyn Accountant> =
            if exact { Box::new(ExactGaussianAccountant) } else { Box::new(LossDistributionAccountant::default()) };
        let (least, found) = match given {
            GivenEpsilonOrDelta::Delta(delta) => {
                let bounds = accountant.epsilon(event, relation, delta)?;
                (bounds.lower, Self { epsilon: bounds.upper, delta, at_least: None })
            }
            GivenEpsilonOrDelta::Epsilon(epsilon) => {
                let bounds = accountant.delta(event, relation, epsilon)?;
                (bounds.lower, Self { epsilon, delta: bounds.upper, at_least: None })
            }
        };
        Ok(Self { at_least: (!exact).then_some(least), ..found })
    }
}

/// The kind of accountant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AccountantKind {
    /// Advanced composition with amplification by subsampling, as Jälkö, Dikmen and Honkela used it in 2016.
    AdvancedComposition,
    /// Renyi differential privacy.
    Renyi,
    /// Privacy loss distributions, with certified bounds.
    LossDistribution,
}

impl AccountantKind {
    /// The accountant.
    pub fn accountant(self) -> Box<dyn Accountant> {
        match self {
            Self::AdvancedComposition => Box::new(AdvancedCompositionAccountant),
            Self::Renyi => Box::new(RenyiAccountant),
            Self::LossDistribution => Box::new(LossDistributionAccountant::default()),
        }
    }
}

impl fmt::Display for AccountantKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AdvancedComposition => "advanced composition",
            Self::Renyi => "Renyi accountant",
            Self::LossDistribution => "loss distributions",
        })
    }
}

/// A question that an accountant does not answer.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum AccountingError {
    /// The accountant's proof does not cover the event.
    #[error("the {accountant} accountant does not cover {sampling} for {relation}: {why}; it accepts {accepted}")]
    Refused {
        /// The accountant that refuses.
        accountant: &'static str,
        /// How the event samples.
        sampling: Sampling,
        /// The neighbours asked for.
        relation: NeighbourRelation,
        /// The missing proof.
        why: &'static str,
        /// The events that it accepts.
        accepted: &'static str,
    },
    /// A number describes no mechanism or guarantee.
    #[error("{what} must be {condition}, not {value:?}")]
    OutOfRange {
        /// The number.
        what: &'static str,
        /// The range that it must lie in.
        condition: &'static str,
        /// Its value.
        value: f64,
    },
    /// No noise multiplier in the range searched gives the guarantee.
    #[error("the noise multiplier for ({epsilon:?}, {delta:?})-DP does not lie between {low:e} and {high:e}")]
    NoMultiplier {
        /// The least tried.
        low: f64,
        /// The greatest tried.
        high: f64,
        /// The target.
        epsilon: f64,
        /// The target.
        delta: f64,
    },
}

impl AccountingError {
    /// The refusal of a number.
    pub(super) fn out_of_range(what: &'static str, condition: &'static str, value: f64) -> Self {
        Self::OutOfRange { what, condition, value }
    }
}

/// Treats batches of fixed size as Poisson samples of the same rate. This is no bound: Lebeda et al. 2024 show
/// parameters where the epsilon of sampling without replacement is ten times that of Poisson sampling.
///
/// ```
/// use dpgp_accounting::{Accountant, AssumedPoissonAccountant, PrivacyEvent, ExactGaussianAccountant, NeighbourRelation, Sampling};
/// let event = PrivacyEvent { noise_multiplier: 2.0, sampling: Sampling::WithReplacement { rate: 1.0 }, steps: 1 };
/// assert!(ExactGaussianAccountant.epsilon(&event, NeighbourRelation::AddRemove, 1e-5).is_err());
/// let assumed = AssumedPoissonAccountant(ExactGaussianAccountant).epsilon(&event, NeighbourRelation::AddRemove, 1e-5)?;
/// // The assumption is written down, and nothing is known from below.
/// assert_eq!((assumed.caveats.len(), assumed.lower), (1, 0.0));
/// # Ok::<(), dpgp_accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AssumedPoissonAccountant<A>(pub A);

impl<A: Accountant> Accountant for AssumedPoissonAccountant<A> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn bound_missing_parameter(
        &self,
        event: &PrivacyEvent,
        relation: NeighbourRelation,
        given: GivenEpsilonOrDelta,
    ) -> Result<EpsilonOrDeltaBounds, AccountingError> {
        match event.sampling {
            Sampling::FullBatch | Sampling::Poisson { .. } => self.0.bound_missing_parameter(event, relation, given),
            Sampling::WithReplacement { rate } | Sampling::WithoutReplacement { rate } => {
                let poisson = PrivacyEvent { sampling: Sampling::Poisson { rate }, ..*event };
                let bound_missing_parameter = self.0.bound_missing_parameter(&poisson, relation, given)?;
                let assumed = AccountingCaveat::TreatedAsPoisson(event.sampling);
                // A lower bound for another scheme says nothing about this one.
                Ok(EpsilonOrDeltaBounds { lower: 0.0, ..bound_missing_parameter }.with_caveat(assumed))
            }
        }
    }
}

/// Treats a replaced record as an added one whose contribution is twice as large.
///
/// For each step alone this is a bound: with `P_0`, `P_a`, `P_b` the releases without the record, with it and with
/// its substitute, `D_{1+q(e-1)}((1-q) P_0 + q P_a || (1-q) P_0 + q P_b) = q D_e(P_a || (1-b) P_0 + b P_b)` is at most
/// `q` times the divergence of Gaussians two apart (Balle, Barthe and Gaboardi 2018, Theorem 2), for orders of at
/// least 1. Orders below 1 belong to the other direction, so composing one direction by itself and taking the
/// larger delta, as is usual, is no proof.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DoubledSensitivityAccountant<A>(pub A);

impl<A: Accountant> Accountant for DoubledSensitivityAccountant<A> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn bound_missing_parameter(
        &self,
        event: &PrivacyEvent,
        relation: NeighbourRelation,
        given: GivenEpsilonOrDelta,
    ) -> Result<EpsilonOrDeltaBounds, AccountingError> {
        // Full batches need no assumption: their accountants know both relations.
        if relation == NeighbourRelation::AddRemove || event.sampling.rate_one_as_full_batch() == Sampling::FullBatch {
            return self.0.bound_missing_parameter(event, relation, given);
        }
        let noise_multiplier = event.noise_multiplier / relation.unit_norm_sum_sensitivity();
        let bound_missing_parameter = self.0.bound_missing_parameter(
            &PrivacyEvent { noise_multiplier, ..*event },
            NeighbourRelation::AddRemove,
            given,
        )?;
        Ok(EpsilonOrDeltaBounds { lower: 0.0, ..bound_missing_parameter }
            .with_caveat(AccountingCaveat::DoubledSensitivity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        AdvancedCompositionAccountant, DoubledSensitivityAccountant, ExactGaussianAccountant,
        LossDistributionAccountant, RenyiAccountant,
    };

    /// No two exceptions are said alike, and each says its numbers.
    #[test]
    fn exceptions_say_what_they_are() {
        let all = [
            AccountingCaveat::EpsilonPerStep { per_step: 1.25, limit: 40.5 },
            AccountingCaveat::UnprovedAmplification(Sampling::FullBatch, NeighbourRelation::ReplaceOne),
            AccountingCaveat::TreatedAsPoisson(Sampling::Poisson { rate: 0.5 }),
            AccountingCaveat::DoubledSensitivity,
        ];
        let mut said = all.map(|caveat| caveat.to_string());
        assert!(said[0].contains("1.250") && said[0].contains("40.5"), "{}", said[0]);
        said.sort();
        assert!(said.iter().all(|words| words.len() > 20) && said.windows(2).all(|two| two[0] != two[1]), "{said:?}");
    }

    #[test]
    fn accountants_have_names_of_their_own() {
        let doubled = DoubledSensitivityAccountant(ExactGaussianAccountant);
        assert_eq!(doubled.name(), ExactGaussianAccountant.name());
        let advanced = AdvancedCompositionAccountant;
        let mut names = [
            ExactGaussianAccountant.name(),
            RenyiAccountant.name(),
            LossDistributionAccountant::default().name(),
            advanced.name(),
        ];
        assert_eq!(names, ["exact Gaussian", "Rényi", "privacy loss distribution", "advanced composition"]);
        names.sort_unstable();
        assert!(names.iter().all(|name| name.len() > 4) && names.windows(2).all(|two| two[0] != two[1]), "{names:?}");
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let event = PrivacyEvent { noise_multiplier: 2.0, sampling: Sampling::FullBatch, steps: 1 };
        for delta in [0.0, -0.5, 1.0, 1.5, f64::NAN] {
            assert!(ExactGaussianAccountant.epsilon(&event, NeighbourRelation::AddRemove, delta).is_err(), "{delta}");
        }
        for epsilon in [-0.5, f64::INFINITY, f64::NAN] {
            assert!(ExactGaussianAccountant.delta(&event, NeighbourRelation::AddRemove, epsilon).is_err(), "{epsilon}");
        }
        assert!(ExactGaussianAccountant.epsilon(&event, NeighbourRelation::AddRemove, 0.999).is_ok());
        assert!(ExactGaussianAccountant.delta(&event, NeighbourRelation::AddRemove, 0.0).is_ok());
    }

    fn event(sampling: Sampling, noise_multiplier: f64) -> PrivacyEvent {
        PrivacyEvent { noise_multiplier, sampling, steps: 3 }
    }

    fn spent(accountant: &dyn Accountant, event: &PrivacyEvent, relation: NeighbourRelation) -> EpsilonOrDeltaBounds {
        accountant.bound_missing_parameter(event, relation, GivenEpsilonOrDelta::Delta(0.1)).unwrap()
    }

    #[test]
    fn samples_of_fixed_size_are_taken_for_poisson_samples() {
        let assumed = AssumedPoissonAccountant(AdvancedCompositionAccountant);
        assert_eq!(assumed.name(), AdvancedCompositionAccountant.name());
        let [poisson, fixed] =
            [Sampling::Poisson { rate: 0.2 }, Sampling::WithReplacement { rate: 0.2 }].map(|of| event(of, 9.0));
        let expected = spent(&AdvancedCompositionAccountant, &poisson, NeighbourRelation::AddRemove);
        assert_eq!(spent(&assumed, &poisson, NeighbourRelation::AddRemove), expected);
        let found = spent(&assumed, &fixed, NeighbourRelation::AddRemove);
        assert_eq!((found.upper, found.lower), (expected.upper, 0.0));
        assert_eq!(found.caveats.last(), Some(&AccountingCaveat::TreatedAsPoisson(fixed.sampling)));
    }

    /// A replaced record is one of noise 4 where an added one has noise 8; full batches and added records are left alone.
    #[test]
    fn replaced_records_are_taken_for_added_ones_twice_as_large() {
        let doubled = DoubledSensitivityAccountant(AdvancedCompositionAccountant);
        assert_eq!(doubled.name(), AdvancedCompositionAccountant.name());
        let sampling = Sampling::Poisson { rate: 0.2 };
        let found = spent(&doubled, &event(sampling, 8.0), NeighbourRelation::ReplaceOne);
        let halved = spent(&AdvancedCompositionAccountant, &event(sampling, 4.0), NeighbourRelation::AddRemove);
        assert_eq!((found.upper, found.lower), (halved.upper, 0.0));
        assert_eq!(found.caveats.last(), Some(&AccountingCaveat::DoubledSensitivity));
        for (sampling, relation) in [
            (sampling, NeighbourRelation::AddRemove),
            (Sampling::FullBatch, NeighbourRelation::ReplaceOne),
            (Sampling::Poisson { rate: 1.0 }, NeighbourRelation::ReplaceOne),
        ] {
            let event = event(sampling, 8.0);
            assert_eq!(spent(&doubled, &event, relation), spent(&AdvancedCompositionAccountant, &event, relation));
        }
    }
}
