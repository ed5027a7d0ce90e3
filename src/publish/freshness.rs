//! Whether a result folder is what would be written now.

use std::path::Path;

use serde_json::Value;

use super::compare::compare_tables;
use super::folder::{PublishError, files};
use super::manifest::differing;
use super::report::Report;
use crate::run::Provenance;

/// Numbers closer than this count as the same in texts for people: certificates' gaps are noise near rounding.
const NOISE: f64 = 1e-8;

/// The same of numbers that are only shown, which are rounded.
const SHOWN: f64 = 1e-6;

/// What stands in a folder and is not what would be written there; numbers may differ by `tolerance`, relative.
///
/// # Errors
/// [`PublishError`] if the fresh texts cannot be made.
pub fn stale(
    folder: &Path,
    report: &Report<'_>,
    provenance: &Provenance,
    tolerance: f64,
) -> Result<Vec<String>, PublishError> {
    let mut findings = Vec::new();
    for (name, fresh) in files(report, provenance, None)? {
        let path = folder.join(name);
        let place = path.display();
        let committed = match std::fs::read_to_string(&path) {
            Ok(committed) => committed,
            Err(cause) => {
                findings.push(format!("{place}: {cause}"));
                continue;
            }
        };
        match name {
            "table.csv" => match compare_tables(&committed, &fresh, tolerance) {
                Err(error) => findings.push(format!("{place}: {error}")),
                Ok(differences) => findings.extend(differences.iter().map(ToString::to_string)),
            },
            "manifest.json" => {
                findings.extend(manifest(&committed, &fresh).map(|what| format!("{place}: {what}")))
            }
            "figure.json" => findings.extend(
                first_difference(&committed, &fresh, tolerance.max(SHOWN))
                    .map(|what| format!("{place}: {what}")),
            ),
            _ => findings.extend(
                first_difference(&committed, &fresh, tolerance).map(|what| format!("{place}: {what}")),
            ),
        }
    }
    Ok(findings)
}

fn manifest(committed: &str, fresh: &str) -> impl Iterator<Item = String> {
    let parsed = (serde_json::from_str::<Value>(committed), serde_json::from_str::<Value>(fresh));
    let findings = match parsed {
        (Ok(committed), Ok(fresh)) => {
            let was = |key: &String| committed.get(key).map_or("missing".to_owned(), Value::to_string);
            let finding = |key: String| format!("{key} was {}, is {}", was(&key), fresh[&key]);
            differing(&committed, &fresh).into_iter().map(finding).collect()
        }
        _ => vec!["is no manifest".to_owned()],
    };
    findings.into_iter()
}

/// The first line in which two texts differ, numbers compared as such.
fn first_difference(committed: &str, fresh: &str, tolerance: f64) -> Option<String> {
    if committed.lines().count() != fresh.lines().count() {
        return Some("has another number of lines; run it again".to_owned());
    }
    let pairs = committed.lines().zip(fresh.lines()).enumerate();
    let (line, (was, is)) = pairs.into_iter().find(|(_, (a, b))| !same(a, b, tolerance))?;
    Some(format!("line {} was {:?}, is {:?}", line + 1, shortened(was), shortened(is)))
}

fn same(a: &str, b: &str, tolerance: f64) -> bool {
    let close = |(a, b): (&str, &str)| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) => (x - y).abs() <= NOISE.max(tolerance * x.abs().max(y.abs())),
        _ => a == b,
    };
    let apart = |c: char| c.is_whitespace() || "\"|,()<>=[]{}:".contains(c);
    a == b
        || (a.split(apart).count() == b.split(apart).count() && a.split(apart).zip(b.split(apart)).all(close))
}

/// Enough of a line to find it.
fn shortened(line: &str) -> String {
    line.chars().take(160).collect()
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
            assert!(
                first_difference(text, &text.replace(from, to), 1e-9).is_some_and(|s| s.contains("line 1"))
            );
        }
        assert!(first_difference(text, "", 1e-9).is_some());
    }
}
