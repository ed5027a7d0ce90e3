//! Sets that were chosen on some outputs, and judged on others.

use super::candidates::candidates;
use super::goal::Goal;
use super::half_line::{HalfLine, Promise, best};
use super::lower_bounds::LowerBounds;
use super::outputs::Outputs;
use crate::binomial::Trials;
use dpgp_accounting::Guarantee;

/// The sets that were chosen for epsilon and for delta, and what has been observed of them since.
#[derive(Debug, Clone)]
pub struct Contests {
    epsilon: Contest,
    delta: Contest,
}

impl Contests {
    /// Chooses sets: scores are learned on the first halves of the outputs, sets on the rest.
    pub fn learned(outputs: [&Outputs; 2], claim: Guarantee) -> Self {
        let goals = [Goal::Epsilon { delta: claim.delta }, Goal::Delta { epsilon: claim.epsilon }];
        let [one, other] = outputs.map(Outputs::halves);
        let mut chosen: [Option<Promise>; 2] = [None, None];
        for score in candidates([&one[0], &other[0]]) {
            for (old, new) in chosen.iter_mut().zip(best(&score, [&one[1], &other[1]], goals)) {
                let better = new.as_ref().map(|new| new.value) > old.as_ref().map(|old| old.value);
                if better {
                    *old = new;
                }
            }
        }
        let [epsilon, delta] = chosen;
        Self { epsilon: Contest::new(goals[0], epsilon), delta: Contest::new(goals[1], delta) }
    }

    /// Counts outputs that had no part in the choice.
    pub fn observe(&mut self, outputs: [&Outputs; 2]) {
        self.epsilon.observe(outputs);
        self.delta.observe(outputs);
    }

    /// What has been observed proves, with this error for all together.
    pub fn bounds(&self, error: f64) -> LowerBounds {
        let set = self.epsilon.set.as_ref().map_or_else(String::new, HalfLine::text);
        LowerBounds { epsilon: self.epsilon.proved(error / 4.0), delta: self.delta.proved(error / 4.0), set }
    }
}

/// One set, and how many outputs of each input lay in it.
#[derive(Debug, Clone)]
struct Contest {
    goal: Goal,
    set: Option<HalfLine>,
    counts: [Trials; 2],
}

impl Contest {
    fn new(goal: Goal, promise: Option<Promise>) -> Self {
        let none = Trials { successes: 0, trials: 0 };
        Self { goal, set: promise.map(|promise| promise.set), counts: [none; 2] }
    }

    fn observe(&mut self, outputs: [&Outputs; 2]) {
        let Some(set) = &self.set else { return };
        for (count, outputs) in self.counts.iter_mut().zip(outputs) {
            *count = count.with(set.count(outputs));
        }
    }

    /// The bound, at least zero, with this error for the probability under either input.
    fn proved(&self, error: f64) -> f64 {
        let Some(set) = &self.set else { return 0.0 };
        let [one, other] = self.counts;
        let [likely, rare] = if set.swapped { [other, one] } else { [one, other] };
        self.goal.proved(likely.at_least(error), rare.at_most(error)).max(0.0)
    }
}
