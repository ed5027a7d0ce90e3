//! Histograms of rows: shards, threads and files of any form, and what may be released of them.

use dpgp::kernel::Bins;
use serde_json::Value;

use crate::support::cli::Project;
use crate::support::rows::{wave, write_rows};
use crate::support::sums::assert_same_sums;

const SPEC: &str = r#"
[experiment]
title = "a histogram"
[data]
source.csv.path = "rows.csv"
inputs = ["x", "y"]
target = "trips"
filter = [{ column = "x", is = "<", value = 0.9 }]
[task.density]
bins = [{ from = -1.0, to = 1.0, bins = 6 }, { from = -1.0, to = 0.5, bins = 4 }]
test = [{ from = -1.0, to = 1.0, bins = 6 }, { from = -1.0, to = 1.0, bins = 4 }]
draws = 1
estimate.histogram = {}
[privacy]
epsilon = 1.0
delta = 1e-6
calibration = "analytic"
[privacy.mechanism.histogram]
relation = "add-remove"
"#;

const NAMES: &[&str] = &["x", "y", "trips"];
const ROWS: usize = 60_000;

/// Two inputs, and how many trips a row stands for.
fn columns() -> Vec<Vec<f64>> {
    vec![wave(ROWS, 0.37), wave(ROWS, 0.011), (0..ROWS).map(|i| (i % 3) as f64).collect()]
}

fn project() -> Project {
    let project = Project::new();
    project.write("s.toml", SPEC);
    ["rows.csv", "rows.parquet"].iter().for_each(|name| write_rows(&project, name, NAMES, &columns()));
    project
}

/// Counted without the command.
fn plain() -> Vec<u64> {
    let bins = Bins::grid(&[(-1.0, 1.0, 6), (-1.0, 0.5, 4)]);
    let (columns, mut counts) = (columns(), vec![0; bins.len()]);
    for row in (0..ROWS).filter(|row| columns[0][*row] < 0.9) {
        if let Some(bin) = bins.find_bin(&[columns[0][row], columns[1][row]]) {
            counts[bin] += (row % 3) as u64;
        }
    }
    counts
}

/// The counts.
fn counted(sums: &Value) -> Vec<u64> {
    sums["part"]["sums"]["bins"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).collect()
}

#[test]
fn shards_threads_and_forms_count_the_same() {
    let project = project();
    let whole = assert_same_sums(&project, "rows");
    assert!(whole.out.contains("24 bins\n") && !whole.out.contains("records"), "{}", whole.out);
    assert!(whole.out.contains(" s\n"), "{}", whole.out);
    assert_eq!(counted(&project.json("one.json")), plain());
}

/// Noisy counts alone, of noise as large as they say, and counted by a ledger.
#[test]
fn a_release_carries_its_guarantee() {
    let project = project();
    let ledger = ["--ledger", "l.toml", "--budget-epsilon", "1.5", "--budget-delta", "1e-6"];
    let release = ["stats", "s.toml", "rows.csv", "--release", "a.json"];
    let run = project.dpgp(&[&release[..], &ledger[..]].concat()).expect(0);
    assert!(run.out.contains("1 release has spent"), "{}", run.out);
    let released = project.json("a.json");
    assert!(released["guarantee"]["delta_exact"].as_f64().unwrap() <= 1e-6 * (1.0 + 1e-9));
    assert!(released["guarantee"]["text"].as_str().unwrap().contains("one record"));
    let text = project.read("a.json");
    assert!(!text.contains("\"rows\"") && !text.contains("outside"), "numbers of rows are private");
    let sd = released["sd"].as_f64().unwrap();
    let noisy = released["counts"].as_array().unwrap().iter().map(|count| count.as_f64().unwrap());
    let squares: f64 = noisy.zip(plain()).map(|(noisy, exact)| ((noisy - exact as f64) / sd).powi(2)).sum();
    assert!((4.0..70.0).contains(&squares), "chi-squared with 24 degrees of freedom: {squares}");
    project.dpgp(&[&release[..4], &["b.json", "--epsilon", "1.4", "--ledger", "l.toml"]].concat()).expect(1);
    assert!(!project.path("b.json").exists());
}

/// The estimates need only the release. Each bin has a row, and most intervals contain the exact count.
#[test]
fn exact_counts_are_estimated_from_a_release() {
    let project = project();
    project.dpgp(&["stats", "s.toml", "rows.csv", "--release", "a.json", "--epsilon", "0.05", "--no-ledger"]).expect(0);
    let from = ["predict", "--from", "a.json", "--grid"];
    let run = project.dpgp(&[&from[..], &["auto", "--out", "c.csv", "--map", "c.svg"]].concat()).expect(0);
    assert!(
        run.out.starts_with("predictions at 24 points, written to c.csv\nnothing more was released"),
        "{}",
        run.out
    );
    assert!(project.read("c.svg").contains("<svg"));
    let text = project.read("c.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("x,y,private_mean,gp_sd,noise_sd,low,high"));
    let rows: Vec<Vec<f64>> = lines.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    assert_eq!(rows.len(), 24);
    let sd = project.json("a.json")["sd"].as_f64().unwrap();
    let (mut held, mut squares) = (0, 0.0);
    for (bin, (row, exact)) in rows.iter().zip(plain()).enumerate() {
        assert!((row[0] - (-1.0 + (bin / 4) as f64 / 3.0 + 1.0 / 6.0)).abs() < 1e-12);
        assert!((row[1] - (-1.0 + (bin % 4) as f64 * 0.375 + 0.1875)).abs() < 1e-12);
        squares += row[3].powi(2) + row[4].powi(2);
        held += usize::from((row[5]..=row[6]).contains(&(exact as f64)));
    }
    // A single bin far from all others may be less certain than its noisy count, but not all bins together.
    assert!(squares <= 24.0 * sd * sd, "no worse than noisy counts");
    assert!(held >= 17, "{held} of 24 intervals of 95 %");
    let refused = |arguments: &[&str], why: &str| {
        let run = project.dpgp(&[&from[..], arguments].concat()).expect(2);
        assert!(run.err.contains(why), "{}", run.err);
    };
    refused(&["x=0,y=0"], "use --grid auto");
    refused(&["auto", "--noise-variance", "1"], "this release has its own model");
    project.write(
        "a.json",
        &project.read("a.json").replacen("\"counts\":[", "\"counts\":[1,", 1).replacen(
            "\"counts\": [",
            "\"counts\": [1,",
            1,
        ),
    );
    refused(&["auto"], "it has 25 counts for 24 bins");
}

/// A count for each word, as a bar of a map.
#[test]
fn words_are_counted() {
    let project = Project::new();
    let words = "inputs = [\"g\"]\nencode = { g = [\"bus\", \"bike\", \"walk\"] }";
    let spec = SPEC
        .replace("inputs = [\"x\", \"y\"]", words)
        .replace("filter = [{ column = \"x\", is = \"<\", value = 0.9 }]\n", "")
        .replace(
            "bins = [{ from = -1.0, to = 1.0, bins = 6 }, { from = -1.0, to = 0.5, bins = 4 }]",
            "bins = [{ from = -0.5, to = 2.5, bins = 3 }]",
        )
        .replace(
            "test = [{ from = -1.0, to = 1.0, bins = 6 }, { from = -1.0, to = 1.0, bins = 4 }]",
            "test = [{ from = -0.5, to = 2.5, bins = 3 }]",
        );
    project.write("s.toml", &spec);
    project.write("rows.csv", &format!("g,trips\n{}", "bike,2\nbus,1\nbike,1\n".repeat(3000)));
    project.dpgp(&["stats", "s.toml", "rows.csv", "--release", "a.json", "--no-ledger"]).expect(0);
    let from = ["predict", "--from", "a.json", "--grid", "auto", "--out", "c.csv", "--map", "c.svg"];
    project.dpgp(&from).expect(0);
    let text = project.read("c.csv");
    let cells: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(cells.iter().map(|row| row[0]).collect::<Vec<_>>(), ["bus", "bike", "walk"]);
    for (row, exact) in cells.iter().zip([3000.0, 9000.0, 0.0]) {
        assert!((row[1].parse::<f64>().unwrap() - exact).abs() < 60.0, "{row:?}");
    }
    // A bin of several words has no name.
    project.write("s.toml", &spec.replace("bins = 3", "bins = 2"));
    project.dpgp(&["stats", "s.toml", "rows.csv", "--release", "b.json", "--no-ledger"]).expect(0);
    let run = project.dpgp(&["predict", "--from", "b.json", "--grid", "auto"]).expect(2);
    assert!(run.err.contains("must hold one category"), "{}", run.err);
}

#[test]
fn wrong_questions_are_refused() {
    let project = project();
    let mut columns = columns();
    (columns[0][50_001], columns[2][50_001]) = (0.1, 1.5);
    write_rows(&project, "bad.parquet", NAMES, &columns);
    // A part of a record is no error, which would tell of its row.
    project.dpgp(&["stats", "s.toml", "bad.parquet", "--out", "bad.json"]).expect(0);
    project.dpgp(&["stats", "s.toml", "rows.csv", "--out", "sums.json"]).expect(0);
    project.write("s.toml", &SPEC.replace("bins = 4", "bins = 5"));
    let run = project.dpgp(&["stats", "s.toml", "--add", "sums.json", "--out", "sum.json"]).expect(2);
    assert!(run.err.contains("is not a file of sums for this spec"), "{}", run.err);
    let function = SPEC
        .replace("histogram = {}", "function = {}")
        .replace(
            "[privacy.mechanism.histogram]\nrelation = \"add-remove\"",
            "mechanism.function.sensitivity = \"exact\"",
        )
        .replace("epsilon = 1.0", "change = 1.0\nepsilon = 1.0")
        .replace(
            "[task.density]",
            "[model]\nnoise_variance = 0.1\nkernel.eq = { variance = 1.0, lengthscale = 1.0 }\n[task.density]",
        );
    project.write("s.toml", &function);
    let run = project.dpgp(&["stats", "s.toml", "rows.csv"]).expect(2);
    assert!(run.err.contains("or task.density with mechanism.histogram"), "{}", run.err);
}
