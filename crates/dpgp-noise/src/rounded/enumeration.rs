//! Enumerates all outcomes of a draw by its bits. The law is exact up to the outcomes that further bits would
//! decide.

use std::collections::BTreeMap;
use std::convert::Infallible;

use rand::{Rng, SeedableRng, TryRng};
use rand_pcg::Pcg64;

use super::RandomBits;

/// The mass of each outcome over the strings of bits that decide it.
pub(super) struct Outcomes<T> {
    masses: BTreeMap<T, f64>,
    /// The mass of strings of the greatest length that decide nothing.
    pub undecided: f64,
}

impl<T: Ord> Outcomes<T> {
    pub fn probability(&self, outcome: &T) -> f64 {
        self.masses.get(outcome).copied().unwrap_or(0.0)
    }
}

/// Given bits, then others.
pub(super) struct Tape {
    word: Option<u64>,
    rest: Pcg64,
    words: u32,
}

impl TryRng for Tape {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok(self.try_next_u64()? as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.words += 1;
        Ok(self.word.take().unwrap_or_else(|| self.rest.next_u64()))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.rest.fill_bytes(bytes);
        Ok(())
    }
}

/// The outcomes of a draw over all strings of at most `most` bits.
pub(super) fn enumerate<T: Ord>(most: u32, draw: impl Fn(&mut RandomBits<'_, Tape>) -> T) -> Outcomes<T> {
    let mut outcomes = Outcomes { masses: BTreeMap::new(), undecided: 0.0 };
    let mut open = vec![(0u64, 0u32)];
    while let Some((string, length)) = open.pop() {
        let mut rest = Pcg64::seed_from_u64(u64::from(length));
        let after = rest.next_u64();
        let word = if length == 0 { after } else { (string << (64 - length)) | (after >> length) };
        let mut tape = Tape { word: Some(word), rest, words: 0 };
        let mut bits = RandomBits::new(&mut tape);
        let outcome = draw(&mut bits);
        let unused = bits.unused_bit_count();
        let used = u64::BITS * tape.words - unused;
        if used <= length {
            *outcomes.masses.entry(outcome).or_insert(0.0) += (-f64::from(length)).exp2();
        } else if length == most {
            outcomes.undecided += (-f64::from(length)).exp2();
        } else {
            open.extend([0, 1].map(|bit| ((string << 1) | bit, length + 1)));
        }
    }
    outcomes
}
