//! `manifest.json`: where a result comes from; `timing.json`: what it cost.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::report::Report;
use crate::table::NOT_PRIVATE;
use dpgp_run::{Provenance, PublicDigest, commit};

/// The dependencies that the program was built with.
const LOCK: &str = include_str!("../../../../Cargo.lock");

/// The manifest as JSON text. `before` is that of the same table: while nothing changed but the program around the numbers, it
/// stays as it was, and names the commit that first computed them.
pub(super) fn manifest_json(report: &Report<'_>, provenance: &Provenance, before: Option<&str>) -> String {
    let experiment = report.experiment;
    let files: Vec<Value> = provenance.data.iter().map(described).collect();
    let spec = (!provenance.rows_in_spec).then(|| sha256(experiment.source.text()));
    let mut manifest = json!({
        "experiment": experiment.name,
        "quick": experiment.quick,
        "program": { "version": env!("CARGO_PKG_VERSION"), "commit": commit(&provenance.project), "lock_sha256": sha256(LOCK) },
        "spec_sha256": spec,
        "seed": provenance.seed,
        "numerics": provenance.numerics,
        "replicates": experiment.meta.replicates,
        "cells": experiment.cells.len(),
        "data": files,
        "largest_jitter": report.jitter(),
        "host": { "system": std::env::consts::OS, "architecture": std::env::consts::ARCH },
    });
    if !experiment.changes.is_empty() {
        manifest["changed"] = json!(experiment.changes);
    }
    if provenance.own_rows {
        manifest["not_private"] = json!(NOT_PRIVATE);
    }
    if !provenance.clipped.is_empty() {
        manifest["clipped_targets_not_private"] = json!(provenance.clipped);
    }
    if !report.failed.is_empty() {
        manifest["failed_cells"] = json!(report.failures().collect::<Vec<String>>());
    }
    match before {
        Some(before) if same_origin(before, &manifest) => before.to_owned(),
        _ => format!("{manifest:#}\n"),
    }
}

/// When results were finished and what they cost, which no two runs share, as JSON text.
pub(super) fn timing_json(provenance: &Provenance) -> String {
    let timing = json!({
        "finished_unix": provenance.finished,
        "cpu_seconds": (provenance.seconds * 1e3).round() / 1e3,
    });
    format!("{timing:#}\n")
}

/// A data file; without a digest if it is the user's own, since that would let anyone check a guess of its rows.
fn described(PublicDigest { file, sha256 }: &PublicDigest) -> Value {
    match sha256 {
        Some(sha256) => json!({ "file": file, "sha256": sha256 }),
        None => json!({ "file": file, "of_the_user": true }),
    }
}

/// Whether two manifests of one table are of the same computation, and the first names a commit.
fn same_origin(before: &str, now: &Value) -> bool {
    let Ok(before) = serde_json::from_str::<Value>(before) else { return false };
    // Results of a tree with changes of its own get the name of a commit as soon as there is one.
    if before["program"]["commit"].as_str().is_some_and(|commit| commit.ends_with("-dirty")) {
        return false;
    }
    let clipped = "clipped_targets_not_private";
    differing(&before, now).is_empty() && before.get(clipped) == now.get(clipped)
}

/// The keys in which two manifests say that other results were computed.
pub(super) fn differing(before: &Value, now: &Value) -> Vec<String> {
    let keys = [
        "experiment",
        "quick",
        "spec_sha256",
        "seed",
        "numerics",
        "replicates",
        "cells",
        "data",
        "failed_cells",
    ];
    keys.into_iter().filter(|key| before.get(key) != now.get(key)).map(str::to_owned).collect()
}

fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}
