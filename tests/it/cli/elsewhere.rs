//! Predictions at further points from a release that hides targets, at no further cost.

use crate::support::cli::{Project, Run};

/// 120 days, with the energy of a house by temperature.
fn project() -> Project {
    let project = Project::new();
    let mut rows = "temperature,kwh\n".to_owned();
    for day in 0..120u32 {
        rows += &format!("{}.{},{}.25\n", day % 31, day % 7, 30 - day % 31 / 2 + day % 5);
    }
    project.write("rows.csv", &rows);
    project.write("spec.toml", SPEC);
    project
}

const SPEC: &str = r#"
experiment.title = "energy"
data = { source.csv.path = "rows.csv", inputs = ["temperature"], target = "kwh" }
normalise.bounds = { low = 0.0, high = 40.0, scale = 20.0 }
model = { averaged = true, noise_variance = 0.05, kernel.eq = { variance = 0.5, lengthscale = 12.0 } }
task.regression = { split.shuffled = 2, draws = 2 }
privacy = { epsilon = 1.0, delta = 1e-5, change = 40.0, calibration = "analytic", mechanism.cloaking.objective = "risk" }
"#;

const RELEASE: [&str; 9] =
    ["predict", "spec.toml", "--grid", "temperature=0..30:7", "--out", "p.csv", "--release", "r.json", "--quiet"];

fn from_release(project: &Project, more: &[&str]) -> Run {
    project.dpgp(&[&["predict", "--from", "r.json"], more].concat())
}

/// To the last bit at the points of the release; elsewhere in between; and the ledger counts one release.
#[test]
fn predictions_elsewhere_follow_from_the_release() {
    let project = project();
    let run = project.dpgp(&RELEASE).expect(0);
    assert!(run.out.contains("dpgp predict --from r.json"), "{}", run.out);
    let again = from_release(&project, &["--grid", "temperature=0..30:7"]).expect(0).out;
    assert_eq!(again, project.read("p.csv"));
    let finer = from_release(&project, &["--grid", "temperature=0..30:13", "--map", "m.svg"]).expect(0).out;
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(lines(&again).iter().all(|line| lines(&finer).contains(line)));
    assert!(project.read("m.svg").contains("(1.0, 1e-5)-DP"));
    let written = from_release(&project, &["--grid", "auto", "--out", "q.csv"]).expect(0).out;
    assert!(written.contains("predictions at 120 points") && written.contains("(1.0, 1e-5)-DP"), "{written}");
    let ledger = project.dpgp(&["ledger", "show", "spec.toml"]).expect(0).out;
    assert!(ledger.contains("1 release"), "{ledger}");
    let other = from_release(&project, &["--grid", "auto", "--noise-variance", "0.1"]).expect(2).err;
    assert!(other.contains("this release has its own model"), "{other}");
}

/// Refused before anything is charged: a model that is not averaged, and a file that is there.
#[test]
fn releases_that_cannot_be_kept_cost_nothing() {
    let project = project();
    project.write("r.json", "{}");
    let there = project.dpgp(&RELEASE).expect(2).err;
    assert!(there.contains("r.json"), "{there}");
    assert_eq!(project.read("r.json"), "{}");
    project.write("spec.toml", &SPEC.replace("averaged = true, ", ""));
    let plain = project.dpgp(&[&RELEASE[..7], &["s.json", "--quiet"]].concat()).expect(2).err;
    assert!(plain.contains("--release needs public inputs and model.averaged = true"), "{plain}");
    assert!(!project.path("p.csv").exists() && !project.path("s.json").exists());
    let ledger = project.dpgp(&["ledger", "show", "spec.toml"]);
    assert!(!ledger.out.contains("1 release"), "{}", ledger.out);
}

/// Guards against a file that somebody changed.
#[test]
fn damaged_releases_are_refused() {
    let project = project();
    project.dpgp(&RELEASE).expect(0);
    let whole: serde_json::Value = serde_json::from_str(&project.read("r.json")).unwrap();
    let damaged = |change: fn(&mut serde_json::Value)| {
        let mut value = whole.clone();
        change(&mut value);
        project.write("r.json", &value.to_string());
        from_release(&project, &["--grid", "auto"]).expect(2).err
    };
    for said in [
        damaged(|file| file["combinations"]["released"] = serde_json::json!([1.0])),
        damaged(|file| file["combinations"]["noise_sd"] = serde_json::json!(-1.0)),
        damaged(|file| file["combinations"]["inputs"][0] = serde_json::json!([1.0, 2.0])),
        damaged(|file| file["model"]["inputs"] = serde_json::json!(["a", "b"])),
        damaged(|file| file["combinations"]["weights"] = serde_json::json!("none")),
        damaged(|file| file["combinations"]["released"][0] = serde_json::json!(1e200)),
        damaged(|file| file["combinations"]["inputs"] = serde_json::json!(vec![[0.0]; 20_001])),
    ] {
        assert!(said.contains("r.json is not a release from `dpgp predict --release`"), "{said}");
    }
}

/// The certificate names the combinations: with others, nothing is claimed of them.
#[test]
fn other_combinations_have_no_guarantee() {
    let project = project();
    project.dpgp(&RELEASE).expect(0);
    let good = project.dpgp(&["verify", "r.json"]).expect(0).out;
    let entered = project.dpgp(&["ledger", "verify", "--released", "r.json"]).expect(0).out;
    assert!(entered.contains("r.json: release 1 in"), "{entered}");
    assert!(good.contains("ok     the digest matches the combinations"), "{good}");
    let mut value: serde_json::Value = serde_json::from_str(&project.read("r.json")).unwrap();
    value["combinations"]["released"][0] = serde_json::json!(0.25);
    project.write("r.json", &value.to_string());
    let run = from_release(&project, &["--grid", "auto", "--out", "q.csv", "--map", "m.svg"]).expect(0);
    assert!(run.out.contains("Nothing is claimed") && !run.out.contains("-DP"), "{}", run.out);
    assert!(project.read("m.svg").contains("Nothing is claimed"));
    let bad = project.dpgp(&["verify", "r.json"]).expect(1).out;
    assert!(bad.contains("the digest does not match the combinations"), "{bad}");
}

/// Which rows pass a filter on the target is private, and the release would list their inputs.
#[test]
fn inputs_of_rows_that_targets_choose_are_not_listed() {
    let project = project();
    let filtered = "target = \"kwh\", filter = [{ column = \"kwh\", is = \">\", value = 20.0 }] }";
    project.write("spec.toml", &SPEC.replace("target = \"kwh\" }", filtered));
    let said = project.dpgp(&[&RELEASE[..], &["--allow-caveats"]].concat()).expect(2).err;
    assert!(said.contains("the list would show which rows pass"), "{said}");
    assert!(!project.path("r.json").exists() && !project.path("p.csv").exists());
}

/// Points whose distances overflow are refused before anything is charged.
#[test]
fn points_too_far_away_cost_nothing() {
    let project = project();
    project.write(
        "spec.toml",
        &SPEC
            .replace("kernel.eq = {", "kernel.matern = { smoothness = \"3/2\", ")
            .replace("lengthscale = 12.0", "lengthscales = [12.0]"),
    );
    project.dpgp(&["predict", "spec.toml", "--grid", "temperature=0..1e308:3", "--out", "p.csv", "--quiet"]).expect(4);
    let ledger = project.dpgp(&["ledger", "show", "spec.toml"]);
    assert!(!ledger.out.contains("1 release"), "{}", ledger.out);
}
