//! Writes the result folder of an experiment, with `manifest.json` (the origin of the results) and `timing.json` (their cost),
//! and checks whether one is up to date.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::checks::PublishError;
use crate::figure::{figure_frames_json, figure_svg};
use crate::report::Report;
use crate::table::{NOT_PRIVATE, claims_csv, compare_tables, table_csv, table_page_markdown};
use dpgp_fs::{ReadAccess, read_text_unless_outside_link, refuse_links, write_atomically_with_access};
use dpgp_run::{Provenance, PublicFileRecord, find_commit};

/// The contents of a folder before it is written.
#[derive(Debug)]
struct PreviousFiles {
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
    let mut files = render_result_files(report, provenance, PreviousFiles::read(folder))?;
    files.push(("timing.json", timing_json(provenance)));
    std::fs::create_dir_all(folder).map_err(|cause| PublishError::io(folder, cause))?;
    for optional in ["claims.csv", "figure.svg", "figure.json"] {
        if !files.iter().any(|(name, _)| *name == optional) {
            remove_file_if_present(&folder.join(optional))?;
        }
    }
    let readers = if provenance.own_rows { ReadAccess::Holder } else { ReadAccess::All };
    for (name, contents) in files {
        let path = folder.join(name);
        // Exact numbers are written again, so that files of earlier versions lose their other readers.
        if readers == ReadAccess::All && std::fs::read(&path).is_ok_and(|before| before == contents.as_bytes()) {
            continue;
        }
        write_atomically_with_access(readers, &path, &contents).map_err(|cause| PublishError::io(&path, cause))?;
    }
    Ok(())
}

/// The names and texts of a result folder that every run of the experiment gives.
fn render_result_files(
    report: &Report<'_>,
    provenance: &Provenance,
    before: Option<PreviousFiles>,
) -> Result<Vec<(&'static str, String)>, PublishError> {
    let table = table_csv(report)?;
    let manifest_before = before.filter(|before| before.table == table).map(|before| before.manifest);
    let mut files = vec![("table.csv", table), ("table.md", table_page_markdown(report, provenance))];
    if !report.claims.is_empty() {
        files.push(("claims.csv", claims_csv(&report.claims)?));
    }
    if let Some(figure) = figure_svg(report)? {
        files.push(("figure.svg", figure));
    }
    files.extend(figure_frames_json(report).map(|shown| ("figure.json", shown)));
    files.push(("manifest.json", manifest_json(report, provenance, manifest_before.as_deref())));
    Ok(files)
}

/// Removes files of an earlier spec that the present one does not have.
fn remove_file_if_present(path: &Path) -> Result<(), PublishError> {
    match std::fs::remove_file(path) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => Err(PublishError::io(path, cause)),
        _ => Ok(()),
    }
}

/// The dependencies that the program was built with.
const LOCK: &str = include_str!("../../../../Cargo.lock");

/// The manifest as JSON text. `before` is that of the same table: while nothing changed but the program around the numbers, it
/// stays as it was, and names the commit that first computed them.
fn manifest_json(report: &Report<'_>, provenance: &Provenance, before: Option<&str>) -> String {
    let experiment = report.experiment;
    let files: Vec<Value> = provenance.data.iter().map(data_file_json).collect();
    let spec = (!provenance.rows_in_spec).then(|| sha256(experiment.source.text()));
    let mut manifest = json!({
        "experiment": experiment.name,
        "quick": experiment.quick,
        "program": { "version": env!("CARGO_PKG_VERSION"), "commit": Value::Null, "lock_sha256": sha256(LOCK) },
        "spec_sha256": spec,
        "seed": provenance.seed,
        "numerics": provenance.numerics,
        "replicates": experiment.meta.replicates,
        "cells": experiment.cells.len(),
        "data": files,
        "largest_jitter": report.largest_jitter(),
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
        Some(before) if is_same_committed_computation(before, &manifest) => before.to_owned(),
        _ => {
            // Git takes longer than the rest of a run that has nothing to compute.
            manifest["program"]["commit"] = json!(find_commit(&provenance.project));
            format!("{manifest:#}\n")
        }
    }
}

/// The finishing time and cost of results, which no two runs share, as JSON text.
fn timing_json(provenance: &Provenance) -> String {
    let timing = json!({
        "finished_unix": provenance.finished,
        "cpu_seconds": (provenance.seconds * 1e3).round() / 1e3,
    });
    format!("{timing:#}\n")
}

/// A data file; without a digest if it is the user's own, since that would let anyone check a guess of its rows.
fn data_file_json(PublicFileRecord { file, sha256 }: &PublicFileRecord) -> Value {
    match sha256 {
        Some(sha256) => json!({ "file": file, "sha256": sha256 }),
        None => json!({ "file": file, "of_the_user": true }),
    }
}

/// Whether two manifests of one table are of the same computation, and the first names a commit.
fn is_same_committed_computation(before: &str, now: &Value) -> bool {
    let Ok(before) = serde_json::from_str::<Value>(before) else { return false };
    // Results of a tree with changes of its own get the name of a commit as soon as there is one.
    if before["program"]["commit"].as_str().is_some_and(|commit| commit.ends_with("-dirty")) {
        return false;
    }
    let clipped = "clipped_targets_not_private";
    differing_keys(&before, now).is_empty() && before.get(clipped) == now.get(clipped)
}

/// The keys by which two manifests describe different computations.
fn differing_keys(before: &Value, now: &Value) -> Vec<String> {
    let keys =
        ["experiment", "quick", "spec_sha256", "seed", "numerics", "replicates", "cells", "data", "failed_cells"];
    keys.into_iter().filter(|key| before.get(key) != now.get(key)).map(str::to_owned).collect()
}

fn sha256(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// In texts for people, numbers closer than this count as equal: the gaps of certificates are close to rounding errors.
const NOISE: f64 = 1e-8;

/// The same for rounded numbers.
const SHOWN: f64 = 1e-6;

/// Lists the differences between a folder and a fresh run; numbers may differ by a relative `tolerance`.
///
/// # Errors
/// [`PublishError`] if the fresh texts cannot be made.
pub fn list_result_differences(
    folder: &Path,
    report: &Report<'_>,
    provenance: &Provenance,
    tolerance: f64,
) -> Result<Vec<String>, PublishError> {
    if !folder.exists() {
        let place = folder.display();
        return Ok(vec![format!("{place}: no committed results here; run this in the project, or use --results")]);
    }
    let (mut findings, secondary) = (Vec::new(), report.experiment.uncompared_metrics());
    let mut files = render_result_files(report, provenance, None)?;
    // The manifest often has the reason for all other differences.
    files.sort_by_key(|(name, _)| *name != "manifest.json");
    for (name, fresh) in files {
        let path = folder.join(name);
        let place = path.display();
        let committed = match read_text_unless_outside_link(&path) {
            Ok(committed) => committed,
            Err(cause) => {
                findings.push(format!("{place}: {cause}"));
                continue;
            }
        };
        let found: Vec<String> = match name {
            "table.csv" => match compare_tables(&committed, &fresh, tolerance) {
                Err(error) => vec![error.to_string()],
                Ok(differences) => {
                    let compared = differences.iter().filter(|difference| !secondary.contains(&difference.metric));
                    findings.extend(compared.map(ToString::to_string));
                    continue;
                }
            },
            // These show the table, with its secondary metrics.
            _ if !secondary.is_empty() && name != "manifest.json" => continue,
            "manifest.json" => manifest_differences(&committed, &fresh),
            "figure.json" => Vec::from_iter(first_difference(&committed, &fresh, tolerance.max(SHOWN))),
            _ => Vec::from_iter(first_difference(&committed, &fresh, tolerance)),
        };
        findings.extend(found.iter().map(|what| format!("{place}: {what}")));
    }
    Ok(findings)
}

fn manifest_differences(committed: &str, fresh: &str) -> Vec<String> {
    let parsed = (serde_json::from_str::<Value>(committed), serde_json::from_str::<Value>(fresh));
    let (Ok(committed), Ok(fresh)) = parsed else { return vec!["is not a manifest".to_owned()] };
    let mut findings = Vec::new();
    for key in differing_keys(&committed, &fresh) {
        if key == "data" {
            findings.extend(describe_changed_files(&committed[&key], &fresh[&key]));
            continue;
        }
        let was = committed.get(&key).map_or("missing".to_owned(), Value::to_string);
        findings.push(format!("{key} was {was}, is now {}", fresh[&key]));
    }
    findings
}

/// Names the files that have other contents, or that only one of two lists has.
fn describe_changed_files(committed: &Value, fresh: &Value) -> Vec<String> {
    let digests = |list: &Value| -> BTreeMap<String, Value> {
        let files = list.as_array().into_iter().flatten();
        files.filter_map(|one| Some((one["file"].as_str()?.to_owned(), one["sha256"].clone()))).collect()
    };
    let (before, after) = (digests(committed), digests(fresh));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let said = names.into_iter().filter_map(|name| match (before.get(name), after.get(name)) {
        (Some(was), Some(is)) if was == is => None,
        (Some(was), Some(is)) => Some(format!("{name} changed: its SHA-256 was {was}, is now {is}")),
        (Some(_), None) => Some(format!("{name} is no longer read")),
        (None, _) => Some(format!("{name} was not read before")),
    });
    said.collect()
}

/// The first line in which two texts differ, numbers compared as such.
fn first_difference(committed: &str, fresh: &str, tolerance: f64) -> Option<String> {
    if committed.lines().count() != fresh.lines().count() {
        return Some("has a different number of lines; run the experiment again".to_owned());
    }
    let pairs = committed.lines().zip(fresh.lines()).enumerate();
    let (line, (was, is)) = pairs.into_iter().find(|(_, (a, b))| !are_lines_close(a, b, tolerance))?;
    let start = common_prefix_length(was, is);
    Some(format!("line {} was {:?}, is now {:?}", line + 1, excerpt(was, start), excerpt(is, start)))
}

fn are_lines_close(a: &str, b: &str, tolerance: f64) -> bool {
    if a == b {
        return true;
    }
    let [a, b]: [Vec<&str>; 2] = [a, b].map(|line| line.split(is_separator).collect());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| are_tokens_close(a, b, tolerance))
}

/// Whether a character stands between words and numbers.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || "\"|,()<>=[]{}:".contains(c)
}

fn are_tokens_close(a: &str, b: &str, tolerance: f64) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) => (x - y).abs() <= NOISE.max(tolerance * x.abs().max(y.abs())),
        _ => a == b,
    }
}

/// The number of characters that two lines begin with alike.
fn common_prefix_length(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

/// Part of a line around the character at which it differs.
fn excerpt(line: &str, start: usize) -> String {
    let from = start.saturating_sub(20);
    let text: String = line.chars().skip(from).take(60).collect();
    let [before, after] = [from > 0, line.chars().count() > from + 60].map(|is| if is { "..." } else { "" });
    format!("{before}{text}{after}")
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

#[cfg(test)]
mod freshness_tests {
    use super::*;

    #[test]
    fn words_and_numbers_are_told_apart() {
        let text = "| a | 13.36 ± 2.599 | 7.86e-12 |\n";
        assert_eq!(first_difference(text, &text.replace("7.86e-12", "1.2e-11"), 1e-9), None);
        assert_eq!(first_difference(text, &text.replace("13.36", "13.360000001"), 1e-9), None);
        for (from, to) in [("13.36", "13.37"), ("| a", "| b"), ("±", "+")] {
            assert!(first_difference(text, &text.replace(from, to), 1e-9).is_some_and(|s| s.contains("line 1")));
        }
        assert!(first_difference(text, "", 1e-9).is_some());
    }

    /// A part in a thousand of the greater number, whatever its size.
    #[test]
    fn numbers_are_close_by_their_size() {
        for (one, other, expected) in
            [("100", "100.09", true), ("100", "100.2", false), ("0.01", "0.0100099", true), ("0.01", "0.01002", false)]
        {
            assert_eq!(are_tokens_close(one, other, 1e-3), expected, "{one} {other}");
            assert_eq!(are_tokens_close(other, one, 1e-3), expected, "{other} {one}");
        }
        assert!(
            are_tokens_close("1e-9", "-1e-9", 1e-3)
                && are_tokens_close("a", "a", 0.0)
                && !are_tokens_close("a", "1", 1.0)
        );
    }
}
