//! Files that are written replace none that is there, and nothing is left of a release that fails.

use std::collections::BTreeMap;
use std::process::Command;

use crate::support::cli::Project;
use crate::support::energy::{RECORDS, TARGETS, energy_project};
use crate::support::study::STUDY;

const STATS: &[&str] = &["stats", "energy.toml", "energy.csv", "--quiet"];
const PREDICT: &[&str] = &["predict", "energy.toml", "--at", "grid.csv", "--quiet"];

/// All files of the folder, but for locks.
fn files(project: &Project) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(project.folder.path()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_file() && !name.ends_with(".lock") {
            files.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
    files
}

/// Runs a command that fails and must leave all files as they are.
fn refused(project: &Project, arguments: &[&[&str]], code: i32, message: &str) {
    let before = files(project);
    let run = project.dpgp(&arguments.concat()).expect(code);
    assert!(run.err.contains(message), "{arguments:?}: {}", run.err);
    assert!(files(project) == before, "{arguments:?} changed files");
}

#[test]
fn sums_and_releases_replace_no_file() {
    let project = energy_project(RECORDS);
    let ledger = ["--ledger", "l.toml"];
    project.dpgp(&[STATS, &ledger, &["--release", "r.json", "--out", "sums.json"]].concat()).expect(0);
    project.dpgp(&[STATS, &["--out", "new.json"]].concat()).expect(0);
    std::os::unix::fs::symlink("r.json", project.path("link.json")).unwrap();
    std::os::unix::fs::symlink("nowhere", project.path("loose.json")).unwrap();
    for file in ["l.toml", "energy.toml", "energy.csv", "r.json", "sums.json", "link.json", "loose.json", "."] {
        refused(&project, &[STATS, &["--out", file]], 2, "already exists");
        refused(&project, &[STATS, &ledger, &["--release", file]], 2, "already exists");
        let both = ["--release", "s.json", "--out", file];
        refused(&project, &[STATS, &ledger, &both], 2, "already exists");
    }
    let adds = ["stats", "energy.toml", "--add", "sums.json"];
    refused(&project, &[&adds, &["--out", "sums.json"]], 2, "sums.json already exists");
    let counted = project.dpgp(&["ledger", "show", "l.toml", "--format", "json"]).expect(0).json();
    assert_eq!(counted[0]["account"]["releases"], 1);
}

#[test]
fn a_file_is_named_once() {
    let project = energy_project(RECORDS);
    std::os::unix::fs::symlink(".", project.path("here")).unwrap();
    let twice = "is given for two output files";
    for second in ["a.json", "./a.json", "here/a.json"] {
        refused(&project, &[STATS, &["--out", "a.json", "--release", second]], 2, twice);
        for [release, out] in [["a.json", "b.json"], ["b.json", "a.json"]] {
            let named = ["--ledger", second, "--release", release, "--out", out];
            refused(&project, &[STATS, &named], 2, twice);
        }
    }
    refused(&project, &[PREDICT, &["--out", "p.csv", "--ledger", "p.csv"]], 2, twice);
    refused(&project, &[PREDICT, &["--out", "p.csv", "--ledger", "p.csv.certificate.json"]], 2, twice);
    project.dpgp(&[STATS, &["--no-ledger", "--out", "/dev/null", "--release", "/dev/null"]].concat()).expect(0);
}

#[test]
fn nothing_is_left_of_a_release_that_fails() {
    let project = energy_project(RECORDS);
    let both = ["--out", "sums.json", "--release", "r.json"];
    let small = ["--ledger", "l.toml", "--budget-epsilon", "0.01", "--budget-delta", "1e-9"];
    refused(&project, &[STATS, &both, &small], 1, "is too small for this release");
    refused(&project, &[STATS, &["--out", "sums.json", "--release", "none/r.json"]], 5, "none/r.json");
    refused(&project, &[STATS, &["--out", "none/sums.json", "--release", "r.json"]], 5, "none/sums.json");
    assert!(!project.path("l.toml").exists());
    project.dpgp(&[STATS, &both].concat()).expect(0);
    assert!(project.path("sums.json").is_file() && project.path("r.json").is_file());
}

#[test]
fn sums_are_written_into_pipes() {
    let project = energy_project(RECORDS);
    project.dpgp(&[STATS, &["--out", "sums.json"]].concat()).expect(0);
    let pipe = project.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    project.dpgp(&[STATS, &["--out", "pipe"]].concat()).expect(0);
    assert_eq!(reader.join().unwrap(), project.read("sums.json"));
    assert!(!pipe.is_file());
    // Also where standard output is a file.
    let out = std::fs::File::create(project.path("out.txt")).unwrap();
    let mut command = project.command(&[STATS, &["--out", "/dev/stdout"]].concat());
    assert!(command.stdout(out).status().unwrap().success());
    let shown = project.read("out.txt");
    assert!(shown.starts_with(&project.read("sums.json")) && shown.contains("written to /dev/stdout"));
}

#[test]
fn a_report_replaces_reports_alone() {
    let project = Project::empty();
    project.write("study.toml", STUDY);
    project.write("page.html", "<!DOCTYPE html>\n<html>mine</html>\n");
    std::os::unix::fs::symlink("nowhere.html", project.path("loose.html")).unwrap();
    for file in ["study.toml", "page.html", "loose.html", "."] {
        refused(&project, &[&["report", "study.toml", "--out", file]], 2, "already exists");
    }
    project.dpgp(&["report", "study.toml"]).expect(0);
    let first = project.read("report.html");
    project.write("report.html", &format!("{first}\n<!-- of another version -->"));
    project.dpgp(&["report", "study.toml"]).expect(0);
    assert_eq!(project.read("report.html"), first);
    for file in ["study.toml", "report.html"] {
        let emit = ["emit", "make", "study.toml", "--shards", "2", "--out", file];
        refused(&project, &[&emit], 2, "already exists");
    }
}

/// A ledger that has another name would go on there as it was.
#[test]
fn a_ledger_has_one_name() {
    let project = energy_project(TARGETS);
    std::os::unix::fs::symlink("nowhere.toml", project.path("loose.toml")).unwrap();
    refused(&project, &[PREDICT, &["--ledger", "loose.toml"]], 2, "is a broken link");
    project.dpgp(&[PREDICT, &["--ledger", "l.toml"]].concat()).expect(0);
    std::fs::hard_link(project.path("l.toml"), project.path("same.toml")).unwrap();
    for name in ["l.toml", "same.toml"] {
        refused(&project, &[PREDICT, &["--ledger", name]], 2, "has several names");
    }
    refused(&project, &[PREDICT], 2, "has several names");
    std::fs::remove_file(project.path("same.toml")).unwrap();
    std::os::unix::fs::symlink("l.toml", project.path("link.toml")).unwrap();
    let run = project.dpgp(&[PREDICT, &["--ledger", "link.toml"]].concat()).expect(0);
    assert!(run.err.contains("2 releases have spent"), "{}", run.err);
    assert!(project.path("link.toml").is_symlink());
}

/// Settings whose numbers could overflow are refused before a row is read.
#[test]
fn what_is_no_number_costs_nothing() {
    let wide = TARGETS
        .replace("high = 40.0", "high = 1.7e308")
        .replace("change = 40.0", "change = 40.0\nrelation = \"metric\"");
    let project = energy_project(&wide);
    for out in [&["--ledger", "l.toml"][..], &["--ledger", "l.toml", "--out", "p.csv"]] {
        refused(&project, &[PREDICT, out], 2, "normalise.bounds.high = 1.7e308 is too large or too small");
    }
    project.write("records.toml", RECORDS);
    let stats = ["stats", "records.toml", "energy.csv", "--release", "r.json", "--epsilon"];
    refused(&project, &[&stats, &["0"]], 2, "epsilon = 0.0 is not above zero");
    refused(&project, &[&stats, &["inf"]], 2, "epsilon is infinite");
}

/// What is missing is said by the name that was given, and nothing is charged.
#[test]
fn a_folder_that_is_missing_is_named() {
    let project = energy_project(RECORDS);
    let predict = ["predict", "energy.toml", "--at", "grid.csv", "--quiet", "--out"];
    for (file, folder) in [("nodir/a.csv", "nodir"), ("energy.csv/a.csv", "energy.csv")] {
        refused(&project, &[&predict, &[file]], 5, &format!("{file}: the folder {folder} does not exist\n"));
        refused(&project, &[STATS, &["--out", &file.replace("csv", "json")]], 5, "the folder ");
    }
    let generate = ["generate", "--rows", "5", "--out", "nodir/a.csv"];
    refused(&project, &[&generate], 5, "nodir/a.csv: the folder nodir does not exist\n");
    refused(&project, &[&["generate", "--rows", "-5", "--out", "a.csv"]], 2, "-5 is not an integer from 1 to 1e15");
    let ledgers = project.dpgp(&["ledger", "show", "--format", "json"]).expect(0).json();
    assert_eq!(ledgers.as_array().map(Vec::len), Some(0));
    let usage = project.dpgp(&["predict", "energy.toml"]).expect(2).err;
    assert!(usage.contains("--at <GRID>|--grid <POINTS>"), "{usage}");
}
