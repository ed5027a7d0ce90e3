//! A uniform number whose digits are drawn when they are first asked for.

use dashu_int::UBig;
use rand::Rng;

use super::bits::Bits;

/// A uniform number in (0, 1), in the base `2^DIGIT`, of which finitely many digits are known.
///
/// Two such numbers differ with probability 1, and are compared by the digits up to the first that differs. `DIGIT` is 32; tests
/// take 1, for which all outcomes of few bits can be listed.
#[derive(Debug, Clone)]
pub(super) struct Digits<const DIGIT: u32> {
    /// The first digit stands apart: most numbers are never asked for more, and then nothing is allocated.
    first: Option<u32>,
    rest: Vec<u32>,
}

impl<const DIGIT: u32> Digits<DIGIT> {
    pub fn unknown() -> Self {
        Self { first: None, rest: Vec::new() }
    }

    /// The digit at a place; the first is at 0.
    fn at(&mut self, place: usize, bits: &mut Bits<'_, impl Rng>) -> u32 {
        let first = *self.first.get_or_insert_with(|| bits.take(DIGIT));
        if place == 0 {
            return first;
        }
        while self.rest.len() < place {
            self.rest.push(bits.take(DIGIT));
        }
        self.rest[place - 1]
    }

    /// Whether it is less than 1/2: its first bit is 0.
    pub fn is_below_half(&mut self, bits: &mut Bits<'_, impl Rng>) -> bool {
        self.at(0, bits) >> (DIGIT - 1) == 0
    }

    /// Whether it is less than another.
    pub fn is_below(&mut self, other: &mut Self, bits: &mut Bits<'_, impl Rng>) -> bool {
        let mut place = 0;
        loop {
            let (mine, others) = (self.at(place, bits), other.at(place, bits));
            if mine != others {
                return mine < others;
            }
            place += 1;
        }
    }

    /// The first `count` digits as one whole number F: the number lies between `F` and `F + 1` over `2^(DIGIT count)`.
    pub fn leading(&mut self, count: usize, bits: &mut Bits<'_, impl Rng>) -> UBig {
        let mut number = UBig::ZERO;
        for place in 0..count {
            number = (number << DIGIT as usize) + UBig::from(self.at(place, bits));
        }
        number
    }
}
