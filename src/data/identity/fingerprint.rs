//! What is known of the rows of some files.

use serde::{Deserialize, Serialize};

use super::{RowSketch, RowTotal};

/// The rows of one file, or of a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePart {
    /// How many there are.
    pub rows: u64,
    /// The sum of their digests.
    pub total: RowTotal,
}

/// A sample of rows, of which some columns count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SketchedColumns {
    /// Their names, sorted; for people, since the sketch does not depend on them.
    pub columns: Vec<String>,
    /// The sample.
    pub sketch: RowSketch,
}

/// The rows of some files under one key: equal for equal rows, whatever the files are called and how they are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// The name of the key.
    pub key: String,
    /// Each file, in their order.
    pub parts: Vec<FilePart>,
    /// Samples of the rows: of all columns, and of those that a spec reads.
    pub sketches: Vec<SketchedColumns>,
}

impl FilePart {
    /// Adds more rows.
    pub fn add(&mut self, other: &Self) {
        self.rows = self.rows.saturating_add(other.rows);
        self.total.add(&other.total);
    }
}

impl Fingerprint {
    /// All rows together.
    pub fn whole(&self) -> FilePart {
        let mut whole = FilePart::default();
        self.parts.iter().for_each(|part| whole.add(part));
        whole
    }

    /// Whether it is of files with at most so many rows each.
    pub fn fits(&self, mut rows: impl ExactSizeIterator<Item = u64>) -> bool {
        rows.len() == self.parts.len() && rows.by_ref().zip(&self.parts).all(|(most, part)| part.rows <= most)
    }

    /// Adds the rows of another part of the same files.
    pub fn add(&mut self, other: &Self) {
        self.parts.iter_mut().zip(&other.parts).for_each(|(part, more)| part.add(more));
        self.learn(&other.sketches);
    }

    /// Takes samples of the same or of more rows.
    pub fn learn(&mut self, others: &[SketchedColumns]) {
        for other in others {
            match self.sketches.iter_mut().find(|known| known.columns == other.columns) {
                Some(known) => known.sketch.merge(&other.sketch),
                None => self.sketches.push(other.clone()),
            }
        }
    }

    /// Whether both are the same rows, or some row is known to stand in both.
    pub fn overlaps(&self, other: &Self) -> bool {
        if self.whole().rows > 0 && self.whole() == other.whole() {
            return true;
        }
        let pairs = self.sketches.iter().flat_map(|one| other.sketches.iter().map(move |two| (one, two)));
        pairs.into_iter().any(|pair| pair.0.sketch.shares_rows(&pair.1.sketch))
    }

    /// Two files with the same rows, by their places.
    pub fn repeated(&self) -> Option<(usize, usize)> {
        for (second, part) in self.parts.iter().enumerate() {
            let same = self.parts[..second].iter().position(|first| first == part && part.rows > 0);
            if let Some(first) = same {
                return Some((first, second));
            }
        }
        None
    }
}
