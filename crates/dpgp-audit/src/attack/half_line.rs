//! Sets of outputs whose score lies on one side of a threshold, and the bounds that they prove.

use std::cmp::Ordering;
use std::sync::Arc;

use super::outputs::{MechanismOutputs, OutputScore};
use crate::binomial::BinomialTrials;
use crate::normal::format_four_significant;

/// Thresholds that are tried at most, at about equal shares of the outputs.
const THRESHOLDS: usize = 2048;

/// Outputs whose score is at least a threshold, or less.
#[derive(Debug, Clone)]
pub(super) struct ThresholdSet {
    score: Arc<dyn OutputScore>,
    threshold: f64,
    above: bool,
    /// Whether it is likelier under the second input.
    pub swapped: bool,
}

impl ThresholdSet {
    /// How many outputs lie in it.
    pub fn count(&self, outputs: &MechanismOutputs) -> BinomialTrials {
        let inside = outputs.rows().filter(|row| self.contains(row)).count();
        BinomialTrials { successes: inside as u32, trials: outputs.len() as u32 }
    }

    fn contains(&self, output: &[f64]) -> bool {
        (self.score.score(output).total_cmp(&self.threshold) != Ordering::Less) == self.above
    }

    /// The set in words.
    pub fn describe_set(&self) -> String {
        let side = if self.above { ">=" } else { "<" };
        format!("{} {side} {}", self.score.name(), format_four_significant(self.threshold))
    }
}

/// A half-line, and what it promises.
#[derive(Debug, Clone)]
pub(super) struct PromisingSet {
    pub set: ThresholdSet,
    pub value: f64,
}

/// The half-line of a score that promises most for each goal; none without outputs.
pub(super) fn best_threshold_sets(
    score: &Arc<dyn OutputScore>,
    outputs: [&MechanismOutputs; 2],
    goals: [BoundGoal; 2],
) -> [Option<PromisingSet>; 2] {
    let (scored, of) = (score_outputs(score.as_ref(), outputs), outputs.map(MechanismOutputs::len));
    let mut best = [None, None];
    if of.contains(&0) {
        return best;
    }
    let (mut below, mut next, step) = ([0, 0], 0, scored.len() / THRESHOLDS);
    for (place, one) in scored.iter().enumerate() {
        let begins = place == 0 || scored[place - 1].score.total_cmp(&one.score) == Ordering::Less;
        if begins && place >= next {
            next = place + step;
            let cut = ThresholdCounts { at: one.score, below, of };
            goals.iter().zip(&mut best).for_each(|(goal, best)| cut.improve_best_set(score, *goal, best));
        }
        below[usize::from(one.second)] += 1;
    }
    best
}

/// The score of an output, and which input it came from.
struct ScoredOutput {
    score: f64,
    second: bool,
}

/// The scores of all outputs, in the order of scores.
fn score_outputs(score: &dyn OutputScore, outputs: [&MechanismOutputs; 2]) -> Vec<ScoredOutput> {
    let mut scored = Vec::with_capacity(outputs[0].len() + outputs[1].len());
    for (outputs, second) in outputs.into_iter().zip([false, true]) {
        scored.extend(outputs.rows().map(|row| ScoredOutput { score: score.score(row), second }));
    }
    scored.sort_unstable_by(|a, b| a.score.total_cmp(&b.score));
    scored
}

/// A threshold, and how many outputs of each input lie below it.
struct ThresholdCounts {
    at: f64,
    below: [usize; 2],
    of: [usize; 2],
}

impl ThresholdCounts {
    /// Puts one of the four half-lines of this threshold in place of one that promises less.
    fn improve_best_set(&self, score: &Arc<dyn OutputScore>, goal: BoundGoal, best: &mut Option<PromisingSet>) {
        for above in [false, true] {
            let shares = self.output_shares(above);
            for swapped in [false, true] {
                let [one, other] = if swapped { [shares[1], shares[0]] } else { shares };
                let value = goal.expected_bound(one, other);
                if best.as_ref().is_none_or(|best| value > best.value) {
                    let (score, threshold) = (Arc::clone(score), self.at);
                    *best = Some(PromisingSet { set: ThresholdSet { score, threshold, above, swapped }, value });
                }
            }
        }
    }

    /// The shares of the outputs of each input that lie on one side.
    fn output_shares(&self, above: bool) -> [OutputShare; 2] {
        [0, 1].map(|side| {
            let (below, of) = (self.below[side], self.of[side]);
            OutputShare { part: if above { of - below } else { below }, of }
        })
    }
}

/// The number in a column.
#[derive(Debug)]
pub(super) struct ColumnScore {
    pub at: usize,
}

impl OutputScore for ColumnScore {
    fn score(&self, output: &[f64]) -> f64 {
        output[self.at]
    }

    fn name(&self) -> String {
        format!("column {}", self.at + 1)
    }
}

/// The number in a column less that in another one.
#[derive(Debug)]
pub(super) struct ColumnDifferenceScore {
    pub at: usize,
    pub from: usize,
}

impl OutputScore for ColumnDifferenceScore {
    fn score(&self, output: &[f64]) -> f64 {
        output[self.at] - output[self.from]
    }

    fn name(&self) -> String {
        format!("column {} minus column {}", self.at + 1, self.from + 1)
    }
}

/// Columns up to which all pairs of them are tried; of more, neighbours alone.
const ALL_PAIRS: usize = 6;

/// The pairs of columns whose difference is tried.
pub(super) fn column_differences(width: usize) -> Vec<ColumnDifferenceScore> {
    let mut gaps = Vec::new();
    for at in 1..width {
        let first = if width <= ALL_PAIRS { 0 } else { at - 1 };
        gaps.extend((first..at).map(|from| ColumnDifferenceScore { at, from }));
    }
    gaps
}

/// A bound that is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum BoundGoal {
    /// The greatest epsilon, at this delta.
    Epsilon { delta: f64 },
    /// The greatest delta, at this epsilon.
    Delta { epsilon: f64 },
}

impl BoundGoal {
    /// Bounds from a set that has at least the probability `p` under one input and at most `q` under the other.
    ///
    /// Obligation: an (epsilon, delta)-private mechanism has `p <= e^epsilon q + delta` for every set under neighbours; so
    /// `epsilon >= ln((p - delta) / q)` and `delta >= p - e^epsilon q`.
    pub fn bound_from_probabilities(self, p: f64, q: f64) -> f64 {
        match self {
            Self::Epsilon { delta } if p > delta => ((p - delta) / q).ln(),
            Self::Epsilon { .. } => f64::NEG_INFINITY,
            Self::Delta { epsilon } => p - epsilon.exp() * q,
        }
    }

    /// About what shares of outputs will prove: it chooses well enough, and proves nothing.
    pub fn expected_bound(self, one: OutputShare, other: OutputShare) -> f64 {
        self.bound_from_probabilities(one.wilson_bound(-CAUTION), other.wilson_bound(CAUTION))
    }
}

/// Standard deviations by which a share is distrusted where a set is chosen among many: about as far as bounds of high
/// confidence on a few times as many outputs lie off, so that the set chosen has the best bound, not the luckiest ratio.
const CAUTION: f64 = 2.4;

/// A count of outputs and their total number.
#[derive(Debug, Clone, Copy)]
pub(super) struct OutputShare {
    pub part: usize,
    pub of: usize,
}

impl OutputShare {
    /// The end of the interval of Wilson 1927 that lies so many standard deviations off.
    fn wilson_bound(self, deviations: f64) -> f64 {
        let (n, square) = (self.of as f64, deviations * deviations);
        let share = self.part as f64 / n;
        let spread = (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
        (share + square / (2.0 * n) + deviations * spread) / (1.0 + square / n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epsilon(one: Vec<f64>, other: Vec<f64>) -> PromisingSet {
        let score: Arc<dyn OutputScore> = Arc::new(ColumnScore { at: 0 });
        let goals = [BoundGoal::Epsilon { delta: 0.0 }, BoundGoal::Delta { epsilon: 0.0 }];
        let [best, _] =
            best_threshold_sets(&score, [&MechanismOutputs::new(1, one), &MechanismOutputs::new(1, other)], goals);
        best.unwrap()
    }

    /// 1000 outputs each, of which 900 and 100 are 5.
    #[test]
    fn the_half_line_between_two_values_is_found() {
        let [many, few] = [[vec![5.0; 900], vec![1.0; 100]], [vec![5.0; 100], vec![1.0; 900]]].map(|v| v.concat());
        let found = epsilon(many.clone(), few.clone());
        assert!(found.value > 1.5 && found.value < 9f64.ln(), "{found:?}");
        let count = found.set.count(&MechanismOutputs::new(1, few));
        assert!(found.set.swapped || count == BinomialTrials { successes: 100, trials: 1000 }, "{found:?}");
    }

    /// What is no number lies beyond all numbers and is a value like another.
    #[test]
    fn values_that_are_no_number_are_found() {
        let found = epsilon(vec![0.0; 500], vec![f64::NAN; 500]);
        assert!(found.value > 2.0, "{found:?}");
    }

    #[test]
    fn pairs_of_few_and_of_many_columns() {
        assert_eq!([1, 2, 3, 6, 7, 20].map(|width| column_differences(width).len()), [0, 1, 3, 15, 6, 19]);
        assert_eq!(column_differences(2)[0].score(&[1.0, 4.0]), 3.0);
    }

    /// Randomised response at epsilon 1 tells exactly 1, and at epsilon 0 a delta of `p - q`.
    #[test]
    fn randomised_response_is_read_exactly() {
        let (p, q) = (0.731_058_578_630_004_9, 0.268_941_421_369_995_1);
        assert!((BoundGoal::Epsilon { delta: 0.0 }.bound_from_probabilities(p, q) - 1.0).abs() < 1e-12);
        assert!(BoundGoal::Delta { epsilon: 1.0 }.bound_from_probabilities(p, q).abs() < 1e-12);
        assert!((BoundGoal::Delta { epsilon: 0.0 }.bound_from_probabilities(p, q) - (p - q)).abs() < 1e-12);
        assert_eq!(BoundGoal::Epsilon { delta: 0.8 }.bound_from_probabilities(p, q), f64::NEG_INFINITY);
    }

    /// Wilson's interval of 1 in 10 at 1.96 standard deviations, from tables: 0.0179 to 0.4042.
    #[test]
    fn shares_are_distrusted() {
        let share = OutputShare { part: 1, of: 10 };
        assert!((share.wilson_bound(-1.96) - 0.0179).abs() < 1e-4 && (share.wilson_bound(1.96) - 0.4042).abs() < 1e-4);
    }
}
