//! Several answers from the same rows: one budget, one charge, all or nothing.

use serde_json::Value;

use crate::support::cli::Project;

const COUNTS: &str = r#"
experiment.title = "counts"
data = { source.csv.path = "rows.csv", inputs = ["hour"] }
task.density = { bins = [{ from = 0.0, to = 24.0, bins = 12 }], estimate.denoised = {}, draws = 2 }
privacy = { epsilon = 1.0, delta = 1e-6, calibration = "analytic", mechanism.histogram.relation = "replace-one" }
"#;

const MEANS: &str = r#"
experiment.title = "means"
data = { source.csv.path = "rows.csv", inputs = ["x", "hour"], target = "y" }
normalise.bounds = { low = 0.0, high = 20.0 }
model = { noise_variance = 4.0, kernel.matern = { smoothness = "3/2", variance = 9.0, lengthscales = [2.0, 6.0] } }
task.surface = {}
privacy = { epsilon = 1.0, delta = 1e-6, calibration = "analytic", mechanism.moments = { target_bound = 10.0, domain = [[0.0, 9.0], [0.0, 24.0]] } }
grid."privacy.epsilon" = [1.0, inf]
"#;

/// Rows of a file in which no cell says who wrote it.
fn project() -> Project {
    let project = Project::new();
    let mut rows = "x,hour,y\n".to_owned();
    for row in 0..400 {
        rows +=
            &format!("{},{},{}\n", f64::from(row % 97) / 11.0, f64::from(row % 89) / 4.0, f64::from(row % 83) / 5.0);
    }
    project.write("rows.csv", &rows);
    project.write("counts.toml", COUNTS);
    project.write("means.toml", MEANS);
    project
}

fn number(certificate: &Value, place: &str) -> f64 {
    certificate.pointer(place).and_then(Value::as_f64).unwrap_or_else(|| panic!("{place} in {certificate}"))
}

/// The squares of `mu` of both answers add up to at most that of the whole budget, of mpmath; every certificate states the account of
/// both; and the ledger knows each file.
#[test]
fn answers_share_one_budget() {
    let project = project();
    let arguments = ["predict", "counts.toml", "means.toml", "--together", "--grid", "auto", "--out", "answers"];
    let told = project.dpgp(&[&arguments[..], &["--share", "means=3"]].concat()).expect(0);
    assert!(told.out.contains("guarantee of all answers together: epsilon = 1.0, delta = 1e-6"), "{}", told.out);
    assert!(told.out.contains("25 % of the budget") && told.out.contains("75 % of the budget"), "{}", told.out);
    let [counts, means] = ["counts", "means"].map(|name| project.json(&format!("answers/{name}.csv.certificate.json")));
    // The mu at which a Gaussian mechanism has delta 1e-6 at epsilon 1.
    let limit: f64 = 0.236_704_380_663;
    let squares = [&counts, &means].map(|one| number(one, "/mu").powi(2));
    assert!((squares[0] / (0.25 * limit * limit) - 1.0).abs() < 1e-3, "{squares:?}");
    assert!((squares[1] / (0.75 * limit * limit) - 1.0).abs() < 1e-3, "{squares:?}");
    assert!(squares[0] + squares[1] <= limit * limit * (1.0 + 1e-6), "{squares:?}");
    for one in [&counts, &means] {
        assert_eq!(number(one, "/all_releases/releases"), 2.0);
        assert!((number(one, "/all_releases/mu").powi(2) / (squares[0] + squares[1]) - 1.0).abs() < 1e-9);
        assert!(number(one, "/all_releases/epsilon") <= 1.0);
    }
    assert_ne!(counts["release_id"], means["release_id"]);
    for name in ["counts", "means"] {
        let (file, certificate) = (format!("answers/{name}.csv"), format!("answers/{name}.csv.certificate.json"));
        project.dpgp(&["verify", &certificate, &file]).expect(0);
        project.dpgp(&["ledger", "verify", "--released", &certificate]).expect(0);
    }
    let again = project.dpgp(&arguments).expect(2);
    assert!(again.err.contains("counts.csv"), "no file is written over: {}", again.err);
}

/// One spec states several answers by the labels of an axis.
#[test]
fn one_spec_states_several_answers() {
    let project = project();
    let axis = r#"
experiment.title = "both"
data = { source.csv.path = "rows.csv", inputs = ["hour"] }
privacy = { epsilon = 1.0, delta = 1e-6, calibration = "analytic" }
[axis.of.two]
task.density = { bins = [{ from = 0.0, to = 24.0, bins = 2 }], estimate.denoised = {}, draws = 2 }
"privacy.mechanism" = { histogram = { relation = "replace-one" } }
[axis.of.three]
task.density = { bins = [{ from = 0.0, to = 24.0, bins = 3 }], estimate.denoised = {}, draws = 2 }
"privacy.mechanism" = { histogram = { relation = "replace-one" } }
"#;
    project.write("both.toml", axis);
    let arguments = ["predict", "both.toml", "--together", "--grid", "auto", "--out", "answers", "--format", "json"];
    let told = project.dpgp(&arguments).expect(0);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!(told["written"], serde_json::json!(["answers/both-two.csv", "answers/both-three.csv"]));
    assert_eq!((project.read("answers/both-two.csv").lines().count(), told["epsilon"].as_f64()), (3, Some(1.0)));
}

/// A budget that holds each answer, but not both, is not charged with either; and nothing is left on the disk.
#[test]
fn all_answers_are_charged_or_none() {
    let project = project();
    let budget = ["--budget-epsilon", "0.9", "--budget-delta", "1e-6"];
    let arguments = ["predict", "counts.toml", "means.toml", "--together", "--grid", "auto", "--out", "answers"];
    let refused = project.dpgp(&[&arguments[..], &budget].concat()).expect(1);
    assert!(refused.err.contains("Nothing was released"), "{}", refused.err);
    assert!(!project.path("answers").exists());
    let alone = ["predict", "counts.toml", "--grid", "auto", "--out", "alone.csv", "--set", "privacy.epsilon=0.9"];
    project.dpgp(&[&alone[..], &budget].concat()).expect(0);
}

/// What is refused before any row is read or anything is charged.
#[test]
fn what_has_no_guarantee_together_is_refused() {
    let project = project();
    project.write("other.toml", &COUNTS.replace("epsilon = 1.0", "epsilon = 2.0"));
    project.write("added.toml", &COUNTS.replace("replace-one", "add-remove"));
    project.write("file.toml", &COUNTS.replace("rows.csv", "others.csv"));
    let targets = r#"
experiment.title = "hours"
data = { source.csv.path = "rows.csv", inputs = ["y"], target = "hour" }
normalise.bounds = { low = 0.0, high = 24.0 }
model = { noise_variance = 4.0, kernel.eq = { variance = 9.0, lengthscale = 2.0 } }
task.regression = { split.shuffled = 2, draws = 2 }
privacy = { epsilon = 1.0, delta = 1e-6, change = 24.0, calibration = "analytic", mechanism.cloaking.objective = "risk" }
"#;
    project.write("hours.toml", targets);
    project.write("swapped.toml", &targets.replace("[\"y\"], target = \"hour\"", "[\"hour\"], target = \"y\""));
    let mut all = String::new();
    for (specs, more) in [
        (&["counts.toml"][..], &[][..]),
        (&["counts.toml", "counts.toml"], &[]),
        (&["counts.toml", "other.toml"], &[]),
        (&["counts.toml", "file.toml"], &[]),
        (&["counts.toml", "added.toml"], &[]),
        (&["means.toml", "hours.toml"], &[]),
        (&["hours.toml", "swapped.toml"], &[]),
        (&["counts.toml", "means.toml"], &["--share", "minutes=2"]),
        (&["counts.toml", "means.toml"], &["--share", "means=-1"]),
        (&["counts.toml", "means.toml"], &["--cell", "method=a"]),
        (&["counts.toml", "means.toml"], &["--allow-caveats"]),
    ] {
        let at: &[&str] = if specs.contains(&"hours.toml") { &["--at", "rows.csv"] } else { &["--grid", "auto"] };
        let run =
            project.dpgp(&[&["predict"], specs, &["--together", "--out", "answers"], at, more].concat()).expect(2);
        let first = run.err.split("\n\n").next().unwrap_or_default();
        all += &format!("{} {}\n{}\n\n", specs.join(" "), more.join(" "), first.trim_end());
        assert!(!project.path("answers").exists(), "{}", run.err);
    }
    let several = project.dpgp(&["predict", "counts.toml", "means.toml", "--grid", "auto"]).expect(2);
    all += &several.err;
    assert!(
        !project.path("state/ledgers").exists()
            || std::fs::read_dir(project.path("state/ledgers")).unwrap().next().is_none()
    );
    insta::assert_snapshot!(all);
}
