//! Specs, the manifest of datasets and the ledger, as trees.

use std::path::Path;
use std::time::{Duration, Instant};

use dpgp::data::DatasetManifest;
use dpgp::release::ledger::Ledger;
use dpgp::run::{DataLocations, ExperimentRunner, Project};
use rand::RngExt;
use toml::Value;

use super::tree::mutate;
use super::{steps, stream};
use crate::support::shipped::root;

/// Texts of the project's own specs, the short ones.
fn specs() -> Vec<String> {
    let mut texts = Vec::new();
    for paper in std::fs::read_dir(root().join("experiments")).unwrap() {
        let paper = paper.unwrap().path();
        for file in std::fs::read_dir(&paper).into_iter().flatten() {
            let file = file.unwrap().path();
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            if file.extension().is_some_and(|end| end == "toml") && text.len() < 20_000 {
                texts.push(text);
            }
        }
    }
    texts.sort();
    texts
}

/// Damages one of some trees in a few places.
fn damaged(trees: &[Value], step: u64) -> String {
    let mut stream = stream(step);
    let mut tree = trees[stream.random_range(0..trees.len())].clone();
    for _ in 0..stream.random_range(1..4) {
        mutate(&mut tree, &mut stream);
    }
    toml::to_string(&tree).unwrap_or_default()
}

fn trees(texts: &[String]) -> Vec<Value> {
    texts.iter().map(|text| toml::from_str(text).unwrap()).collect()
}

/// How long a spec may take until it is refused or planned.
const MOST: Duration = Duration::from_secs(10);

/// Each is a spec whose every value was checked, and can be planned, or an error with its place.
#[test]
fn damaged_specs_are_planned_or_refused() {
    let (folder, trees) = (tempfile::tempdir().unwrap(), trees(&specs()));
    assert!(trees.len() > 20);
    let project = Project::open_at(folder.path().to_path_buf(), &DataLocations::default()).unwrap();
    let study = ExperimentRunner::open(&project, &folder.path().join("store")).unwrap();
    let mut read = 0;
    for step in 0..steps() {
        let (text, start) = (damaged(&trees, step), Instant::now());
        let planned = project.parse("damaged", &text).and_then(|spec| Ok(study.plan(&spec, None)?.replicate_count()));
        match planned {
            Ok(total) => read += u64::from(total > 0),
            Err(error) => assert!(!error.to_string().is_empty(), "{step}"),
        }
        assert!(start.elapsed() < MOST, "{step} took {:?}", start.elapsed());
    }
    assert!(read > 0 && read < steps(), "{read} of {} were read", steps());
}

#[test]
fn damaged_manifests_are_read_or_refused() {
    let text = std::fs::read_to_string(root().join("data/datasets.toml")).unwrap();
    let trees = trees(&[text]);
    for step in 0..steps() {
        if let Err(error) = DatasetManifest::parse(&damaged(&trees, step), Path::new("datasets.toml")) {
            assert!(!error.to_string().is_empty(), "{step}");
        }
    }
}

/// Bytes of a page of the documentation, as a text of another kind than is expected.
#[test]
fn other_texts_are_no_ledgers() {
    for text in specs() {
        assert!(Ledger::parse(Path::new("ledger.toml"), &text).is_err());
    }
}
