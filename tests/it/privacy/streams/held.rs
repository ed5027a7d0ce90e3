//! Sums of rows that a program holds are those of a file with the same rows.

use std::path::Path;

use dpgp::data::HmacKey;
use dpgp::data::rows::InMemoryRows;
use dpgp::prelude::*;
use dpgp::release::{ExactSums, MomentsReleaseMethod, PlannedSumsRelease, ReleaseError};
use serde_json::Value;

const SPEC: &str = r#"
experiment.title = "moments of rows"
data = { source.csv.path = "rows.csv", inputs = ["a", "b"], target = "y", filter = [{ column = "a", is = "<", value = 9.0 }] }
normalise.bounds = { low = -1.0, high = 3.0, scale = 2.0 }
model = { noise_variance = 0.1, kernel.eq = { variance = 1.0, lengthscale = 3.0 } }
task.surface = {}
privacy = { epsilon = 1.0, delta = 1e-6, calibration = "analytic", mechanism.moments = { target_bound = 1.0, domain = [[0.0, 10.0], [-1.0, 1.0]], rows = 20000 } }
"#;

/// More rows than a block has.
const ROWS: usize = 20_000;

struct Rows {
    columns: [Vec<f64>; 3],
}

impl Rows {
    fn new() -> Self {
        let a = (0..ROWS).map(|row| (row * 7919 % 10_007) as f64 / 1000.0).collect();
        let b = (0..ROWS).map(|row| (row as f64 * 0.37).sin() * 1.1).collect();
        let y = (0..ROWS).map(|row| (row as f64 * 0.11).cos() * 3.0).collect();
        Self { columns: [a, b, y] }
    }

    fn csv(&self) -> String {
        let [a, b, y] = &self.columns;
        let mut text = "a,b,y\n".to_owned();
        (0..ROWS).for_each(|row| text += &format!("{:?},{:?},{:?}\n", a[row], b[row], y[row]));
        text
    }

    /// The sums of some rows: the inputs, the target and the column of the filter.
    fn sums(
        &self,
        streamed: &PlannedSumsRelease<'_, MomentsReleaseMethod>,
        rows: std::ops::Range<usize>,
        key: &HmacKey,
    ) -> Result<ExactSums<MomentsReleaseMethod>, ReleaseError> {
        let [a, b, y] = self.columns.each_ref().map(|column| &column[rows.clone()]);
        streamed.sum_rows_in_memory("rows", &mut InMemoryRows::new(vec![a, b, y, a]), &WorkerPool::new(2)?, Some(key))
    }
}

/// All but the name and the size of the file.
fn facts(text: &str) -> Value {
    let mut value: Value = serde_json::from_str(text).unwrap();
    value["files"] = value["files"].as_array().unwrap().iter().map(|file| file["rows"].clone()).collect();
    // The checksum is of the names of files, too; whether numbers lie close together is found out batch by batch.
    value.as_object_mut().unwrap().remove("checksum");
    // Only a text has lines.
    value["identity"].as_object_mut().map(|identity| identity.remove("lines"));
    for column in value["identity"]["columns"].as_array_mut().into_iter().flatten() {
        column.as_object_mut().unwrap().remove("crowded");
    }
    value
}

#[test]
fn batches_are_the_rows_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::open_at(folder.path().to_path_buf(), &DataLocations::default()).unwrap();
    let experiment = project.parse("moments", SPEC).unwrap();
    let AnyPlannedSumsRelease::Moments(streamed) = AnyPlannedSumsRelease::from_experiment(&experiment).unwrap() else {
        panic!("other sums")
    };
    let (rows, key) = (Rows::new(), HmacKey::new(b"key"));
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, rows.csv()).unwrap();
    let of_file = streamed.sum(&[path], None, &WorkerPool::new(2).unwrap(), Some(&key)).unwrap().to_json().unwrap();

    let mut batches = rows.sums(&streamed, 0..5, &key).unwrap();
    for range in [5..17_000, 17_000..17_000, 17_000..ROWS] {
        batches.add_batch(rows.sums(&streamed, range, &key).unwrap()).unwrap();
    }
    assert_eq!(facts(&batches.to_json().unwrap()), facts(&of_file));

    // Tables of their own keep what is known of each; the sums are the same.
    let mut merged = rows.sums(&streamed, 10_000..ROWS, &key).unwrap();
    merged.merge_other_tables(rows.sums(&streamed, 0..10_000, &key).unwrap()).unwrap();
    let (merged_facts, whole) = (facts(&merged.to_json().unwrap()), facts(&of_file));
    assert_eq!(merged_facts["part"], whole["part"]);
    assert_eq!(merged_facts["identity"]["sketches"], whole["identity"]["sketches"]);
    let read = streamed.parse_exact_sums(Path::new("rows"), &merged.to_json().unwrap()).unwrap();
    assert_eq!(read.to_json().unwrap(), merged.to_json().unwrap());

    let again = rows.sums(&streamed, 0..10_000, &key).unwrap();
    assert!(matches!(merged.merge_other_tables(again), Err(ReleaseError::SameRows { .. })));
    let other = rows.sums(&streamed, 0..10, &HmacKey::new(b"other")).unwrap();
    assert!(matches!(merged.merge_other_tables(other), Err(ReleaseError::SumsDiffer { .. })));
    // What was refused has changed nothing.
    assert_eq!(read.to_json().unwrap(), merged.to_json().unwrap());
}

#[test]
fn a_shard_is_no_whole() {
    let folder = tempfile::tempdir().unwrap();
    let project = Project::open_at(folder.path().to_path_buf(), &DataLocations::default()).unwrap();
    let experiment = project.parse("moments", SPEC).unwrap();
    let AnyPlannedSumsRelease::Moments(streamed) = AnyPlannedSumsRelease::from_experiment(&experiment).unwrap() else {
        panic!("other sums")
    };
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, Rows::new().csv()).unwrap();
    let shard = "1/2".parse().unwrap();
    let part = streamed.sum(&[path], Some(shard), &WorkerPool::new(1).unwrap(), None).unwrap();
    let read = streamed.parse_exact_sums(Path::new("part"), &part.to_json().unwrap());
    assert!(matches!(read, Err(ReleaseError::SumsIncomplete { missing: 1, all: 2 })));
}
