//! Checked cells and the blocks that share their work.

use std::sync::Arc;

use super::TaskSection;
use super::canonical::Identity;
use super::section::{SECTIONS, SectionText};
use crate::setting::{Checked, Problem, Setting, fail};

/// Keys of the privacy section that only rescale the noise: cells that differ in nothing else form one block.
pub(super) const INNER: [&str; 3] = ["calibration", "delta", "epsilon"];

/// One checked point of the grid.
#[derive(Debug, Clone)]
pub struct Cell<T: TaskSection> {
    labels: Vec<String>,
    setting: Setting<T>,
    texts: Texts,
    id: Identity,
    block: Identity,
}

/// The canonical text of each section, in the order of [`SECTIONS`]; none where a cell has no such section.
pub(super) type Texts = [Option<Arc<SectionText>>; SECTIONS.len()];

impl<T: TaskSection> Cell<T> {
    /// Only the checks of this room make a cell.
    pub(super) fn new(labels: Vec<String>, setting: Setting<T>, texts: Texts) -> Self {
        let id = Identity::of(&joined(&texts, |text| &text.canonical));
        let block = Identity::of(&joined(&texts, SectionText::outer));
        Self { labels, setting, texts, id, block }
    }

    /// Its label on each axis.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Its labels in a line, for messages.
    pub fn place(&self) -> String {
        if self.labels.is_empty() { "the only one".to_owned() } else { self.labels.join(", ") }
    }

    /// Its checked setting.
    pub fn setting(&self) -> &Setting<T> {
        &self.setting
    }

    /// Checks what depends on the number of rows that the data hold.
    ///
    /// # Errors
    /// [`crate::setting::Fault`] where there are none, or too few.
    pub fn check_rows(&self, rows: usize) -> Checked {
        match self.setting.data.rows_drawn(rows) {
            0 => fail("data", Problem::NoRows),
            drawn => self.setting.task.check_rows(drawn),
        }
    }

    /// Its identity: SHA-256 of its canonical form.
    pub fn id(&self) -> Identity {
        self.id
    }

    /// The identity of its block: as [`Cell::id`], without what only rescales the noise.
    pub fn block_id(&self) -> Identity {
        self.block
    }

    /// The identity of its data alone, which data and split streams are seeded by.
    pub fn data_id(&self) -> Identity {
        self.texts[0].as_ref().map_or_else(|| Identity::of(""), |text| text.id)
    }

    /// Its sections by name.
    pub fn sections(&self) -> impl Iterator<Item = (&'static str, &Arc<SectionText>)> {
        SECTIONS.into_iter().zip(&self.texts).filter_map(|(name, text)| Some((name, text.as_ref()?)))
    }
}

/// The canonical text of the whole setting: a table of its sections.
fn joined(texts: &Texts, part: fn(&SectionText) -> &str) -> String {
    let sections = SECTIONS.iter().zip(texts).filter_map(|(name, text)| Some((name, text.as_ref()?)));
    let entries: Vec<String> = sections.map(|(name, text)| format!("{name:?}:{}", part(text))).collect();
    format!("{{{}}}", entries.join(","))
}

/// Cells that differ only in what rescales the noise, computed together.
#[derive(Debug, Clone)]
pub struct Block {
    /// The identity of the block.
    pub id: Identity,
    /// Indices of its cells in the experiment.
    pub cells: Vec<usize>,
}
