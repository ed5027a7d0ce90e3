//! The privacy loss distribution of Poisson-sampled Gaussian noise.

#[cfg(test)]
mod checks;
mod composed;
mod crossing;
mod cumulant;
mod discrete;
mod dominated;
mod edge;
mod fourier;
mod pair;
mod refine;

use super::accountant::refuse;
use super::error::{check_delta, check_epsilon};
use super::{Accountant, AccountingError, Event, Relation, Spent};
use pair::Pair;
use refine::{Target, enclose};

/// The accountant of privacy loss distributions, for full batches and Poisson sampling with either neighbours.
///
/// One step is judged by a pair of mixtures that dominates it and is attained (two pairs for add-remove neighbours,
/// of which the worse counts), so both bounds are on the mechanism itself. The losses of the pair are put on a
/// grid once from above and once from below, and the steps are summed by a Fourier transform; cut tails, folding
/// and rounding are bounded and added. What is assumed: floating-point arithmetic after IEEE 754, and an `erfc`, `exp`
/// and `ln` good to 4 units in the last place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossDistribution {
    /// The grid is refined until the bounds on epsilon are this close, relative to the upper one, or until it would
    /// have too many points; both bounds hold anyway.
    pub tolerance: f64,
}

impl Default for LossDistribution {
    fn default() -> Self {
        Self { tolerance: 1e-3 }
    }
}

impl LossDistribution {
    fn spent(&self, event: &Event, relation: Relation, target: Target) -> Result<Spent, AccountingError> {
        event.check()?;
        let Some(pairs) = Pair::of(event, relation) else {
            let why = "no pair of distributions is known that dominates one step and composes";
            return refuse(self, (event, relation), why, "full batches and Poisson sampling");
        };
        let worse = |(lower, upper): (f64, f64), pair: &Pair| {
            let other = enclose(pair, event.steps, target, (self.tolerance, lower));
            (lower.max(other.0), upper.max(other.1))
        };
        let (lower, upper) = pairs.iter().fold((0.0, 0.0), worse);
        Ok(Spent { lower, ..Spent::at_most(upper) })
    }
}

impl Accountant for LossDistribution {
    fn name(&self) -> &'static str {
        "privacy loss distribution"
    }

    fn epsilon(&self, event: &Event, relation: Relation, delta: f64) -> Result<Spent, AccountingError> {
        check_delta(delta)?;
        self.spent(event, relation, Target::Delta(delta))
    }

    fn delta(&self, event: &Event, relation: Relation, epsilon: f64) -> Result<Spent, AccountingError> {
        check_epsilon(epsilon)?;
        self.spent(event, relation, Target::Epsilon(epsilon))
    }
}
