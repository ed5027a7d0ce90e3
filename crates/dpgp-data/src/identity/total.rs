//! Sums of digests.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A sum of digests modulo 2^256: that of a multiset of rows, in any order and in any parts.
///
/// ```
/// use dpgp_data::RowTotal;
/// let mut sum = RowTotal::default();
/// [[0xff; 32], [0; 32], [0xff; 32]].iter().for_each(|digest| sum.add(&RowTotal::of(digest)));
/// assert_eq!(sum.to_string(), format!("{}fe", "ff".repeat(31))); // 2 (2^256 - 1) = 2^256 - 2 modulo 2^256
/// assert_eq!(sum.to_string().parse(), Ok(sum));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RowTotal {
    /// Sixty-four bits each, the least significant first.
    words: [u64; 4],
}

/// The text is not 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sum of digests has 64 hexadecimal digits")]
pub struct NotATotal;

impl RowTotal {
    /// That of one digest, its first byte the most significant.
    pub fn of(digest: &[u8; 32]) -> Self {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().rev().zip(digest.chunks_exact(8)) {
            *word = bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        }
        Self { words }
    }

    /// Adds another sum.
    pub fn add(&mut self, other: &Self) {
        let mut carry = false;
        for (word, more) in self.words.iter_mut().zip(other.words) {
            let (sum, over) = word.overflowing_add(more);
            let (sum, again) = sum.overflowing_add(u64::from(carry));
            (*word, carry) = (sum, over || again);
        }
    }

    /// The most significant 64 bits.
    pub(super) fn head(&self) -> u64 {
        self.words[3]
    }
}

impl fmt::Display for RowTotal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words.iter().rev().try_for_each(|word| write!(f, "{word:016x}"))
    }
}

impl FromStr for RowTotal {
    type Err = NotATotal;

    fn from_str(text: &str) -> Result<Self, NotATotal> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| NotATotal)?;
        Ok(Self::of(&bytes))
    }
}

impl TryFrom<String> for RowTotal {
    type Error = NotATotal;

    fn try_from(text: String) -> Result<Self, NotATotal> {
        text.parse()
    }
}

impl From<RowTotal> for String {
    fn from(total: RowTotal) -> Self {
        total.to_string()
    }
}
