//! `dpgp new --ask`: a spec by answers.

use std::io::Write;
use std::process::Stdio;

use crate::support::cli::{Project, Run};
use crate::support::energy::{TARGETS, energy_project};

/// What `new --ask` does with these answers, where each row is of another person.
fn answered(project: &Project, more: &[&str], answers: &str) -> Run {
    answered_in_full(project, more, &format!("none\n{answers}"))
}

/// What `new --ask` does with these answers.
fn answered_in_full(project: &Project, more: &[&str], answers: &str) -> Run {
    let arguments = [&["new", "mine", "--data", "energy.csv", "--ask"][..], more].concat();
    let mut command = project.command(&arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The program may end before it has read all of them.
    let _ = child.stdin.take().unwrap().write_all(answers.as_bytes());
    Run::new(child.wait_with_output().unwrap())
}

/// Bounds, noise, variance, lengthscale, epsilon, delta; empty lines take what is proposed, and the change follows.
#[test]
fn answers_make_a_spec_that_runs() {
    let project = energy_project(TARGETS);
    let told = ["--target", "kwh", "--inputs", "temperature"];
    let run = answered(&project, &told, "0 40\n3\n\n8\n2\n\n").expect(0);
    assert!(
        run.err.contains("normalise.bounds: ")
            && run.err.contains("kernel.eq.variance (square root): ")
            && run.err.contains("(not from its own mean) [10]\n"),
        "{}",
        run.err
    );
    assert!(run.err.contains("privacy.change: 40, computed from your answers"), "{}", run.err);
    let spec = project.read("mine.toml");
    assert!(!spec.contains("fill in") && spec.contains("run `dpgp run`"), "{spec}");
    assert!(spec.contains("epsilon = 2.0") && spec.contains("change = 40.0"), "{spec}");
    assert!(
        spec.contains("noise_variance = 9.0") && spec.contains("\nvariance = 100.0") && spec.contains("delta = 1e-5"),
        "{spec}"
    );
    assert!(run.out.contains("dpgp predict mine.toml --grid=temperature=FROM..TO:20 --preview"), "{}", run.out);
    project.dpgp(&["run", "mine.toml", "--quiet"]).expect(0);
    // What is released has the epsilon that was answered.
    assert!(spec.contains("\"privacy.epsilon\" = [2.0, inf]") && !spec.contains("[1.0, inf]"), "{spec}");
    let predict = ["predict", "mine.toml", "--cell", "epsilon=2", "--grid", "temperature=0..20:3", "--no-ledger"];
    let released = project.dpgp(&predict).expect(0).err;
    assert!(released.contains("guarantee: (2.0, 1e-5)-DP"), "{released}");
}

#[test]
fn where_whole_records_are_private_every_place_is_asked_for() {
    let project = energy_project(TARGETS);
    let told = ["--target", "kwh", "--inputs", "temperature", "--private-inputs"];
    let run = answered(&project, &told, "0 to 40\n6.5\n\n-10, 35\n1\n1e-7\n\n").expect(0);
    assert!(run.err.contains("an eighth of its range [5.625]\n"), "{}", run.err);
    assert!(!run.out.contains("treated as public"), "{}", run.out);
    // The box reaches a tenth of the map beyond it.
    let spec = project.read("mine.toml");
    assert!(
        spec.contains("[-14.5, 39.5],")
            && spec.contains("target_bound = 20.0")
            && spec.contains("noise_variance = 42.25"),
        "{spec}"
    );
    assert!(run.err.contains("domain, \"temperature\": -14.5 to 39.5, computed from your answers"), "{}", run.err);
    assert!(!project.read("mine.toml").contains("= nan"), "{}", run.err);
    project.dpgp(&["run", "mine.toml", "--quiet"]).expect(0);
}

/// A budget is the user's to choose, and its meaning is said.
#[test]
fn a_budget_that_protects_nothing_is_named() {
    let project = energy_project(TARGETS);
    let told = ["--target", "kwh", "--inputs", "temperature"];
    let run = answered(&project, &told, "0 40\n3\n\n8\n1000\n0.0009\n").expect(0);
    assert!(run.err.contains("note: epsilon = 1000 gives almost no protection"), "{}", run.err);
    assert!(run.err.contains("note: delta = 0.0009 is far above the suggested value"), "{}", run.err);
    std::fs::remove_file(project.path("mine.toml")).unwrap();
    let run = answered(&project, &told, "0 40\n3\n\n8\n10\n5e-5\n").expect(0);
    assert!(!run.err.contains("note: "), "{}", run.err);
    // A map of 45 degrees has a proposal of an eighth of that.
    let records = [&told[..], &["--private-inputs"]].concat();
    for (lengthscale, note) in
        [("5", None), ("40", Some("hardly change over the map")), ("0.5", Some("noise may hide the pattern"))]
    {
        std::fs::remove_file(project.path("mine.toml")).unwrap();
        let answers = format!("0 40\n3\n\n-10.0,35.0\n1\n\n{lengthscale}\n");
        let said = answered(&project, &records, &answers).expect(0).err;
        assert_eq!(said.contains("note: "), note.is_some(), "{said}");
        assert!(note.is_none_or(|note| said.contains(note)), "{said}");
    }
}

/// Of three public inputs the function is a sum; each part has a third of the variance that proposals have for one of all, `(40 / 4)^2`.
#[test]
fn functions_that_add_up_share_their_variance() {
    let project = energy_project(TARGETS);
    let rows = (0..60).map(|i| format!("{},{},{},{}\n", i % 7, i % 5, i % 11, 10 + i % 7));
    project.write("energy.csv", &format!("a,b,c,kwh\n{}", rows.collect::<String>()));
    let run = answered(&project, &[], "0 40\n3\n3\n2\n5\n1\n\n").expect(0);
    let spec = project.read("mine.toml");
    assert_eq!(spec.matches("    33.33,   # ").count(), 3, "{spec}");
    assert!(run.err.contains("additive.variances, \"b\": 33.33, computed from your answers"), "{}", run.err);
    project.dpgp(&["run", "mine.toml", "--quiet"]).expect(0);
}

#[test]
fn what_is_no_answer_writes_nothing() {
    let project = energy_project(TARGETS);
    let told = ["--target", "kwh", "--inputs", "temperature"];
    for (answers, why) in [
        ("0 40\n", "input ended early"),
        ("0 forty\n", "enter two finite numbers, lowest first, such as 0 40; the answer was \"0 forty\""),
        ("0\n40\n", "normalise.bounds: enter two finite numbers"),
        ("0 nan\n", "enter two finite numbers"),
        ("0,5\n", "such as 0 40, with a decimal point; the answer was \"0,5\""),
        ("0 40 80\n", "such as 0 40; the answer was \"0 40 80\""),
        ("0 40 minutes\n", "such as 0 40, without a unit"),
        // Bounds the wrong way round.
        ("40 0\n3\n10\n8\n1\n\n", "must be above the first, but 0 is not above 40"),
        ("0 40\n3\n10\n8\n-1\n\n", "privacy.epsilon: enter a number above 0; the answer was \"-1\""),
        (
            "0 40\n3\n10\n8\n1\n1\n\n",
            "privacy.delta: enter a number below 0.001 and far below one over the number of rows",
        ),
        ("0 40\n9 9\n", "model.noise_variance: enter a finite number; the answer was \"9 9\""),
        // A variance that no targets between 0 and 40 have, and an answer too many.
        ("0 40\n21\n", "enter at most 20, half of the width of the bounds; the answer was \"21\""),
        ("0 40\n3\n10\n8\n1\n\n0.5\n", "too many answers: \"0.5\" follows the answer to the last question"),
        // From a pipe, epsilon and the bounds have no default.
        (
            "0 40\n3\n10\n8\n\n\n",
            "privacy.epsilon: enter a finite number, because this question has a default only on a terminal; the answer was \"\"",
        ),
        (
            "0 40\n3\n10\n\n1\n\n",
            "model.kernel.eq.lengthscale: enter a finite number, because this question has a default only on a terminal; the answer was \"\"",
        ),
        ("\n40\n3\n10\n8\n1\n\n", "normalise.bounds: enter two finite numbers"),
    ] {
        let run = answered(&project, &told, answers).expect(2);
        assert!(run.err.contains(why), "{answers:?}: {}", run.err);
        assert!(!project.path("mine.toml").exists());
    }
    let records = [&told[..], &["--private-inputs"]].concat();
    let run = answered(&project, &records, "0 40\n400\n").expect(2);
    assert!(run.err.contains("enter at most 20"), "{}", run.err);
    project.write("mine.toml", "kept");
    assert!(answered(&project, &told, "0\n").expect(2).err.contains("already exists"));
    assert_eq!(project.read("mine.toml"), "kept");
}

/// Every question has a default, and what is only a guess is said to be one. Lines may end as they do on Windows.
#[test]
fn empty_answers_and_other_line_ends_are_answers() {
    let project = energy_project(TARGETS);
    let told = ["--target", "kwh", "--inputs", "temperature"];
    let run = answered(&project, &told, "0 40\n\n\n8\n1\n\n").expect(0);
    // At a pipe nobody reads the defaults of bounds, guesses and epsilon, so that these have none.
    for (key, has_default) in [
        ("normalise.bounds", false),
        ("kernel.eq.lengthscale", false),
        ("kernel.eq.variance (square root)", true),
        ("privacy.epsilon", false),
        ("privacy.delta", true),
    ] {
        let asked = run.err.lines().find(|line| line.contains(&format!("{key}: "))).unwrap();
        assert_eq!(asked.ends_with(']'), has_default, "{asked}");
    }
    assert!(run.out.contains("--out NAME.csv --map NAME.html --budget-epsilon 1 --budget-delta 1e-5 "), "{}", run.out);
    assert!(!project.read("mine.toml").contains("= nan"));
    std::fs::remove_file(project.path("mine.toml")).unwrap();
    let run = answered(&project, &told, "0 40\r\n3\r\n<\r\n\r\n\r\n8\r\n2\r\n\r\n").expect(0);
    let spec = project.read("mine.toml");
    assert!(spec.contains("noise_variance = 9.0") && spec.contains("epsilon = 2.0"), "{spec}");
    assert!(run.out.contains("--budget-epsilon 2 --budget-delta 1e-5 "), "{}", run.out);
    project.dpgp(&["run", "mine.toml", "--quiet"]).expect(0);
}

/// A question that no answer fits any more, as after wrong bounds, is no trap.
#[test]
fn every_question_can_be_left() {
    let project = energy_project(TARGETS);
    let told = ["--target", "kwh", "--inputs", "temperature"];
    let run = answered(&project, &told, "0 4\n<\n0 40\n3\n\n8\n5\nback\n2\n\n").expect(0);
    assert_eq!(run.err.matches("normalise.bounds: ").count(), 2, "{}", run.err);
    let spec = project.read("mine.toml");
    assert!(spec.contains("high = 40.0") && spec.contains("epsilon = 2.0"), "{spec}");
    std::fs::remove_file(project.path("mine.toml")).unwrap();
    let run = answered(&project, &told, "back\n0 40\n3\n\n8\n1\n\n").expect(0);
    assert!(run.err.contains("there is no question to return to"), "{}", run.err);
    std::fs::remove_file(project.path("mine.toml")).unwrap();
    let answers = ["0 40", "3", "", "8", "1"];
    for said in 0..=answers.len() {
        let run = answered(&project, &told, format!("{}\nquit\n", answers[..said].join("\n")).trim_start()).expect(2);
        assert!(run.err.contains("stopped by `quit`; nothing was written"), "{said}: {}", run.err);
        assert!(!project.path("mine.toml").exists());
    }
}

/// A guarantee about rows does not protect somebody with many of them.
#[test]
fn who_has_several_rows_is_asked_first() {
    let project = energy_project(TARGETS);
    let rows = (0..60).map(|i| format!("{},house-{},{}\n", i % 7, i / 3, 10 + i % 7)).collect::<String>();
    project.write("energy.csv", &format!("temperature,house,kwh\n{rows}"));
    for more in
        [&["--target", "kwh"][..], &["--target", "kwh", "--private-inputs"], &["--inputs", "temperature", "--count"]]
    {
        let (answers, grid, cell) = match *more.last().unwrap() {
            "--count" => ("0 6\n1\n\n", "auto", &[][..]),
            "kwh" => ("0 40\n3\n\n8\n1\n\n", "temperature=0..6:3", &["--cell", "epsilon=1"][..]),
            _ => ("60\n0 40\n3\n\n0 6\n1\n\n\n", "auto", &["--cell", "epsilon=1"][..]),
        };
        let run = answered_in_full(&project, more, &format!("house\n3\n{answers}")).expect(0);
        assert!(run.err.contains("data.person: if one person can have several rows"), "{}", run.err);
        assert!(run.out.contains("protects all rows of a person, identified by the column \"house\""), "{}", run.out);
        let spec = project.read("mine.toml");
        assert!(spec.contains("\nperson = \"house\"") && spec.contains("\nrows_per_person = 3"), "{spec}");
        assert!(spec.contains("inputs = [\"temperature\"]"), "{spec}");
        let predict = [&["predict", "mine.toml", "--grid", grid, "--no-ledger"][..], cell].concat();
        let released = project.dpgp(&predict).expect(0).err;
        assert!(released.contains("one person") && released.contains("at most 3 rows each"), "{more:?}: {released}");
        std::fs::remove_file(project.path("mine.toml")).unwrap();
    }
    let told = ["--target", "kwh"];
    for (answers, why) in [
        ("", "data.person"),
        ("\n", "data.person: enter a column or `none`; the answer was \"\""),
        ("hause\n", "there is no column \"hause\" (did you mean \"house\"?)"),
        ("house\n0\n", "data.rows_per_person: enter an integer above 0"),
        ("quit\n", "stopped by `quit`"),
        ("house\nquit\n", "stopped by `quit`"),
    ] {
        let run = answered_in_full(&project, &told, answers).expect(2);
        assert!(run.err.contains(why) && !project.path("mine.toml").exists(), "{answers:?}: {}", run.err);
    }
    // Nothing is asked that an option says.
    let options = [&told[..], &["--person", "house", "--rows-per-person", "2"]].concat();
    answered_in_full(&project, &options, "0 40\n3\n\n8\n1\n\n").expect(0);
    assert!(project.read("mine.toml").contains("rows_per_person = 2"));
    // An identifier that is mostly numbers keeps nobody from being asked.
    std::fs::remove_file(project.path("mine.toml")).unwrap();
    project.write(
        "energy.csv",
        &format!("temperature,house,kwh\n{}", rows.replace("house-", "").replacen(",0,", ",A0,", 1)),
    );
    answered_in_full(&project, &["--target", "kwh"], "house\n3\n0 40\n3\n\n8\n1\n\n").expect(0);
    project.write("energy.csv", &format!("temperature,house,kwh\n{rows}"));
    // The number of rows is private where people have several: it is never taken from the file.
    std::fs::remove_file(project.path("mine.toml")).unwrap();
    let records = ["--target", "kwh", "--private-inputs", "--person", "house", "--rows-per-person", "2"];
    project.dpgp(&[&["new", "r", "--data", "energy.csv"][..], &records].concat()).expect(0);
    assert!(project.read("r.toml").contains("\nrows = nan   # fill in: the approximate number of rows"));
    assert!(
        answered_in_full(&project, &records, "many\n").expect(2).err.contains("moments.rows: enter an integer above 0")
    );
    project.dpgp(&["new", "b", "--data", "energy.csv", "--person", "house"]).expect(2);
    let run =
        project.dpgp(&["new", "b", "--data", "energy.csv", "--person", "home", "--rows-per-person", "2"]).expect(2);
    assert!(run.err.contains("there is no column \"home\""), "{}", run.err);
}
