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
    assert!(told.out.contains("joint guarantee of all answers: epsilon = 1.0, delta = 1e-6"), "{}", told.out);
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
        assert_eq!(one["together"]["answers"], serde_json::json!(["counts", "means"]));
        assert_eq!((number(one, "/together/epsilon"), number(one, "/together/delta")), (1.0, 1e-6));
        // A guess is right with the probability Phi(mu / 2) = Phi(0.11835) = 0.54711 (mpmath), which the sentence rounds up.
        assert!(one["together"]["in_words"].as_str().unwrap().contains("at most 54.8 %"), "{one}");
    }
    assert_ne!(counts["release_id"], means["release_id"]);
    for name in ["counts", "means"] {
        let (file, certificate) = (format!("answers/{name}.csv"), format!("answers/{name}.csv.certificate.json"));
        let verified = project.dpgp(&["verify", &certificate, &file]).expect(0);
        assert!(verified.out.contains("One of 2 answers released together (counts, means)"), "{}", verified.out);
        let wrong = project.read(&certificate).replace("\"answers\": [", "\"answers\": [\"another\",");
        project.write("wrong.json", &wrong.replace("\"epsilon\": 1.0", "\"epsilon\": 0.5"));
        let refuted = project.dpgp(&["verify", "wrong.json", &file]).expect(1);
        assert!(refuted.out.contains("FAILED together.epsilon"), "{}", refuted.out);
        project.dpgp(&["ledger", "verify", "--released", &certificate]).expect(0);
    }
    let again = project.dpgp(&arguments).expect(2);
    assert!(again.err.contains("counts.csv"), "no file is written over: {}", again.err);
}

/// A preview shows the epsilon of each answer, and spends nothing.
#[test]
fn a_preview_splits_the_budget() {
    let project = project();
    let shown =
        project.dpgp(&["predict", "counts.toml", "means.toml", "--together", "--grid", "auto", "--preview"]).expect(0);
    assert!(shown.out.contains("counts: epsilon = 0.68891, 50 % of the budget"), "{}", shown.out);
    assert!(shown.out.contains("means: epsilon = 0.68891, 50 % of the budget"), "{}", shown.out);
    assert!(!project.path("state").exists());
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
    // Nothing is told of a part of the charge.
    let of_none = "0 releases have spent 0.0 % of the budget epsilon = 0.9, delta = 1e-6";
    assert!(refused.err.contains("Nothing was released") && refused.err.contains(of_none), "{}", refused.err);
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

const TARGET: &str = r#"
experiment.title = "TARGET"
data = { source.csv.path = "rows.csv", inputs = ["x"], target = "TARGET" }
normalise.bounds = { low = 0.0, high = HIGH }
model = { noise_variance = 4.0, kernel.eq = { variance = 9.0, lengthscale = 2.0 } }
task.regression = { split.shuffled = 2, draws = 2 }
privacy = { epsilon = 1.0, delta = 1e-6, change = HIGH, calibration = "analytic", mechanism.cloaking.objective = "risk" }
"#;

fn target(name: &str, high: &str) -> String {
    TARGET.replace("TARGET", name).replace("HIGH", high)
}

/// An attacker who knows all cells but one names a column of guesses: whether it equals a private column must not show in an exit
/// code, with a budget or without.
#[test]
fn refusals_do_not_depend_on_private_cells() {
    for budget in [&[][..], &["--budget-epsilon", "1", "--budget-delta", "1e-6"]] {
        let runs = ["9", "8"].map(|last| {
            let project = Project::new();
            let mut rows = "x,y,guess,p,q\n".to_owned();
            for row in 0..60 {
                let y = row % 7 + 1;
                rows += &format!("{row},{y},{y},p{row},p{row}\n");
            }
            rows += &format!("60,9,{last},p60,p6{}\n", if last == "9" { "0" } else { "1" });
            project.write("rows.csv", &rows);
            project.write("y.toml", &target("y", "10.0"));
            project.write("guess.toml", &target("guess", "20.0"));
            let of_persons = |column: &str| {
                MEANS
                    .replace(
                        "inputs = [\"x\", \"hour\"], target = \"y\"",
                        &format!("inputs = [\"x\"], target = \"y\", person = \"{column}\", rows_per_person = 1"),
                    )
                    .replace("lengthscales = [2.0, 6.0]", "lengthscales = [2.0]")
                    .replace("domain = [[0.0, 9.0], [0.0, 24.0]]", "domain = [[0.0, 60.0]], rows = 60")
            };
            project.write("p.toml", &of_persons("p"));
            project.write("q.toml", &of_persons("q"));
            let mut codes = Vec::new();
            for [one, other] in [["y.toml", "guess.toml"], ["p.toml", "q.toml"]] {
                let folder = format!("{one}-out");
                let at = if one == "y.toml" { ["--at", "rows.csv"] } else { ["--grid", "x=0..60:5"] };
                let arguments = ["predict", one, other, "--together", "--out", &folder];
                let run = project.dpgp(&[&arguments[..], &at, budget].concat());
                codes.push((run.code, run.err.replace(project.folder.path().to_str().unwrap(), "")));
                std::fs::remove_dir_all(project.path("state")).unwrap();
            }
            codes
        });
        assert_eq!(runs[0], runs[1]);
        assert_eq!((runs[0][0].0, runs[0][1].0), (0, 2), "{:?}", runs[0]);
    }
}

/// Rows and persons, rows and counted units, small and whole changes have no guarantee together; neither have two files.
#[test]
fn different_protections_are_refused() {
    let project = project();
    project.write("y.toml", &target("y", "20.0"));
    project.write(
        "of-person.toml",
        &target("hour", "24.0").replace("target = \"hour\"", "target = \"hour\", person = \"y\", rows_per_person = 2"),
    );
    project
        .write("metric.toml", &target("hour", "24.0").replace("change = 24.0", "change = 2.0, relation = \"metric\""));
    project.write("units.toml", &COUNTS.replace("inputs = [\"hour\"]", "inputs = [\"hour\"], target = \"y\""));
    std::fs::create_dir(project.path("b")).unwrap();
    project.write("b/rows.csv", &project.read("rows.csv").replace("x,hour", "hour,x"));
    project.write("b/hours.toml", &target("hour", "24.0"));
    let mut all = String::new();
    for (specs, at) in [
        (["y.toml", "of-person.toml"], "x=0..9:4"),
        (["y.toml", "metric.toml"], "x=0..9:4"),
        (["counts.toml", "units.toml"], "auto"),
        (["means.toml", "units.toml"], "auto"),
        (["y.toml", "b/hours.toml"], "x=0..9:4"),
    ] {
        let run =
            project.dpgp(&[&["predict"], &specs[..], &["--together", "--out", "o", "--grid", at]].concat()).expect(2);
        all += &format!("{}\n{}\n\n", specs.join(" "), run.err.trim_end());
        assert!(!project.path("o").exists());
    }
    let no_ledger = project
        .dpgp(&["predict", "y.toml", "counts.toml", "--together", "--out", "o", "--grid", "auto", "--no-ledger"])
        .expect(2);
    all += no_ledger.err.split("\n\n").next().unwrap_or_default();
    insta::assert_snapshot!(all);
    // The same file by another path is the same file.
    let path = project.path("rows.csv");
    project.write("absolute.toml", &COUNTS.replace("rows.csv", path.to_str().unwrap()));
    project.dpgp(&["predict", "counts.toml", "absolute.toml", "--together", "--out", "o", "--grid", "auto"]).expect(0);
}

/// A copy of a protected column must not be public in another answer: `gp_sd` shows it without noise. Nor in the same release.
#[test]
fn a_copy_of_the_target_is_not_public() {
    let project = Project::empty();
    let rows = (0..40).map(|i| format!("{},{y},{y},{}\n", i % 10, i % 7, y = f64::from(i * 37 % 41) / 4.0));
    project.write("h.csv", &("x,y,w,z\n".to_owned() + &rows.collect::<String>()));
    let spec = |input: &str, target: &str| {
        format!(
            "experiment.title = \"{target}\"\ndata = {{ source.csv.path = \"h.csv\", inputs = [\"{input}\"], target = \"{target}\" }}\n\
             normalise.bounds = {{ low = 0.0, high = 11.0, scale = 4.0 }}\n\
             model = {{ noise_variance = 0.25, kernel.eq = {{ variance = 1.0, lengthscale = 3.0 }} }}\n\
             task.regression = {{ split.shuffled = 2, draws = 2 }}\n\
             privacy = {{ epsilon = 1.0, delta = 1e-5, change = 11.0, mechanism.cloaking.objective = \"risk\" }}\n"
        )
    };
    for (name, input, target) in [("one", "x", "y"), ("other", "w", "z"), ("same", "w", "y")] {
        project.write(&format!("{name}.toml"), &spec(input, target));
    }
    let grid = ["--at", "at.csv", "--out", "out", "--quiet"];
    project.write("at.csv", "x,w\n1,1\n2,2\n");
    let run = project.dpgp(&[&["predict", "one.toml", "other.toml", "--together"][..], &grid].concat()).expect(2);
    assert!(run.err.contains("\"y\"") && run.err.contains("its cells are in \"w\""), "{}", run.err);
    for preview in [&["--preview"][..], &["--out", "p.csv", "--no-ledger"]] {
        let run = project.dpgp(&[&["predict", "same.toml", "--at", "at.csv"], preview].concat()).expect(2);
        assert!(run.err.contains("the column \"w\" has the same cells as the private target \"y\""), "{}", run.err);
    }
    assert!(!project.path("out").exists() && !project.path("p.csv").exists());
}

/// If the grid replaces the epsilon of `[privacy]`, a release would spend more than the spec seems to say.
#[test]
fn an_epsilon_that_the_grid_replaces_is_refused() {
    let project = project();
    project.write("means.toml", &MEANS.replace("epsilon = 1.0, delta", "epsilon = 0.3, delta"));
    project.write("counts.toml", &COUNTS.replace("epsilon = 1.0", "epsilon = 0.3"));
    let predict = ["predict", "means.toml", "--grid", "x=0..9:3,hour=0..24:3", "--no-ledger", "--quiet"];
    let stated = "[privacy] states epsilon = 0.3, but an axis of the grid replaces it with 1";
    for arguments in [
        &predict[..],
        &["predict", "counts.toml", "means.toml", "--together", "--grid", "auto", "--out", "out"],
        &["sum", "means.toml", "rows.csv", "--release", "r.json", "--no-ledger"],
    ] {
        let run = project.dpgp(arguments).expect(2);
        assert!(run.err.contains(stated), "{arguments:?}: {}", run.err);
    }
    for chosen in [&["--cell", "epsilon=1"][..], &["--set", "privacy.epsilon=0.3"], &["--set", "epsilon=0.3"]] {
        let run = project.dpgp(&[&predict[..], chosen].concat()).expect(0);
        let epsilon = if chosen[0] == "--cell" { "(1.0, 1e-6)-DP" } else { "(0.3, 1e-6)-DP" };
        assert!(run.err.contains(epsilon), "{}", run.err);
    }
}

/// A release uses all rows of its file.
#[test]
fn sums_of_drawn_rows_are_not_released() {
    let project = project();
    project.write("means.toml", &MEANS.replace("target = \"y\" }", "target = \"y\", draw.rows = 100 }"));
    let run = project.dpgp(&["sum", "means.toml", "rows.csv", "--release", "r.json", "--no-ledger"]).expect(2);
    assert!(run.err.contains("remove data.draw"), "{}", run.err);
}

/// `--set` states the budget of all specs at once, for example what is left in the ledger.
#[test]
fn a_setting_is_changed_in_all_specs() {
    let project = project();
    let arguments = ["predict", "counts.toml", "means.toml", "--together", "--grid", "auto", "--quiet"];
    let set = ["--set", "privacy.epsilon=0.5", "--set", "privacy.delta=1e-7"];
    let shown = project.dpgp(&[&arguments[..], &set, &["--preview"]].concat()).expect(0).out;
    project.dpgp(&[&arguments[..], &set, &["--out", "out"]].concat()).expect(0);
    for name in ["counts", "means"] {
        let certificate = project.json(&format!("out/{name}.csv.certificate.json"));
        assert_eq!((number(&certificate, "/together/epsilon"), number(&certificate, "/together/delta")), (0.5, 1e-7));
        let own = number(&certificate, "/epsilon");
        assert!(own < 0.4 && shown.contains(&format!("{name}: epsilon = {own},")), "{own}: {shown}");
        let file = format!("out/{name}.csv");
        project.dpgp(&["verify", &format!("{file}.certificate.json"), &file]).expect(0);
    }
    // Rows are what they are, and a map is drawn afterwards.
    let rows = [&arguments[..], &["--set", "data.source.csv.path=other.csv", "--out", "more"]].concat();
    assert!(project.dpgp(&rows).expect(2).err.contains("rows"), "{rows:?}");
    let map = project.dpgp(&[&arguments[..], &["--out", "more", "--map", "m.html"]].concat()).expect(2).err;
    assert!(map.contains("dpgp map FOLDER/NAME.csv"), "{map}");
}

/// A column under two names: a release that hides small changes alone adds up with no other column, because it may be the same one.
#[test]
fn small_changes_share_no_budget_with_another_name() {
    let project = Project::empty();
    let rows = (0..60).map(|i| format!("{},{}\n", i % 10, f64::from(10 + 10 * (i * 7 % 3))));
    project.write("h.csv", &rows.collect::<String>());
    let spec = |target: &str, more: &str| {
        format!(
            "experiment.title = \"t\"\n\
             data = {{ source.csv = {{ path = \"h.csv\", columns = [\"x\", \"{target}\"] }}, inputs = [\"x\"], target = \"{target}\" }}\n\
             normalise.bounds = {{ low = 0.0, high = 40.0, scale = 10.0 }}\n\
             model = {{ noise_variance = 0.25, kernel.eq = {{ variance = 1.0, lengthscale = 1.0 }} }}\n\
             task.regression = {{ split.shuffled = 2, draws = 2 }}\n\
             privacy = {{ epsilon = 1.0, delta = 1e-5, {more}, mechanism.cloaking.objective = \"risk\" }}\n"
        )
    };
    project.write("whole.toml", &spec("kwh", "change = 40.0"));
    project.write("metric.toml", &spec("power", "change = 0.001, relation = \"metric\""));
    project.write("other.toml", &spec("energy", "change = 40.0"));
    let budget = ["--budget-epsilon", "2.5", "--budget-delta", "1e-5"];
    let release = |name: &str, more: &[&str]| {
        let (spec, out) = (format!("{name}.toml"), format!("{name}.csv"));
        project.dpgp(&[&["predict", &spec, "--grid", "x=0..9:4", "--out", &out, "--quiet"][..], more].concat())
    };
    release("whole", &budget).expect(0);
    let refused = release("metric", &[]).expect(2);
    assert!(
        refused.err.contains("one target changes by <= 0.001") && !project.path("metric.csv").exists(),
        "{}",
        refused.err
    );
    // Releases that hide every change may have other names.
    release("other", &[]).expect(0);
    // The other way round, and a budget that is set later.
    let project = &Project::empty();
    for name in ["whole.toml", "metric.toml"] {
        let text = if name == "whole.toml" {
            spec("kwh", "change = 40.0")
        } else {
            spec("power", "change = 0.001, relation = \"metric\"")
        };
        project.write(name, &text);
    }
    project.write(
        "h.csv",
        &(0..60).map(|i| format!("{},{}\n", i % 10, f64::from(10 + 10 * (i * 7 % 3)))).collect::<String>(),
    );
    let release = |name: &str, more: &[&str]| {
        let (spec, out) = (format!("{name}.toml"), format!("{name}.csv"));
        project.dpgp(&[&["predict", &spec, "--grid", "x=0..9:4", "--out", &out, "--quiet"][..], more].concat())
    };
    release("metric", &[]).expect(0);
    release("whole", &budget).expect(2);
    release("whole", &[]).expect(0);
}

/// A filter, words or persons hide no copy of the target.
#[test]
fn a_copy_of_the_target_is_public_nowhere() {
    let project = Project::empty();
    let rows = (0..40).map(|i| format!("{},{y},{y}\n", i % 10, y = 10 + 10 * (i * 7 % 3)));
    project.write("h.csv", &("x,y,w\n".to_owned() + &rows.collect::<String>()));
    let spec = |data: &str| {
        format!(
            "experiment.title = \"t\"\ndata = {{ source.csv.path = \"h.csv\", target = \"y\", {data} }}\n\
             normalise.bounds = {{ low = 0.0, high = 40.0, scale = 10.0 }}\n\
             model = {{ noise_variance = 0.25, kernel.eq = {{ variance = 1.0, lengthscale = 3.0 }} }}\n\
             task.regression = {{ split.shuffled = 2, draws = 2 }}\n\
             privacy = {{ epsilon = 1.0, delta = 1e-5, change = 40.0, mechanism.cloaking.objective = \"risk\" }}\n"
        )
    };
    for data in [
        "inputs = [\"w\"], filter = [{ column = \"x\", is = \"==\", value = 3.0 }]",
        "inputs = [\"x\"], filter = [{ column = \"w\", is = \">=\", value = 25.0 }]",
        "inputs = [\"w\"], encode = { w = [\"10\", \"20\", \"30\"] }",
        "inputs = [\"x\"], person = \"w\", rows_per_person = 2",
    ] {
        project.write("s.toml", &spec(data));
        let input = if data.contains("inputs = [\"w\"]") { "w" } else { "x" };
        let grid = format!("{input}={}", if data.contains("encode") { "10" } else { "0..2:3" });
        for more in [&["--preview"][..], &["--out", "p.csv", "--no-ledger"], &["--out", "p.csv"]] {
            let run = project.dpgp(&[&["predict", "s.toml", "--grid", &grid, "--quiet"][..], more].concat()).expect(2);
            assert!(
                run.err.contains("\"w\" has the same cells as the private target \"y\""),
                "{data} {more:?}: {}",
                run.err
            );
        }
    }
}
