//! What is known of the rows of some files.

use serde::{Deserialize, Serialize};

use super::column::ColumnMark;
use super::counted::CountedSample;
use super::{CellTotal, RowSketch, RowTotal};

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
    /// Samples of the rows, taken of all columns, of the columns that a spec reads, and of the columns in the files (without their paths).
    pub sketches: Vec<SketchedColumns>,
    /// The columns, by their cells; none of data that were known before columns were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<ColumnMark>,
    /// A sample of the rows of each file, by which the files of one call are compared; no ledger keeps them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<CountedSample>,
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
        let are_samples = self.samples.is_empty() || self.samples.len() == self.parts.len();
        are_samples
            && rows.len() == self.parts.len()
            && rows.by_ref().zip(&self.parts).all(|(most, part)| part.rows <= most)
    }

    /// Adds the rows of another part of the same files.
    pub fn add(&mut self, other: &Self) {
        self.add_columns(other);
        self.parts.iter_mut().zip(&other.parts).for_each(|(part, more)| part.add(more));
        if self.samples.len() == other.samples.len() {
            self.samples.iter_mut().zip(&other.samples).for_each(|(sample, more)| sample.merge(more));
        } else {
            self.samples.clear();
        }
        self.learn_rows(&other.sketches);
    }

    /// Adds the rows of other files.
    pub fn add_files(&mut self, other: &Self) {
        self.add_columns(other);
        let are_known = self.samples.len() == self.parts.len() && other.samples.len() == other.parts.len();
        self.parts.extend(&other.parts);
        self.samples.extend_from_slice(&other.samples);
        if !are_known {
            self.samples.clear();
        }
        self.learn_rows(&other.sketches);
    }

    /// Adds the columns of more rows. Where those of some rows are not known, none is: its cells would not be all.
    fn add_columns(&mut self, other: &Self) {
        let [unknown, more_unknown] =
            [&*self, other].map(|rows| rows.columns.is_empty() && rows.whole().rows > 0);
        if unknown || more_unknown {
            self.columns.clear();
            return;
        }
        for more in &other.columns {
            match self.columns.iter_mut().find(|known| known.name == more.name) {
                Some(known) => known.merge(more),
                None => self.columns.push(more.clone()),
            }
        }
    }

    /// Takes what is known of the same rows.
    pub fn learn(&mut self, other: &Self) {
        self.learn_rows(&other.sketches);
        if self.columns.is_empty() {
            self.columns.clone_from(&other.columns);
        }
    }

    fn learn_rows(&mut self, others: &[SketchedColumns]) {
        for other in others {
            match self.sketches.iter_mut().find(|known| known.columns == other.columns) {
                Some(known) => known.sketch.merge(&other.sketch),
                None => self.sketches.push(other.clone()),
            }
        }
    }

    /// What a ledger keeps of it.
    #[must_use]
    pub fn kept(&self) -> Self {
        let (key, parts) = (self.key.clone(), self.parts.clone());
        let (sketches, columns) = (self.sketches.clone(), self.columns.clone());
        Self { key, parts, sketches, columns, samples: Vec::new() }
    }

    /// The column of this name.
    pub fn named(&self, name: &str) -> Option<&ColumnMark> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// A column with these cells, whatever it was called.
    pub fn with_cells(&self, cells: CellTotal) -> Option<&ColumnMark> {
        self.columns.iter().find(|column| column.total == cells)
    }

    /// Whether both are the same rows, or some row is known to stand in both, or a column has cells of the same rows in both.
    pub fn overlaps(&self, other: &Self) -> bool {
        if self.whole().rows > 0 && self.whole() == other.whole() {
            return true;
        }
        let pairs = self.sketches.iter().flat_map(|one| other.sketches.iter().map(move |two| (one, two)));
        if pairs.into_iter().any(|pair| pair.0.sketch.shares_rows(&pair.1.sketch)) {
            return true;
        }
        let mut columns = self.columns.iter();
        self.key == other.key && columns.any(|one| other.columns.iter().any(|two| one.shares_rows(two)))
    }
}
