//! A logistic regression on curves of all columns.

use super::basis::Feature;
use super::curves::Curves;
use super::outputs::Outputs;
use super::score::Score;

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
        let curves = Curves::of(outputs, PIECES);
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
    fn of(&self, output: &[f64]) -> f64 {
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
    /// What counts at the output of a step.
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
            let found = learned.of(&output);
            assert!((found - truth).abs() < 0.25, "{output:?}: {found} instead of {truth}");
        }
    }
}
