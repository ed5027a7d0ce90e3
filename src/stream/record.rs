//! Sums on disk, to the last bit.

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use super::collect::BLOCK;
use super::{Forest, Node, Sums};

/// The version of the form of a record.
const VERSION: u32 = 1;

/// Sums over some blocks of the rows of some files. Numbers are written so that they read back exactly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The version of its form.
    pub version: u32,
    /// What readers should know: exact sums are as private as the rows.
    pub note: String,
    /// Rows of a block.
    pub block: usize,
    /// SHA-256 of what is summed.
    pub summand: String,
    /// The files, in the order of their rows.
    pub files: Vec<FileRecord>,
    /// The sums.
    pub nodes: Vec<NodeRecord>,
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
pub struct NodeRecord {
    /// The first block.
    pub first: u64,
    /// The binary logarithm of the number of blocks.
    pub level: u32,
    /// Rows that pass the filters.
    pub rows: u64,
    /// Those whose target was clipped.
    pub clipped: u64,
    /// The sum of the squared targets.
    pub squares: f64,
    /// `A`.
    pub a: Vec<f64>,
    /// The lower triangle of `B`, column by column.
    pub b: Vec<f64>,
}

impl Record {
    /// The record of a forest.
    pub fn new(summand: String, files: Vec<FileRecord>, forest: &Forest) -> Self {
        let note = "exact sums, not private: share them no more than the rows".to_owned();
        let nodes = forest.nodes().map(|(node, sums)| NodeRecord::new(node, sums)).collect();
        Self { version: VERSION, note, block: BLOCK, summand, files, nodes }
    }

    /// Whether this program reads such records, and every node holds the sums of m inducing inputs.
    pub fn is_sound(&self, m: usize) -> bool {
        let fits = |node: &NodeRecord| {
            let whole = node.level < 60 && node.first.is_multiple_of(1 << node.level);
            whole && node.a.len() == m && node.b.len() == m * (m + 1) / 2
        };
        self.version == VERSION && self.block == BLOCK && self.nodes.iter().all(fits)
    }

    /// The blocks that all rows make.
    pub fn blocks(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum::<u64>().div_ceil(BLOCK as u64)
    }
}

impl NodeRecord {
    fn new(node: Node, sums: &Sums) -> Self {
        let m = sums.a.len();
        let lower = (0..m).flat_map(|j| (j..m).map(move |i| sums.b[(i, j)]));
        let (a, b) = (sums.a.as_slice().to_vec(), lower.collect());
        let Sums { rows, clipped, squares, .. } = *sums;
        Self { first: node.first, level: node.level, rows, clipped, squares, a, b }
    }

    /// Its place.
    pub fn node(&self) -> Node {
        Node { first: self.first, level: self.level }
    }

    /// Its sums.
    pub fn sums(&self) -> Sums {
        let m = self.a.len();
        let mut b = DMatrix::zeros(m, m);
        let places = (0..m).flat_map(|j| (j..m).map(move |i| (i, j)));
        places.zip(&self.b).for_each(|(place, value)| b[place] = *value);
        let a = DVector::from_column_slice(&self.a);
        Sums { a, b, rows: self.rows, squares: self.squares, clipped: self.clipped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_exactly() {
        let value = |i: usize, j: usize| ((i * 7 + j) as f64).exp().sin() * 1e-300f64.powf((i % 2) as f64);
        let mut forest = Forest::default();
        for first in [0, 1, 2, 5] {
            let b = DMatrix::from_fn(3, 3, |i, j| if i >= j { value(i, j) } else { 0.0 });
            let a = DVector::from_fn(3, |i, _| value(i, 5));
            forest.insert(Node { first, level: 0 }, Sums { a, b, rows: 9, squares: 0.1 + 0.2, clipped: 1 });
        }
        let record = Record::new("x".to_owned(), Vec::new(), &forest);
        assert!(record.is_sound(3) && !record.is_sound(2));
        let read: Record = serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
        let mut again = Forest::default();
        read.nodes.iter().for_each(|node| again.insert(node.node(), node.sums()));
        assert_eq!(again, forest);
    }
}
