//! `dpgp grade`: somebody else's table by the verdicts that ours have.

use crate::support::cli::Project;
use crate::support::shipped::root;

/// Our own tables, as if somebody else had computed them, have the verdicts that stand in them.
#[test]
fn our_own_tables_have_their_own_verdicts() {
    let project = Project::new();
    for name in ["smith2021/table1", "smith2016/table1", "honkela2021/fig2-repeats", "smith2021/table2"] {
        let path = root().join(format!("results/{name}/table.csv"));
        let run = project.dpgp(&["grade", path.to_str().unwrap(), "--experiment", name, "--format", "json"]);
        let grade = run.json();
        let mut reader = csv::Reader::from_path(&path).unwrap();
        let headings = reader.headers().unwrap().clone();
        let at = headings.iter().position(|heading| heading == "verdict").unwrap();
        let mut ours: Vec<String> = reader.records().map(|record| record.unwrap()[at].to_owned()).collect();
        ours.retain(|verdict| !verdict.is_empty());
        let numbers = grade["grade"]["numbers"].as_array().unwrap();
        let mut theirs: Vec<&str> = numbers.iter().map(|number| number["verdict"].as_str().unwrap()).collect();
        ours.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(ours, theirs, "{name}");
        assert_eq!((&grade["grade"]["missing_numbers"], &grade["grade"]["unknown_rows"]), (&0.into(), &0.into()));
        let bad = grade["grade"]["verdicts"]["differs"] != 0 || grade["grade"]["outcomes"]["fails"] != 0;
        assert_eq!(run.code, i32::from(bad), "{name}");
    }
}

/// The paper prints 13.3 and 9.9: thirty runs of mean 13.35 and standard deviation .2 reach, as printed, from 12.88 to 13.82, and not as far as 9.9.
#[test]
fn a_short_table_is_judged_by_its_spread_over_runs() {
    let project = Project::new();
    let head = "inputs,method,epsilon,metric,value,spread,spread_kind,repeats\n";
    project
        .write("good.csv", &format!("{head}age,standard,1.0,rmse,13.35,0.2,sd-replicates,30\n,nobody,1,rmse,3,,,\n"));
    // In the layout and to the digits of the paper.
    let screen = project.dpgp(&["grade", "good.csv", "--experiment", "smith2021/table1"]).out;
    assert!(screen.contains("13.3 ± 3.2  ≈") || screen.contains("13.3 ± 3.2 ≈"), "{screen}");
    assert!(screen.contains("1 printed number, theirs within 0.4 %: 1 agrees after fitting a setting ≈"), "{screen}");
    assert!(screen.contains("1 row matches no cell") && screen.lines().count() <= 24, "{screen}");
    let run = project.dpgp(&["grade", "good.csv", "--experiment", "smith2021/table1", "--rows"]);
    assert!(run.out.contains("fitted") && run.out.contains("12.88 to 13.82"), "{}", run.out);
    assert!(run.out.contains("1 row matches no cell"), "{}", run.out);
    assert!(run.out.contains("first row that matches no cell: line 3, inputs = \"\""), "{}", run.out);
    let markdown = project.dpgp(&["grade", "good.csv", "--experiment", "smith2021/table1", "--as", "md"]);
    assert!(markdown.out.contains("| age | 1 | standard | rmse | "), "{}", markdown.out);
    project.write("bad.csv", &format!("{head}age,sparse,1,rmse,13.35,0.2,sd-replicates,30\n"));
    let run = project.dpgp(&["grade", "bad.csv", "--experiment", "smith2021/table1", "--rows"]).expect(1);
    assert!(
        run.out.contains("differs") && run.err.contains("error: 1 printed number differs\n"),
        "{}{}",
        run.out,
        run.err
    );
    project.write("folds.csv", &format!("{head}age,sparse,1,rmse,9.9,1.6,sd-folds,14\n"));
    let run = project.dpgp(&["grade", "folds.csv", "--experiment", "smith2021/table1", "-v"]);
    assert!(run.out.contains("not-judged"), "{}", run.out);
}

/// What is random is not judged by a bare number; the errors of the four points of the toy are not random: 50 is printed of one,
/// and 6.875 of another.
#[test]
fn a_bare_number_is_judged_where_nothing_is_random() {
    // Our tables come with the program.
    let project = Project::empty();
    let reason = "neither a spread over runs nor an interval is given";
    for repeats in ["", "1", "30"] {
        let row = format!("age,sparse,1,rmse,13.35,{repeats}\n");
        project.write("bare.csv", &format!("inputs,method,epsilon,metric,value,repeats\n{row}"));
        let run = project.dpgp(&["grade", "bare.csv", "--experiment", "smith2021/table1", "--rows"]);
        assert!(run.out.contains("not-judged") && !run.out.contains("differs  "), "{}", run.out);
        assert!(run.out.contains(&format!("1 number is not judged: {reason}")), "{}", run.out);
        assert!(run.out.contains("0 of 1 printed numbers agree, 0 differ"), "{}", run.out);
    }
    // Nor do bare numbers decide a claim: the sparse one is below the standard one by far.
    let rows = "age,standard,1,rmse,13.3\nage,sparse,1,rmse,9.9\n";
    project.write("two.csv", &format!("inputs,method,epsilon,metric,value\n{rows}"));
    let arguments = ["grade", "two.csv", "--experiment", "smith2021/table1", "--format", "json"];
    let claims = project.dpgp(&arguments).json()["grade"]["claims"].clone();
    let told: Vec<(&str, bool)> = claims
        .as_array()
        .unwrap()
        .iter()
        .map(|claim| (claim["outcome"].as_str().unwrap(), claim["error"].is_null()))
        .collect();
    assert!(!told.is_empty() && told.iter().all(|one| *one == ("undecided", true)), "{claims}");
    let cell = "halves,published,log-det";
    let rows = format!("{cell},sse/polynomial-0,60\n{cell},sse-without-noise/polynomial-0,6.8751\n");
    project.write("toy.csv", &format!("split,variant,objective,metric,value\n{rows}"));
    let arguments = ["grade", "toy.csv", "--experiment", "smith2021/toy", "--format", "json"];
    let numbers = project.dpgp(&arguments).json()["grade"]["numbers"].clone();
    let verdicts: Vec<(&str, bool)> = numbers
        .as_array()
        .unwrap()
        .iter()
        .map(|number| (number["verdict"].as_str().unwrap(), number["reason"].is_null()))
        .collect();
    assert_eq!(verdicts, [("agrees", true), ("differs", true)], "{numbers}");
}

/// A spread of folds or of no kind says nothing of runs, so no claim follows; nor does one pair of a claim about two confirm it.
#[test]
fn claims_need_spreads_over_runs_and_all_their_rows() {
    let project = Project::empty();
    let outcomes = |rows: &str| -> Vec<(String, String)> {
        project.write("theirs.csv", &format!("inputs,method,epsilon,metric,value,spread,spread_kind,repeats\n{rows}"));
        let run = project.dpgp(&["grade", "theirs.csv", "--experiment", "smith2021/table1", "--format", "json"]).json();
        let claims = run["grade"]["claims"].as_array().unwrap().clone();
        let text = |claim: &serde_json::Value, key: &str| claim[key].as_str().unwrap().to_owned();
        claims.iter().map(|claim| (text(claim, "text"), text(claim, "outcome"))).collect()
    };
    for kind in ["", "sd-folds", "standard-error"] {
        let rows = format!("age,standard,1,rmse,13.3,0.01,{kind},30\nage,sparse,1,rmse,9.9,0.01,{kind},30\n");
        let found = outcomes(&rows);
        assert!(!found.is_empty() && found.iter().all(|(_, outcome)| outcome == "undecided"), "{kind}: {found:?}");
    }
    // Without privacy, the sparse approximation errs more, for each of the two choices of inputs.
    let row =
        |inputs: &str, method: &str, value: f64| format!("{inputs},{method},inf,rmse,{value},0.01,sd-replicates,30\n");
    let pair = |inputs: &str, sparse: f64| row(inputs, "standard", 6.5) + &row(inputs, "sparse", sparse);
    let about = |rows: &str| {
        let found = outcomes(rows);
        let said = found.into_iter().find(|(text, _)| text.contains("the sparse approximation errs more"));
        said.map(|(_, outcome)| outcome).unwrap_or_default()
    };
    assert_eq!(about(&(pair("age", 7.5) + &pair("age+weight", 7.5))), "holds");
    assert_eq!(about(&pair("age", 7.5)), "undecided");
    assert_eq!(about(&pair("age", 5.5)), "fails");
    let misspelt = pair("age", 7.5) + &row("age+weight", "standard", 6.5) + &row("age+weight", "sparce", 5.0);
    assert_eq!(about(&misspelt), "undecided");
    let said = project.dpgp(&["grade", "theirs.csv", "--experiment", "smith2021/table1"]).out;
    assert!(said.contains("method = \"sparce\"; did you mean"), "{said}");
    assert!(said.contains("1 claim needs more rows than the table has, so it can fail but not hold"), "{said}");
}

#[test]
fn a_table_of_another_form_is_refused() {
    let project = Project::new();
    let cases = [
        ("method,value\nstandard,1\n", "has no column metric, inputs"),
        ("inputs,method,epsilon,metric,value\nage,standard,1,rmse,many\n", "line 2: value is not a number: \"many\""),
        ("inputs,method,epsilon,metric,value\nage,none,1,rmse,1\n", "none of its 1 rows matches a cell"),
        (
            "inputs,method,epsilon,metric,value\nage,standard,1,rmse,1\nage,standard,1.0,rmse,2\n",
            "line 3 has the same cell",
        ),
        ("inputs,method,epsilon,metric,value\nage\n", "is not a table"),
        (
            "inputs,method,epsilon,metric,value,interval_low,interval_high\nage,sparse,1,rmse,30,9.708,10.13\n",
            "line 2: value 30.0 lies outside its own interval, 9.708 to 10.13",
        ),
        (
            "inputs,method,epsilon,metric,value,interval_low,interval_high\nage,sparse,1,rmse,10,10.13,9.708\n",
            "line 2: interval_low and interval_high must both be given, with low <= high",
        ),
        (
            "inputs,method,epsilon,metric,value,interval_low,interval_high\nage,sparse,1,rmse,10,9.7,\n",
            "line 2: interval_low and interval_high must both be given, with low <= high",
        ),
        (
            "inputs,method,epsilon,metric,value,spread,spread_kind,repeats\nage,sparse,1,rmse,10,-1,sd-replicates,30\n",
            "line 2: spread is -1.0, but it must not be negative",
        ),
        (
            "inputs,method,epsilon,metric,value,spread,spread_kind\nage,standard,1,rmse,13.2,0.2,sd\n",
            "line 2: spread_kind is \"sd\"; use one of sd-folds, sd-replicates, standard-error",
        ),
    ];
    for (table, said) in cases {
        project.write("table.csv", table);
        let run = project.dpgp(&["grade", "table.csv", "--experiment", "smith2021/table1"]).expect(2);
        assert!(run.err.contains(said), "{said}: {}", run.err);
    }
    project.dpgp(&["grade", "nowhere.csv", "--experiment", "smith2021/table1"]).expect(5);
    let run = project.dpgp(&["grade", "table.csv", "--experiment", "houses"]).expect(2);
    let means = "(beyond/leaderboard/houses, lawrence2017/house-prices)";
    assert!(run.err.contains(means), "{}", run.err);
    let run = project.dpgp(&["grade", "table.csv", "--experiment", "smith2021"]).expect(2);
    assert!(run.err.contains(", smith2021/") && run.err.contains(" more); choose one"), "{}", run.err);
}

const PAPER: &str = r#"
[experiment]
title = "a paper of somebody else"
replicates = 3
[published.table2]
all = { metric = "rmse", precision = 0.01 }
columns = ["method", "alpha", "value", "source"]
rows = [
    ["ridge", 0.1, 0.71, "row 1"],
    ["ridge", 1, 0.65, "row 1"],
    ["lasso", 0.1, 0.80, "row 2"],
    ["lasso", 1, 0.60, "row 2"],
]
[[claim]]
text = "the lasso wins at 1"
metric = "rmse"
cells = { method = "lasso", alpha = 1 }
is = "below"
other = { method = "ridge", alpha = 1 }
"#;

/// Three runs of each number but the last. The order of the replicates is that of their column.
const RUNS: &str = "method,alpha,metric,replicate,value
ridge,0.1,rmse,3,0.71\nridge,0.1,rmse,1,0.70\nridge,0.1,rmse,2,0.72
ridge,1.0,rmse,1,0.65\nridge,1.0,rmse,2,0.66\nridge,1.0,rmse,3,0.64
lasso,0.1,rmse,1,0.79\nlasso,0.1,rmse,2,0.81\nlasso,0.1,rmse,3,0.80
lasso,1.0,rmse,1,0.69\nlasso,1.0,rmse,2,0.68\nlasso,1.0,rmse,3,0.70
";

/// The mean of three runs is .71 with a standard deviation of .01: 95 % of runs lie within 4.3027 (Student, two degrees of freedom)
/// times .01 sqrt(4 / 3) = .0497 of it, and what is printed to .01 may be .005 farther.
#[test]
fn the_numbers_of_any_paper_are_graded() {
    let project = Project::new();
    project.write("paper.toml", PAPER);
    project.write("runs.csv", RUNS);
    let run = project.dpgp(&["grade", "runs.csv", "--experiment", "paper.toml", "--rows"]).expect(1);
    assert!(run.out.contains("0.6553 to 0.7647"), "{}", run.out);
    assert!(run.out.contains("3 of 4 printed numbers agree, 1 differs"), "{}", run.out);
    assert!(run.out.contains("fails, ours: the lasso wins at 1"), "{}", run.out);
    assert!(run.out.find("method").unwrap() < run.out.find("alpha").unwrap(), "the order of the columns");

    // The same numbers as results: a run with a table of others.
    project.write("mine.toml", &PAPER.replace("[published", "[task.given]\ntable = \"runs.csv\"\n[published"));
    let run = project.dpgp(&["run", "mine.toml", "--quiet"]).expect(0);
    assert!(run.out.contains("3 agree ✓, 1 differs by more than chance ✗"), "{}", run.out);
    // Nobody's rows are in it.
    assert!(!project.read("results/mine/table.md").contains("not private"));
    let table = project.read("results/mine/table.csv");
    assert!(table.lines().any(|line| line.contains("ridge,0.1") && line.contains("agrees")), "{table}");
    project.write("runs.csv", &RUNS.replace("rmse,3,0.70", "rmse,3,0.61"));
    assert!(project.dpgp(&["explain", "mine.toml"]).out.contains("runs.csv"));

    // A spec without a task computes nothing.
    let run = project.dpgp(&["run", "paper.toml", "--quiet"]).expect(4);
    assert!(run.err.contains("to compare a table, use `dpgp grade TABLE.csv --experiment SPEC`"), "{}", run.err);
    for (runs, says) in [
        (
            RUNS.replace("lasso,1.0,rmse,3,0.70\n", ""),
            "has 2 rows of \"rmse\" for this cell, but experiment.replicates is 3",
        ),
        (RUNS.replace("3,0.71", "3,low"), "line 2 of task.given.table: value is not a finite number: \"low\""),
        (RUNS.replace("alpha", "beta"), "has no column \"alpha\""),
    ] {
        project.write("runs.csv", &runs);
        let run = project.dpgp(&["run", "mine.toml", "--quiet"]).expect(4);
        assert!(run.err.contains(says), "{}", run.err);
    }
    project.write("runs.csv", &RUNS.replace("rmse", "RMSE"));
    let run = project.dpgp(&["grade", "runs.csv", "--experiment", "paper.toml"]).expect(2);
    assert!(run.err.contains("its metrics are RMSE, but those of paper are rmse"), "{}", run.err);
    project.write("runs.csv", &RUNS.replace("ridge,0.1,rmse,2", "ridge,0.1,rmse,1"));
    let run = project.dpgp(&["grade", "runs.csv", "--experiment", "paper.toml"]).expect(2);
    assert!(run.err.contains("has the same cell and metric as an earlier row"), "{}", run.err);
}

/// A method of one's own stands beside ours and the print.
#[test]
fn another_method_is_shown_beside_ours() {
    // The experiments that come with the program, with their results.
    let project = Project::empty();
    project.write("mine.csv", "inputs,method,epsilon,metric,replicate,value\nage,mine,1,rmse,1,12.0\nage,mine,1,rmse,2,13.0\nage,standard,1,rmse,1,13.3\nage,standard,1,rmse,2,13.4\n");
    let run = project.dpgp(&["grade", "mine.csv", "--experiment", "smith2021/table1", "--rows", "--format", "json"]);
    let beside = run.json()["grade"]["beside"].clone();
    let of = |method: &str| {
        let rows = beside.as_array().unwrap().iter();
        rows.filter(|row| row["labels"].as_array().unwrap().iter().any(|label| label == method)).collect::<Vec<_>>()
    };
    assert_eq!(
        (of("mine").len(), &of("mine")[0]["theirs"], &of("mine")[0]["ours"]),
        (1, &12.5.into(), &serde_json::Value::Null)
    );
    let standard = of("standard");
    let own = standard.iter().find(|row| row["theirs"].is_number()).unwrap();
    assert!((own["theirs"].as_f64().unwrap() - 13.35).abs() < 1e-12 && own["published"] == 13.3, "{own}");
    assert!((own["ours"].as_f64().unwrap() - 13.3).abs() < 0.5, "{own}");
    let text = project.dpgp(&["grade", "mine.csv", "--experiment", "smith2021/table1", "--rows"]).out;
    assert!(text.contains("all numbers side by side") && text.contains("mine"), "{text}");
}

/// A table that is typed off a paper becomes a spec, which our own numbers can be graded by.
#[test]
fn a_typed_table_becomes_a_spec() {
    let project = Project::new();
    project
        .write("table.csv", "method,alpha,rmse\nridge,0.1,0.71 ± 0.02\nridge,1,0.65\nlasso,0.1,0.80\nlasso,1,0.60\n");
    let run = project.dpgp(&["new", "paper", "--from-table", "table.csv"]).expect(2);
    assert!(run.err.contains("its columns are method, alpha, rmse; use --metrics"), "{}", run.err);
    let run = project.dpgp(&["new", "paper", "--from-table", "table.csv", "--metrics", "rmse"]).expect(0);
    assert!(run.out.contains("dpgp grade RUNS.csv --experiment paper.toml"), "{}", run.out);
    project.write("runs.csv", RUNS);
    let run = project.dpgp(&["grade", "runs.csv", "--experiment", "paper.toml"]).expect(1);
    assert!(run.out.contains("4 printed numbers") && run.out.contains("3 agree ✓"), "{}", run.out);
    let run = project.dpgp(&["new", "paper", "--from-table", "table.csv", "--metrics", "rmse"]).expect(2);
    assert!(run.err.contains("paper.toml"), "{}", run.err);
}

/// A misspelt metric would be compared with nothing, so it is named with the one that is meant.
#[test]
fn a_misspelt_metric_is_named() {
    let project = Project::empty();
    let head = "inputs,method,epsilon,metric,value,spread,spread_kind,repeats\n";
    let rows = "age,standard,1.0,rmse,13.35,0.2,sd-replicates,30\nage,sparse,1.0,RMSE,9.9,0.2,sd-replicates,30\n";
    project.write("table.csv", &format!("{head}{rows}"));
    let grade = ["grade", "table.csv", "--experiment", "smith2021/table1", "--format", "json"];
    let graded = project.dpgp(&grade).json();
    let unknown = &graded["grade"]["unknown_metrics"];
    assert_eq!(unknown, &serde_json::json!([{ "metric": "RMSE", "line": 3, "closest": "rmse" }]));
}

/// A table without a layout shows the metric of the first claim, and names the others. The first of this table is a wrong lengthscale.
#[test]
fn a_table_shows_what_claims_are_about() {
    let shown = Project::empty().dpgp(&["show", "honkela2021/fig3", "--table"]).expect(0).out;
    assert!(shown.starts_with("lengthscale/1\n"), "{shown}");
    let others = shown.lines().skip_while(|line| !line.starts_with("--metric shows other metrics: "));
    let others = others.collect::<Vec<_>>().join(" ");
    assert!(others.contains("lengthscale/0.333") && others.contains("noise-sd/0.1"), "{shown}");
}
