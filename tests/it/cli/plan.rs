//! `plan` and `explain`.

use crate::support::cli::Project;
use crate::support::study::STUDY;

fn plan(project: &Project) -> serde_json::Value {
    let run = project.dpgp(&["plan", "study.toml", "--format", "json"]).expect(0);
    run.json()[0].clone()
}

#[test]
fn plan_counts_what_is_stored_and_computes_nothing() {
    let project = Project::with_study(STUDY);
    let before = plan(&project);
    assert_eq!(
        (&before["results"], &before["stored"], &before["blocks_to_compute"]),
        (&8.into(), &0.into(), &4.into())
    );
    assert!(before["estimated_seconds"].is_null());
    assert!(!project.path("store").exists() && !project.path("results").exists());
    project.dpgp(&["run", "study.toml"]).expect(0);
    let after = plan(&project);
    assert_eq!((&after["stored"], &after["blocks_to_compute"]), (&8.into(), &0.into()));
    assert_eq!(after["estimated_seconds"], 0.0);
    project.write("study.toml", &STUDY.replace("noise_variance = 1.0", "noise_variance = 2.0"));
    let changed = plan(&project);
    assert_eq!(changed["blocks_to_compute"], 4);
    assert!(changed["estimated_seconds"].as_f64().unwrap() > 0.0);
    assert!(project.dpgp(&["plan", "study.toml"]).expect(0).out.contains("less than a second"));
}

#[test]
fn plan_without_data_knows_the_cells() {
    let project = Project::new();
    let run = project.dpgp_without_mirror(&["plan", "--all"]).expect(0);
    let line = run.out.lines().find(|line| line.contains("smith2021/table1 ")).unwrap();
    assert!(line.contains("to be fetched"), "{line}");
}

/// The committed timings tell how long a first run takes.
#[test]
fn a_first_run_knows_its_time() {
    let project = Project::new();
    let run = project.dpgp_without_mirror(&["run", "--all", "--dry-run", "--jobs", "2", "--format", "json"]).expect(0);
    let plans = run.json();
    let unknown = plans.as_array().unwrap().iter().filter(|plan| plan["estimated_seconds"].is_null());
    assert_eq!(unknown.count(), 0, "{plans}");
    let text = project.dpgp_without_mirror(&["run", "--all", "--dry-run"]).expect(0).out;
    assert!(text.lines().last().unwrap().starts_with("total time: about "), "{text}");
}

/// What `explain` says after a run of STUDY and a change of the spec.
fn explain_after(from: &str, to: &str) -> String {
    let project = Project::with_study(STUDY);
    project.dpgp(&["run", "study.toml"]).expect(0);
    project.write("study.toml", &STUDY.replace(from, to));
    project.dpgp(&["explain", "study.toml"]).expect(0).out
}

#[test]
fn explain_names_the_key_that_changed() {
    let text = explain_after("noise_variance = 1.0", "noise_variance = 2.5");
    assert!(text.contains("0 of 8 results are stored"), "{text}");
    assert!(text.contains("8 to compute: model.noise_variance changed from 1.0 to 2.5"), "{text}");
    assert!(text.contains("10, inf, replicate 1"), "{text}");
    let text = explain_after("change = 8.0", "change = 8.0\ncalibration = \"classic\"");
    assert!(text.contains("privacy.calibration changed from \"analytic\" to \"classic\""), "{text}");
    let text = explain_after("[experiment]", "[experiment]\nseed = 7");
    assert!(text.contains("the seed changed from 1 to 7"), "{text}");
    let text = explain_after("[5.0, 10.0]", "[5.0, 20.0]");
    assert!(text.contains("4 of 8 results are stored") && text.contains("4 to compute: never computed"), "{text}");
    let text = explain_after("title = \"small\"", "title = \"a comment is no reason\"");
    assert!(text.contains("everything is stored"), "{text}");
}

#[test]
fn explain_names_the_file_that_changed() {
    let project = Project::new();
    let spec = STUDY.replace("source.inline", "source.csv.path = \"rows.csv\" # ");
    let rows: String = (0..12).map(|i| format!("{i},{}\n", i % 5)).collect();
    project.write("study.toml", &spec);
    project.write("rows.csv", &format!("x,y\n{rows}"));
    project.dpgp(&["run", "study.toml"]).expect(0);
    project.write("rows.csv", &format!("x,y\n{}", rows.replace("0,0", "0,9")));
    let text = project.dpgp(&["explain", "study.toml"]).expect(0).out;
    assert!(text.contains("8 to compute: rows.csv changed from "), "{text}");
    std::fs::remove_file(project.path("rows.csv")).unwrap();
    assert!(project.dpgp(&["run", "study.toml"]).expect(3).err.contains("rows.csv"));
}
