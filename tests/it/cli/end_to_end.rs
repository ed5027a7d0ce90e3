//! The attack on the release path.

use crate::support::cli::Project;
use crate::support::energy::{TARGETS, day, energy_project};
use crate::support::parquet_file::{Column, write_parquet};

const SURFACE: &str = r#"experiment.title = "sums"
data = { source.csv = { path = "energy.csv" }, inputs = ["temperature"], target = "kwh" }
normalise.bounds = { low = 0.0, high = 40.0, scale = 20.0 }
model = { noise_variance = 0.5, kernel.eq = { variance = 1.0, lengthscale = 8.0 } }
task.surface = { inducing = [{ from = 0.0, to = 40.0, points = 6 }], posterior = { regularisation = "tight", correction = "first-order" } }
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.sums = { target_bound = 1.0, features = { supremum = [[0.0, 40.0]] }, sensitivity = "exact", split = 1.0 } }
"#;

const HISTOGRAM: &str = r#"experiment.title = "bins"
data = { source.csv = { path = "energy.csv" }, inputs = ["temperature"], target = "records" }
task.density = { bins = [{ from = 0.0, to = 40.0, bins = 8 }], test = [{ from = 0.0, to = 40.0, bins = 2 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.histogram = { relation = "add-remove" } }
"#;

fn project(spec: &str) -> Project {
    let project = energy_project(TARGETS);
    let rows: String = (0..80).map(day).map(|[_, temperature, kwh]| format!("{temperature},{kwh},1\n")).collect();
    project.write("energy.csv", &format!("temperature,kwh,records\n{rows}"));
    project.write("s.toml", spec);
    project
}

#[test]
fn sound_releases_hold() {
    let function = TARGETS
        .replace("cloaking = { objective = \"trace\", rank_tolerance = 1e-8 }", "function.sensitivity = \"exact\"")
        .replace(
            "regression = { split.shuffled = 5, draws = 10 }",
            "prediction.grid = [{ from = 0.0, to = 40.0, points = 2 }]",
        );
    for spec in [TARGETS, SURFACE, HISTOGRAM, &function] {
        let project = project(spec);
        let run = project.dpgp(&["audit", "--end-to-end", "s.toml"]).expect(0);
        assert!(run.out.starts_with("s: holds\n"), "{}", run.out);
        for line in ["pairs of neighbours differ by at most", "prove epsilon >= 0.0", "of 2000 releases, "] {
            assert!(run.out.contains(line), "{line}: {}", run.out);
        }
        assert!(run.out.contains("is the same for the file and for"), "{}", run.out);
        project.assert_nothing_left();
    }
    let few = ["audit", "--end-to-end", "s.toml", "--at", "grid.csv", "--releases", "60"];
    let run = project(TARGETS).dpgp(&few).expect(0);
    assert!(run.out.starts_with("s: holds\n"), "{}", run.out);
    assert!(
        run.out.contains("60 releases of each of two neighbours") && run.out.contains("of 120 releases, "),
        "{}",
        run.out
    );
}

/// Releases that weigh hyperparameters, and nested cells: the attack finds their noise, and certificates verify.
#[test]
fn averaged_models_and_nested_cells_hold() {
    let averaged = TARGETS
        .replace("noise_variance = 9.0,", "noise_variance = 9.0, averaged = true,")
        .replace("cloaking = { objective = \"trace\", rank_tolerance = 1e-8 }", "cloaking.objective = \"risk\"");
    let project = project(&averaged);
    let run = project.dpgp(&["audit", "--end-to-end", "s.toml"]).expect(0);
    assert!(run.out.starts_with("s: holds\n") && !run.out.contains("gp_sd"), "{}", run.out);
    assert!(run.out.contains("pairs of neighbours differ by at most 0.2"), "{}", run.out);
    project.dpgp(&["predict", "s.toml", "--at", "grid.csv", "--out", "p.csv", "--quiet"]).expect(0);
    project.dpgp(&["verify", "p.csv.certificate.json", "p.csv"]).expect(0);
    let columns = project.read("p.csv.certificate.json");
    assert!(columns.contains("from the noisy sums") && !columns.contains("; public"), "{columns}");
    project.dpgp(&["run", "s.toml", "--quiet"]).expect(0);

    project.write("s.toml", CELLS);
    let run = project.dpgp(&["audit", "--end-to-end", "s.toml"]).expect(0);
    assert!(run.out.starts_with("s: holds\n"), "{}", run.out);
    let stated = run.out.split("numbers has ").nth(1).unwrap().split(' ').next().unwrap();
    // Over a thousand releases of three numbers, the ratio of variances has a standard error of .026.
    assert!((stated.parse::<f64>().unwrap() - 1.0).abs() < 0.2, "{}", run.out);
    project.dpgp(&["audit", "s.toml"]).expect(0);
    project.dpgp(&["sum", "s.toml", "energy.csv", "--release", "c.json", "--quiet", "--no-ledger"]).expect(0);
    project.dpgp(&["verify", "c.json"]).expect(0);
    project.dpgp(&["predict", "--from", "c.json", "--at", "grid.csv", "--out", "q.csv"]).expect(0);
    project.write("odd.json", &project.read("c.json").replacen("\"counts_sd\":", "\"count_sd\":", 1));
    let run = project.dpgp(&["predict", "--from", "odd.json", "--at", "grid.csv", "--out", "o.csv"]).expect(2);
    assert!(run.err.contains("unknown field `count_sd`") && !project.path("o.csv").exists(), "{}", run.err);
    for (from, to, why) in [
        ("features = \"cells\"", "features = \"cells\", period = 1.5", "applies only to waves"),
        ("noise_variance = 0.1,", "noise_variance = 0.1, averaged = true,", "model.averaged"),
        ("task.surface = {}", "task.regression = { split.shuffled = 5, draws = 10 }", "mechanism"),
    ] {
        project.write("wrong.toml", &CELLS.replace(from, to));
        let run = project.dpgp(&["run", "wrong.toml"]).expect(2);
        assert!(run.err.contains(why), "{why}: {}", run.err);
    }
}

/// Sums and counts of nested cells: records are private.
const CELLS: &str = r#"experiment.title = "cells"
data = { source.csv = { path = "energy.csv" }, inputs = ["temperature"], target = "kwh" }
normalise.bounds = { low = 0.0, high = 40.0, scale = 20.0 }
model = { noise_variance = 0.1, kernel.matern = { smoothness = "3/2", variance = 1.0, lengthscales = [8.0] } }
task.surface = {}
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.moments = { target_bound = 1.0, domain = [[0.0, 40.0]], features = "cells" } }
"#;

/// Predictions from noisy sums: the predictions themselves, the sums that they follow from, and the program.
#[test]
fn predictions_from_sums_are_attacked_too() {
    let run = project(SURFACE).dpgp(&["audit", "--end-to-end", "s.toml", "--at", "grid.csv"]).expect(0);
    assert!(run.out.starts_with("s: holds\n"), "{}", run.out);
    assert_eq!(run.out.matches("1000 releases of each of two neighbours").count(), 2, "{}", run.out);
    assert!(run.out.contains("the sums behind the predictions: 36 pairs of neighbours"), "{}", run.out);
    assert!(run.out.contains("the output of `dpgp predict` is the same"), "{}", run.out);
}

/// Rows that are chosen by their target: another target, and the files have other public columns. The certificate excepts it.
#[test]
fn files_that_tell_neighbours_apart_are_found() {
    let filtered = TARGETS
        .replace("target = \"kwh\" }", "target = \"kwh\", filter = [{ column = \"kwh\", is = \">\", value = 10.0 }] }");
    assert_ne!(filtered, TARGETS);
    let run = project(&filtered).dpgp(&["audit", "--end-to-end", "s.toml", "--at", "grid.csv"]).expect(0);
    assert!(run.out.starts_with("s: caveat\n"), "{}", run.out);
    assert!(run.out.contains("caveat  `dpgp predict` DISTINGUISHES NEIGHBOURS by predictions.csv"), "{}", run.out);
}

/// The same file in other forms is run, too: Parquet, and columns with other separators and words.
#[test]
fn files_of_any_form_are_run() {
    let project = project(TARGETS);
    let all: Vec<[f64; 3]> = (0..60).map(day).collect();
    let column = |at: usize| Column::Double(all.iter().map(|row| Some(row[at])).collect());
    write_parquet(&project.path("rows.parquet"), &[("temperature", column(1)), ("kwh", column(2))], 50);
    let (csv, parquet) = ("source.csv = { path = \"energy.csv\" }", "source.parquet.path = \"rows.parquet\"");
    project.write("p.toml", &TARGETS.replace(csv, parquet));
    let text: String = all.iter().map(|[_, t, kwh]| format!("{t};\"{kwh}\";mild\n")).collect();
    project.write("rows.csv", &format!("temperature;kwh;word\n{text}"));
    let semicolons = "source.csv = { path = \"rows.csv\", separator = \";\" }";
    project.write("c.toml", &TARGETS.replace(csv, semicolons));
    for spec in ["p.toml", "c.toml"] {
        let run = project.dpgp(&["audit", "--end-to-end", spec, "--at", "grid.csv"]).expect(0);
        assert!(run.out.contains("holds   the output of `dpgp predict` is the same"), "{spec}: {}", run.out);
    }
}

/// The distance that is found is that of the noise: one pair of neighbours nearly reaches it.
#[test]
fn distances_are_those_of_the_claim() {
    for spec in [TARGETS, HISTOGRAM] {
        let run = project(spec).dpgp(&["audit", "--end-to-end", "s.toml", "--format", "json"]).expect(0);
        let checks = run.json()["checks"].clone();
        let note = checks
            .as_array()
            .unwrap()
            .iter()
            .find_map(|check| check["note"].as_str().filter(|note| note.contains("at most")));
        let numbers: Vec<f64> = note.unwrap().split([' ', ';', ')']).filter_map(|word| word.parse().ok()).collect();
        let [_, found, claimed] = numbers[..] else { panic!("{note:?}") };
        assert!(found > 0.6 * claimed && found < 1.2 * claimed, "{note:?}");
    }
}

/// What protects less than it says is a caveat; what is no release is refused.
#[test]
fn weak_claims_do_not_hold() {
    for (from, to, note) in [
        ("change = 40.0", "change = 1.0\nrelation = \"metric\"", "only changes of up to 1.0 are protected"),
        ("delta = 1e-5", "delta = 0.05", "delta"),
        ("epsilon = 1.0", "epsilon = 20.0", "hides hardly anything"),
    ] {
        assert!(TARGETS.contains(from));
        let audit = ["audit", "--end-to-end", "s.toml", "--at", "grid.csv"];
        let run = project(&TARGETS.replace(from, to)).dpgp(&audit).expect(0);
        assert!(run.out.starts_with("s: caveat\n") && run.out.contains(note), "{}", run.out);
    }
    let unbounded =
        TARGETS.replace("normalise.bounds = { low = 0.0, high = 40.0 }", "normalise.constants = { scale = 10.0 }");
    let run = project(&unbounded).dpgp(&["audit", "--end-to-end", "s.toml"]).expect(2);
    assert!(run.err.contains("no public bounds"), "{}", run.err);
}
