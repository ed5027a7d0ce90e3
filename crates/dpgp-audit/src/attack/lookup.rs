//! A table of words: how much likelier each is under one input.

use super::outputs::Outputs;
use super::score::Score;
use super::word::Word;

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
            words.extend(outputs.rows().map(|row| (word.of(row), second)));
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
    fn of(&self, output: &[f64]) -> f64 {
        let word = self.word.of(output);
        let place = self.ratios.binary_search_by_key(&word, |ratio| ratio.word);
        place.map_or(0.0, |place| self.ratios[place].ratio)
    }

    fn name(&self) -> String {
        format!("log ratio by {}", self.word.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_of_counts() {
        let outputs =
            [vec![1.0, 1.0, 1.0, 2.0], vec![1.0, 2.0, 2.0, 2.0]].map(|numbers| Outputs::new(1, numbers));
        let lookup = Lookup::learned(Word::Whole, [&outputs[0], &outputs[1]]).unwrap();
        assert!((lookup.of(&[1.0]) - (3.5f64 / 1.5).ln()).abs() < 1e-15);
        assert!((lookup.of(&[2.0]) + (3.5f64 / 1.5).ln()).abs() < 1e-15);
        assert_eq!(lookup.of(&[3.0]), 0.0);
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
