//! Sums over rows: shards, threads and files of any form, and what may be released of them.

use crate::support::cli::{Project, Run};
use crate::support::report::Report;
use crate::support::rows::table_rows;
use crate::support::sums::assert_same_sums;

const SPEC: &str = r#"
[experiment]
title = "sums"
[data]
source.csv.path = "trips.csv"
inputs = ["start_longitude", "hour_of_day"]
target = "minutes"
filter = [{ column = "start_latitude", is = "<", value = 40.77 }]
[normalise.bounds]
low = 0.0
high = 40.0
scale = 20.0
[model]
noise_variance = 0.2
kernel.eq-ard = { variance = 1.0, lengthscales = [0.02, 5.0] }
[task.surface]
inducing = [{ from = -74.02, to = -73.95, points = 4 }, { from = 0.0, to = 24.0, points = 5 }]
posterior = { regularisation = "tight", correction = "first-order" }
map = [{ from = -74.02, to = -73.95, points = 3 }, { from = 0.0, to = 24.0, points = 3 }]
[privacy]
epsilon = 1.0
delta = 1e-6
calibration = "analytic"
[privacy.mechanism.sums]
target_bound = 1.0
features = { supremum = [[-74.02, -73.95], [0.0, 24.0]] }
sensitivity = "exact"
split = 0.3
"#;

/// Rows of several blocks, in a file for each ending.
fn project(rows: &str) -> Project {
    let project = Project::new();
    project.write("s.toml", SPEC);
    for file in ["trips.csv", "trips.parquet"] {
        project.dpgp(&["generate", "--rows", rows, "--out", file]).expect(0);
    }
    project
}

#[test]
fn shards_threads_and_forms_change_no_bit() {
    let project = project("120000");
    let whole = assert_same_sums(&project, "trips");
    assert!(!whole.out.contains(" rows") && whole.out.contains("20 inducing inputs"), "{}", whole.out);
    let rows = project.json("one.json")["part"]["sums"]["rows"].as_u64().unwrap();
    assert!(rows > 100_000 && rows < 120_000, "the filter counts: {rows}");
}

/// A block may begin in one file and end in another.
#[test]
fn files_are_one_table() {
    let project = project("40000");
    project.dpgp(&["generate", "--rows", "30000", "--seed", "2", "--out", "more.parquet"]).expect(0);
    let files = ["stats", "s.toml", "trips.csv", "more.parquet"];
    project.dpgp(&[&files[..], &["--out", "whole.json"]].concat()).expect(0);
    for shard in ["1/2", "2/2"] {
        let out = format!("{}.json", &shard[..1]);
        project.dpgp(&[&files[..], &["--shard", shard, "--out", &out]].concat()).expect(0);
    }
    project.dpgp(&["stats", "s.toml", "--add", "1.json", "2.json", "--out", "sum.json"]).expect(0);
    assert_eq!(project.read("sum.json"), project.read("whole.json"));
    let swapped = ["stats", "s.toml", "more.parquet", "trips.csv", "--shard", "2/2", "--out", "2.json"];
    project.remove("2.json");
    project.dpgp(&swapped).expect(0);
    let run = project.dpgp(&["stats", "s.toml", "--add", "1.json", "2.json", "--out", "bad.json"]).expect(1);
    assert!(run.err.contains("differ in their files") && !project.path("bad.json").exists(), "{}", run.err);
}

#[test]
fn sums_that_do_not_belong_together_are_refused() {
    let project = project("50000");
    for shard in ["1/2", "2/2"] {
        let out = format!("{}.json", &shard[..1]);
        project.dpgp(&["stats", "s.toml", "trips.csv", "--shard", shard, "--out", &out]).expect(0);
    }
    let add = |parts: &[&str], code: i32| {
        project.dpgp(&[&["stats", "s.toml", "--out", "sum.json", "--add"], parts].concat()).expect(code).err
    };
    assert!(add(&["1.json"], 1).contains("are missing"));
    assert!(add(&["1.json", "2.json", "2.json"], 1).contains("two of the files contain the block that starts at row"));
    project.write("text.json", "{}");
    assert!(add(&["text.json"], 2).contains("text.json is not a file of sums"));
    assert!(add(&["nowhere.json"], 5).contains("nowhere.json"));
    let mut elsewhere = project.command(&["stats", "s.toml", "trips.csv", "--shard", "2/2", "--out", "3.json"]);
    elsewhere.env("DPGP_STATE", project.path("elsewhere"));
    Run::new(elsewhere.output().unwrap()).expect(0);
    assert!(add(&["1.json", "3.json"], 1).contains("1.json and 3.json differ in their keys (set DPGP_STATE"));
    project.write("1.json", &project.read("1.json").replace("\"version\":4", "\"version\":3"));
    assert!(add(&["1.json", "2.json"], 2).contains("unsupported version"));
    project.write("s.toml", &SPEC.replace("high = 40.0", "high = 30.0"));
    assert!(add(&["2.json"], 2).contains("the columns, bounds, kernel, inducing inputs"));
    assert!(!project.path("sum.json").exists());
}

#[test]
fn wrong_questions_are_refused() {
    let project = project("10");
    let stats = |more: &[&str], code: i32| project.dpgp(&[&["stats"], more].concat()).expect(code).err;
    assert!(stats(&["honkela2021/fig1", "trips.csv"], 2).contains("the spec needs task.surface"));
    assert!(stats(&["s.toml", "none.csv"], 3).contains("none.csv"));
    stats(&["s.toml"], 2);
    project.write("other.csv", "start_longitude,hour_of_day,start_latitude\n1,2,3\n");
    assert!(stats(&["s.toml", "trips.csv", "other.csv"], 2).contains("no column \"minutes\""));
    project.write("gap.csv", "minutes,start_longitude,hour_of_day,start_latitude\n5,1,2,3\n5,1,,3\n");
    assert!(stats(&["s.toml", "gap.csv"], 2).contains("line 3, column \"hour_of_day\""));
    project.write("wide.toml", &SPEC.replace("[-74.02, -73.95],", "[-74.0, -73.95],"));
    assert!(stats(&["wide.toml", "trips.csv"], 2).contains("at most the first inducing input"));
    project.write("two.toml", &format!("{SPEC}[grid]\n\"model.kernel.eq-ard.variance\" = [1.0, 2.0]\n"));
    assert!(stats(&["two.toml", "trips.csv"], 2).contains("need different sums"));
    let private = SPEC
        .replace("[normalise.bounds]\nlow = 0.0\nhigh = 40.0\nscale = 20.0", "[normalise.private]\ncentre = \"mean\"");
    project.write("private.toml", &private);
    assert!(stats(&["private.toml", "trips.csv"], 2).contains("statistics of the private targets"));
    let generate = |more: &[&str]| project.dpgp(&[&["generate"], more].concat()).expect(2).err;
    assert!(generate(&["--rows", "5", "--out", "trips.csv"]).contains("already exists"));
    assert!(generate(&["--rows", "5", "--out", "trips.txt"]).contains("use .csv or .parquet"));
    assert!(generate(&["--rows", "1.5", "--out", "new.csv"]).contains("not an integer"));
    assert!(!project.path("new.csv").exists() && !project.path("trips.txt").exists());
}

/// Only noisy sums and public settings are released; the noise is new each time.
#[test]
fn a_release_carries_its_guarantee() {
    let project = project("60000");
    project.dpgp(&["stats", "s.toml", "trips.csv", "--out", "sums.json", "--release", "a.json"]).expect(0);
    project.dpgp(&["stats", "s.toml", "--add", "sums.json", "--release", "b.json", "--epsilon", "2"]).expect(0);
    let (a, b, exact) = (project.json("a.json"), project.json("b.json"), project.json("sums.json"));
    assert_eq!((a["guarantee"]["epsilon"].as_f64(), b["guarantee"]["epsilon"].as_f64()), (Some(1.0), Some(2.0)));
    for released in [&a, &b] {
        let delta = released["guarantee"]["delta_exact"].as_f64().unwrap();
        assert!(delta > 0.0 && delta <= 1e-6 * (1.0 + 1e-9), "{delta}");
        assert!(released["guarantee"]["text"].as_str().unwrap().contains("one record is replaced"));
        assert_eq!(released["surface"].as_array().unwrap().len(), 9);
        assert!(!project.read("a.json").contains("clipped"), "a count of private targets");
    }
    // Twenty entries of A: the noise is of the size that it says.
    let unit = a["sums"]["unit_a"].as_f64().unwrap();
    let sums: Vec<f64> =
        exact["part"]["sums"]["a"].as_array().unwrap().iter().map(|value| whole(value) * unit).collect();
    for released in [&a, &b] {
        let sd = released["sums"]["sd_a"].as_f64().unwrap();
        let noisy = released["sums"]["a"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap());
        let squares: f64 = noisy.zip(&sums).map(|(noisy, exact)| ((noisy - exact) / sd).powi(2)).sum();
        assert!((3.0..60.0).contains(&squares), "chi-squared with 20 degrees of freedom: {squares}");
    }
    let ratio = a["sums"]["sd_a"].as_f64().unwrap() / b["sums"]["sd_a"].as_f64().unwrap();
    assert!((1.5..2.2).contains(&ratio), "{ratio}");
    project.write("inf.toml", &SPEC.replace("epsilon = 1.0", "epsilon = inf"));
    let run = project.dpgp(&["stats", "inf.toml", "--add", "sums.json", "--release", "c.json"]).expect(2);
    assert!(run.err.contains("--epsilon") && !project.path("c.json").exists(), "{}", run.err);
}

/// A whole number of 128 bits, which is written as text.
fn whole(value: &serde_json::Value) -> f64 {
    value.as_str().unwrap().parse::<i128>().unwrap() as f64
}

/// The task of the spec sums the same rows, and knows the surface without privacy beside the private one.
#[test]
fn the_task_measures_the_surface() {
    let project = project("60000");
    project.write("s.toml", &format!("{SPEC}[grid]\n\"privacy.epsilon\" = [1.0, 10.0, inf]\n"));
    let run = project.dpgp(&["run", "s.toml", "--quiet", "--format", "json"]);
    let report = Report(run.expect(0).json());
    assert_eq!((report.at("inf", "difference"), report.at("inf", "noise-sd")), (0.0, 0.0));
    assert!(
        report.at("10", "difference") < report.at("1", "difference")
            && report.at("10", "noise-sd") < report.at("1", "noise-sd")
    );
    assert!(report.at("10", "rmse") >= report.at("inf", "rmse") && report.at("inf", "rmse") > 1.0);
    let trips = table_rows(&project.read("trips.csv"));
    let south = trips.iter().filter(|trip| trip["start_latitude"].parse::<f64>().unwrap() < 40.77);
    report.assert_beside_a_constant(south.map(|trip| trip["minutes"].parse().unwrap()), [0.0, 40.0]);
    let run = project.dpgp(&["stats", "s.toml", "trips.csv", "--format", "json", "--for-holder"]).expect(0);
    let stats = run.json();
    assert_eq!(stats["rows"].as_f64(), Some(report.at("inf", "rows")));
    let clipped = stats["clipped"].as_f64().unwrap() / report.at("inf", "rows");
    assert!((clipped - report.at("inf", "clipped")).abs() < 1e-12);
}

/// A release names one epsilon, and a ledger counts it before it is written.
#[test]
fn releases_are_counted() {
    let project = project("20000");
    project.write("s.toml", &format!("{SPEC}[grid]\n\"privacy.epsilon\" = [1.0, 10.0, inf]\n"));
    let release = |more: &[&str], code: i32| {
        project.dpgp(&[&["stats", "s.toml", "trips.parquet", "--release"], more].concat()).expect(code)
    };
    let run = release(&["a.json"], 2);
    assert!(run.err.contains("[1.0, 10.0]") && run.err.contains("--epsilon"), "{}", run.err);
    let ledger = ["--ledger", "l.toml", "--budget-epsilon", "1.5", "--budget-delta", "1e-6"];
    let run = release(&[&["a.json", "--epsilon", "1"], &ledger[..]].concat(), 0);
    assert!(run.out.contains("1 release has spent"), "{}", run.out);
    let (a, entry) = (project.json("a.json"), project.read("l.toml"));
    assert_eq!((a["rows"].is_null(), a["all_releases"]["releases"].as_u64()), (true, Some(1)));
    assert!(entry.contains("public = []") && entry.contains("epsilon = 1.0"), "{entry}");
    let run = release(&["b.json", "--epsilon", "1.4", "--ledger", "l.toml"], 1);
    assert!(run.err.contains("budget") && !project.path("b.json").exists(), "{}", run.err);
    assert_eq!(project.read("l.toml"), entry);
    release(&["none/b.json", "--epsilon", "0.1", "--ledger", "l.toml"], 5);
    assert_eq!(project.read("l.toml"), entry, "nothing is spent on a file that cannot be written");
    project.dpgp(&["generate", "--rows", "500", "--seed", "7", "--out", "other.csv"]).expect(0);
    let other = ["stats", "s.toml", "other.csv", "--release", "c.json", "--epsilon", "0.1", "--ledger", "l.toml"];
    assert!(project.dpgp(&other).expect(2).err.contains("is about other data"));
    project.dpgp(&["stats", "s.toml", "trips.csv", "--ledger", "l.toml"]).expect(2);
}

/// Sums that the version before wrote, whose correlations are whole numbers of 2^-36: with the unit of today, they would be released with
/// a part in 2^14 of the noise that they need. They are refused for every use.
#[test]
fn sums_in_an_earlier_unit_are_refused() {
    for (spec, rows, earlier) in [
        (SURFACE, "x,y\n1,2\n2,3\n3,4\n", include_str!("earlier_sums/surface.json")),
        (CLASSES, "x,class\n0.1,0\n0.5,1\n-0.3,0\n", include_str!("earlier_sums/classes.json")),
    ] {
        let project = Project::empty();
        project.write("s.toml", spec);
        project.write("rows.csv", rows);
        project.write("earlier.json", earlier);
        project.dpgp(&["sum", "s.toml", "rows.csv", "--out", "today.json"]).expect(0);
        let add = ["sum", "s.toml", "--add", "earlier.json"];
        for more in [&["--out", "new.json"][..], &["--release", "new.json", "--no-ledger"]] {
            let run = project.dpgp(&[&add, more].concat()).expect(2);
            assert!(run.err.contains("or an earlier version wrote it"), "{}", run.err);
        }
        let both =
            project.dpgp(&["sum", "s.toml", "--add", "today.json", "earlier.json", "--out", "new.json"]).expect(1);
        assert!(both.err.contains("differ in their summands"), "{}", both.err);
        assert!(!project.path("new.json").exists());
    }
}

const SURFACE: &str = r#"
experiment.title = "s"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.05, kernel.eq = { variance = 0.3, lengthscale = 1.5 } }
task.surface = { posterior = { regularisation = "tight", correction = "first-order" }, inducing = [{ from = 0.0, to = 4.0, points = 3 }], map = [{ from = 0.5, to = 3.5, points = 4 }] }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.sums = { target_bound = 1.0, features = { supremum = [[0.0, 4.0]] }, sensitivity = "exact" } }
"#;

const CLASSES: &str = r#"
experiment.title = "classes"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "class" }
model.kernel.eq = { variance = 1.0, lengthscale = 0.7 }
task.dirichlet = { train = 2, classes = 2, inducing = [{ from = -1.0, to = 1.0, points = 3 }], alpha = 0.01, posterior = { regularisation = "tight", correction = "first-order" }, release = "class-sums" }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.sums = { features = { supremum = [[-1.0, 1.0]] }, sensitivity = "exact" } }
"#;
