//! Accountants that make an unproved assumption for events that another one refuses. The result records the
//! assumption.

use super::{
    Accountant, AccountingCaveat, AccountingError, GivenParameter, GuaranteeBounds, NeighbourRelation, PrivacyEvent,
    Sampling,
};

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
        given: GivenParameter,
    ) -> Result<GuaranteeBounds, AccountingError> {
        match event.sampling {
            Sampling::FullBatch | Sampling::Poisson { .. } => self.0.bound_missing_parameter(event, relation, given),
            Sampling::WithReplacement { rate } | Sampling::WithoutReplacement { rate } => {
                let poisson = PrivacyEvent { sampling: Sampling::Poisson { rate }, ..*event };
                let bound_missing_parameter = self.0.bound_missing_parameter(&poisson, relation, given)?;
                let assumed = AccountingCaveat::TreatedAsPoisson(event.sampling);
                // A lower bound for another scheme says nothing about this one.
                Ok(GuaranteeBounds { lower: 0.0, ..bound_missing_parameter }.with_caveat(assumed))
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
        given: GivenParameter,
    ) -> Result<GuaranteeBounds, AccountingError> {
        // Full batches need no assumption: their accountants know both relations.
        if relation == NeighbourRelation::AddRemove || event.sampling.simplest() == Sampling::FullBatch {
            return self.0.bound_missing_parameter(event, relation, given);
        }
        let noise_multiplier = event.noise_multiplier / relation.sensitivity();
        let bound_missing_parameter = self.0.bound_missing_parameter(
            &PrivacyEvent { noise_multiplier, ..*event },
            NeighbourRelation::AddRemove,
            given,
        )?;
        Ok(GuaranteeBounds { lower: 0.0, ..bound_missing_parameter }.with_caveat(AccountingCaveat::DoubledSensitivity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::AdvancedCompositionAccountant;

    fn event(sampling: Sampling, noise_multiplier: f64) -> PrivacyEvent {
        PrivacyEvent { noise_multiplier, sampling, steps: 3 }
    }

    fn spent(accountant: &dyn Accountant, event: &PrivacyEvent, relation: NeighbourRelation) -> GuaranteeBounds {
        accountant.bound_missing_parameter(event, relation, GivenParameter::Delta(0.1)).unwrap()
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
