//! Work in shards, and putting it together again.

use std::path::{Path, PathBuf};

use dpgp::data::DatasetManifest;
use dpgp::run::store::ResultStore;
use dpgp::task::Experiment;

use crate::support::cli::Project;
use crate::support::study::{SLOW_STUDY, STUDY};

fn whole(spec: &str) -> String {
    let project = Project::with_study(spec);
    project.dpgp(&["run", "study.toml"]).expect(0);
    project.read("results/study/table.csv")
}

#[test]
fn three_shards_make_the_whole() {
    let project = Project::with_study(SLOW_STUDY);
    for (shard, store) in [("1/3", "a"), ("2/3", "b"), ("3/3", "c")] {
        let run = project.dpgp(&["run", "study.toml", "--shard", shard, "--store", store]).expect(0);
        assert!(run.out.contains(&format!("shard {shard}: 20 blocks computed")), "{}", run.out);
    }
    assert!(!project.path("results").exists(), "a shard writes no tables");
    let run = project.dpgp(&["collect", "a", "b"]).expect(1);
    assert!(run.out.contains("80 of 120 results are stored"), "{}", run.out);
    assert!(run.err.contains("study is incomplete"), "{}", run.err);
    assert!(!project.path("results").exists());
    let run = project.dpgp(&["collect", "a", "b", "c"]).expect(0);
    assert!(run.out.contains("all 120 results are stored"), "{}", run.out);
    assert_eq!(project.read("results/study/table.csv"), whole(SLOW_STUDY));
    assert!(project.dpgp(&["run", "study.toml"]).expect(0).out.contains("nothing to compute"));
}

#[test]
fn shards_may_share_a_store_and_may_be_empty() {
    let project = Project::with_study(STUDY);
    for shard in 1..=6 {
        let shard = format!("{shard}/6");
        let run = project.dpgp(&["run", "study.toml", "--shard", &shard]).expect(0);
        let blocks = usize::from(shard.as_bytes()[0] <= b'4');
        let blocks = if blocks == 1 { "1 block".to_owned() } else { format!("{blocks} blocks") };
        assert!(run.out.contains(&format!("{blocks} computed")), "{}", run.out);
    }
    project.dpgp(&["collect", "store", "--store", "store"]).expect(0);
    assert_eq!(project.read("results/study/table.csv"), whole(STUDY));
}

#[test]
fn a_shard_that_is_none_is_refused() {
    let project = Project::with_study(STUDY);
    for shard in ["0/3", "4/3", "1", "a/b"] {
        project.dpgp(&["run", "study.toml", "--shard", shard]).expect(2);
    }
    assert!(!project.path("store").exists());
}

#[test]
fn stores_that_do_not_belong_together_are_refused() {
    let project = Project::with_study(STUDY);
    project.dpgp(&["run", "study.toml", "--shard", "1/2", "--store", "a"]).expect(0);
    project.dpgp(&["run", "study.toml", "--shard", "2/2", "--store", "b", "--seed", "2"]).expect(0);
    let run = project.dpgp(&["collect", "a", "b"]).expect(1);
    assert!(run.err.contains("differ in their seed"), "{}", run.err);
    project.write("study.toml", &STUDY.replace("title = \"small\"", "title = \"other\""));
    project.dpgp(&["run", "study.toml", "--shard", "2/2", "--store", "c"]).expect(0);
    let run = project.dpgp(&["collect", "a", "c"]).expect(1);
    assert!(run.err.contains("differ in their spec"), "{}", run.err);
    project.write("study.toml", &STUDY.replace("noise_variance = 1.0", "noise_variance = 2.0"));
    let run = project.dpgp(&["collect", "a"]).expect(2);
    assert!(run.err.contains("study.toml") && run.err.contains("--dry-run --why"), "{}", run.err);
    assert!(project.dpgp(&["collect", "nowhere"]).expect(2).err.contains("nowhere is not a folder"));
}

#[test]
fn a_comment_in_the_spec_does_not_spoil_the_shards() {
    let project = Project::with_study(STUDY);
    project.dpgp(&["run", "study.toml", "--shard", "1/1", "--store", "a"]).expect(0);
    project.write("study.toml", &format!("# a comment\n{STUDY}"));
    project.dpgp(&["collect", "a"]).expect(0);
    assert_eq!(project.read("results/study/table.csv"), whole(STUDY));
}

/// Results of `from`, some number in them changed, as a store of their own.
fn falsify(project: &Project, from: &str, to: &str) -> String {
    let source = ResultStore::open(&project.path(from)).unwrap();
    let mut target = ResultStore::open(&project.path(to)).unwrap();
    let stored = source.experiment_results("study").unwrap();
    let keys: Vec<String> = std::fs::read_to_string(segment(project, from))
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("done"))
        .map(|line| line[5..69].to_owned())
        .collect();
    let session = target.begin_session(stored[0].run.clone());
    let manifest = DatasetManifest::load_shipped().unwrap();
    let experiment = Experiment::parse("study", Path::new("study.toml"), STUDY.to_owned(), &manifest).unwrap();
    let cell = experiment.cells[0].clone();
    let mut record = stored[0].record.clone();
    record.measured[0].values[0] *= 1.0 + 1e-6;
    session.append(keys[0].parse().unwrap(), &cell, &record).unwrap();
    target.end_session(session).unwrap();
    record.about.labels.join(", ")
}

fn segment(project: &Project, store: &str) -> PathBuf {
    std::fs::read_dir(project.path(store)).unwrap().next().unwrap().unwrap().path()
}

#[test]
fn results_that_disagree_are_an_error_and_merge_nothing() {
    let project = Project::with_study(STUDY);
    project.dpgp(&["run", "study.toml", "--store", "a"]).expect(0);
    let labels = falsify(&project, "a", "b");
    let run = project.dpgp(&["collect", "a", "b", "--store", "target"]).expect(1);
    assert!(run.err.contains("was computed twice with different results"), "{}", run.err);
    assert!(run.err.contains(&labels) && run.err.contains("a/") && run.err.contains("b/"), "{}", run.err);
    assert!(!project.path("target").exists());
    std::fs::copy(segment(&project, "b"), project.path("a/zz.segment")).unwrap();
    project.dpgp(&["run", "study.toml", "--store", "a"]).expect(1);
}
