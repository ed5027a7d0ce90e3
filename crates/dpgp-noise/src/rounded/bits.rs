//! Random bits.

use rand::Rng;

/// The bits of a generator, taken from the most significant end of its words; none is used twice and none is lost.
pub(super) struct Bits<'a, R> {
    source: &'a mut R,
    word: u64,
    left: u32,
}

impl<'a, R: Rng> Bits<'a, R> {
    pub fn of(source: &'a mut R) -> Self {
        Self { source, word: 0, left: 0 }
    }

    /// A number of `count` bits, 1 to 32.
    pub fn take(&mut self, count: u32) -> u32 {
        let mut bits = 0;
        let mut wanted = count;
        while wanted > 0 {
            if self.left == 0 {
                (self.word, self.left) = (self.source.next_u64(), u64::BITS);
            }
            let taken = wanted.min(self.left);
            // At most 32 bits are taken at once, so that neither shift is by a whole word.
            let top = (self.word >> (u64::BITS - taken)) as u32;
            bits = if taken == u32::BITS { top } else { (bits << taken) | top };
            (self.word, self.left, wanted) = (self.word << taken, self.left - taken, wanted - taken);
        }
        bits
    }

    /// A whole number below `bound`, each equally likely: numbers of as many bits as the greatest has, until one is below.
    pub fn below(&mut self, bound: u32) -> u32 {
        let count = u32::BITS - (bound - 1).leading_zeros();
        loop {
            // One number needs no bit.
            let number = if count == 0 { 0 } else { self.take(count) };
            if number < bound {
                return number;
            }
        }
    }

    /// Bits of the last word that were not taken.
    #[cfg(test)]
    pub fn unused(&self) -> u32 {
        self.left
    }
}
