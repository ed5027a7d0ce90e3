//! Checked cells and the blocks that share their work.

use std::sync::Arc;

use super::Problem;
use super::canonical::Identity;
use super::section::{SECTIONS, SectionText};
use super::setting::{Setting, SplitSetting, TaskSetting};

/// Keys of the privacy section that only rescale the noise: cells that differ in nothing else form one block.
pub(super) const INNER: [&str; 3] = ["calibration", "delta", "epsilon"];

/// One checked point of the grid.
#[derive(Debug, Clone)]
pub struct Cell {
    labels: Vec<String>,
    setting: Setting,
    texts: Texts,
    id: Identity,
    block: Identity,
}

/// The canonical text of each section, in the order of [`SECTIONS`]; none where a cell has no such section.
pub(super) type Texts = [Option<Arc<SectionText>>; SECTIONS.len()];

impl Cell {
    /// Only the checks of this room make a cell.
    pub(super) fn new(labels: Vec<String>, setting: Setting, texts: Texts) -> Self {
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
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// Checks what depends on the number of rows that the data hold.
    ///
    /// # Errors
    /// The key path at fault and what is wrong there.
    pub fn check_rows(&self, rows: usize) -> Result<(), (String, Problem)> {
        let rows = self.setting.data.rows_drawn(rows);
        let (path, split) = match &*self.setting.task {
            TaskSetting::Regression(task) => ("task.regression.split", task.split),
            TaskSetting::Selection(task) => {
                let held = rows;
                let rows = task.rows.map_or(held, |rows| held.min(rows.to).saturating_sub(rows.from));
                return enough("task.selection.split", task.split, rows);
            }
            TaskSetting::Prediction(_)
            | TaskSetting::Tutorial(_)
            | TaskSetting::Density(_)
            | TaskSetting::Surface(_)
            | TaskSetting::Errata(_) => return Ok(()),
            TaskSetting::Posterior(task) => return to_test("task.posterior.train", task.train, rows),
            TaskSetting::Convergence(task) => return to_test("task.convergence.train", task.train, rows),
            TaskSetting::Classification(task) => {
                let points = usize::from(!task.at.is_empty());
                return to_test("task.classification.train", task.train, rows + points);
            }
            TaskSetting::Calibration(task) => return to_test("task.calibration.train", task.train, rows),
            TaskSetting::Hyperparameters(task) => {
                return to_test("task.hyperparameters.train", task.train, rows);
            }
            TaskSetting::Leaderboard(task) => ("task.leaderboard.split", task.split),
            TaskSetting::Dirichlet(task) => return to_test("task.dirichlet.train", task.train, rows),
        };
        enough(path, split, rows)
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

/// A row beyond the training rows.
fn to_test(path: &str, train: usize, rows: usize) -> Result<(), (String, Problem)> {
    if train < rows { Ok(()) } else { Err((path.to_owned(), Problem::NothingToTest { train, rows })) }
}

/// A row for each fold.
fn enough(path: &str, split: SplitSetting, rows: usize) -> Result<(), (String, Problem)> {
    let folds = split.folds();
    if folds <= rows { Ok(()) } else { Err((path.to_owned(), Problem::TooManyFolds { folds, rows })) }
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
