//! The scores that an attack tries.

use std::sync::Arc;

use super::additive::Additive;
use super::basis::Basis;
use super::column::{ColumnScore, gaps};
use super::lookup::Lookup;
use super::outputs::Outputs;
use super::score::Score;
use super::word::Word;

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
    let bases: Vec<Basis> = (0..outputs[0].width()).map(|at| Basis::of(at, outputs, SIZES)).collect();
    let mut words = vec![Word::Whole];
    if bases.iter().any(Basis::has_atoms) && bases.iter().any(Basis::has_knots) {
        words.push(Word::Frequent(bases.clone()));
    }
    let numbers = bases.into_iter().enumerate().filter(|(_, basis)| basis.has_knots());
    words.extend(numbers.map(|(at, basis)| Word::LastBit { at, basis }));
    words
}
