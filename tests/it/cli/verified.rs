//! `dpgp verify` on releases that were edited, and exact sums that were.

use serde_json::{Value, json};

use crate::support::cli::{Project, Run};
use crate::support::energy::{RECORDS, TARGETS, energy_project};

const PREDICT: &[&str] = &["predict", "energy.toml", "--at", "grid.csv", "--out", "p.csv", "--quiet"];
const STATS: &[&str] = &["stats", "energy.toml", "energy.csv", "--release", "s.json", "--out", "sums.json", "--quiet"];
const CERTIFICATE: &str = "p.csv.certificate.json";

/// A value somewhere in a file.
type Edit<'e> = (&'e str, Value);

/// Verifies the file with an edit, and puts it back.
fn edited(project: &Project, verify: &[&str], (place, value): Edit<'_>) -> Run {
    let text = project.read(verify[0]);
    let mut file: Value = serde_json::from_str(&text).unwrap();
    *file.pointer_mut(place).unwrap_or_else(|| panic!("{place} in {text}")) = value;
    project.write(verify[0], &file.to_string());
    let run = project.dpgp(&[&["verify"], verify].concat());
    project.write(verify[0], &text);
    run
}

/// Each field by its name, of releases with a ledger and without one.
#[test]
fn every_edited_field_is_found() {
    for ledger in [&[][..], &["--no-ledger"]] {
        let project = energy_project(TARGETS);
        project.dpgp(&[PREDICT, ledger].concat()).expect(0);
        let verify = [CERTIFICATE, "p.csv"];
        let run = project.dpgp(&[&["verify"], &verify[..]].concat()).expect(0);
        assert!(!run.out.contains("missing,"), "{}", run.out);
        let counted = ledger.is_empty();
        let mut edits: Vec<Edit<'_>> = vec![
            ("/guarantee", json!("(0.01, 1e-9)-DP for all predictions on the grid")),
            ("/neighbours", json!("one record is added or removed")),
            ("/epsilon", json!(0.01)),
            ("/delta", json!(1e-9)),
            ("/delta_exact", json!(1e-12)),
            ("/caveats", json!(["none"])),
            ("/not_covered", json!([])),
            ("/noise/made", json!("by dice")),
            ("/columns/private_mean", json!("the exact mean")),
            ("/intervals", json!("exact")),
            ("/certificate/neighbours/one-target-changes", json!(20.0)),
            ("/certificate/epsilon", json!(0.5)),
        ];
        if counted {
            edits.push(("/all_releases/mu", json!(0.001)));
            edits.push(("/all_releases/epsilon", json!(0.001)));
            edits.push(("/all_releases", json!(null)));
            edits.push(("/release_id", json!(null)));
        } else {
            edits.push(("/all_releases", json!({ "releases": 1 })));
        }
        for edit in edits {
            let place = edit.0.to_owned();
            let run = edited(&project, &verify, edit).expect(1);
            assert!(run.out.matches("FAILED").count() > 1, "{place}: {}", run.out);
        }
        // What follows from nothing else is known by the digest.
        for edit in [
            ("/target", json!("water")),
            ("/points", json!(7)),
            ("/warnings", json!(["all is well"])),
            ("/program", json!("x")),
        ] {
            let run = edited(&project, &verify, edit).expect(1);
            assert!(run.out.contains("FAILED content_sha256"), "{}", run.out);
        }
    }
}

#[test]
fn released_sums_are_covered_by_a_digest() {
    let project = energy_project(RECORDS);
    project.dpgp(&[STATS, &["--no-ledger"]].concat()).expect(0);
    project.dpgp(&["verify", "s.json"]).expect(0);
    for edit in [
        ("/guarantee/text", json!("(0.01, 1e-9)-DP")),
        ("/guarantee/epsilon", json!(0.01)),
        ("/guarantee/delta", json!(1e-9)),
        ("/guarantee/noise/made", json!("by dice")),
        ("/guarantee/warnings", json!(["all is well"])),
        ("/not_covered", json!([])),
    ] {
        let run = edited(&project, &["s.json"], edit).expect(1);
        assert!(run.out.matches("FAILED").count() > 1, "{}", run.out);
    }
    let released: Value = serde_json::from_str(&project.read("s.json")).unwrap();
    let numbers =
        released.as_object().unwrap().keys().filter(|key| released[key.as_str()].is_object() && *key != "guarantee");
    for key in numbers {
        let mut changed = released.clone();
        changed[key.as_str()]["added"] = json!(12345.0);
        project.write("changed.json", &changed.to_string());
        let run = project.dpgp(&["verify", "changed.json"]).expect(1);
        assert!(run.out.contains("FAILED content_sha256"), "{key}: {}", run.out);
    }
    // Of an earlier version: without a digest, which is said.
    let mut old = released;
    old.as_object_mut().unwrap().remove("content_sha256");
    project.write("old.json", &old.to_string());
    let run = project.dpgp(&["verify", "old.json"]).expect(0);
    assert!(run.out.contains("missing, so not checked: content_sha256"), "{}", run.out);
    assert!(run.out.contains("without content_sha256 an edit of the certificate can go unnoticed"), "{}", run.out);
    assert!(!run.out.contains("unchanged"), "{}", run.out);
}

/// The file of exact sums has a checksum; one of an earlier version has none, and is read with a note.
#[test]
fn exact_sums_that_were_edited_are_refused() {
    let project = energy_project(RECORDS);
    project.dpgp(&[STATS, &["--no-ledger"]].concat()).expect(0);
    let sums: Value = serde_json::from_str(&project.read("sums.json")).unwrap();
    let add = |name: &str| project.dpgp(&["stats", "energy.toml", "--add", name, "--quiet"]);
    let run = add("sums.json").expect(0);
    assert!(!run.out.contains("checksum"), "{}", run.out);
    let mut changed = sums.clone();
    changed["files"][0]["bytes"] = json!(1);
    project.write("changed.json", &changed.to_string());
    let run = add("changed.json").expect(2);
    assert!(run.err.contains("the checksum does not match"), "{}", run.err);
    changed.as_object_mut().unwrap().remove("checksum");
    project.write("old.json", &changed.to_string());
    let run = add("old.json").expect(0);
    assert!(run.out.contains("old.json: not verified"), "{}", run.out);
}

/// A file without an id and without a digest still says what follows from its guarantee, and no sentence of its own about the risk.
#[test]
fn sentences_without_an_id_are_checked() {
    let project = energy_project(TARGETS);
    project.dpgp(PREDICT).expect(0);
    let whole = project.json(CERTIFICATE);
    assert!(whole["risk"]["in_words"].as_str().unwrap().contains("two values of one target"), "{whole:#}");
    let edited = |change: &dyn Fn(&mut Value)| {
        let mut edited = whole.clone();
        for name in ["release_id", "all_releases", "content_sha256"] {
            edited.as_object_mut().unwrap().remove(name);
        }
        change(&mut edited);
        project.write(CERTIFICATE, &edited.to_string());
        project.dpgp(&["verify", CERTIFICATE, "p.csv"])
    };
    edited(&|_| ()).expect(0);
    let run = edited(&|whole| whole["not_covered"] = json!(["nothing: this release is anonymous"])).expect(1);
    assert!(run.out.contains("FAILED not_covered"), "{}", run.out);
    let run = edited(&|whole| whole["risk"]["in_words"] = json!("Nobody can learn anything.")).expect(1);
    assert!(run.out.contains("FAILED risk"), "{}", run.out);
    let run = edited(&|whole| {
        let list = whole["not_covered"].as_array_mut().unwrap();
        let inputs = list.iter_mut().find(|text| text.as_str().unwrap().starts_with("the inputs (")).unwrap();
        *inputs = json!(
            "the inputs (x), but all of it was lifted; and the columns that rows are filtered by, which are assumed to be public"
        );
    })
    .expect(1);
    assert!(run.out.contains("FAILED not_covered"), "{}", run.out);
}

/// Files of sums state the risk beside their guarantee alone, and a map shows no other sentence.
#[test]
fn a_second_risk_is_refused() {
    let project = energy_project(RECORDS);
    project.dpgp(STATS).expect(0);
    let mut whole = project.json("s.json");
    assert!(whole["guarantee"]["risk"]["in_words"].as_str().unwrap().contains("one record"), "{whole:#}");
    whole["risk"] = json!({ "in_words": "Nobody can learn anything." });
    whole.as_object_mut().unwrap().remove("content_sha256");
    project.write("s.json", &whole.to_string());
    let run = project.dpgp(&["verify", "s.json"]).expect(1);
    assert!(run.out.contains("FAILED risk"), "{}", run.out);
}
