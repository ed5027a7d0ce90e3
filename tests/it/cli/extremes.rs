//! Settings at the edge: a certificate is true or the run fails, and the program never panics.

use std::collections::BTreeMap;

use crate::support::cli::{Project, Run};
use crate::support::rows::table_rows;

const STUDY: &str = r#"
[experiment]
title = "extremes"
[data]
source.inline = { x = [0.0, 1.0, 2.0, 34.0, 35.0, 36.0], y = [1.0, 2.0, 1.0, 5.0, 6.0, 5.0] }
inputs = ["x"]
target = "y"
[model]
noise_variance = 0.1
kernel.eq = { variance = 1.0, lengthscale = 1.0 }
[task.regression]
split.contiguous = 2
draws = 20
[privacy]
epsilon = 1.0
delta = 0.01
change = 6.0
mechanism.cloaking = { objective = "trace", rank_tolerance = 1e-8, release = "projection" }
"#;

/// Runs the study with replacements, each of which must occur.
fn run(project: &Project, replacements: &[(&str, &str)]) -> Run {
    let mut spec = STUDY.to_owned();
    for (from, to) in replacements {
        assert!(spec.contains(from), "{from}");
        spec = spec.replace(from, to);
    }
    project.write("extreme.toml", &spec);
    project.dpgp(&["run", "extreme.toml", "--quiet"])
}

fn rows(project: &Project) -> Vec<BTreeMap<String, String>> {
    table_rows(&project.read("results/extreme/table.csv"))
}

fn number(row: &BTreeMap<String, String>, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} is {:?}", row[column]))
}

/// Predictions 30 lengthscales from all data: C is about 1e-223, and so must be the noise, never zero.
#[test]
fn noise_scales_with_tiny_maps() {
    let project = Project::new();
    for release in ["projection", "jitter"] {
        for objective in ["trace", "log-det"] {
            let mut last = 0.0;
            for change in ["1e225", "1e228", "1e231"] {
                let changes = [
                    ("= 6.0", &*format!("= {change}")),
                    ("projection", release),
                    ("\"trace\"", &*format!("\"{objective}\"")),
                ];
                run(&project, &changes).expect(0);
                let row = &rows(&project)[0];
                let (rmse, delta) = (number(row, "value"), number(row, "delta_exact"));
                assert!(delta > 1e-6 && delta <= 0.01, "{release} {objective} {change}: delta {delta}");
                assert!(rmse > last, "{release} {objective} {change}: {rmse} after {last}");
                last = rmse;
            }
        }
    }
}

#[test]
fn every_certificate_is_true_or_the_run_fails() {
    let project = Project::new();
    for changes in [
        [("noise_variance = 0.1", "noise_variance = 1e170"), ("= 6.0", "= 6.0")],
        [("noise_variance = 0.1", "noise_variance = 1e300"), ("= 6.0", "= 6.0")],
        [("noise_variance = 0.1", "noise_variance = 1e-300"), ("= 6.0", "= 6.0")],
        [("lengthscale = 1.0", "lengthscale = 1e150"), ("= 6.0", "= 6.0")],
        [("lengthscale = 1.0", "lengthscale = 1e-150"), ("= 6.0", "= 6.0")],
        [("variance = 1.0", "variance = 1e-200"), ("= 6.0", "= 1e300")],
        [("lengthscale = 1.0", "lengthscale = 10.0"), ("= 6.0", "= 1e300")],
        [("epsilon = 1.0", "epsilon = 1e-12"), ("= 6.0", "= 1e-300")],
        [("epsilon = 1.0", "epsilon = 1e12"), ("change", "calibration = \"analytic\"\nchange")],
        [("delta = 0.01", "delta = 1e-300"), ("change", "calibration = \"analytic\"\nchange")],
    ] {
        let outcome = run(&project, &changes);
        assert!([0, 4].contains(&outcome.code), "{changes:?}: {} {}", outcome.out, outcome.err);
        if outcome.code == 0 {
            let row = &rows(&project)[0];
            let (claimed, exact) = (number(row, "delta"), number(row, "delta_exact"));
            assert!(exact <= claimed * (1.0 + 1e-9) && exact > 0.0, "{changes:?}: {exact} of {claimed}");
            assert!(number(row, "value").is_finite(), "{changes:?}");
        }
    }
}

/// Where the noise drowns all candidates, every error is clipped and none is preferred.
#[test]
fn selection_under_drowning_noise_is_a_coin_toss() {
    let project = Project::new();
    let toy = std::fs::read_to_string(project.path("experiments/smith2021/toy.toml")).unwrap();
    let (head, _) = toy.split_once("[figure.intervals]").unwrap();
    let spec = head.replace("[axis.split]", "[grid]\n\"privacy.epsilon\" = [1e-6, 1e-10]\n[axis.split]");
    project.write("extreme.toml", &spec);
    project.dpgp(&["run", "extreme.toml", "--quiet"]).expect(0);
    for row in rows(&project).iter().filter(|row| row["variant"] != "published") {
        let expected = if row["metric"].starts_with("sse/") { 256.0 } else { 0.5 };
        if row["metric"].starts_with("sse/") || row["metric"].starts_with("probability") {
            assert!((number(row, "value") / expected - 1.0).abs() < 2e-5, "{row:?}");
        }
    }
    // The epsilon of the noise is not that of the guarantee, so it has a column of its own.
    assert_eq!(rows(&project)[0]["privacy.epsilon"], "1e-6");
}

#[test]
fn mistakes_that_would_make_a_table_lie_are_refused() {
    let project = Project::new();
    let published =
        "[published.a]\nall = { metric = \"rmse\", source = \"s\" }\ncolumns = [\"value\"]\nrows = [[1.0]]\n";
    for (name, changes, words) in [
        ("target as input", vec![("inputs = [\"x\"]", "inputs = [\"x\", \"y\"]")], "private target"),
        ("too many draws", vec![("draws = 20", "draws = 9223372036854775807")], "at most 1000000"),
        (
            "too many replicates",
            vec![("title = \"extremes\"", "title = \"t\"\nreplicates = 4294967295")],
            "from 1 to 100000",
        ),
        (
            "published twice",
            vec![("[experiment]", &*format!("{}[experiment]", published.replace("[[1.0]]", "[[1.0], [1.0]]")))],
            "already have a number of this kind",
        ),
        (
            "published nan",
            vec![("[experiment]", &*format!("{}[experiment]", published.replace("1.0", "nan")))],
            "finite",
        ),
        (
            "reserved axis",
            vec![("[experiment]", "[axis.value]\na = { \"privacy.epsilon\" = 2.0 }\n[experiment]")],
            "already",
        ),
        (
            "overlapping axes",
            vec![(
                "[experiment]",
                "[grid]\n\"model.kernel.eq.variance\" = [1.0, 2.0]\n[axis.m]\na = { \"model.kernel\" = { eq = { variance = 3.0, lengthscale = 1.0 } } }\n[experiment]",
            )],
            "both set",
        ),
        (
            "a metric of replicates",
            vec![("[experiment]", &*format!("{}[experiment]", published.replace("rmse", "rmse-replicates")))],
            "does not measure",
        ),
    ] {
        let outcome = run(&project, &changes);
        assert_eq!(outcome.code, 2, "{name}: {}{}", outcome.out, outcome.err);
        assert!(outcome.err.contains(words), "{name}: {}", outcome.err);
    }
    assert!(!project.path("results").exists());
}

#[test]
fn a_filter_on_the_private_target_is_a_caveat() {
    let project = Project::new();
    let filter = "target = \"y\"\nfilter = [{ column = \"y\", is = \">\", value = 1.5 }]\n";
    let source = "source.csv = { path = \"own.csv\" }";
    project.write("own.csv", "x,y\n1,2\n2,3\n3,1\n4,5\n5,2\n6,4\n");
    let inline = "source.inline = { x = [0.0, 1.0, 2.0, 34.0, 35.0, 36.0], y = [1.0, 2.0, 1.0, 5.0, 6.0, 5.0] }";
    run(&project, &[("target = \"y\"\n", filter), (inline, source)]).expect(0);
    assert!(rows(&project)[0]["guarantee"].contains("chosen by the private target"));
    let manifest = project.read("results/extreme/manifest.json");
    // The digest of private rows would let anyone check a guess of them.
    assert!(manifest.contains("own.csv") && !manifest.contains(OWN_CSV), "{manifest}");
}

/// sha256sum of own.csv.
const OWN_CSV: &str = "79d3d3f84edf9289cd602f7b863c9df0854fab5d8ef7023bc3e75e24dd064d5b";

#[test]
fn two_specs_of_one_name_and_absolute_paths() {
    let project = Project::new();
    for folder in ["a", "b"] {
        std::fs::create_dir(project.path(folder)).unwrap();
        project.write(&format!("{folder}/study.toml"), STUDY);
    }
    let outcome = project.dpgp(&["run", "a/study.toml", "b/study.toml"]).expect(2);
    assert!(outcome.err.contains("two specs are named study"), "{}", outcome.err);
    let absolute = project.path("a/study.toml");
    project.dpgp(&["run", absolute.to_str().unwrap()]).expect(0);
}

/// With one row left out at a time the released vector has one direction; with many folds, few. The solver
/// must reach its optimum there too.
#[test]
fn small_folds_reach_the_optimum() {
    let project = Project::new();
    let x: Vec<f64> = (0..60).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| 160.0 - 60.0 * (-x / 9.0).exp()).collect();
    let data = format!("source.inline = {{ x = {x:?}, y = {y:?} }}");
    let inline = "source.inline = { x = [0.0, 1.0, 2.0, 34.0, 35.0, 36.0], y = [1.0, 2.0, 1.0, 5.0, 6.0, 5.0] }";
    for folds in ["12", "15", "20", "30", "60"] {
        for objective in ["trace", "log-det"] {
            let split = format!("split.shuffled = {folds}");
            let name = format!("\"{objective}\"");
            let changes = [
                (inline, &*data),
                ("split.contiguous = 2", &*split),
                ("\"trace\"", &*name),
                ("lengthscale = 1.0", "lengthscale = 15.0"),
            ];
            run(&project, &changes).expect(0);
            let gap = number(&rows(&project)[0], "gap");
            assert!(gap <= 1e-8, "{folds} folds, {objective}: gap {gap:e}");
        }
    }
}
