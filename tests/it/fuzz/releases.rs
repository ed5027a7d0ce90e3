//! What releases leave on disk: sums of a part of the rows, released sums and certificates, as trees of JSON.

use std::path::Path;
use std::sync::LazyLock;

use dpgp::release::{
    AnyPlannedSumsRelease, CountsFile, GridChoice, ModelOverride, MomentsFile, PredictionsFileContents, PublicPoints,
    ReleaseError, verify_release,
};
use dpgp::task::Experiment;
use rand::RngExt;

use super::tree::{json_of, mutated_json};
use super::{steps, stream};
use crate::support::cli::Project;

const MOMENTS: &str = r#"experiment.title = "moments"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.05, kernel.eq = { variance = 0.3, lengthscale = 1.5 } }
task.surface = { map = [{ from = 0.5, to = 3.5, points = 4 }] }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.moments = { target_bound = 1.0, domain = [[0.0, 4.0]] } }
"#;

const COUNTS: &str = r#"experiment.title = "counts"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
task.density = { bins = [{ from = 0.0, to = 4.0, bins = 8 }], test = [{ from = 0.0, to = 4.0, bins = 8 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.histogram = { relation = "add-remove" } }
"#;

const PREDICTIONS: &str = r#"experiment.title = "predictions"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.05, kernel.eq = { variance = 0.3, lengthscale = 1.5 } }
task.regression = { split.shuffled = 3, draws = 5 }
privacy = { epsilon = 1.0, delta = 0.01, change = 10.0, mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 } }
"#;

/// A project with `part.json`, `moments.json`, `counts.json` and `p.csv` with its certificate.
static RELEASED: LazyLock<Project> = LazyLock::new(|| {
    let project = Project::new();
    let rows: String = (0..30).map(|row: i32| format!("{},{}\n", f64::from(row % 17) / 4.0, row * row % 7)).collect();
    project.write("rows.csv", &format!("x,y\n{rows}"));
    project.write("moments.toml", MOMENTS);
    project.write("predictions.toml", PREDICTIONS);
    project.write("counts.toml", COUNTS);
    project.dpgp(&["stats", "counts.toml", "rows.csv", "--release", "counts.json", "--no-ledger"]).expect(0);
    project.write("grid.csv", "x\n1\n2\n");
    let release = ["--out", "part.json", "--release", "moments.json", "--no-ledger"];
    project.dpgp(&[&["stats", "moments.toml", "rows.csv"], &release[..]].concat()).expect(0);
    project.dpgp(&["predict", "predictions.toml", "--at", "grid.csv", "--out", "p.csv", "--no-ledger"]).expect(0);
    project
});

/// Reads damaged copies of a file of the project, which stand in `folder` under its name.
fn damaged(name: &str, read: impl Fn(&Path) -> Result<(), ReleaseError>) {
    let (folder, tree) = (tempfile::tempdir().unwrap(), json_of(&RELEASED.read(name)));
    let path = folder.path().join(name);
    std::fs::write(&path, RELEASED.read(name)).unwrap();
    read(&path).unwrap();
    let mut refused = 0;
    for step in 0..steps() {
        let mut stream = stream(step);
        std::fs::write(&path, mutated_json(&tree, stream.random_range(1..4), &mut stream)).unwrap();
        if let Err(error) = read(&path) {
            assert!(!error.to_string().is_empty(), "{step}");
            refused += 1;
        }
    }
    assert!(refused > 0 && refused < steps(), "{refused} of {} were refused", steps());
}

/// Noise is added to what can still be read of a part, whatever its numbers are.
#[test]
fn damaged_parts_are_added_or_refused() {
    let manifest = dpgp::data::DatasetManifest::load_shipped().unwrap();
    let text = RELEASED.read("moments.toml");
    let experiment = Experiment::parse("moments", Path::new("moments.toml"), text, &manifest).unwrap();
    let AnyPlannedSumsRelease::Moments(streamed) = AnyPlannedSumsRelease::from_experiment(&experiment).unwrap() else {
        unreachable!()
    };
    damaged("part.json", |path| {
        let total = streamed.combine_shard_sums(&[path.to_path_buf()])?;
        let privacy = streamed.resolve_privacy_setting(None)?;
        let offer = streamed.design_release(&total, &privacy, true)?;
        offer.charge(None, &streamed.release_spec(&privacy), None)?.draw().map(drop)
    });
}

#[test]
fn damaged_moments_predict_or_are_refused() {
    damaged("moments.json", |path| {
        let file = MomentsFile::read(path)?;
        file.predict(PublicPoints::Grid(&GridChoice::Auto), ModelOverride::default()).map(drop)
    });
}

#[test]
fn damaged_counts_are_estimated_or_refused() {
    damaged("counts.json", |path| match CountsFile::read(path)? {
        Some(file) => file.predict_bin_counts(&PublicPoints::Grid(&GridChoice::Auto)).map(drop),
        None => MomentsFile::read(path).map(drop),
    });
}

/// Those of sums and of predictions; one that has no guarantee any more is none.
#[test]
fn damaged_certificates_are_checked_or_refused() {
    damaged("moments.json", |path| verify_release(path, None, None, &dpgp::data::SilentProgress).map(drop));
    let csv = RELEASED.path("p.csv");
    damaged("p.csv.certificate.json", |path| {
        verify_release(path, Some(&csv), None, &dpgp::data::SilentProgress).map(drop)
    });
}

/// The rows stand beside a whole certificate, and the other way round.
#[test]
fn damaged_predictions_are_read_or_refused() {
    let beside = RELEASED.read("p.csv");
    damaged("p.csv.certificate.json", |path| {
        let csv = path.with_file_name("p.csv");
        std::fs::write(&csv, &beside).unwrap();
        PredictionsFileContents::read(&csv).map(drop)
    });
}
