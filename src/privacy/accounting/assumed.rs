//! Accountants for events that another one refuses, by an assumption that the result records.

use super::{Accountant, AccountingCaveat, AccountingError, Event, Relation, Sampling, Spent};

/// Treats batches of fixed size as Poisson samples of the same rate. This is no bound: Lebeda et al. 2024 show
/// parameters where the epsilon of sampling without replacement is ten times that of Poisson sampling.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AssumePoisson<A>(pub A);

impl<A: Accountant> AssumePoisson<A> {
    fn ask(
        event: &Event,
        answer: impl FnOnce(&Event) -> Result<Spent, AccountingError>,
    ) -> Result<Spent, AccountingError> {
        match event.sampling {
            Sampling::FullBatch | Sampling::Poisson { .. } => answer(event),
            Sampling::WithReplacement { rate } | Sampling::WithoutReplacement { rate } => {
                let spent = answer(&Event { sampling: Sampling::Poisson { rate }, ..*event })?;
                let assumed = AccountingCaveat::TreatedAsPoisson(event.sampling);
                Ok(Spent { lower: 0.0, ..spent }.except(assumed))
            }
        }
    }
}

impl<A: Accountant> Accountant for AssumePoisson<A> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn epsilon(&self, event: &Event, relation: Relation, delta: f64) -> Result<Spent, AccountingError> {
        Self::ask(event, |event| self.0.epsilon(event, relation, delta))
    }

    fn delta(&self, event: &Event, relation: Relation, epsilon: f64) -> Result<Spent, AccountingError> {
        Self::ask(event, |event| self.0.delta(event, relation, epsilon))
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
pub struct DoubledSensitivity<A>(pub A);

impl<A: Accountant> DoubledSensitivity<A> {
    fn ask(
        (event, relation): (&Event, Relation),
        answer: impl FnOnce(&Event, Relation) -> Result<Spent, AccountingError>,
    ) -> Result<Spent, AccountingError> {
        if relation == Relation::AddRemove || event.sampling.simplest() == Sampling::FullBatch {
            return answer(event, relation);
        }
        let noise_multiplier = event.noise_multiplier / relation.sensitivity();
        let spent = answer(&Event { noise_multiplier, ..*event }, Relation::AddRemove)?;
        Ok(Spent { lower: 0.0, ..spent }.except(AccountingCaveat::DoubledSensitivity))
    }
}

impl<A: Accountant> Accountant for DoubledSensitivity<A> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn epsilon(&self, event: &Event, relation: Relation, delta: f64) -> Result<Spent, AccountingError> {
        Self::ask((event, relation), |event, relation| self.0.epsilon(event, relation, delta))
    }

    fn delta(&self, event: &Event, relation: Relation, epsilon: f64) -> Result<Spent, AccountingError> {
        Self::ask((event, relation), |event, relation| self.0.delta(event, relation, epsilon))
    }
}
