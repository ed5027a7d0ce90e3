//! What is known of the rows of some files.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::column::ColumnMark;
use super::counted::CountedSample;
use super::{CellTotal, RowSketch, RowTotal};

/// The rows of one file, or of a part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// The lines of text files, however they are cut into cells; none of other files, and of data that were known before lines were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<ColumnMark>,
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
        self.add_lines(other);
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
        self.add_lines(other);
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

    fn add_lines(&mut self, other: &Self) {
        match (&mut self.lines, &other.lines) {
            (Some(lines), Some(more)) => lines.merge(more),
            (lines, more) => *lines = lines.take().or_else(|| more.clone()),
        }
    }

    /// Takes what is known of the same rows.
    pub fn learn(&mut self, other: &Self) {
        self.learn_rows(&other.sketches);
        if self.columns.is_empty() {
            self.columns.clone_from(&other.columns);
        }
        if self.lines.is_none() {
            self.lines.clone_from(&other.lines);
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
        Self { key, parts, sketches, columns, lines: self.lines.clone(), samples: Vec::new() }
    }

    /// The column of this name.
    pub fn named(&self, name: &str) -> Option<&ColumnMark> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// A column with these cells, whatever it was called.
    pub fn with_cells(&self, cells: CellTotal) -> Option<&ColumnMark> {
        self.columns.iter().find(|column| column.total == cells)
    }

    /// Whether both are the same rows, or some row is known to stand in both, or a column or the lines have cells of the same rows in both.
    pub fn overlaps(&self, other: &Self) -> bool {
        if self.shares_rows(other) || self.shares_lines(other) {
            return true;
        }
        let mut columns = self.columns.iter();
        self.key == other.key && columns.any(|one| other.columns.iter().any(|two| one.shares_rows(two)))
    }

    /// Whether both hold the same lines of text, and cut them into other cells: then no column of one is known in the other.
    pub fn is_cut_otherwise(&self, other: &Self) -> bool {
        self.shares_lines(other) && !self.shares_rows(other)
    }

    /// Whether both, or a file of each, are the same rows, or some row is known to stand in both. A file of many is too small a part of them
    /// for a sample of all to hold one of its rows for certain.
    fn shares_rows(&self, other: &Self) -> bool {
        let whole = [self.whole(), other.whole()];
        let ours: BTreeSet<&FilePart> =
            self.parts.iter().chain([&whole[0]]).filter(|part| part.rows > 0).collect();
        if other.parts.iter().chain([&whole[1]]).any(|part| ours.contains(part)) {
            return true;
        }
        let mut pairs = self.sketches.iter().flat_map(|one| other.sketches.iter().map(move |two| (one, two)));
        pairs.any(|(one, two)| one.sketch.shares_rows(&two.sketch))
    }

    fn shares_lines(&self, other: &Self) -> bool {
        let (Some(ours), Some(theirs)) = (&self.lines, &other.lines) else { return false };
        self.key == other.key && (ours.total == theirs.total || ours.shares_rows(theirs))
    }
}
