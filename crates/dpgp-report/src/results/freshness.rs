//! Checks whether a result folder is up to date.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use super::checks::PublishError;
use super::folder::differing_keys;
use super::folder::files;
use crate::report::Report;
use crate::table::compare_tables;
use dpgp_fs::read_unlinked_text;
use dpgp_run::Provenance;

/// In texts for people, numbers closer than this count as equal: the gaps of certificates are close to rounding errors.
const NOISE: f64 = 1e-8;

/// The same for rounded numbers.
const SHOWN: f64 = 1e-6;

/// Lists the differences between a folder and a fresh run; numbers may differ by a relative `tolerance`.
///
/// # Errors
/// [`PublishError`] if the fresh texts cannot be made.
pub fn find_stale_results(
    folder: &Path,
    report: &Report<'_>,
    provenance: &Provenance,
    tolerance: f64,
) -> Result<Vec<String>, PublishError> {
    let (mut findings, secondary) = (Vec::new(), report.experiment.secondary_metrics());
    let mut files = files(report, provenance, None)?;
    // The manifest often has the reason for all other differences.
    files.sort_by_key(|(name, _)| *name != "manifest.json");
    for (name, fresh) in files {
        let path = folder.join(name);
        let place = path.display();
        let committed = match read_unlinked_text(&path) {
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
            findings.extend(changed_files(&committed[&key], &fresh[&key]));
            continue;
        }
        let was = committed.get(&key).map_or("missing".to_owned(), Value::to_string);
        findings.push(format!("{key} was {was}, is now {}", fresh[&key]));
    }
    findings
}

/// Names the files that have other contents, or that only one of two lists has.
fn changed_files(committed: &Value, fresh: &Value) -> Vec<String> {
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
    let (line, (was, is)) = pairs.into_iter().find(|(_, (a, b))| !same(a, b, tolerance))?;
    let start = common_start(was, is);
    Some(format!("line {} was {:?}, is now {:?}", line + 1, excerpt(was, start), excerpt(is, start)))
}

fn same(a: &str, b: &str, tolerance: f64) -> bool {
    if a == b {
        return true;
    }
    let [a, b]: [Vec<&str>; 2] = [a, b].map(|line| line.split(is_separator).collect());
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| close(a, b, tolerance))
}

/// Whether a character stands between words and numbers.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || "\"|,()<>=[]{}:".contains(c)
}

fn close(a: &str, b: &str, tolerance: f64) -> bool {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) => (x - y).abs() <= NOISE.max(tolerance * x.abs().max(y.abs())),
        _ => a == b,
    }
}

/// The number of characters that two lines begin with alike.
fn common_start(a: &str, b: &str) -> usize {
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
            assert_eq!(close(one, other, 1e-3), expected, "{one} {other}");
            assert_eq!(close(other, one, 1e-3), expected, "{other} {one}");
        }
        assert!(close("1e-9", "-1e-9", 1e-3) && close("a", "a", 0.0) && !close("a", "1", 1.0));
    }
}
