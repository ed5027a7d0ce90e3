//! The privacy loss distribution of Poisson-sampled Gaussian noise.

mod composed;
mod discrete;
mod loss_sum;
mod pair;
mod refine;

use super::{Accountant, AccountingError, EpsilonOrDeltaBounds, GivenEpsilonOrDelta, NeighbourRelation, PrivacyEvent};
use pair::DominatingPair;
use refine::{Enclosure, RefinementStoppingRule};

/// The accountant of privacy loss distributions, for full batches and Poisson sampling with either neighbours.
///
/// One step is judged by a pair of mixtures that dominates it and is attained (two pairs for add-remove neighbours,
/// of which the worse counts), so both bounds are on the mechanism itself. The losses of the pair are put on a
/// grid once from above and once from below, and the steps are summed by a Fourier transform; cut tails, folding
/// and rounding are bounded and added. Assumed are floating-point arithmetic after IEEE 754, and an `erfc`, `exp`
/// and `ln` good to 4 units in the last place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LossDistributionAccountant {
    /// The grid is refined until the bounds on epsilon are this close, relative to the upper one, until it would have
    /// too many points, or six times; both bounds hold anyway.
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
        given: GivenEpsilonOrDelta,
    ) -> Result<EpsilonOrDeltaBounds, AccountingError> {
        let Some(pairs) = DominatingPair::pairs_of_event(event, relation) else {
            return Err(self.refusal(
                event,
                relation,
                "no pair of distributions is known that dominates one step and also composes",
                "full batches and Poisson sampling",
            ));
        };
        let mut worse = Enclosure { lower: 0.0, upper: 0.0 };
        for pair in pairs {
            // A pair whose upper bound is below the lower bound of another one need not be known better.
            let refinement = RefinementStoppingRule { tolerance: self.tolerance, enough: worse.lower };
            worse = worse.enclose_maximum(refinement.enclose_missing_parameter(&pair, event.steps, given));
        }
        Ok(EpsilonOrDeltaBounds { lower: worse.lower, ..EpsilonOrDeltaBounds::from_upper_bound(worse.upper) })
    }
}

/// Enclosures of one and two steps against quadrature.
#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sampling;

    /// `P(loss > e) - e^e Q(loss > e)`.
    fn one_step(pair: &DominatingPair, epsilon: f64) -> f64 {
        let tail = pair.masses_beyond(pair.point_at_loss(epsilon)).masses_between(&pair.masses_beyond(f64::INFINITY));
        tail.p - epsilon.exp() * tail.q
    }

    /// `E_P one_step(epsilon - loss(x))`, by midpoints.
    fn two_steps(pair: &DominatingPair, epsilon: f64) -> f64 {
        let ends = (0..).map(|i| -10.0 * pair.sd + f64::from(i) * 2e-3);
        let cells = ends.take_while(|low| *low < 1.0 + 10.0 * pair.sd).map(|low| (low, low + 2e-3));
        cells
            .map(|(a, b)| {
                pair.masses_beyond(a).masses_between(&pair.masses_beyond(b)).p
                    * one_step(pair, epsilon - pair.loss(0.5 * (a + b)))
            })
            .sum()
    }

    fn enclose(pair: &DominatingPair, steps: u32, given: GivenEpsilonOrDelta) -> Enclosure {
        RefinementStoppingRule { tolerance: 1e-3, enough: 0.0 }.enclose_missing_parameter(pair, steps, given)
    }

    #[test]
    fn one_and_two_steps_are_enclosed() {
        for relation in [NeighbourRelation::AddRemove, NeighbourRelation::ReplaceOne] {
            for (noise_multiplier, rate, epsilon) in [(1.0, 0.2, 0.8), (0.6, 0.05, 1.5), (2.0, 1.0, 0.3)] {
                let sampling = Sampling::Poisson { rate };
                let event = PrivacyEvent { noise_multiplier, sampling, steps: 1 };
                for pair in DominatingPair::pairs_of_event(&event, relation).unwrap() {
                    for (steps, delta) in [(1, one_step(&pair, epsilon)), (2, two_steps(&pair, epsilon))] {
                        let Enclosure { lower, upper } = enclose(&pair, steps, GivenEpsilonOrDelta::Epsilon(epsilon));
                        let what = format!("{pair:?}, {steps}: {delta} in [{lower}, {upper}]");
                        let close = upper <= 1.006 * lower + 1e-9;
                        assert!(lower <= delta + 1e-9 && delta <= upper + 1e-9 && close, "{what}");
                        if delta > 1e-9 {
                            let found = enclose(&pair, steps, GivenEpsilonOrDelta::Delta(delta));
                            let holds = found.lower <= epsilon + 1e-6 && epsilon - 1e-6 <= found.upper;
                            assert!(holds, "{what}: {found:?}");
                        }
                    }
                }
            }
        }
    }

    /// The pair of a record that is removed: the worse one.
    fn removal(event: &PrivacyEvent) -> DominatingPair {
        DominatingPair::pairs_of_event(event, NeighbourRelation::AddRemove).unwrap()[0]
    }

    /// The epsilon at which one step has this delta, by bisection.
    fn one_step_epsilon(pair: &DominatingPair, delta: f64) -> f64 {
        let (mut low, mut high) = (0.0, 300.0);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if one_step(pair, middle) > delta { low = middle } else { high = middle }
        }
        high
    }

    /// Little noise: losses of a hundred nats, where an error relative to P is a large one of Q. The bounds stay within a hundredth of
    /// the truth, which is that of one step.
    #[test]
    fn bounds_are_close_where_noise_is_small() {
        for (noise_multiplier, rate) in [(0.08, 0.001), (0.1, 0.01), (0.2, 0.1), (0.1, 1.0)] {
            let event = PrivacyEvent { noise_multiplier, sampling: Sampling::Poisson { rate }, steps: 1 };
            let pair = removal(&event);
            let truth = one_step_epsilon(&pair, 1e-5);
            let Enclosure { lower, upper } = enclose(&pair, 1, GivenEpsilonOrDelta::Delta(1e-5));
            let what = format!("{pair:?}: {truth} in [{lower}, {upper}]");
            assert!(lower <= truth && truth <= upper && upper - lower <= 0.01 * truth, "{what}");
            let delta = one_step(&pair, 1.0);
            let Enclosure { lower, upper } = enclose(&pair, 1, GivenEpsilonOrDelta::Epsilon(1.0));
            let what = format!("{pair:?}: {delta} in [{lower}, {upper}]");
            assert!(lower <= delta && delta <= upper && upper <= 1.01 * lower, "{what}");
        }
    }

    /// Ten steps of little noise reach a thousand nats, which a grid for one step does not hold.
    #[test]
    fn a_sum_that_reaches_far_has_a_bound() {
        let event = PrivacyEvent { noise_multiplier: 0.1, sampling: Sampling::Poisson { rate: 0.01 }, steps: 10 };
        let pair = removal(&event);
        // All steps reveal at least what one does, and at most ten times what one does at a tenth of delta.
        let (least, most) = (one_step_epsilon(&pair, 1e-5), 10.0 * one_step_epsilon(&pair, 1e-6));
        let Enclosure { lower, upper } = enclose(&pair, 10, GivenEpsilonOrDelta::Delta(1e-5));
        let what = format!("[{lower}, {upper}] in [{least}, {most}]");
        assert!(least <= upper && upper <= most && lower >= 0.99 * upper, "{what}");
    }

    #[test]
    fn nothing_is_claimed_without_noise() {
        let event = PrivacyEvent { noise_multiplier: 0.01, sampling: Sampling::Poisson { rate: 0.1 }, steps: 3 };
        for pair in DominatingPair::pairs_of_event(&event, NeighbourRelation::AddRemove).unwrap() {
            let epsilon = enclose(&pair, 3, GivenEpsilonOrDelta::Delta(1e-5));
            assert_eq!(epsilon, Enclosure { lower: 0.0, upper: f64::INFINITY });
            assert_eq!(enclose(&pair, 3, GivenEpsilonOrDelta::Epsilon(1.0)), Enclosure { lower: 0.0, upper: 1.0 });
        }
    }
}
