//! `dpgp predict --set`: a release with another setting than the spec has.

use crate::support::cli::Project;
use crate::support::energy::{TARGETS, energy_project};

const PREDICT: [&str; 6] = ["predict", "energy.toml", "--at", "grid.csv", "--quiet", "--out"];

fn epsilons(project: &Project) -> Vec<f64> {
    let ledger = project.dpgp(&["ledger", "show", "energy.toml", "--format", "json"]).expect(0).json();
    fn find(value: &serde_json::Value, found: &mut Vec<f64>) {
        match value {
            serde_json::Value::Object(object) if object.contains_key("mu") && object.contains_key("spec") => {
                found.extend(object["epsilon"].as_f64());
            }
            serde_json::Value::Object(object) => object.values().for_each(|each| find(each, found)),
            serde_json::Value::Array(list) => list.iter().for_each(|each| find(each, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    find(&ledger, &mut found);
    found
}

/// The certificate and the ledger name the change, the ledger counts the guarantee that came of it, and the certificate holds.
#[test]
fn a_changed_setting_is_certified_and_charged() {
    let project = energy_project(TARGETS);
    project.dpgp(&[&PREDICT[..], &["plain.csv"]].concat()).expect(0);
    let plain = project.json("plain.csv.certificate.json");
    assert!(plain.get("changes").is_none());
    let set = ["half.csv", "--set", "privacy.epsilon=0.5", "--set", "model.noise_variance=4"];
    project.dpgp(&[&PREDICT[..], &set].concat()).expect(0);
    let half = project.json("half.csv.certificate.json");
    assert_eq!(half["changes"], serde_json::json!(["model.noise_variance = 4", "privacy.epsilon = 0.5"]));
    assert_eq!((&half["epsilon"], &half["spec_sha256"]), (&serde_json::json!(0.5), &plain["spec_sha256"]));
    assert_eq!(half["all_releases"]["releases"], 2);
    project.dpgp(&["verify", "half.csv.certificate.json", "half.csv"]).expect(0);
    assert_eq!(epsilons(&project), [1.0, 0.5]);
    let shown = project.dpgp(&["ledger", "show", "energy.toml", "--format", "json"]).expect(0).out;
    assert!(shown.contains("energy.toml with model.noise_variance = 4, privacy.epsilon = 0.5"), "{shown}");
    // An edited change is noticed.
    let edited = project.read("half.csv.certificate.json").replace("variance = 4", "variance = 9");
    project.write("half.csv.certificate.json", &edited);
    project.dpgp(&["verify", "half.csv.certificate.json", "half.csv"]).expect(1);
}

/// A budget holds for what is set, and what cannot be set spends and writes nothing.
#[test]
fn a_change_gets_around_no_budget() {
    let project = energy_project(TARGETS);
    project.write("other.csv", &project.read("energy.csv"));
    let budget = ["--budget-epsilon", "1", "--budget-delta", "1e-5"];
    project.dpgp(&[&PREDICT[..], &["first.csv"], &budget].concat()).expect(0);
    for (set, code, says) in [
        ("privacy.epsilon=0.9", 1, "budget"),
        ("normalise.bounds.high=30", 1, "budget"),
        ("data.source.csv.path=other.csv", 2, "--set cannot change data.source"),
        ("privacy.epsilon=inf", 2, "infinite"),
        ("privacy.epsilon=0.1,0.2", 2, "choose one with --cell"),
        ("privacy.epsilom=1", 2, "privacy.epsilom"),
        ("privacy.epsilon", 2, "not a valid change"),
    ] {
        let run = project.dpgp(&[&PREDICT[..], &["p.csv", "--set", set]].concat()).expect(code);
        assert!(run.err.contains(says), "{set}: {}", run.err);
        assert!(!project.path("p.csv").exists() && epsilons(&project) == [1.0], "{set}");
    }
    // A preview takes the change, too, and spends nothing.
    let preview = ["predict", "energy.toml", "--at", "grid.csv", "--preview", "--quiet", "--set"];
    let [long, short] = ["model.kernel.eq.lengthscale=20", "model.kernel.eq.lengthscale=5"]
        .map(|set| project.dpgp(&[&preview[..], &[set]].concat()).expect(0).out);
    assert!(long != short && epsilons(&project) == [1.0]);
}
