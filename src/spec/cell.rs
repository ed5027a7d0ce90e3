//! Checked cells and the blocks that share their work.

use toml::Value;

use super::Problem;
use super::canonical::{canonical, digest};
use super::setting::{Setting, TaskSetting};

/// Paths that only rescale the noise: cells that differ in nothing else form one block.
pub(super) const INNER: [&str; 3] = ["calibration", "delta", "epsilon"];

/// One checked point of the grid.
#[derive(Debug, Clone)]
pub struct Cell {
    labels: Vec<String>,
    setting: Setting,
    canonical: Value,
}

impl Cell {
    /// Only the checks of this room make a cell.
    pub(super) fn new(labels: Vec<String>, setting: Setting, canonical: Value) -> Self {
        Self { labels, setting, canonical }
    }

    /// Its label on each axis.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Its checked setting.
    pub fn setting(&self) -> &Setting {
        &self.setting
    }

    /// Checks what depends on the number of rows.
    ///
    /// # Errors
    /// The key path at fault and what is wrong there.
    pub fn check_rows(&self, rows: usize) -> Result<(), (String, Problem)> {
        let (path, split) = match &self.setting.task {
            TaskSetting::Regression(task) => ("task.regression.split", task.split),
            TaskSetting::Selection(task) => ("task.selection.split", task.split),
        };
        let folds = split.folds();
        if folds <= rows { Ok(()) } else { Err((path.to_owned(), Problem::TooManyFolds { folds, rows })) }
    }

    /// Its identity: SHA-256 of its canonical form, in hex.
    pub fn id(&self) -> String {
        digest(&canonical(&self.canonical))
    }

    /// The identity of its block: as [`Cell::id`], without what only rescales the noise.
    pub fn block_id(&self) -> String {
        let mut value = self.canonical.clone();
        if let Some(privacy) = value.get_mut("privacy").and_then(Value::as_table_mut) {
            privacy.retain(|key, _| !INNER.contains(&key));
        }
        digest(&canonical(&value))
    }

    /// The identity of its data alone, which data and split streams are seeded by.
    pub fn data_id(&self) -> String {
        digest(&self.canonical.get("data").map(canonical).unwrap_or_default())
    }
}

/// Cells that differ only in what rescales the noise, computed together.
#[derive(Debug, Clone)]
pub struct Block {
    /// The identity of the block.
    pub id: String,
    /// Indices of its cells in the experiment.
    pub cells: Vec<usize>,
}
