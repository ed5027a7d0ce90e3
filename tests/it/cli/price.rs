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

/// The number of rows that a spec states does not follow the limit per person; the table says so.
#[test]
fn a_stated_number_of_rows_stays_as_it_is() {
    let project = Project::new();
    project.write("rows.csv", "who,x,y\n1,0.1,1\n1,0.2,2\n2,0.3,1\n3,0.9,2\n");
    let spec = |rows| {
        format!(
            "experiment.title = \"t\"\n\
             data = {{ source.csv.path = \"rows.csv\", inputs = [\"x\"], target = \"y\", person = \"who\", rows_per_person = 1 }}\n\
             normalise.bounds = {{ low = 0.0, high = 4.0 }}\n\
             model = {{ noise_variance = 0.1, kernel.eq = {{ variance = 1.0, lengthscale = 0.5 }} }}\n\
             task.surface.map = [{{ from = 0.0, to = 1.0, points = 3 }}]\n\
             privacy = {{ epsilon = 1.0, delta = 1e-5, mechanism.moments = {{ target_bound = 2.0, domain = [[0.0, 1.0]]{rows} }} }}\n"
        )
    };
    let price = |more: &[&str]| {
        let all = [&["tradeoff", "s.toml", "--epsilon", "1", "--grid", "x=0..1:3"], more].concat();
        project.dpgp(&all).expect(0).out
    };
    let changed = ["--set", "data.rows_per_person=1,2"];
    project.write("s.toml", &spec(", rows = 1000"));
    assert!(price(&changed).contains("note: the number of rows used is taken from privacy.mechanism.moments.rows"));
    assert!(!price(&[]).contains("moments.rows"));
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
    assert!(run.err.contains("use --grid \"temperature=FROM..TO:20\""), "{}", run.err);
    let spec = std::fs::read_to_string(project.path("energy.toml")).unwrap();
    std::fs::write(project.path("open.toml"), spec.replace("epsilon = 1.0", "epsilon = inf")).unwrap();
    let run = project.dpgp(&["price", "open.toml", "--at", "grid.csv"]).expect(2);
    assert!(run.err.contains("its epsilon is infinite"), "{}", run.err);
}
