//! A sample of rows by which files that share some are found.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The most digests that are kept.
const MOST: usize = 512;

/// Hexadecimal digits of a digest.
const DIGITS: usize = 16;

/// The least digests of distinct rows, 64 bits each.
///
/// Obligation: rows with equal digests are equal (but once in 2^64), so that two sketches with a digest in common are of
/// files with a row in common. Of two files without more than 512 distinct rows each, every common row is found. Of larger
/// ones a share `f` of common rows is found with probability `1 - (1 - f)^MOST` at least, where `f` is taken of the distinct
/// rows of both together: the least digests of both together are a sample of them (Bar-Yossef et al. 2002), and each that is
/// common stands in both sketches.
///
/// ```
/// use dpgp_data::RowSketch;
/// let (mut one, mut other) = (RowSketch::default(), RowSketch::default());
/// (0..100_000).for_each(|row: u64| one.insert(row.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
/// (99_000..199_000).for_each(|row: u64| other.insert(row.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
/// assert!(one.shares_rows(&other)); // a thousand of them
/// assert!(!one.shares_rows(&RowSketch::default()));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RowSketch {
    least: BTreeSet<u64>,
}

impl RowSketch {
    /// Takes the digest of a row.
    pub fn insert(&mut self, digest: u64) {
        if self.least.len() < MOST {
            self.least.insert(digest);
            return;
        }
        let kept = self.least.last().is_some_and(|greatest| digest < *greatest);
        if kept && self.least.insert(digest) {
            self.least.pop_last();
        }
    }

    /// Takes those of more rows.
    pub fn merge(&mut self, other: &Self) {
        other.least.iter().for_each(|digest| self.insert(*digest));
    }

    /// Whether some row is known to stand in both.
    pub fn shares_rows(&self, other: &Self) -> bool {
        self.least.intersection(&other.least).next().is_some()
    }
}

impl TryFrom<String> for RowSketch {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let mut sketch = Self::default();
        if !text.is_ascii() || !text.len().is_multiple_of(DIGITS) {
            return Err("a sketch of rows has 16 hexadecimal digits for each of them");
        }
        for at in (0..text.len()).step_by(DIGITS) {
            let digest = u64::from_str_radix(&text[at..at + DIGITS], 16);
            sketch.insert(digest.map_err(|_| "a sketch of rows holds hexadecimal digits alone")?);
        }
        Ok(sketch)
    }
}

impl From<RowSketch> for String {
    fn from(sketch: RowSketch) -> Self {
        sketch.least.iter().map(|digest| format!("{digest:016x}")).collect()
    }
}
