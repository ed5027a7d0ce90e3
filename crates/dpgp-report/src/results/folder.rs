//! Writes the result folder of an experiment, with `manifest.json` (the origin of the results) and `timing.json` (their cost).

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::checks::PublishError;
use crate::figure::{figure_json, figure_svg};
use crate::report::Report;
use crate::table::{NOT_PRIVATE, claims_csv, table_csv, table_markdown};
use dpgp_fs::{ReadAccess, refuse_links, write_atomically_for};
use dpgp_run::{Provenance, PublicDigest, find_commit};

/// The contents of a folder before it is written.
#[derive(Debug)]
pub(super) struct PreviousFiles {
    table: String,
    manifest: String,
}

impl PreviousFiles {
    fn read(folder: &Path) -> Option<Self> {
        let [table, manifest] = ["table.csv", "manifest.json"].map(|name| std::fs::read_to_string(folder.join(name)));
        Some(Self { table: table.ok()?, manifest: manifest.ok()? })
    }
}

/// Every file that [`publish`] writes or removes.
const NAMES: [&str; 7] =
    ["table.csv", "table.md", "claims.csv", "figure.svg", "figure.json", "manifest.json", "timing.json"];

/// Fails if a result folder, a folder that it is in below the one that the user vouches for, or a file in it is a link.
///
/// # Errors
/// [`PublishError::Io`] with the link.
pub fn ensure_no_links(vouched: &Path, folder: &Path) -> Result<(), PublishError> {
    let mut paths = NAMES.iter().map(|name| folder.join(name));
    paths.try_for_each(|path| refuse_links(vouched, &path).map_err(|cause| PublishError::io(&path, cause)))
}

/// Writes `table.csv`, `table.md`, `claims.csv` (where it makes claims), `figure.svg` (where the spec has one), `figure.json` (where it shows more than the
/// table), `manifest.json` and `timing.json` into a folder. All texts are made before the first is written; files that are as they should be are left alone.
/// Results from the user's own rows are readable by their owner alone.
///
/// # Errors
/// [`PublishError`]; files that were there are replaced whole or not at all.
pub fn publish(folder: &Path, report: &Report<'_>, provenance: &Provenance) -> Result<(), PublishError> {
    let mut files = files(report, provenance, PreviousFiles::read(folder))?;
    files.push(("timing.json", timing_json(provenance)));
    std::fs::create_dir_all(folder).map_err(|cause| PublishError::io(folder, cause))?;
    for optional in ["claims.csv", "figure.svg", "figure.json"] {
        if !files.iter().any(|(name, _)| *name == optional) {
            remove_stale(&folder.join(optional))?;
        }
    }
    let readers = if provenance.own_rows { ReadAccess::Holder } else { ReadAccess::All };
    for (name, contents) in files {
        let path = folder.join(name);
        // Exact numbers are written again, so that files of earlier versions lose their other readers.
        if readers == ReadAccess::All && std::fs::read(&path).is_ok_and(|before| before == contents.as_bytes()) {
            continue;
        }
        write_atomically_for(readers, &path, &contents).map_err(|cause| PublishError::io(&path, cause))?;
    }
    Ok(())
}

/// The names and texts of a result folder that every run of the experiment gives.
pub(super) fn files(
    report: &Report<'_>,
    provenance: &Provenance,
    before: Option<PreviousFiles>,
) -> Result<Vec<(&'static str, String)>, PublishError> {
    let table = table_csv(report)?;
    let manifest_before = before.filter(|before| before.table == table).map(|before| before.manifest);
    let mut files = vec![("table.csv", table), ("table.md", table_markdown(report, provenance))];
    if !report.claims.is_empty() {
        files.push(("claims.csv", claims_csv(&report.claims)?));
    }
    if let Some(figure) = figure_svg(report)? {
        files.push(("figure.svg", figure));
    }
    files.extend(figure_json(report).map(|shown| ("figure.json", shown)));
    files.push(("manifest.json", manifest_json(report, provenance, manifest_before.as_deref())));
    Ok(files)
}

/// Removes files of an earlier spec that the present one does not have.
fn remove_stale(path: &Path) -> Result<(), PublishError> {
    match std::fs::remove_file(path) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => Err(PublishError::io(path, cause)),
        _ => Ok(()),
    }
}

/// The dependencies that the program was built with.
const LOCK: &str = include_str!("../../../../Cargo.lock");

/// The manifest as JSON text. `before` is that of the same table: while nothing changed but the program around the numbers, it
/// stays as it was, and names the commit that first computed them.
pub(super) fn manifest_json(report: &Report<'_>, provenance: &Provenance, before: Option<&str>) -> String {
    let experiment = report.experiment;
    let files: Vec<Value> = provenance.data.iter().map(data_file_json).collect();
    let spec = (!provenance.rows_in_spec).then(|| sha256(experiment.source.text()));
    let mut manifest = json!({
        "experiment": experiment.name,
        "quick": experiment.quick,
        "program": { "version": env!("CARGO_PKG_VERSION"), "commit": find_commit(&provenance.project), "lock_sha256": sha256(LOCK) },
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
        manifest["failed_cells"] = json!(report.failure_sentences().collect::<Vec<String>>());
    }
    match before {
        Some(before) if has_same_origin(before, &manifest) => before.to_owned(),
        _ => format!("{manifest:#}\n"),
    }
}

/// The finishing time and cost of results, which no two runs share, as JSON text.
pub(super) fn timing_json(provenance: &Provenance) -> String {
    let timing = json!({
        "finished_unix": provenance.finished,
        "cpu_seconds": (provenance.seconds * 1e3).round() / 1e3,
    });
    format!("{timing:#}\n")
}

/// A data file; without a digest if it is the user's own, since that would let anyone check a guess of its rows.
fn data_file_json(PublicDigest { file, sha256 }: &PublicDigest) -> Value {
    match sha256 {
        Some(sha256) => json!({ "file": file, "sha256": sha256 }),
        None => json!({ "file": file, "of_the_user": true }),
    }
}

/// Whether two manifests of one table are of the same computation, and the first names a commit.
fn has_same_origin(before: &str, now: &Value) -> bool {
    let Ok(before) = serde_json::from_str::<Value>(before) else { return false };
    // Results of a tree with changes of its own get the name of a commit as soon as there is one.
    if before["program"]["commit"].as_str().is_some_and(|commit| commit.ends_with("-dirty")) {
        return false;
    }
    let clipped = "clipped_targets_not_private";
    differing_keys(&before, now).is_empty() && before.get(clipped) == now.get(clipped)
}

/// The keys by which two manifests describe different computations.
pub(super) fn differing_keys(before: &Value, now: &Value) -> Vec<String> {
    let keys =
        ["experiment", "quick", "spec_sha256", "seed", "numerics", "replicates", "cells", "data", "failed_cells"];
    keys.into_iter().filter(|key| before.get(key) != now.get(key)).map(str::to_owned).collect()
}

fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::figure::fabricated::{experiment, row};

    fn provenance(own_rows: bool) -> Provenance {
        Provenance {
            data: Vec::new(),
            own_rows,
            rows_in_spec: true,
            project: PathBuf::new(),
            seed: 1,
            numerics: 1,
            seconds: 1.0,
            finished: 0,
            clipped: Vec::new(),
        }
    }

    fn published(folder: &Path, own_rows: bool) -> Result<(), PublishError> {
        let experiment = experiment(&["a"], "");
        let report = Report::new(&experiment, vec![row(0, "rmse", 0.5, None)], Vec::new());
        publish(folder, &report, &provenance(own_rows))
    }

    /// Claims and figures of an earlier spec go; nothing else does.
    #[test]
    fn what_the_spec_no_longer_has_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["claims.csv", "figure.svg", "figure.json", "notes.txt"] {
            std::fs::write(folder.path().join(name), "earlier").unwrap();
        }
        published(folder.path(), false).unwrap();
        let entries = std::fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["manifest.json", "notes.txt", "table.csv", "table.md", "timing.json"]);
        let manifest = std::fs::read_to_string(folder.path().join("manifest.json")).unwrap();
        assert!(!manifest.contains("clipped_targets"), "{manifest}");
        // A folder in the place of a file cannot be removed as one.
        std::fs::create_dir(folder.path().join("claims.csv")).unwrap();
        assert!(published(folder.path(), false).is_err());
    }

    /// Files that are as they should be stay the same files, unless others than the holder of the rows may read them.
    #[cfg(unix)]
    #[test]
    fn what_is_the_same_is_left_alone_or_closed_to_others() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("table.csv");
        published(folder.path(), false).unwrap();
        let first = std::fs::metadata(&table).unwrap();
        published(folder.path(), false).unwrap();
        assert_eq!(std::fs::metadata(&table).unwrap().ino(), first.ino());
        std::fs::set_permissions(&table, std::fs::Permissions::from_mode(0o644)).unwrap();
        published(folder.path(), true).unwrap();
        assert_eq!(std::fs::metadata(&table).unwrap().mode() & 0o777, 0o600);
    }
}
