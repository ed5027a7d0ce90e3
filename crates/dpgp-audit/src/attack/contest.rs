//! Chooses sets of outputs on some rows and judges them on others. The scores are tables of words and
//! logistic regressions on curves of all columns.

use std::sync::Arc;

use super::PrivacyLowerBounds;
use super::half_line::{BoundGoal, ColumnScore, PromisingSet, ThresholdSet, best_threshold_sets, column_differences};
use super::outputs::{ColumnBasis, FeatureValue, MechanismOutputs, OutputKey, OutputScore};
use crate::binomial::BinomialTrials;
use dpgp_accounting::Guarantee;

/// The sets that were chosen for epsilon and for delta, and what has been observed of them since.
#[derive(Debug, Clone)]
pub struct DistinguishingSets {
    epsilon: DistinguishingSet,
    delta: DistinguishingSet,
}

impl DistinguishingSets {
    /// Chooses sets: scores are learned on the first halves of the outputs, sets on the rest.
    pub fn from_outputs(outputs: [&MechanismOutputs; 2], claim: Guarantee) -> Self {
        let goals = [BoundGoal::Epsilon { delta: claim.delta }, BoundGoal::Delta { epsilon: claim.epsilon }];
        let [one, other] = outputs.map(MechanismOutputs::halves);
        let mut chosen: [Option<PromisingSet>; 2] = [None, None];
        for score in candidate_scores([&one[0], &other[0]]) {
            for (old, new) in chosen.iter_mut().zip(best_threshold_sets(&score, [&one[1], &other[1]], goals)) {
                let better = new.as_ref().map(|new| new.value) > old.as_ref().map(|old| old.value);
                if better {
                    *old = new;
                }
            }
        }
        let [epsilon, delta] = chosen;
        Self { epsilon: DistinguishingSet::new(goals[0], epsilon), delta: DistinguishingSet::new(goals[1], delta) }
    }

    /// Counts outputs that had no part in the choice.
    pub fn observe(&mut self, outputs: [&MechanismOutputs; 2]) {
        self.epsilon.observe(outputs);
        self.delta.observe(outputs);
    }

    /// Bound that the observations prove, with this error for all together.
    pub fn lower_bounds(&self, error: f64) -> PrivacyLowerBounds {
        let set = self.epsilon.set.as_ref().map_or_else(String::new, ThresholdSet::describe_set);
        PrivacyLowerBounds {
            epsilon: self.epsilon.proved_bound(error / 4.0),
            delta: self.delta.proved_bound(error / 4.0),
            set,
        }
    }
}

/// One set, and how many outputs of each input lay in it.
#[derive(Debug, Clone)]
struct DistinguishingSet {
    goal: BoundGoal,
    set: Option<ThresholdSet>,
    counts: [BinomialTrials; 2],
}

impl DistinguishingSet {
    fn new(goal: BoundGoal, promise: Option<PromisingSet>) -> Self {
        let none = BinomialTrials { successes: 0, trials: 0 };
        Self { goal, set: promise.map(|promise| promise.set), counts: [none; 2] }
    }

    fn observe(&mut self, outputs: [&MechanismOutputs; 2]) {
        let Some(set) = &self.set else { return };
        for (count, outputs) in self.counts.iter_mut().zip(outputs) {
            *count = count.combine_trials(set.count(outputs));
        }
    }

    /// The bound, at least zero, with this error for the probability under either input.
    fn proved_bound(&self, error: f64) -> f64 {
        let Some(set) = &self.set else { return 0.0 };
        let [one, other] = self.counts;
        let [likely, rare] = if set.swapped { [other, one] } else { [one, other] };
        self.goal
            .bound_from_probabilities(likely.lower_confidence_bound(error), rare.upper_confidence_bound(error))
            .max(0.0)
    }
}

/// Pieces of the curve of a column.
const PIECES: usize = 12;
/// Times that all outputs are gone through.
const PASSES: usize = 3;
/// The length of the first steps.
const RATE: f64 = 0.1;

/// The logarithm of the odds that an output came from the first input, as a sum of a curve of each column. It is the true
/// one where columns are independent, as with noise on each number.
#[derive(Debug)]
pub(super) struct AdditiveScore {
    curves: OutputFeatureMap,
    weights: Vec<f64>,
}

impl AdditiveScore {
    /// The regression of these outputs.
    pub fn from_outputs(outputs: [&MechanismOutputs; 2]) -> Self {
        let curves = OutputFeatureMap::from_outputs(outputs, PIECES);
        let mut descent = GradientDescent::new(curves.weights);
        for pass in 0..PASSES {
            // The outputs of the two inputs take turns, so that the odds are even on the way.
            for (one, other) in outputs[0].rows().zip(outputs[1].rows()) {
                descent.step(&curves, one, 1.0);
                descent.step(&curves, other, 0.0);
                descent.average_weights(pass + 1 == PASSES);
            }
        }
        Self { curves, weights: descent.mean }
    }
}

impl OutputScore for AdditiveScore {
    fn score(&self, output: &[f64]) -> f64 {
        self.curves.features(output).map(|feature| self.weights[feature.at] * feature.value).sum()
    }

    fn name(&self) -> String {
        "regression".to_owned()
    }
}

/// Stochastic gradient descent with a rate for each weight (AdaGrad), and the mean of the weights of the last pass.
struct GradientDescent {
    weights: Vec<f64>,
    /// Sums of squared gradients, from 1 on.
    squares: Vec<f64>,
    mean: Vec<f64>,
    /// Steps that are in the mean.
    averaged: f64,
    /// Steps of the last pass.
    steps: usize,
    /// Features of the output of a step.
    features: Vec<FeatureValue>,
}

/// Steps between two that count for the mean.
const STRIDE: usize = 64;

impl GradientDescent {
    fn new(weights: usize) -> Self {
        let zeros = vec![0.0; weights];
        Self {
            weights: zeros.clone(),
            squares: vec![1.0; weights],
            mean: zeros,
            averaged: 0.0,
            steps: 0,
            features: Vec::new(),
        }
    }

    /// One output, whose label is 1 if it came from the first input.
    fn step(&mut self, curves: &OutputFeatureMap, output: &[f64], label: f64) {
        self.features.clear();
        self.features.extend(curves.features(output).filter(|feature| feature.value > 0.0));
        let odds: f64 = self.features.iter().map(|feature| self.weights[feature.at] * feature.value).sum();
        let error = 1.0 / (1.0 + (-odds).exp()) - label;
        for feature in &self.features {
            let gradient = error * feature.value;
            self.squares[feature.at] += gradient * gradient;
            self.weights[feature.at] -= RATE * gradient / self.squares[feature.at].sqrt();
        }
    }

    /// Takes the weights into the mean now and then.
    fn average_weights(&mut self, last: bool) {
        if !last {
            return;
        }
        if self.steps.is_multiple_of(STRIDE) {
            self.averaged += 1.0;
            for (mean, weight) in self.mean.iter_mut().zip(&self.weights) {
                *mean += (weight - *mean) / self.averaged;
            }
        }
        self.steps += 1;
    }
}

/// Pieces of the size of a number beside the place of its last bit.
const SIZES: usize = 32;

/// All scores for outputs such as these, from which those that are learned learn.
fn candidate_scores(outputs: [&MechanismOutputs; 2]) -> Vec<Arc<dyn OutputScore>> {
    let width = outputs[0].width();
    let mut scores: Vec<Arc<dyn OutputScore>> = Vec::new();
    for at in 0..width {
        scores.push(Arc::new(ColumnScore { at }));
    }
    for gap in column_differences(width) {
        scores.push(Arc::new(gap));
    }
    for word in frequency_table_keys(outputs) {
        if let Some(lookup) = LogRatioScore::from_outputs(word, outputs) {
            scores.push(Arc::new(lookup));
        }
    }
    scores.push(Arc::new(AdditiveScore::from_outputs(outputs)));
    scores
}

/// What tables are made by: whole outputs, frequent values where there are others too, and last bits.
fn frequency_table_keys(outputs: [&MechanismOutputs; 2]) -> Vec<OutputKey> {
    let bases: Vec<ColumnBasis> =
        (0..outputs[0].width()).map(|at| ColumnBasis::from_column(at, outputs, SIZES)).collect();
    let mut words = vec![OutputKey::Whole];
    if bases.iter().any(ColumnBasis::has_atoms) && bases.iter().any(ColumnBasis::has_knots) {
        words.push(OutputKey::Frequent(bases.clone()));
    }
    let numbers = bases.into_iter().enumerate().filter(|(_, basis)| basis.has_knots());
    words.extend(numbers.map(|(at, basis)| OutputKey::LastBit { at, basis }));
    words
}

/// A curve over each column; the weights of all stand one after the other.
#[derive(Debug)]
pub(super) struct OutputFeatureMap {
    bases: Vec<ColumnBasis>,
    /// The first weight of each.
    firsts: Vec<usize>,
    /// How many weights there are.
    pub weights: usize,
}

impl OutputFeatureMap {
    /// Curves with at most so many pieces between quantiles of the outputs.
    pub fn from_outputs(outputs: [&MechanismOutputs; 2], pieces: usize) -> Self {
        let width = outputs[0].width();
        let (mut bases, mut firsts, mut weights) = (Vec::with_capacity(width), Vec::with_capacity(width), 0);
        for at in 0..width {
            let basis = ColumnBasis::from_column(at, outputs, pieces);
            firsts.push(weights);
            weights += basis.len();
            bases.push(basis);
        }
        Self { bases, firsts, weights }
    }

    /// Features of an output.
    pub fn features(&self, output: &[f64]) -> impl Iterator<Item = FeatureValue> {
        let curves = self.bases.iter().zip(&self.firsts).zip(output);
        curves.flat_map(|((basis, first), x)| {
            basis.features(*x).map(|feature| FeatureValue { at: first + feature.at, ..feature })
        })
    }
}

/// The logarithm of the ratio of the frequencies of a word, zero for a word that was not seen.
///
/// Half-lines of the true ratio have the greatest power (Neyman and Pearson); half a count is added to each, so that rare
/// words count less.
#[derive(Debug)]
pub(super) struct LogRatioScore {
    word: OutputKey,
    /// In the order of words.
    ratios: Vec<KeyLogRatio>,
}

#[derive(Debug)]
struct KeyLogRatio {
    word: u64,
    ratio: f64,
}

/// The share of outputs that must repeat a word of the same input, below which a table tells nothing about other outputs. The
/// other input does not count: words that each input gives once, such as numbers of rows, are seen once by design.
const REPEATED: f64 = 0.05;

impl LogRatioScore {
    /// The table of these outputs; none if nearly every output is a word of its own.
    pub fn from_outputs(word: OutputKey, outputs: [&MechanismOutputs; 2]) -> Option<Self> {
        let mut words: Vec<(u64, bool)> = Vec::with_capacity(outputs[0].len() + outputs[1].len());
        for (outputs, second) in outputs.into_iter().zip([false, true]) {
            words.extend(outputs.rows().map(|row| (word.hash_output_part(row), second)));
        }
        words.sort_unstable();
        let repeated = words.len() - words.chunk_by(|a, b| a == b).count();
        let ratios = words.chunk_by(|a, b| a.0 == b.0).map(key_log_ratio).collect();
        (repeated as f64 >= REPEATED * words.len() as f64).then_some(Self { word, ratios })
    }
}

/// The ratio of a word, from its occurrences.
fn key_log_ratio(same: &[(u64, bool)]) -> KeyLogRatio {
    let second = same.iter().filter(|(_, second)| *second).count() as f64;
    let first = same.len() as f64 - second;
    KeyLogRatio { word: same[0].0, ratio: ((first + 0.5) / (second + 0.5)).ln() }
}

impl OutputScore for LogRatioScore {
    fn score(&self, output: &[f64]) -> f64 {
        let word = self.word.hash_output_part(output);
        let place = self.ratios.binary_search_by_key(&word, |ratio| ratio.word);
        place.map_or(0.0, |place| self.ratios[place].ratio)
    }

    fn name(&self) -> String {
        format!("log ratio of {}", self.word.name())
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    use super::*;

    /// Rows of two normal numbers around means.
    fn normal(means: [f64; 2], seed: u64) -> MechanismOutputs {
        let mut stream = Pcg64::seed_from_u64(seed);
        let mut numbers = Vec::new();
        for _ in 0..20_000 {
            for mean in means {
                let z: f64 = StandardNormal.sample(&mut stream);
                numbers.push(mean + z);
            }
        }
        MechanismOutputs::new(2, numbers)
    }

    /// The true odds of normal numbers around `(0, 0)` against `(1, -1)` are `(x_2 - x_1) + 1`.
    #[test]
    fn the_odds_of_normal_numbers_are_found() {
        let learned = AdditiveScore::from_outputs([&normal([0.0, 0.0], 1), &normal([1.0, -1.0], 2)]);
        for output in [[0.0, 0.0], [1.0, -1.0], [0.5, -0.5], [-0.5, 0.5], [1.0, 1.0]] {
            let truth = output[1] - output[0] + 1.0;
            let found = learned.score(&output);
            assert!((found - truth).abs() < 0.25, "{output:?}: {found} instead of {truth}");
        }
    }

    #[test]
    fn ratios_of_counts() {
        let outputs =
            [vec![1.0, 1.0, 1.0, 2.0], vec![1.0, 2.0, 2.0, 2.0]].map(|numbers| MechanismOutputs::new(1, numbers));
        let lookup = LogRatioScore::from_outputs(OutputKey::Whole, [&outputs[0], &outputs[1]]).unwrap();
        assert!((lookup.score(&[1.0]) - (3.5f64 / 1.5).ln()).abs() < 1e-15);
        assert!((lookup.score(&[2.0]) + (3.5f64 / 1.5).ln()).abs() < 1e-15);
        assert_eq!(lookup.score(&[3.0]), 0.0);
    }

    /// Whether the inputs share their numbers or not.
    #[test]
    fn numbers_that_never_repeat_make_no_table() {
        for shift in [0, 100] {
            let outputs = [0, shift].map(|i| MechanismOutputs::new(1, (0..100).map(|j| f64::from(i + j)).collect()));
            assert!(LogRatioScore::from_outputs(OutputKey::Whole, [&outputs[0], &outputs[1]]).is_none());
        }
    }
}
