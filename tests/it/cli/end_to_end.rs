//! The attack on the release path.

use crate::support::cli::Project;

const ENERGY: &str = r#"experiment.title = "energy by temperature"
data = { source.csv = { path = "rows.csv" }, inputs = ["temperature"], target = "kwh" }
normalise.bounds = { low = 0.0, high = 40.0 }
model = { noise_variance = 9.0, kernel.eq = { variance = 100.0, lengthscale = 8.0 } }
task.regression = { split.shuffled = 4, draws = 2 }
privacy = { epsilon = 1.0, delta = 1e-5, change = 40.0, mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8 } }
"#;

const SURFACE: &str = r#"experiment.title = "sums"
data = { source.csv = { path = "rows.csv" }, inputs = ["temperature"], target = "kwh" }
normalise.bounds = { low = 0.0, high = 40.0, scale = 20.0 }
model = { noise_variance = 0.5, kernel.eq = { variance = 1.0, lengthscale = 8.0 } }
task.surface = { inducing = [{ from = 0.0, to = 40.0, points = 6 }], posterior = { regularisation = "tight", correction = "first-order" } }
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.sums = { target_bound = 1.0, features = { supremum = [[0.0, 40.0]] }, sensitivity = "exact", split = 1.0 } }
"#;

const HISTOGRAM: &str = r#"experiment.title = "bins"
data = { source.csv = { path = "rows.csv" }, inputs = ["temperature"], target = "records" }
task.density = { bins = [{ from = 0.0, to = 40.0, bins = 8 }], test = [{ from = 0.0, to = 40.0, bins = 2 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-5, mechanism.histogram = { relation = "add-remove" } }
"#;

fn project(spec: &str) -> Project {
    let project = Project::empty();
    let row = |day: u32| {
        format!("{},{},1\n", f64::from(day * 37 % 100) / 2.5, 5.0 + f64::from(day * 53 % 67) / 2.5)
    };
    let rows: String = (0..80).map(row).collect();
    project.write("rows.csv", &format!("temperature,kwh,records\n{rows}"));
    project.write("grid.csv", "temperature\n-5\n5\n15\n25\n");
    project.write("s.toml", spec);
    project
}

#[test]
fn sound_releases_hold() {
    let function = ENERGY
        .replace(
            "cloaking = { objective = \"trace\", rank_tolerance = 1e-8 }",
            "function.sensitivity = \"exact\"",
        )
        .replace(
            "regression = { split.shuffled = 4, draws = 2 }",
            "prediction.grid = [{ from = 0.0, to = 40.0, points = 2 }]",
        );
    for spec in [ENERGY, SURFACE, HISTOGRAM, &function] {
        let project = project(spec);
        let run = project.dpgp(&["audit", "--end-to-end", "s.toml"]).expect(0);
        assert!(run.out.starts_with("s: holds\n"), "{}", run.out);
        assert!(run.out.contains("standard deviations of the noise apart"), "{}", run.out);
        project.assert_nothing_left();
    }
    let run = project(ENERGY).dpgp(&["audit", "--end-to-end", "s.toml", "--at", "grid.csv"]).expect(0);
    assert!(run.out.starts_with("s: holds\n"), "{}", run.out);
}

/// The distance that is found is that of the noise: one pair of neighbours nearly reaches it.
#[test]
fn distances_are_those_of_the_claim() {
    for spec in [ENERGY, HISTOGRAM] {
        let run = project(spec).dpgp(&["audit", "--end-to-end", "s.toml", "--format", "json"]).expect(0);
        let checks = run.json()["checks"].clone();
        let note = checks
            .as_array()
            .unwrap()
            .iter()
            .find_map(|check| check["note"].as_str().filter(|note| note.contains("at most")));
        let numbers: Vec<f64> =
            note.unwrap().split([' ', ';']).filter_map(|word| word.parse().ok()).collect();
        let [_, found, claimed] = numbers[..] else { panic!("{note:?}") };
        assert!(found > 0.6 * claimed && found < 1.2 * claimed, "{note:?}");
    }
}

/// What protects less than it says is a caveat; what is no release is refused.
#[test]
fn weak_claims_do_not_hold() {
    for (from, to, note) in [
        ("change = 40.0", "change = 1.0, relation = \"metric\"", "a change of 1.0 is protected"),
        ("delta = 1e-5", "delta = 0.05", "delta"),
        ("epsilon = 1.0", "epsilon = 20.0", "hides hardly anything"),
    ] {
        assert!(ENERGY.contains(from));
        let run = project(&ENERGY.replace(from, to)).dpgp(&["audit", "--end-to-end", "s.toml"]).expect(0);
        assert!(run.out.starts_with("s: caveat\n") && run.out.contains(note), "{}", run.out);
    }
    let unbounded = ENERGY
        .replace("normalise.bounds = { low = 0.0, high = 40.0 }", "normalise.constants = { scale = 10.0 }");
    let run = project(&unbounded).dpgp(&["audit", "--end-to-end", "s.toml"]).expect(2);
    assert!(run.err.contains("no public bounds"), "{}", run.err);
}
