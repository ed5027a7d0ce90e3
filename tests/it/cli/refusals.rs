//! What cannot be verified, charged, previewed or drawn is refused with its reason, and nothing is written.

use serde_json::{Value, json};

use crate::support::cli::{Project, Run};
use crate::support::energy::{RECORDS, TARGETS, energy_project};

const PREDICT: &[&str] = &["predict", "energy.toml", "--at", "grid.csv", "--out", "p.csv", "--quiet"];
const STATS: &[&str] = &["stats", "energy.toml", "--quiet"];
const CERTIFICATE: &str = "p.csv.certificate.json";

/// Runs a command that must fail, and say why.
fn refused(project: &Project, arguments: &[&[&str]], code: i32, why: &str) {
    let run = project.dpgp(&arguments.concat()).expect(code);
    assert!(run.err.contains(why), "{arguments:?}: {}", run.err);
}

#[test]
fn what_is_no_certificate_is_not_verified() {
    let project = energy_project(TARGETS);
    project.dpgp(PREDICT).expect(0);
    project.write("energy.toml", RECORDS);
    project.dpgp(&[STATS, &["energy.csv", "--release", "s.json", "--no-ledger"]].concat()).expect(0);
    project.write("empty.json", "{}");
    std::fs::copy(project.path(CERTIFICATE), project.path("moved.json")).unwrap();
    for (arguments, code, why) in [
        (&["energy.csv"][..], 2, "cannot verify energy.csv"),
        (&["empty.json"], 2, "missing field `certificate`"),
        (&["moved.json"], 2, "pass its file of predictions as well"),
        (&["s.json", "p.csv"], 2, "it does not refer to another file; pass it alone"),
        (&[CERTIFICATE, "none.csv"], 5, "none.csv"),
        (&[CERTIFICATE, "p.csv", "--signers", "grid.csv"], 5, "the signature was not checked"),
    ] {
        refused(&project, &[&["verify"], arguments], code, why);
    }
    let run = project.dpgp(&["verify", CERTIFICATE, "grid.csv"]).expect(1);
    assert!(run.out.contains("FAILED the digest does not match grid.csv"), "{}", run.out);
    // Either file finds the other beside it.
    for named in [CERTIFICATE, "p.csv"] {
        let run = project.dpgp(&["verify", named]).expect(0);
        assert!(run.out.contains("ok     the digest matches p.csv"), "{}", run.out);
    }
    project.dpgp(&["verify", "s.json"]).expect(0);
}

/// Each number of a certificate follows from the others, so that none can be changed alone.
#[test]
fn changed_certificates_do_not_hold() {
    let project = energy_project(TARGETS);
    project.dpgp(PREDICT).expect(0);
    let sound = project.json(CERTIFICATE);
    for (place, number, failed) in [
        ("/mu", json!(0.5), "FAILED mu = 0.5"),
        ("/noise/sd", json!(1e9), "FAILED mu = "),
        ("/certificate/delta_exact", json!(1e-9), "FAILED the exact delta"),
        ("/certificate/delta_exact", Value::Null, "FAILED the exact delta"),
        ("/certificate/delta", json!(1e-9), "FAILED it exceeds the claimed delta, 1e-9"),
        ("/certificate/epsilon", json!(0.5), "FAILED it exceeds the claimed delta"),
        ("/certificate/epsilon", Value::Null, "FAILED no guarantee is claimed"),
    ] {
        let mut changed = sound.clone();
        *changed.pointer_mut(place).unwrap() = number;
        project.put("changed.json", changed.to_string());
        let run = project.dpgp(&["verify", "changed.json", "p.csv"]).expect(1);
        assert!(run.out.contains(failed), "{place}: {}", run.out);
    }
    project.put("same.json", sound.to_string());
    project.dpgp(&["verify", "same.json", "p.csv"]).expect(0);
}

/// A map says what the certificate says of its noise, and no more.
#[test]
fn maps_say_where_the_noise_came_from() {
    let project = energy_project(TARGETS);
    project.dpgp(PREDICT).expect(0);
    let sound = project.json(CERTIFICATE);
    for (made, said) in [
        (Some("by dice"), "Nothing is claimed, because these checks of the certificate fail: noise.made is"),
        (None, "The certificate does not say where the noise came from."),
    ] {
        let mut changed = sound.clone();
        let noise = changed["noise"].as_object_mut().unwrap();
        noise.remove("made");
        noise.extend(made.map(|made| ("made".to_owned(), json!(made))));
        // As in a file of an earlier version.
        changed.as_object_mut().unwrap().remove("content_sha256");
        project.put(CERTIFICATE, changed.to_string());
        project.remove("m.svg");
        project.dpgp(&["map", "p.csv", "--out", "m.svg"]).expect(0);
        assert!(project.read("m.svg").replace('\n', " ").contains(said), "{}", project.read("m.svg"));
    }
}

#[test]
fn what_holds_no_predictions_is_not_drawn() {
    let project = Project::empty();
    let header = "x,private_mean,gp_sd,noise_sd,low,high\n";
    for (rows, why) in [
        ("private_mean,gp_sd,noise_sd,low,high\n1,1,1,0,2\n".to_owned(), "its columns must be the inputs, followed by"),
        (header.to_owned(), "it has no rows"),
        (format!("{header}1,1,1,1,0,2\n2,1,one,1,0,2\n"), "line 3 has \"one\" instead of a number"),
        (format!("{header}1,1,1,inf,0,2\n"), "line 2 has \"inf\" instead of a number"),
        (format!("{header}1,1,1\n"), "p.csv is not a CSV file of predictions"),
    ] {
        project.write("p.csv", &rows);
        refused(&project, &[&["map", "p.csv", "--out", "m.svg"]], 2, why);
        assert!(!project.path("m.svg").exists());
    }
}

#[test]
fn what_cannot_be_charged_is_not_released() {
    let project = energy_project(&format!("{RECORDS}[grid]\n\"privacy.epsilon\" = [0.5, 1.0, inf]\n"));
    let release = ["--release", "s.json"];
    refused(&project, &[STATS, &["energy.csv"], &release], 2, "the spec has several epsilons ([0.5, 1.0])");
    project.write("energy.toml", RECORDS);
    // Where there is no state folder sums are made all the same, but nothing knows which rows they are of.
    let mut command = project.command(&[STATS, &["energy.csv", "--out", "sums.json"]].concat());
    for name in ["DPGP_STATE", "XDG_STATE_HOME", "HOME"] {
        command.env_remove(name);
    }
    Run::new(command.output().unwrap()).expect(0);
    let added = ["--add", "sums.json"];
    refused(&project, &[STATS, &added, &release], 2, "these sums do not identify their rows");
    for (epsilon, delta, why) in [
        ("0", "1e-5", "invalid budget: epsilon must be greater than 0 and finite, found 0"),
        ("inf", "1e-5", "invalid budget: epsilon must be greater than 0 and finite, found inf"),
        ("1", "0", "invalid budget: delta must be at least 2.2250738585072014e-308 and less than 1, found 0"),
        ("1", "1", "invalid budget: delta must be at least 2.2250738585072014e-308 and less than 1, found 1"),
    ] {
        let budget = ["--budget-epsilon", epsilon, "--budget-delta", delta];
        refused(&project, &[STATS, &["energy.csv"], &release, &budget], 2, why);
    }
    assert!(!project.path("s.json").exists());
    project.dpgp(&[STATS, &added, &release, &["--no-ledger"]].concat()).expect(0);
}

/// A release lists its points, and its noise follows their weights.
#[test]
fn points_are_not_taken_from_private_columns() {
    let (before, privacy) = RECORDS.split_once("task.surface").unwrap();
    let (_, privacy) = privacy.split_once("[privacy]").unwrap();
    let (privacy, _) = privacy.split_once("mechanism.sums").unwrap();
    let task = "task.surface.map = [{ from = -5.0, to = 25.0, points = 4 }]";
    let moments = "mechanism.moments = { target_bound = 1.0, domain = [[-10.0, 35.0]] }";
    let project = energy_project(&format!("{before}{task}\n[privacy]{privacy}{moments}\n"));
    let mut names = vec!["energy.csv", "./energy.csv"];
    if cfg!(unix) {
        std::fs::hard_link(project.path("energy.csv"), project.path("other.csv")).unwrap();
        names.push("other.csv");
    }
    for file in names {
        for more in [&["--out", "p.csv"][..], &["--preview"]] {
            let release = ["predict", "energy.toml", "--quiet", "--at", file];
            refused(
                &project,
                &[&release, more],
                2,
                "holds the private rows, and a release lists the inputs of its points",
            );
        }
    }
    assert!(!project.path("p.csv").exists() && !project.path("state/ledgers").exists());
    project.dpgp(PREDICT).expect(0);
    let risk = TARGETS.replace("objective = \"trace\", rank_tolerance = 1e-8", "objective = \"risk\"");
    let project = energy_project(&risk);
    let at = |file| ["predict", "energy.toml", "--quiet", "--at", file];
    refused(&project, &[&at("energy.csv"), &["--weights", "kwh"]], 2, "the noise of a release follows the weights");
    project.dpgp(&at("energy.csv")).expect(0);
    project.write("census.csv", "temperature,kwh\n5,1\n10,2\n");
    project.dpgp(&[&at("census.csv")[..], &["--weights", "kwh"]].concat()).expect(0);
}

/// In a file of one column, a blank line is a missing cell: otherwise it would change the number of rows, which may be public.
#[test]
fn a_blank_line_of_one_column_is_a_missing_cell() {
    let counts = r#"experiment.title = "one column"
data = { source.csv = { path = "energy.csv" }, inputs = ["x"] }
task.density = { bins = [{ from = 0.0, to = 10.0, bins = 5 }], test = [{ from = 0.0, to = 10.0, bins = 5 }], draws = 1, estimate.histogram = {} }
privacy = { epsilon = 1.0, delta = 1e-6, mechanism.histogram.relation = "replace-one" }
"#;
    let project = energy_project(counts);
    let release = ["predict", "energy.toml", "--grid", "auto", "--quiet"];
    for (text, line) in [("x\n1\n\n3\n", 3), ("x\n\n1\n3\n", 2), ("x\n1\n3\n\n", 4)] {
        project.write("energy.csv", text);
        refused(&project, &[&release], 2, &format!("line {line}, column \"x\": the cell is empty"));
    }
    project.write("energy.csv", "x,y\n1,2\n\n3,4\n\n");
    project.dpgp(&release).expect(0);
    // Points are public, and editors end a file with a blank line.
    let project = energy_project(TARGETS);
    project.write("grid.csv", "temperature\n5\n\n15\n\n");
    project.dpgp(PREDICT).expect(0);
    assert_eq!(project.read("p.csv").lines().count(), 3);
}

#[test]
fn what_describes_no_predictions_is_not_predicted() {
    let project = energy_project(TARGETS);
    project.write("weighted.csv", "temperature,days\n5,1\n10,2\n");
    let weighted = ["predict", "energy.toml", "--at", "weighted.csv", "--weights", "days"];
    refused(&project, &[&weighted], 2, "point weights need mechanism.cloaking with objective = \"risk\"");
    let none = "target = \"kwh\", filter = [{ column = \"day\", is = \"<\", value = -1.0 }] }";
    project.write("energy.toml", &TARGETS.replace("target = \"kwh\" }", none));
    refused(&project, &[PREDICT], 2, "the data have no rows");
    project.write("energy.toml", RECORDS);
    let preview = ["predict", "energy.toml", "--at", "grid.csv", "--preview"];
    refused(&project, &[&preview], 2, "mechanism.sums has no preview; use cloaking, function or moments");
    assert!(!project.path("p.csv").exists());
}

/// An option that another verb has, or that people expect, is answered with where it is; and no tip that nobody needs.
#[test]
fn expected_options_are_answered() {
    let project = energy_project(TARGETS);
    for (arguments, why) in [
        (&["new", "mine", "--out", "mine.toml"][..], "tip: give the name of the spec as the first argument"),
        (&["run", "energy.toml", "--cell", "epsilon=1"], "tip: `run` computes all cells"),
        (&["--format", "json", "run", "energy.toml", "--cell", "epsilon=1"], "tip: `run` computes all cells"),
        (&["run", "energy.toml", "--sett", "epsilon=1"], "tip: a similar argument exists: '--set'"),
    ] {
        refused(&project, &[arguments], 2, why);
    }
    let run = project.dpgp(&["run", "energy.toml", "--bogus"]).expect(2);
    assert!(run.err.contains("unexpected argument '--bogus'") && !run.err.contains("tip:"), "{}", run.err);
}

/// What is close to what was meant shows the form that works.
#[test]
fn forms_that_work_are_shown() {
    let project = energy_project(TARGETS);
    let grid = ["predict", "energy.toml", "--preview", "--grid"];
    refused(
        &project,
        &[&grid, &["temperature=1,5..9,5:3"]],
        2,
        "a comma separates inputs, so write decimals with a point",
    );
    refused(&project, &[&grid, &["perature=1..9:3"]], 2, "(did you mean \"temperature\"?)");
    let list = "model.kernel.eq-ard";
    project.write(
        "ard.toml",
        &TARGETS.replace(
            "kernel.eq = { variance = 100.0, lengthscale = 8.0 }",
            "kernel.eq-ard = { variance = 100.0, lengthscales = [8.0] }",
        ),
    );
    let run = project.dpgp(&["run", "ard.toml", "--set", &format!("{list}.lengthscales.temperature=4")]).expect(2);
    assert!(run.err.contains("as in model.kernel.eq-ard.lengthscales=[1.0, 2.0]"), "{}", run.err);
    let run = project.dpgp(&["run", "ard.toml", "--set", &format!("{list}.lengthscales=4")]).expect(2);
    assert!(run.err.contains("put lists in brackets, as in [1.0, 2.0]"), "{}", run.err);
    project.dpgp(&["run", "ard.toml", "--quiet", "--set", &format!("{list}.lengthscales=[4.0]")]).expect(0);
}
