//! Curves over all columns of an output.

use super::basis::{Basis, Feature};
use super::outputs::Outputs;

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
    pub fn of(outputs: [&Outputs; 2], pieces: usize) -> Self {
        let width = outputs[0].width();
        let (mut bases, mut firsts, mut weights) = (Vec::with_capacity(width), Vec::with_capacity(width), 0);
        for at in 0..width {
            let basis = Basis::of(at, outputs, pieces);
            firsts.push(weights);
            weights += basis.len();
            bases.push(basis);
        }
        Self { bases, firsts, weights }
    }

    /// What counts at an output.
    pub fn features(&self, output: &[f64]) -> impl Iterator<Item = Feature> {
        let curves = self.bases.iter().zip(&self.firsts).zip(output);
        curves.flat_map(|((basis, first), x)| {
            basis.features(*x).map(|feature| Feature { at: first + feature.at, ..feature })
        })
    }
}
