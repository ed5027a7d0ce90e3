//! The sets of outputs that are tried: those whose score lies on one side of a threshold.

use crate::digits::short;
use std::cmp::Ordering;
use std::sync::Arc;

use super::goal::{Goal, Share};
use super::outputs::Outputs;
use super::score::Score;
use crate::binomial::Trials;

/// Thresholds that are tried at most, at about equal shares of the outputs.
const THRESHOLDS: usize = 2048;

/// Outputs whose score is at least a threshold, or less.
#[derive(Debug, Clone)]
pub(super) struct HalfLine {
    score: Arc<dyn Score>,
    threshold: f64,
    above: bool,
    /// Whether it is likelier under the second input.
    pub swapped: bool,
}

impl HalfLine {
    /// How many outputs lie in it.
    pub fn count(&self, outputs: &Outputs) -> Trials {
        let inside = outputs.rows().filter(|row| self.holds(row)).count();
        Trials { successes: inside as u32, trials: outputs.len() as u32 }
    }

    fn holds(&self, output: &[f64]) -> bool {
        (self.score.of(output).total_cmp(&self.threshold) != Ordering::Less) == self.above
    }

    /// The set in words.
    pub fn text(&self) -> String {
        let side = if self.above { ">=" } else { "<" };
        format!("{} {side} {}", self.score.name(), short(self.threshold))
    }
}

/// A half-line, and what it promises.
#[derive(Debug, Clone)]
pub(super) struct Promise {
    pub set: HalfLine,
    pub value: f64,
}

/// The half-line of a score that promises most for each goal; none without outputs.
pub(super) fn best(score: &Arc<dyn Score>, outputs: [&Outputs; 2], goals: [Goal; 2]) -> [Option<Promise>; 2] {
    let (scored, of) = (scored(score.as_ref(), outputs), outputs.map(Outputs::len));
    let mut best = [None, None];
    if of.contains(&0) {
        return best;
    }
    let (mut below, mut next, step) = ([0, 0], 0, scored.len() / THRESHOLDS);
    for (place, one) in scored.iter().enumerate() {
        let begins = place == 0 || scored[place - 1].score.total_cmp(&one.score) == Ordering::Less;
        if begins && place >= next {
            next = place + step;
            let cut = Threshold { at: one.score, below, of };
            goals.iter().zip(&mut best).for_each(|(goal, best)| cut.improve(score, *goal, best));
        }
        below[usize::from(one.second)] += 1;
    }
    best
}

/// The score of an output, and which input it came from.
struct Scored {
    score: f64,
    second: bool,
}

/// The scores of all outputs, in the order of scores.
fn scored(score: &dyn Score, outputs: [&Outputs; 2]) -> Vec<Scored> {
    let mut scored = Vec::with_capacity(outputs[0].len() + outputs[1].len());
    for (outputs, second) in outputs.into_iter().zip([false, true]) {
        scored.extend(outputs.rows().map(|row| Scored { score: score.of(row), second }));
    }
    scored.sort_unstable_by(|a, b| a.score.total_cmp(&b.score));
    scored
}

/// A threshold, and how many outputs of each input lie below it.
struct Threshold {
    at: f64,
    below: [usize; 2],
    of: [usize; 2],
}

impl Threshold {
    /// Puts one of the four half-lines of this threshold in place of one that promises less.
    fn improve(&self, score: &Arc<dyn Score>, goal: Goal, best: &mut Option<Promise>) {
        for above in [false, true] {
            let shares = self.shares(above);
            for swapped in [false, true] {
                let [one, other] = if swapped { [shares[1], shares[0]] } else { shares };
                let value = goal.promised(one, other);
                if best.as_ref().is_none_or(|best| value > best.value) {
                    let (score, threshold) = (Arc::clone(score), self.at);
                    *best = Some(Promise { set: HalfLine { score, threshold, above, swapped }, value });
                }
            }
        }
    }

    /// The shares of the outputs of each input that lie on one side.
    fn shares(&self, above: bool) -> [Share; 2] {
        [0, 1].map(|side| {
            let (below, of) = (self.below[side], self.of[side]);
            Share { part: if above { of - below } else { below }, of }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::column::ColumnScore;
    use super::*;

    fn epsilon(one: Vec<f64>, other: Vec<f64>) -> Promise {
        let score: Arc<dyn Score> = Arc::new(ColumnScore { at: 0 });
        let goals = [Goal::Epsilon { delta: 0.0 }, Goal::Delta { epsilon: 0.0 }];
        let [best, _] = best(&score, [&Outputs::new(1, one), &Outputs::new(1, other)], goals);
        best.unwrap()
    }

    /// 1000 outputs each, of which 900 and 100 are 5.
    #[test]
    fn the_half_line_between_two_values_is_found() {
        let [many, few] =
            [[vec![5.0; 900], vec![1.0; 100]], [vec![5.0; 100], vec![1.0; 900]]].map(|v| v.concat());
        let found = epsilon(many.clone(), few.clone());
        assert!(found.value > 1.5 && found.value < 9f64.ln(), "{found:?}");
        let count = found.set.count(&Outputs::new(1, few));
        assert!(found.set.swapped || count == Trials { successes: 100, trials: 1000 }, "{found:?}");
    }

    /// What is no number lies beyond all numbers and is a value like another.
    #[test]
    fn values_that_are_no_number_are_found() {
        let found = epsilon(vec![0.0; 500], vec![f64::NAN; 500]);
        assert!(found.value > 2.0, "{found:?}");
    }
}
