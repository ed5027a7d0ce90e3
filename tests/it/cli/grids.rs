//! Points to predict at that need no file.

use crate::support::cli::Project;
use crate::support::rows::write_rows;

const SPEC: &str = r#"experiment.title = "grids"
data = { source.csv.path = "rows.csv", inputs = ["x", "z"], target = "y" }
normalise.bounds = { low = 0.0, high = 10.0, scale = 5.0 }
model = { noise_variance = 0.05, kernel.eq-ard = { variance = 0.3, lengthscales = [1.5, 30.0] } }
task.surface = { map = [{ from = 0.5, to = 3.5, points = 4 }], at = [50.0] }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.moments = { target_bound = 1.0, domain = [[0.0, 4.0], [0.0, 100.0]] } }
"#;

fn project() -> Project {
    let project = Project::empty();
    project.write("s.toml", SPEC);
    let column = |step: usize, width: f64| (0..400).map(|i| width * ((i * step) % 401) as f64 / 401.0).collect();
    let columns: [Vec<f64>; 3] = [column(7, 4.0), column(101, 100.0), column(13, 10.0)];
    write_rows(&project, "rows.csv", &["x", "z", "y"], &columns);
    project
}

/// From released moments predictions hold no new noise, so that equal points have equal numbers, to the last bit.
#[test]
fn a_grid_is_the_file_with_the_same_points() {
    let project = project();
    project.dpgp(&["stats", "s.toml", "rows.csv", "--release", "r.json"]).expect(0);
    let at = |points: &[&str]| project.dpgp(&[&["predict", "--from", "r.json"], points].concat()).expect(0).out;
    project.write("grid.csv", "z,x\n10,0.5\n40,0.5\n70,0.5\n10,1.1\n40,1.1\n70,1.1\n");
    let file = at(&["--at", "grid.csv"]);
    assert_eq!(at(&["--grid", "z=10..70:3,x=0.5..1.1:2"]), file);
    assert_eq!(file.lines().count(), 7);
    // The box of the inputs, from end to end.
    let whole = at(&["--grid", "auto"]);
    let rows: Vec<&str> = whole.lines().skip(1).collect();
    assert!(rows.len() == 1600 && rows[0].starts_with("0,0,") && rows[1599].starts_with("4,100,"), "{}", rows[0]);
}

/// `predict --map` tells the same of a map (`cli::maps`).
#[test]
fn the_places_of_a_spec_are_its_grid() {
    let project = project();
    let spec = SPEC
        .replace("task.surface", "task.prediction")
        .replace(
            "map = [{ from = 0.5, to = 3.5, points = 4 }], at = [50.0]",
            "grid = [{ from = 0.5, to = 3.5, points = 4 }, { from = 0.0, to = 50.0, points = 2 }]",
        )
        .replace(
            "mechanism.moments = { target_bound = 1.0, domain = [[0.0, 4.0], [0.0, 100.0]] }",
            "change = 10.0, mechanism.function.sensitivity = \"exact\"",
        );
    project.write("s.toml", &spec);
    project.dpgp(&["predict", "s.toml", "--grid", "auto", "--out", "p.csv", "--quiet"]).expect(0);
    let text = project.read("p.csv");
    let inputs: Vec<String> =
        text.lines().skip(1).map(|row| row.split(',').take(2).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(inputs, ["0.5,0", "0.5,50", "1.5,0", "1.5,50", "2.5,0", "2.5,50", "3.5,0", "3.5,50"]);
    project.dpgp(&["predict", "s.toml", "--grid", "auto", "--preview"]).expect(0);
}

#[test]
fn wrong_grids_are_named_and_charge_nothing() {
    let project = project();
    for (grid, says) in [
        ("x=0..1:3", "missing: z"),
        ("x=0..1:3,z=5,w=1", "no input \"w\"; it has x, z"),
        ("x=FROM..TO:3,z=5", "as in 20..80:7"),
        ("x=0..1:3,z=low", "\"z=low\": neither a finite number nor a range"),
        ("x=0..1:1,z=5", "\"x=0..1:1\""),
        ("x=0..1:200,z=0..1:200", "40000 points"),
        ("x", "expected INPUT=FROM..TO:POINTS or INPUT=VALUE"),
    ] {
        let run = project.dpgp(&["predict", "s.toml", "--grid", grid, "--out", "p.csv", "--quiet"]).expect(2);
        assert!(run.err.contains(says), "{grid}: {}", run.err);
        assert!(!project.path("p.csv").exists());
    }
    project.dpgp(&["predict", "s.toml", "--out", "p.csv"]).expect(2);
    project.dpgp(&["predict", "s.toml", "--grid", "auto", "--at", "rows.csv", "--out", "p.csv"]).expect(2);
    let known = project.dpgp(&["ledger", "show", "--format", "json"]).expect(0).out;
    assert!(!known.contains("release_id"), "{known}");
}

/// Words of an input that is encoded are named as such.
#[test]
fn words_are_values_of_their_input() {
    let project = project();
    let spec = SPEC.replace("target = \"y\" }", "target = \"y\", encode = { z = [\"warm\", \"cold\"] } }");
    project.write("s.toml", &spec.replace("at = [50.0]", "at = [1.0]").replace("[0.0, 100.0]]", "[0.0, 1.0]]"));
    project.write("rows.csv", "x,z,y\n1,warm,2\n2,cold,5\n3,cold,4\n");
    let at = |grid: &str| project.dpgp(&["predict", "s.toml", "--quiet", "--grid", grid]);
    let out = at("x=1..2:2,z=cold").expect(0).out;
    assert!(out.lines().skip(1).all(|row| row.split(',').nth(1) == Some("cold")), "{out}");
    assert!(at("x=1..2:2,z=hot").expect(2).err.contains("one of warm, cold"));
    assert!(at("x=1..2:2,z=0..1:2").expect(2).err.contains("one of warm, cold"));
}
