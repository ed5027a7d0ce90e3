//! Guarantees about persons, from the spec to the certificate, the ledger and the audit.

use serde_json::Value;

use crate::support::cli::{Project, Run};
use crate::support::parquet_file::{Column, write_parquet};
use crate::support::rows::{wave, write_rows};
use crate::support::sums::assert_same_sums;

const ENERGY: &str = r#"experiment.title = "energy by temperature"
data = { source.csv = { path = "rows.csv" }, inputs = ["temperature"], target = "kwh", person = "house", rows_per_person = 3 }
normalise.bounds = { low = 0.0, high = 40.0 }
model = { noise_variance = 9.0, kernel.eq = { variance = 100.0, lengthscale = 8.0 } }
task.prediction = { grid = [{ from = 0.0, to = 40.0, points = 5 }] }
privacy = { epsilon = 1.0, delta = 1e-5, change = 40.0, mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 } }
"#;

const SURFACE: &str = r#"experiment.title = "sums"
data = { source.csv = { path = "rows.csv" }, inputs = ["temperature"], target = "kwh", person = "house", rows_per_person = 3 }
normalise.bounds = { low = 0.0, high = 40.0, scale = 20.0 }
model = { noise_variance = 0.5, kernel.eq = { variance = 1.0, lengthscale = 8.0 } }
task.surface = { inducing = [{ from = 0.0, to = 40.0, points = 6 }], posterior = { regularisation = "tight", correction = "first-order" } }
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.sums = { target_bound = 1.0, features = { supremum = [[0.0, 40.0]] }, sensitivity = "exact", split = 1.0 } }
"#;

const HISTOGRAM: &str = r#"experiment.title = "bins"
data = { source.csv = { path = "rows.csv" }, inputs = ["temperature"], target = "records", person = "house", rows_per_person = 3 }
task.density = { bins = [{ from = 0.0, to = 40.0, bins = 8 }], test = [{ from = 0.0, to = 40.0, bins = 2 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.histogram = { relation = "add-remove", most_per_row = 2 } }
"#;

const KEYS: &str = ", person = \"house\", rows_per_person = 3";

/// Readings of houses: four of each at temperatures that are close, in an order that tells nothing.
fn rows(houses: u32) -> Vec<String> {
    let reading = |i: u32| {
        let place = i * 37 % (4 * houses);
        let (temperature, kwh) = (f64::from(place) / 2.0, 5.0 + f64::from(i * 53 % 67) / 2.5);
        format!("{temperature},{kwh},{},house {}\n", i % 4, place / 4)
    };
    (0..4 * houses).map(reading).collect()
}

fn file(rows: &[String]) -> String {
    format!("temperature,kwh,records,house\n{}", rows.concat())
}

fn project(spec: &str) -> Project {
    let project = Project::empty();
    project.write("rows.csv", &file(&rows(20)));
    project.write("grid.csv", "temperature\n-5\n5\n15\n25\n");
    project.write("s.toml", spec);
    project
}

fn predict(project: &Project, spec: &str, out: &str, code: i32) -> Run {
    project.dpgp(&["predict", spec, "--at", "grid.csv", "--out", out, "--quiet"]).expect(code)
}

/// The noise of three rows, and a certificate that says whose.
#[test]
fn predictions_hide_persons() {
    let project = project(ENERGY);
    let run = predict(&project, "s.toml", "p.csv", 0);
    let who = "the targets of one person (\"house\", at most 3 rows each) change by <= 40.0 each";
    assert!(run.out.contains(who), "{}", run.out);
    let certificate = project.json("p.csv.certificate.json");
    assert_eq!(certificate["neighbours"], who);
    assert_eq!(certificate["certificate"]["unit"]["person"]["rows"], 3);
    let not_covered = certificate["not_covered"].to_string();
    assert!(not_covered.contains("the person of each row (house)"), "{not_covered}");
    assert!(not_covered.contains("several names"), "{not_covered}");
    project.dpgp(&["verify", "p.csv.certificate.json", "p.csv"]).expect(0);
    let shown = project.dpgp(&["ledger", "show", "s.toml"]).expect(0).out;
    assert!(shown.contains("one person (\"house\", at most 3 rows each)"), "{shown}");
}

/// Where nobody has more rows than are used, only the noise differs from that for one row: it is three times as large.
#[test]
fn noise_grows_with_the_rows_of_a_person() {
    let noise_of = |spec: &str| -> Vec<f64> {
        // A denoised prediction is shrunk where the noise grows.
        let project = project(&spec.replace("1e-8 }", "1e-8, denoise = false }"));
        predict(&project, "s.toml", "p.csv", 0);
        let column = |line: &str| line.split(',').nth(3).unwrap().parse().unwrap();
        project.read("p.csv").lines().skip(1).map(column).collect()
    };
    let of_rows = noise_of(&ENERGY.replace(KEYS, ""));
    let of_four = noise_of(&ENERGY.replace("rows_per_person = 3", "rows_per_person = 4"));
    for (row, four) in of_rows.iter().zip(&of_four) {
        assert!((four / row - 4.0).abs() < 1e-9, "{four} {row}");
    }
    // With fewer rows the model is another one, and its noise as well.
    assert!(noise_of(ENERGY).iter().zip(&of_rows).all(|(three, row)| *three > 2.0 * row));
}

/// Which rows of a person are used does not depend on his targets, so that all public columns are the same for neighbours.
#[test]
fn targets_do_not_choose_public_inputs() {
    let public = |kwh: Option<&str>| -> Vec<String> {
        let project = project(ENERGY);
        let changed = |row: &String| match (kwh, row.split(',').collect::<Vec<&str>>().as_slice()) {
            (Some(kwh), [temperature, _, records, house @ "house 7\n"]) => {
                format!("{temperature},{kwh},{records},{house}")
            }
            _ => row.clone(),
        };
        project.write("rows.csv", &file(&rows(20).iter().map(changed).collect::<Vec<String>>()));
        predict(&project, "s.toml", "p.csv", 0);
        let columns = |line: &str| line.split(',').skip(2).take(2).collect::<Vec<&str>>().join(",");
        project.read("p.csv").lines().map(columns).collect()
    };
    let before = public(None);
    assert_eq!(before[0], "gp_sd,noise_sd");
    for kwh in ["0", "40", "-1e9", "17.25"] {
        assert_eq!(public(Some(kwh)), before, "{kwh}");
    }
}

/// A ledger with a budget takes releases about the persons of one column, and none about rows beside them.
#[test]
fn a_ledger_keeps_to_one_unit() {
    let project = project(ENERGY);
    let budget = ["--budget-epsilon", "5", "--budget-delta", "1e-5"];
    let predict = ["predict", "s.toml", "--at", "grid.csv", "--quiet", "--out"];
    project.dpgp(&[&predict[..], &["p1.csv"], &budget].concat()).expect(0);
    project.write("s.toml", &ENERGY.replace("rows_per_person = 3", "rows_per_person = 2"));
    project.dpgp(&[&predict[..], &["p2.csv"]].concat()).expect(0);
    for other in [ENERGY.replace(KEYS, ""), ENERGY.replace("\"house\"", "\"records\"")] {
        project.write("s.toml", &other);
        let run = project.dpgp(&[&predict[..], &["p3.csv"]].concat()).expect(2);
        assert!(
            run.err.contains("An earlier one protects against: the targets of one person (\"house\""),
            "{}",
            run.err
        );
        assert!(!project.path("p3.csv").exists());
    }
}

fn columns() -> Vec<Vec<f64>> {
    let rows = 60_000i64;
    let person = (0..rows).map(|i| (i * i % 7919 - 4000) as f64);
    let records = (0..rows).map(|i| (i % 3 * 2) as f64);
    vec![wave(rows as usize, 0.37), person.collect(), records.collect()]
}

const STREAMED: &str = r#"experiment.title = "bins"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "n", person = "id", rows_per_person = 4, filter = [{ column = "x", is = "<", value = 0.9 }] }
task.density = { bins = [{ from = -1.0, to = 1.0, bins = 9 }], test = [{ from = -1.0, to = 1.0, bins = 2 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.histogram = { relation = "replace-one", most_per_row = 3 } }
"#;

/// Records that were clipped, or rows.
fn counted(sums: &Value, name: &str) -> u64 {
    sums["part"]["sums"][name].as_u64().unwrap_or(0)
}

#[test]
fn shards_threads_and_forms_use_the_same_rows() {
    let project = Project::empty();
    project.write("s.toml", STREAMED);
    for name in ["rows.csv", "rows.parquet"] {
        write_rows(&project, name, &["x", "id", "n"], &columns());
    }
    assert_same_sums(&project, "rows");
    // Counted without the command: of every person the rows that pass, at most four.
    let columns = columns();
    let mut of_person = std::collections::BTreeMap::<i64, u64>::new();
    for (x, person) in columns[0].iter().zip(&columns[1]) {
        *of_person.entry(*person as i64).or_default() += u64::from(*x < 0.9);
    }
    let used: u64 = of_person.values().map(|rows| (*rows).min(4)).sum();
    let sums = project.json("one.json");
    assert!(used < 50_000 && counted(&sums, "rows") == used, "{used}");
    assert!(counted(&sums, "clipped") > used / 4);
    let run = project.dpgp(&["stats", "s.toml", "--add", "sum.json", "--for-holder", "--release", "r.json"]).expect(0);
    assert!(run.out.contains("rows had more than 3 records each and were clipped"), "{}", run.out);
    let text = "one person (\"id\", at most 4 rows each of at most 3 records) is replaced";
    assert!(project.json("r.json")["guarantee"]["text"].as_str().unwrap().ends_with(text));
    project.write("s.toml", &STREAMED.replace("rows_per_person = 4", "rows_per_person = 5"));
    let run = project.dpgp(&["stats", "s.toml", "--add", "sum.json", "--out", "other.json"]).expect(2);
    assert!(run.err.contains("is not a file of sums for this spec"), "{}", run.err);
}

/// Rows in another order, in two files, with names in Parquet: the same sums over the same rows. In memory, too.
#[test]
fn neither_order_nor_files_choose_the_rows() {
    let project = project(SURFACE);
    let sums = |files: &[&str]| -> Value {
        project.remove("sums.json");
        project.dpgp(&[&["stats", "s.toml"], files, &["--out", "sums.json"]].concat()).expect(0);
        project.json("sums.json")["part"].clone()
    };
    let whole = sums(&["rows.csv"]);
    assert_eq!(whole["sums"]["rows"], 60);
    let mut shuffled = rows(20);
    shuffled.sort_by_key(|row| row.bytes().rev().fold(7u64, |hash, byte| hash.wrapping_mul(31) ^ u64::from(byte)));
    assert_ne!(shuffled, rows(20));
    project.write("shuffled.csv", &file(&shuffled));
    assert_eq!(sums(&["shuffled.csv"]), whole);
    project.write("a.csv", &file(&shuffled[..33]));
    project.write("b.csv", &file(&shuffled[33..]));
    assert_eq!(sums(&["b.csv", "a.csv"]), whole);
    let cells: Vec<Vec<String>> =
        rows(20).iter().map(|row| row.trim().split(',').map(str::to_owned).collect()).collect();
    let number = |place: usize| cells.iter().map(|row| row[place].parse().ok()).collect();
    let named = [
        ("house", Column::Text(cells.iter().map(|row| Some(format!(" {} ", row[3]))).collect())),
        ("kwh", Column::Double(number(1))),
        ("temperature", Column::Double(number(0))),
        ("records", Column::Double(number(2))),
    ];
    write_parquet(&project.path("named.parquet"), &named, 7);
    assert_eq!(sums(&["named.parquet"]), whole);
    project.dpgp(&["run", "s.toml"]).expect(0);
    let table = project.read("results/s/table.csv");
    let used = table.lines().find(|line| line.contains(",rows,")).unwrap();
    assert!(used.contains(",rows,60,"), "{table}");
}

/// A release does not say how many rows persons have.
#[test]
fn numbers_of_rows_are_private() {
    let project = project(SURFACE);
    project.dpgp(&["stats", "s.toml", "rows.csv", "--release", "r.json"]).expect(0);
    assert_eq!(project.json("r.json")["rows"], Value::Null);
    predict(&project, "s.toml", "p.csv", 0);
    let certificate = project.json("p.csv.certificate.json");
    assert!(!certificate["not_covered"].to_string().contains("number of rows"));
    assert!(
        certificate["guarantee"].as_str().unwrap().ends_with("one person (\"house\", at most 3 rows each) is replaced")
    );
}

#[test]
fn a_row_without_a_person_is_an_error() {
    let project = project(SURFACE);
    let told = "rows.csv: line 6, column \"house\": the cell is empty, NA, NaN or null; expected a person's identifier";
    for nobody in [" ", "NA", "NaN", "null", "nan"] {
        let mut rows = rows(20);
        rows[4] = format!("1,2,1,{nobody}\n");
        project.write("rows.csv", &file(&rows));
        for arguments in
            [&["stats", "s.toml", "rows.csv"][..], &["run", "s.toml"], &["predict", "s.toml", "--at", "grid.csv"]]
        {
            let run = project.dpgp(arguments).expect(2);
            assert!(run.err.contains(told), "{nobody}: {}", run.err);
        }
    }
    let named = [
        ("house", Column::Text(vec![Some("a".to_owned()), None])),
        ("kwh", Column::Double(vec![Some(1.0), Some(2.0)])),
        ("temperature", Column::Double(vec![Some(1.0), Some(2.0)])),
    ];
    write_parquet(&project.path("named.parquet"), &named, 1);
    let run = project.dpgp(&["stats", "s.toml", "named.parquet"]).expect(2);
    assert!(run.err.contains("named.parquet: row 2, column \"house\": the cell is empty"), "{}", run.err);
    project.write("rows.csv", "temperature,kwh,records\n1,2,3\n");
    for arguments in [&["stats", "s.toml", "rows.csv"][..], &["run", "s.toml"]] {
        let run = project.dpgp(arguments).expect(2);
        assert!(run.err.contains("no column \"house\""), "{}", run.err);
    }
}

#[test]
fn audits_hold() {
    let function = ENERGY
        .replace("cloaking = { objective = \"trace\", rank_tolerance = 1e-8 }", "function.sensitivity = \"exact\"");
    let rows = HISTOGRAM.replace(KEYS, "");
    for spec in [ENERGY, &function, SURFACE, HISTOGRAM, &rows] {
        let project = project(spec);
        let run = project.dpgp(&["audit", "s.toml"]).expect(0);
        assert!(run.out.contains("holds"), "{}", run.out);
        let run = project.dpgp(&["audit", "--end-to-end", "s.toml"]).expect(0);
        assert!(run.out.starts_with("s: holds\n"), "{}", run.out);
        assert!(run.out.contains("pairs of neighbours differ by at most"), "{}", run.out);
    }
}

/// The attack replaces all rows of a person: most of what is claimed is found, and more than one row of three could do.
#[test]
fn the_attack_is_on_persons() {
    for (spec, least) in [(ENERGY, 0.5), (SURFACE, 0.4), (HISTOGRAM, 0.6)] {
        let run = project(spec).dpgp(&["audit", "--end-to-end", "s.toml", "--format", "json"]).expect(0);
        let checks = run.json()["checks"].clone();
        let mut notes = checks.as_array().unwrap().iter().filter_map(|check| check["note"].as_str());
        let note = notes.find(|note| note.contains("at most")).unwrap().to_owned();
        let numbers: Vec<f64> = note.split([' ', ';', ')']).filter_map(|word| word.parse().ok()).collect();
        let [_, found, claimed] = numbers[..] else { panic!("{note}") };
        assert!(found > least * claimed && found < 1.1 * claimed, "{note}");
    }
}
