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
        let mut theirs: Vec<&str> =
            numbers.iter().map(|number| number["verdict"].as_str().unwrap()).collect();
        ours.sort_unstable();
        theirs.sort_unstable();
        assert_eq!(ours, theirs, "{name}");
        assert_eq!(
            (&grade["grade"]["missing_numbers"], &grade["grade"]["unknown_rows"]),
            (&0.into(), &0.into())
        );
        let bad = grade["grade"]["verdicts"]["differs"] != 0 || grade["grade"]["outcomes"]["fails"] != 0;
        assert_eq!(run.code, i32::from(bad), "{name}");
    }
}

/// The paper prints 13.3 and 9.9: thirty runs of mean 13.35 and standard deviation .2 reach, as printed, from 12.88 to 13.82, and not as far as 9.9.
#[test]
fn a_short_table_is_judged_by_its_spread_over_runs() {
    let project = Project::new();
    let head = "inputs,method,epsilon,metric,value,spread,spread_kind,repeats\n";
    project.write(
        "good.csv",
        &format!("{head}age,standard,1.0,rmse,13.35,0.2,sd-replicates,30\n,nobody,1,rmse,3,,,\n"),
    );
    // In the layout and to the digits of the paper.
    let screen = project.dpgp(&["grade", "good.csv", "--experiment", "smith2021/table1"]).out;
    assert!(screen.contains("13.3 ± 3.2  ≈") || screen.contains("13.3 ± 3.2 ≈"), "{screen}");
    assert!(
        screen.contains("1 printed number, theirs within 0.4 %: 1 agree by a fitted setting ≈"),
        "{screen}"
    );
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
    let reason = "it has no spread over runs and no interval";
    for repeats in ["", "1", "30"] {
        let row = format!("age,sparse,1,rmse,13.35,{repeats}\n");
        project.write("bare.csv", &format!("inputs,method,epsilon,metric,value,repeats\n{row}"));
        let run = project.dpgp(&["grade", "bare.csv", "--experiment", "smith2021/table1", "--rows"]);
        assert!(run.out.contains("not-judged") && !run.out.contains("differs  "), "{}", run.out);
        assert!(run.out.contains(&format!("1 number is not judged: {reason}")), "{}", run.out);
        assert!(run.out.contains("0 of 1 printed number agree, 0 differ"), "{}", run.out);
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

#[test]
fn a_table_of_another_form_is_refused() {
    let project = Project::new();
    let cases = [
        ("method,value\nstandard,1\n", "has no column metric, inputs"),
        (
            "inputs,method,epsilon,metric,value\nage,standard,1,rmse,many\n",
            "line 2: value is not a number: \"many\"",
        ),
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
