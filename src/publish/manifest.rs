//! `manifest.json`: where a result comes from. The only place where the wall clock is read.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::report::Report;

/// The dependencies that the program was built with.
const LOCK: &str = include_str!("../../Cargo.lock");

/// What the run knows that the experiment does not.
#[derive(Debug, Clone)]
pub struct Provenance {
    /// Each data file and its SHA-256.
    pub data: Vec<(String, String)>,
    /// The project's folder, whose commit is recorded.
    pub project: PathBuf,
    /// The seed used.
    pub seed: u32,
    /// Threads used.
    pub jobs: usize,
    /// Seconds that the computation took.
    pub seconds: f64,
}

/// The manifest as JSON text.
pub(super) fn manifest_json(report: &Report<'_>, provenance: &Provenance) -> String {
    let experiment = report.experiment;
    let files: Vec<Value> =
        provenance.data.iter().map(|(file, sha256)| json!({ "file": file, "sha256": sha256 })).collect();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let manifest = json!({
        "experiment": experiment.name,
        "program": { "version": env!("CARGO_PKG_VERSION"), "commit": commit(&provenance.project), "lock_sha256": sha256(LOCK) },
        "spec_sha256": sha256(experiment.source.text()),
        "seed": provenance.seed,
        "replicates": experiment.meta.replicates,
        "cells": experiment.cells.len(),
        "data": files,
        "largest_jitter": report.jitter(),
        "host": { "system": std::env::consts::OS, "architecture": std::env::consts::ARCH, "jobs": provenance.jobs },
        "finished_unix": now,
        "seconds": (provenance.seconds * 1e3).round() / 1e3,
    });
    format!("{manifest:#}\n")
}

fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// The commit of the project's folder, if it is a checkout of its own; marked where tracked files other than
/// results differ from it.
fn commit(project: &Path) -> Option<String> {
    if !project.join(".git").exists() {
        return None;
    }
    let head = git(project, &["rev-parse", "HEAD"])?;
    let changes = git(project, &["status", "--porcelain", "--untracked-files=no", "--", ".", ":!results"])?;
    Some(if changes.is_empty() { head } else { format!("{head}-dirty") })
}

fn git(project: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(project).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
