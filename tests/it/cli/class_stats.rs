//! Sums over the rows of each class: shards, threads and files of any form, and what may be released of them.

use serde_json::Value;

use crate::support::cli::Project;
use crate::support::rows::{wave, write_rows};
use crate::support::sums::assert_same_sums;

const SPEC: &str = r#"
[experiment]
title = "class sums"
[data]
source.csv.path = "rows.csv"
inputs = ["x", "y"]
target = "class"
filter = [{ column = "x", is = "<", value = 0.9 }]
[model]
kernel.eq = { variance = 1.0, lengthscale = 0.7 }
[task.dirichlet]
train = 50
classes = 3
inducing = [{ from = -1.0, to = 1.0, points = 4 }, { from = -1.0, to = 1.0, points = 3 }]
alpha = 0.01
posterior = { regularisation = "tight", correction = "first-order" }
release = "class-sums"
[privacy]
epsilon = 1.0
delta = 1e-6
calibration = "analytic"
[privacy.mechanism.sums]
features = { supremum = [[-1.0, 1.0], [-1.0, 1.0]] }
sensitivity = "exact"
split = 0.3
"#;

const NAMES: &[&str] = &["x", "y", "class"];
const ROWS: usize = 60_000;

/// Two inputs, and one of three classes by the first.
fn columns() -> Vec<Vec<f64>> {
    let x = wave(ROWS, 0.37);
    let classes = x.iter().map(|x| f64::from(u8::from(*x >= -0.5) + u8::from(*x >= 0.2))).collect();
    vec![x, wave(ROWS, 0.011), classes]
}

fn project() -> Project {
    let project = Project::new();
    project.write("s.toml", SPEC);
    ["rows.csv", "rows.parquet"].iter().for_each(|name| write_rows(&project, name, NAMES, &columns()));
    project
}

/// A number of the sums.
fn total(sums: &Value, number: impl Fn(&Value) -> &Value) -> f64 {
    plain(number(&sums["part"]["sums"]))
}

/// Wide numbers are written as text.
fn plain(number: &Value) -> f64 {
    number.as_f64().unwrap_or_else(|| number.as_str().unwrap().parse::<i128>().unwrap() as f64)
}

#[test]
fn shards_threads_and_forms_change_no_bit() {
    let project = project();
    let whole = assert_same_sums(&project, "rows");
    assert!(!whole.out.contains(" rows") && whole.out.contains("12 inducing inputs"), "{}", whole.out);
    let (columns, sums) = (columns(), project.json("one.json"));
    for class in 0..3 {
        let rows = (0..ROWS).filter(|i| columns[2][*i] == class as f64 && columns[0][*i] < 0.9);
        let k = |i: usize| {
            let [x, y] = [(columns[0][i] + 1.0) / 0.7, (columns[1][i] + 1.0) / 0.7];
            (-0.5 * (x * x + y * y)).exp()
        };
        assert_eq!(total(&sums, |sums| &sums[class]["rows"]), rows.clone().count() as f64);
        let (a, b) = (rows.clone().map(k).sum::<f64>(), rows.map(|i| k(i).powi(2)).sum::<f64>());
        // A correlation is a whole number of 2^-22, rounded, and the label is 1.
        let (a, b) = (a * 2f64.powi(22), b * 2f64.powi(44));
        assert!((total(&sums, |sums| &sums[class]["a"][0]) / a - 1.0).abs() < 1e-6);
        assert!((total(&sums, |sums| &sums[class]["b"][0]) / b - 1.0).abs() < 1e-6);
    }
}

/// A posterior for each class, from noisy sums alone; the noise is of the size that it says.
#[test]
fn a_release_carries_its_guarantee() {
    let project = project();
    project.dpgp(&["stats", "s.toml", "rows.csv", "--out", "sums.json", "--release", "a.json"]).expect(0);
    let add = ["stats", "s.toml", "--add", "sums.json", "--release"];
    project.dpgp(&[&add[..], &["b.json", "--epsilon", "2"]].concat()).expect(0);
    let sums = project.json("sums.json");
    for (name, epsilon) in [("a.json", 1.0), ("b.json", 2.0)] {
        let released = project.json(name);
        let guarantee = &released["guarantee"];
        assert_eq!(guarantee["epsilon"].as_f64(), Some(epsilon));
        assert!(guarantee["delta_exact"].as_f64().unwrap() <= 1e-6 * (1.0 + 1e-9));
        assert!(guarantee["text"].as_str().unwrap().contains("one record is replaced"));
        assert!(!project.read(name).contains("\"rows\""), "numbers of rows are private");
        let mut squares = 0.0;
        for class in 0..3 {
            let (mean, noisy) = (&released["weights"][class]["mean"], &released["sums"][class]);
            assert_eq!(mean.as_array().unwrap().len(), 12);
            for i in 0..12 {
                let exact = total(&sums, |sums| &sums[class]["a"][i]) * noisy["unit_a"].as_f64().unwrap();
                let off = noisy["a"][i].as_f64().unwrap() - exact;
                squares += (off / noisy["sd_a"].as_f64().unwrap()).powi(2);
            }
        }
        assert!((8.0..90.0).contains(&squares), "chi-squared with 36 degrees of freedom: {squares}");
    }
    let ledger = ["--ledger", "l.toml", "--budget-epsilon", "1.5", "--budget-delta", "1e-6"];
    let run = project.dpgp(&[&add[..], &["d.json"], &ledger[..]].concat()).expect(2);
    assert!(
        run.err.contains("already records releases from some or all of these rows"),
        "earlier releases are in the state folder: {}",
        run.err
    );
    let run = project
        .dpgp(
            &[&add[..], &["d.json", "--epsilon", "0.5"], &["--budget-epsilon", "9", "--budget-delta", "1e-6"]].concat(),
        )
        .expect(0);
    assert!(run.out.contains("3 releases have spent"), "{}", run.out);
    project.write("inf.toml", &SPEC.replace("epsilon = 1.0", "epsilon = inf"));
    let run = project.dpgp(&["stats", "inf.toml", "--add", "sums.json", "--release", "c.json"]).expect(2);
    assert!(run.err.contains("--epsilon") && !project.path("c.json").exists(), "{}", run.err);
}

/// The first such row is named with its file; a row that does not pass the filters may be of any class.
#[test]
fn rows_of_no_class_are_left_out() {
    let project = project();
    let mut columns = columns();
    (columns[0][7], columns[2][7]) = (0.95, 9.0);
    (columns[0][41_233], columns[2][41_233]) = (0.1, 3.0);
    (columns[0][59_000], columns[2][59_000]) = (0.1, 0.5);
    for name in ["bad.csv", "bad.parquet"] {
        write_rows(&project, name, NAMES, &columns);
        let stats = ["stats", "s.toml", name, "--jobs", "2", "--for-holder", "--out"];
        let run = project.dpgp(&[&stats[..], &[&format!("{name}.json")]].concat()).expect(0);
        assert!(run.err.is_empty(), "{}", run.err);
    }
    let [csv, parquet] = ["bad.csv.json", "bad.parquet.json"].map(|file| project.json(file)["part"]["sums"].clone());
    assert_eq!(csv, parquet);
    let of_class = csv.as_array().unwrap().iter().map(|sums| sums["rows"].as_u64().unwrap());
    let all = project.json("bad.csv.json")["files"][0]["rows"].as_u64().unwrap();
    assert!(of_class.sum::<u64>() + 2 <= all, "two rows that pass the filter are of no class");
}

/// The message that refuses a spec.
fn refused(project: &Project, spec: &str, more: &[&str]) -> String {
    project.write("other.toml", spec);
    project.dpgp(&[&["stats", "other.toml"], more].concat()).expect(2).err
}

#[test]
fn wrong_questions_are_refused() {
    let project = project();
    let weighted = SPEC.replace("\"class-sums\"", "{ weighted-sums = \"corrected\" }");
    assert!(refused(&project, &weighted, &["rows.csv"]).contains("releases weighted sums"));
    let narrow = SPEC.replace("[[-1.0, 1.0],", "[[-0.5, 1.0],");
    assert!(refused(&project, &narrow, &["rows.csv"]).contains("at most the first inducing input"));
    project.dpgp(&["stats", "s.toml", "rows.csv", "--out", "sums.json"]).expect(0);
    let four = SPEC.replace("classes = 3", "classes = 4");
    assert!(refused(&project, &four, &["--add", "sums.json"]).contains("is not a file of sums for this spec"));
    let axis = format!("{SPEC}[grid]\n\"task.dirichlet.classes\" = [3, 4]\n");
    assert!(refused(&project, &axis, &["rows.csv"]).contains("need different sums"));
}

/// What is written is tried on copies with a record replaced by one of another class or from far away.
#[test]
fn an_attack_finds_nothing() {
    let project = Project::empty();
    let few: Vec<Vec<f64>> = columns().into_iter().map(|column| column[..60].to_vec()).collect();
    write_rows(&project, "rows.csv", NAMES, &few);
    project.write("s.toml", &SPEC.replace("train = 50", "train = 40"));
    let run = project.dpgp(&["audit", "--end-to-end", "s.toml"]).expect(0);
    assert!(run.out.starts_with("s: holds\n"), "{}", run.out);
}
