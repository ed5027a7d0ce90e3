//! Segments of the store: bytes that are damaged, and lines that are whole but say other things.

use std::path::PathBuf;
use std::sync::LazyLock;

use dpgp::run::store::{ResultStore, StoreError, StoredResult};
use rand::RngExt;
use rand_pcg::Pcg64;

use super::files::damage;
use super::tree::{json_of, mutated_json};
use super::{steps, stream};
use crate::support::cli::Project;
use crate::support::study::STUDY;

/// Where the JSON of a line begins: after its kind, key and check sum.
const JSON_AT: usize = 79;

/// The eight results of a small study.
static STORED: LazyLock<Project> = LazyLock::new(|| {
    let project = Project::with_study(STUDY);
    project.dpgp(&["run", "study.toml", "--quiet"]).expect(0);
    project
});

fn segment() -> PathBuf {
    std::fs::read_dir(STORED.path("store")).unwrap().next().unwrap().unwrap().path()
}

/// What a store has of the study.
fn results(store: &ResultStore) -> Result<Vec<StoredResult>, StoreError> {
    Ok(store.experiment_results("study")?.into_iter().map(|stored| stored.record).collect())
}

/// Changes some values of a line, with the check sum of what it then says.
fn changed(line: &str, stream: &mut Pcg64) -> String {
    let (kind, key, json) = (&line[..4], &line[5..69], &line[JSON_AT..]);
    let json = mutated_json(&json_of(json), 1, stream);
    let mut check = crc32fast::Hasher::new();
    [kind, key, &json].iter().for_each(|part| check.update(part.as_bytes()));
    format!("{kind} {key} {:08x} {json}", check.finalize())
}

/// Whether a segment has whole lines of another one alone: it is that of a run that had not come as far, and nothing tells it from one.
fn is_shorter(segment: &[u8], other: &[u8]) -> bool {
    let lines: Vec<&[u8]> = other.split_inclusive(|byte| *byte == b'\n').collect();
    segment.split_inclusive(|byte| *byte == b'\n').all(|line| lines.contains(&line))
}

/// What can still be read of a damaged segment is what was written; what cannot is told.
#[test]
fn damaged_segments_lose_what_is_damaged() {
    let (folder, good) = (tempfile::tempdir().unwrap(), std::fs::read(segment()).unwrap());
    let path = folder.path().join("0.segment");
    std::fs::write(&path, &good).unwrap();
    let written = results(&ResultStore::open(folder.path()).unwrap()).unwrap();
    assert_eq!(written.len(), 8);
    for step in 0..steps() {
        let (mut stream, mut bytes) = (stream(step), good.clone());
        for _ in 0..stream.random_range(1..6) {
            damage(&mut bytes, &mut stream);
        }
        std::fs::write(&path, &bytes).unwrap();
        let store = ResultStore::open(folder.path()).unwrap();
        let read = results(&store).unwrap();
        assert!(read.iter().all(|result| written.contains(result)), "{step}: another result");
        assert!(read.len() == 8 || !store.warnings().is_empty() || is_shorter(&bytes, &good), "{step}: no warning");
    }
}

/// A line that a wrong program wrote is read as it stands, or is an error: never a panic.
#[test]
fn lines_of_another_content_are_read_or_refused() {
    let (folder, good) = (tempfile::tempdir().unwrap(), std::fs::read_to_string(segment()).unwrap());
    let path = folder.path().join("0.segment");
    let lines: Vec<&str> = good.lines().collect();
    for step in 0..steps() {
        let mut stream = stream(step);
        let at = stream.random_range(0..lines.len());
        let mut texts: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        texts[at] = changed(lines[at], &mut stream);
        if stream.random_bool(0.3) {
            // The same result twice, which are compared.
            texts.push(lines[at].to_owned());
        }
        std::fs::write(&path, texts.join("\n") + "\n").unwrap();
        if let Err(error) = ResultStore::open(folder.path()).and_then(|store| results(&store)) {
            assert!(error.to_string().contains("0.segment"), "{step}: {error}");
        }
    }
}
