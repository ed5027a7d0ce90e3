//! What epsilons and settings are worth, before anything is released.

use serde_json::Value;

use crate::support::cli::Project;
use crate::support::energy::{TARGETS, day, energy_csv, energy_project};

fn priced(project: &Project, more: &[&str]) -> Vec<Value> {
    let all = [&["price", "energy.toml", "--at", "grid.csv", "--format", "json"], more].concat();
    project.dpgp(&all).expect(0).json()["settings"].as_array().unwrap().clone()
}

/// Another target.
fn halved([day, temperature, kwh]: [f64; 3]) -> [f64; 3] {
    [day, temperature, 0.5 * kwh]
}

/// One setting is worth what `predict --preview` says; no target is read, and nothing is kept.
#[test]
fn a_price_is_that_of_the_preview() {
    let project = energy_project(TARGETS);
    let preview =
        ["predict", "energy.toml", "--at", "grid.csv", "--preview", "--epsilons", "0.5,1", "--format", "json"];
    let preview = project.dpgp(&preview).expect(0).json()["preview"].clone();
    let found = priced(&project, &["--epsilon", "0.5,1"]);
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0]["preview"], &found[0]["labels"]), (&preview, &serde_json::json!({})));
    let others: Vec<[f64; 3]> = (0..120).map(day).map(halved).collect();
    project.write("energy.csv", &energy_csv(&others));
    assert_eq!(priced(&project, &["--epsilon", "0.5,1"]), found);
}

/// Each value of a setting is priced, under its own prior.
#[test]
fn settings_are_priced_side_by_side() {
    let project = energy_project(TARGETS);
    let set = ["--epsilon", "1", "--set", "model.kernel.eq.lengthscale=5,50"];
    let found = priced(&project, &set);
    let errors: Vec<f64> = found.iter().map(|one| one["preview"]["expected"][0]["error"].as_f64().unwrap()).collect();
    assert!(errors.len() == 2 && errors[0] > errors[1], "{errors:?}");
    assert_eq!(found[1]["labels"]["lengthscale"], "50");
    let table = [&["price", "energy.toml", "--at", "grid.csv"][..], &set].concat();
    let table = project.dpgp(&table).expect(0).out;
    assert!(table.contains("lengthscale") && table.contains("error of a private mean"), "{table}");
    assert!(!project.path("state").exists());
}

#[test]
fn what_has_no_price_is_refused() {
    let project = energy_project(TARGETS);
    for (arguments, why) in [
        (&["--epsilon", "inf"][..], "protects nothing"),
        (&["--epsilon", "3..4"], "power of ten"),
        (&["--set", "privacy.epsilon=2"], "list the epsilons with --epsilon"),
        (&["--set", "epsilon=2"], "list the epsilons with --epsilon"),
        (&["--set", "model.kernel.eq.lengthscale=-1"], "lengthscale"),
    ] {
        let all = [&["price", "energy.toml", "--at", "grid.csv"][..], arguments].concat();
        let run = project.dpgp(&all).expect(2);
        assert!(run.err.contains(why), "{arguments:?}: {}", run.err);
    }
    let run = project.dpgp(&["price", "energy.toml"]).expect(2);
    assert!(run.err.contains("INPUT=FROM..TO:POINTS"), "{}", run.err);
    let spec = std::fs::read_to_string(project.path("energy.toml")).unwrap();
    std::fs::write(project.path("open.toml"), spec.replace("epsilon = 1.0", "epsilon = inf")).unwrap();
    let run = project.dpgp(&["price", "open.toml", "--at", "grid.csv"]).expect(2);
    assert!(run.err.contains("its epsilon is infinite"), "{}", run.err);
}
