//! Chooses sets of outputs on some rows and judges them on others. The scores are tables of words and
//! logistic regressions on curves of all columns.

use std::sync::Arc;

use super::basis::Outputs;
use super::basis::Score;
use super::basis::{Basis, Feature};
use super::half_line::Goal;
use super::half_line::{ColumnScore, gaps};
use super::half_line::{HalfLine, Promise, best};
use super::lower_bounds::LowerBounds;
use super::word::Word;
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

    /// Bound that the observations prove, with this error for all together.
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

/// Pieces of the curve of a column.
const PIECES: usize = 12;
/// Times that all outputs are gone through.
const PASSES: usize = 3;
/// The length of the first steps.
const RATE: f64 = 0.1;

/// The logarithm of the odds that an output came from the first input, as a sum of a curve of each column. It is the true
/// one where columns are independent, as with noise on each number.
#[derive(Debug)]
pub(super) struct Additive {
    curves: Curves,
    weights: Vec<f64>,
}

impl Additive {
    /// The regression of these outputs.
    pub fn learned(outputs: [&Outputs; 2]) -> Self {
        let curves = Curves::from_outputs(outputs, PIECES);
        let mut descent = Descent::new(curves.weights);
        for pass in 0..PASSES {
            // The outputs of the two inputs take turns, so that the odds are even on the way.
            for (one, other) in outputs[0].rows().zip(outputs[1].rows()) {
                descent.step(&curves, one, 1.0);
                descent.step(&curves, other, 0.0);
                descent.average(pass + 1 == PASSES);
            }
        }
        Self { curves, weights: descent.mean }
    }
}

impl Score for Additive {
    fn score(&self, output: &[f64]) -> f64 {
        self.curves.features(output).map(|feature| self.weights[feature.at] * feature.value).sum()
    }

    fn name(&self) -> String {
        "regression".to_owned()
    }
}

/// Stochastic gradient descent with a rate for each weight (AdaGrad), and the mean of the weights of the last pass.
struct Descent {
    weights: Vec<f64>,
    /// Sums of squared gradients, from 1 on.
    squares: Vec<f64>,
    mean: Vec<f64>,
    /// Steps that are in the mean.
    averaged: f64,
    /// Steps of the last pass.
    steps: usize,
    /// Features of the output of a step.
    features: Vec<Feature>,
}

/// Steps between two that count for the mean.
const STRIDE: usize = 64;

impl Descent {
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
    fn step(&mut self, curves: &Curves, output: &[f64], label: f64) {
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
    fn average(&mut self, last: bool) {
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
pub(super) fn candidates(outputs: [&Outputs; 2]) -> Vec<Arc<dyn Score>> {
    let width = outputs[0].width();
    let mut scores: Vec<Arc<dyn Score>> = Vec::new();
    for at in 0..width {
        scores.push(Arc::new(ColumnScore { at }));
    }
    for gap in gaps(width) {
        scores.push(Arc::new(gap));
    }
    for word in words(outputs) {
        if let Some(lookup) = Lookup::learned(word, outputs) {
            scores.push(Arc::new(lookup));
        }
    }
    scores.push(Arc::new(Additive::learned(outputs)));
    scores
}

/// What tables are made by: whole outputs, frequent values where there are others too, and last bits.
fn words(outputs: [&Outputs; 2]) -> Vec<Word> {
    let bases: Vec<Basis> =
        (0..outputs[0].width()).map(|at| Basis::uniform_basis(at, outputs, SIZES)).collect();
    let mut words = vec![Word::Whole];
    if bases.iter().any(Basis::has_atoms) && bases.iter().any(Basis::has_knots) {
        words.push(Word::Frequent(bases.clone()));
    }
    let numbers = bases.into_iter().enumerate().filter(|(_, basis)| basis.has_knots());
    words.extend(numbers.map(|(at, basis)| Word::LastBit { at, basis }));
    words
}

/// A curve over each column; the weights of all stand one after the other.
#[derive(Debug)]
pub(super) struct Curves {
    bases: Vec<Basis>,
    /// The first weight of each.
    firsts: Vec<usize>,
    /// How many weights there are.
    pub weights: usize,
}

impl Curves {
    /// Curves with at most so many pieces between quantiles of the outputs.
    pub fn from_outputs(outputs: [&Outputs; 2], pieces: usize) -> Self {
        let width = outputs[0].width();
        let (mut bases, mut firsts, mut weights) = (Vec::with_capacity(width), Vec::with_capacity(width), 0);
        for at in 0..width {
            let basis = Basis::uniform_basis(at, outputs, pieces);
            firsts.push(weights);
            weights += basis.len();
            bases.push(basis);
        }
        Self { bases, firsts, weights }
    }

    /// Features of an output.
    pub fn features(&self, output: &[f64]) -> impl Iterator<Item = Feature> {
        let curves = self.bases.iter().zip(&self.firsts).zip(output);
        curves.flat_map(|((basis, first), x)| {
            basis.features(*x).map(|feature| Feature { at: first + feature.at, ..feature })
        })
    }
}

/// The logarithm of the ratio of the frequencies of a word, zero for a word that was not seen.
///
/// Half-lines of the true ratio have the greatest power (Neyman and Pearson); half a count is added to each, so that rare
/// words count less.
#[derive(Debug)]
pub(super) struct Lookup {
    word: Word,
    /// In the order of words.
    ratios: Vec<WordRatio>,
}

#[derive(Debug)]
struct WordRatio {
    word: u64,
    ratio: f64,
}

/// The share of outputs that must repeat a word of the same input, below which a table tells nothing about other outputs. The
/// other input does not count: words that each input gives once, such as numbers of rows, are seen once by design.
const REPEATED: f64 = 0.05;

impl Lookup {
    /// The table of these outputs; none if nearly every output is a word of its own.
    pub fn learned(word: Word, outputs: [&Outputs; 2]) -> Option<Self> {
        let mut words: Vec<(u64, bool)> = Vec::with_capacity(outputs[0].len() + outputs[1].len());
        for (outputs, second) in outputs.into_iter().zip([false, true]) {
            words.extend(outputs.rows().map(|row| (word.of_output(row), second)));
        }
        words.sort_unstable();
        let repeated = words.len() - words.chunk_by(|a, b| a == b).count();
        let ratios = words.chunk_by(|a, b| a.0 == b.0).map(ratio).collect();
        (repeated as f64 >= REPEATED * words.len() as f64).then_some(Self { word, ratios })
    }
}

/// The ratio of a word, from its occurrences.
fn ratio(same: &[(u64, bool)]) -> WordRatio {
    let second = same.iter().filter(|(_, second)| *second).count() as f64;
    let first = same.len() as f64 - second;
    WordRatio { word: same[0].0, ratio: ((first + 0.5) / (second + 0.5)).ln() }
}

impl Score for Lookup {
    fn score(&self, output: &[f64]) -> f64 {
        let word = self.word.of_output(output);
        let place = self.ratios.binary_search_by_key(&word, |ratio| ratio.word);
        place.map_or(0.0, |place| self.ratios[place].ratio)
    }

    fn name(&self) -> String {
        format!("log ratio of {}", self.word.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};
    use rand_pcg::Pcg64;

    /// Rows of two normal numbers around means.
    fn normal(means: [f64; 2], seed: u64) -> Outputs {
        let mut stream = Pcg64::seed_from_u64(seed);
        let mut numbers = Vec::new();
        for _ in 0..20_000 {
            for mean in means {
                let z: f64 = StandardNormal.sample(&mut stream);
                numbers.push(mean + z);
            }
        }
        Outputs::new(2, numbers)
    }

    /// The true odds of normal numbers around `(0, 0)` against `(1, -1)` are `(x_2 - x_1) + 1`.
    #[test]
    fn the_odds_of_normal_numbers_are_found() {
        let learned = Additive::learned([&normal([0.0, 0.0], 1), &normal([1.0, -1.0], 2)]);
        for output in [[0.0, 0.0], [1.0, -1.0], [0.5, -0.5], [-0.5, 0.5], [1.0, 1.0]] {
            let truth = output[1] - output[0] + 1.0;
            let found = learned.score(&output);
            assert!((found - truth).abs() < 0.25, "{output:?}: {found} instead of {truth}");
        }
    }
}

#[cfg(test)]
mod lookup_tests {
    use super::*;

    #[test]
    fn ratios_of_counts() {
        let outputs =
            [vec![1.0, 1.0, 1.0, 2.0], vec![1.0, 2.0, 2.0, 2.0]].map(|numbers| Outputs::new(1, numbers));
        let lookup = Lookup::learned(Word::Whole, [&outputs[0], &outputs[1]]).unwrap();
        assert!((lookup.score(&[1.0]) - (3.5f64 / 1.5).ln()).abs() < 1e-15);
        assert!((lookup.score(&[2.0]) + (3.5f64 / 1.5).ln()).abs() < 1e-15);
        assert_eq!(lookup.score(&[3.0]), 0.0);
    }

    /// Whether the inputs share their numbers or not.
    #[test]
    fn numbers_that_never_repeat_make_no_table() {
        for shift in [0, 100] {
            let outputs = [0, shift].map(|i| Outputs::new(1, (0..100).map(|j| f64::from(i + j)).collect()));
            assert!(Lookup::learned(Word::Whole, [&outputs[0], &outputs[1]]).is_none());
        }
    }
}
