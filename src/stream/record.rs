//! Sums on disk, to the last bit.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::collect::BLOCK;
use super::{Forest, Node, Sum};
use crate::data::Fingerprint;

/// The version of the form of a record.
const VERSION: u32 = 3;

/// Sums over some blocks of the rows of some files. Numbers are written so that they read back exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record<S> {
    /// The version of its form.
    #[serde(deserialize_with = "known_version")]
    pub version: u32,
    /// A note to readers: exact sums are as private as the rows.
    pub note: String,
    /// Rows of a block.
    pub block: usize,
    /// SHA-256 of the summand.
    pub summand: String,
    /// The files, in the order of their rows.
    pub files: Vec<FileRecord>,
    /// Which rows they are, by keyed digests; none where they were summed without a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Fingerprint>,
    /// The sums.
    pub nodes: Vec<NodeRecord<S>>,
}

/// A file of rows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Its name, without its folder.
    pub name: String,
    /// Its size.
    pub bytes: u64,
    /// Its rows, those that do not pass the filters too.
    pub rows: u64,
}

/// The sums of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeRecord<S> {
    /// The first block.
    pub first: u64,
    /// The binary logarithm of the number of blocks.
    pub level: u32,
    /// The sums.
    pub sums: S,
}

impl<S: Sum> Record<S> {
    /// The record of a forest.
    pub fn new(summand: String, files: Vec<FileRecord>, forest: &Forest<S>) -> Self {
        let note = "exact sums, not private: share them no more than the rows".to_owned();
        let nodes = forest.nodes().map(|(Node { first, level }, sums)| NodeRecord {
            first,
            level,
            sums: sums.clone(),
        });
        let nodes = nodes.collect();
        Self { version: VERSION, note, block: BLOCK, summand, files, identity: None, nodes }
    }

    /// The same with what is known of the rows.
    #[must_use]
    pub fn identified(self, identity: Option<Fingerprint>) -> Self {
        Self { identity, ..self }
    }

    /// Whether this program makes such blocks, and the sums of every node fit others.
    pub fn is_sound(&self, other: &S) -> bool {
        self.block == BLOCK && self.nodes.iter().all(|node| node.is_aligned() && node.sums.fits(other))
    }

    /// The blocks that all rows make.
    pub fn blocks(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum::<u64>().div_ceil(BLOCK as u64)
    }
}

impl<S> NodeRecord<S> {
    /// Its place.
    pub fn node(&self) -> Node {
        Node { first: self.first, level: self.level }
    }

    /// Whether there is such a node: `2^level` blocks begin at a multiple of their number.
    fn is_aligned(&self) -> bool {
        // Beyond level 60 the shift, and then the number of the last block, would overflow.
        self.level < 60 && self.first.is_multiple_of(1 << self.level)
    }
}

/// Reads the version, which comes before all that depends on it.
fn known_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    match u32::deserialize(deserializer)? {
        VERSION => Ok(VERSION),
        other => Err(D::Error::custom(format!("they are of another version: {other}, not {VERSION}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sums;
    use super::*;

    #[test]
    fn numbers_read_back_exactly() {
        let value =
            |i: usize| if i.is_multiple_of(2) { i as i128 - (1 << 118) } else { (1 << 90) + i as i128 };
        let mut forest = Forest::default();
        for first in [0, 1, 2, 5] {
            let (a, b) = ((0..3).map(value).collect(), (4..10).map(value).collect());
            let sums = Sums { a, b, rows: 9, squares: 1 << 100, clipped: 1 };
            forest.insert(Node { first, level: 0 }, sums);
        }
        let record = Record::new("x".to_owned(), Vec::new(), &forest);
        assert!(record.is_sound(&Sums::zero(3)) && !record.is_sound(&Sums::zero(2)));
        let read: Record<Sums> = serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
        let mut again = Forest::default();
        read.nodes.iter().for_each(|node| again.insert(node.node(), node.sums.clone()));
        assert_eq!(again, forest);
    }
}
