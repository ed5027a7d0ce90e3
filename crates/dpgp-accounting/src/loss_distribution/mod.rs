//! The privacy loss distribution of Poisson-sampled Gaussian noise.

#[cfg(test)]
mod checks;
mod composed;
mod discrete;
mod loss_sum;
mod pair;
mod refine;

use super::{Accountant, AccountingError, GivenParameter, GuaranteeBounds, NeighbourRelation, PrivacyEvent};
use pair::DominatingPair;
use refine::BoundRefinement;
use refine::Enclosure;

/// The accountant of privacy loss distributions, for full batches and Poisson sampling with either neighbours.
///
/// One step is judged by a pair of mixtures that dominates it and is attained (two pairs for add-remove neighbours,
/// of which the worse counts), so both bounds are on the mechanism itself. The losses of the pair are put on a
/// grid once from above and once from below, and the steps are summed by a Fourier transform; cut tails, folding
/// and rounding are bounded and added. Assumed are floating-point arithmetic after IEEE 754, and an `erfc`, `exp`
/// and `ln` good to 4 units in the last place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossDistributionAccountant {
    /// The grid is refined until the bounds on epsilon are this close, relative to the upper one, or until it would
    /// have too many points; both bounds hold anyway.
    pub tolerance: f64,
}

impl Default for LossDistributionAccountant {
    fn default() -> Self {
        Self { tolerance: 1e-3 }
    }
}

impl Accountant for LossDistributionAccountant {
    fn name(&self) -> &'static str {
        "privacy loss distribution"
    }

    fn bound_missing_parameter(
        &self,
        event: &PrivacyEvent,
        relation: NeighbourRelation,
        given: GivenParameter,
    ) -> Result<GuaranteeBounds, AccountingError> {
        let Some(pairs) = DominatingPair::pairs_of_event(event, relation) else {
            return Err(self.refusal(
                event,
                relation,
                "no pair of distributions is known that dominates one step and composes",
                "full batches and Poisson sampling",
            ));
        };
        let mut worse = Enclosure { lower: 0.0, upper: 0.0 };
        for pair in pairs {
            // A pair whose upper bound is below the lower bound of another one need not be known better.
            let refinement = BoundRefinement { tolerance: self.tolerance, enough: worse.lower };
            worse = worse.enclose_maximum(refinement.enclose(&pair, event.steps, given));
        }
        Ok(GuaranteeBounds { lower: worse.lower, ..GuaranteeBounds::at_most(worse.upper) })
    }
}
