//! Finished work is on disk before the run is.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::json;

use crate::task::Measurement;

/// One JSON line for each finished block and replicate, appended as it finishes and removed once the tables
/// of the whole experiment are written. What an interrupted run had computed can be read from it.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<Option<File>>,
}

impl Journal {
    /// A journal at `path`; the file appears with the first entry.
    pub fn new(path: PathBuf) -> Self {
        Self { path, file: Mutex::new(None) }
    }

    /// Appends what one replicate of one block measured, one list for each of its cells.
    ///
    /// # Errors
    /// The I/O error of the file.
    pub fn append(
        &self,
        cells: &[String],
        replicate: u32,
        measured: &[Vec<Measurement>],
    ) -> std::io::Result<()> {
        let entry = json!({ "cells": cells, "replicate": replicate, "measured": measured });
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let open = match file.take() {
            Some(open) => open,
            None => self.create()?,
        };
        let file = file.insert(open);
        file.write_all(format!("{entry}\n").as_bytes())
    }

    fn create(&self) -> std::io::Result<File> {
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        OpenOptions::new().create(true).write(true).truncate(true).open(&self.path)
    }

    /// Removes the file: everything in it stands in the tables now.
    ///
    /// # Errors
    /// The I/O error; a file that was never written is no error.
    pub fn remove(self) -> std::io::Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Where the journal stands.
    pub fn path(&self) -> &std::path::Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::Certificate;

    #[test]
    fn entries_are_on_disk_at_once_and_gone_when_done() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/unfinished.jsonl");
        let journal = Journal::new(path.clone());
        assert!(!path.exists());
        let certificate = Certificate::none();
        let measured =
            vec![vec![Measurement { metric: "m".into(), values: vec![0.5], certificate, jitter: 0.0 }]];
        for replicate in 0..2 {
            journal.append(&["cell".to_owned()], replicate, &measured).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
        let entry: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
        assert_eq!(entry["replicate"], 1);
        assert_eq!(entry["measured"][0][0]["values"][0], 0.5);
        journal.remove().unwrap();
        assert!(!path.exists());
    }
}
