//! Predictions as CSV, Parquet and JSON.

use dpgp::data::Table;

use crate::support::energy::{TARGETS, energy_project};

const COLUMNS: [&str; 5] = ["private_mean", "gp_sd", "noise_sd", "low", "high"];

const MOMENTS: &str = r#"experiment.title = "moments"
data = { source.csv.path = "energy.csv", inputs = ["temperature"], target = "kwh" }
normalise.bounds = { low = 0.0, high = 40.0, scale = 20.0 }
model = { noise_variance = 0.1, kernel.eq = { variance = 1.0, lengthscale = 8.0 } }
task.surface = { map = [{ from = -5.0, to = 25.0, points = 4 }] }
privacy = { epsilon = 1.0, delta = 1e-6, calibration = "analytic", mechanism.moments = { target_bound = 1.0, domain = [[-10.0, 35.0]] } }
"#;

/// Predictions from one release, which draw no noise of their own, in three forms: the same to the last bit.
#[test]
fn numbers_are_the_same_in_every_form() {
    let project = energy_project(MOMENTS);
    project.dpgp(&["stats", "energy.toml", "energy.csv", "--release", "r.json"]).expect(0);
    let predict = ["predict", "--from", "r.json", "--at", "grid.csv"];
    for out in ["p.csv", "p", "p.parquet", "p.JSON"] {
        project.dpgp(&[&predict[..], &["--out", out]].concat()).expect(0);
    }
    assert_eq!(project.read("p"), project.read("p.csv"));
    let table = Table::read_parquet(&project.path("p.parquet"), &["temperature"]).unwrap();
    assert_eq!(table.numeric_column("temperature").unwrap(), [-5.0, 5.0, 15.0, 25.0]);
    let records = project.json("p.JSON");
    let printed = project.dpgp(&[&predict[..], &["--format", "json"]].concat()).expect(0).json();
    assert_eq!(records, printed["predictions"]);
    let text = Table::read(&project.path("p.csv"), &Default::default()).unwrap();
    for name in COLUMNS {
        let numbers = text.numeric_column(name).unwrap();
        assert_eq!(numbers.len(), 4);
        assert_eq!(
            Table::read_parquet(&project.path("p.parquet"), &[name]).unwrap().numeric_column(name).unwrap(),
            numbers
        );
        let of_records = records.as_array().unwrap().iter().map(|record| record[name].as_f64().unwrap());
        assert_eq!(of_records.collect::<Vec<f64>>(), numbers);
    }
}

/// The certificate is about the bytes of the file, in every form.
#[test]
fn certificates_hold_the_digest_of_the_file() {
    let project = energy_project(TARGETS);
    for out in ["p.parquet", "p.json"] {
        project.dpgp(&["predict", "energy.toml", "--at", "grid.csv", "--out", out, "--quiet"]).expect(0);
        let certificate = format!("{out}.certificate.json");
        let verified = project.dpgp(&["verify", &certificate, out]).expect(0);
        assert_eq!(verified.out.matches("ok    ").count(), 5, "{}", verified.out);
        let json = ["verify", &certificate, out, "--format", "json"];
        assert!(project.dpgp(&json).expect(0).out.contains("\"holds\": true\n}"));
        let mut bytes = std::fs::read(project.path(out)).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        project.put(out, bytes);
        project.dpgp(&["verify", &certificate, out]).expect(1);
        let broken = project.dpgp(&json).expect(1);
        assert!(broken.out.contains("\"holds\": false\n}"), "{}", broken.out);
    }
}

#[test]
fn words_are_text_in_parquet() {
    let project = energy_project(TARGETS);
    let rows: String = (0..40).map(|i| format!("{},{}\n", ["calm", "windy"][i % 2], 10 + i % 7)).collect();
    project.write("energy.csv", &format!("weather,kwh\n{rows}"));
    let encoded = "inputs = [\"weather\"], encode.weather = [\"calm\", \"windy\"]";
    project.write("energy.toml", &TARGETS.replace("inputs = [\"temperature\"]", encoded));
    project.write("grid.csv", "weather\nwindy\ncalm\n");
    project.dpgp(&["predict", "energy.toml", "--at", "grid.csv", "--out", "p.parquet", "--quiet"]).expect(0);
    let table = Table::read_parquet(&project.path("p.parquet"), &["weather", "private_mean"]).unwrap();
    let words: Vec<Option<String>> = ["windy", "calm"].map(|word| Some(word.to_owned())).to_vec();
    assert_eq!(table.text_column("weather").unwrap(), words);
    // What was written is a grid again.
    project.dpgp(&["predict", "energy.toml", "--at", "p.parquet", "--out", "q.csv", "--quiet"]).expect(0);
    assert!(project.read("q.csv").lines().nth(1).unwrap().starts_with("windy,"));
}

/// Other forms are refused before the rows are looked at, and before there is a ledger.
#[test]
fn other_forms_are_refused_at_once() {
    let project = energy_project(TARGETS);
    std::fs::remove_file(project.path("energy.csv")).unwrap();
    for (out, hint) in [("p.xlsx", false), ("p.csv.gz", false), ("p.geojson", true), ("p.SVG", true), ("p.html", true)]
    {
        for verb in [&["predict", "energy.toml"][..], &["predict", "--from", "r.json"]] {
            let run = project.dpgp(&[verb, &["--at", "grid.csv", "--out", out]].concat()).expect(2);
            let message = format!("{out} does not end in .csv, .parquet or .json");
            assert!(run.err.contains(&message) && run.err.contains("--map") == hint, "{}", run.err);
        }
        assert!(!project.path(out).exists() && !project.path("state").exists());
    }
}
