//! `diff` of folders and of commits.

use std::process::Command;

use crate::support::cli::{Project, Run};
use crate::support::study::STUDY;

#[test]
fn what_changed_comes_first() {
    let project = Project::with_study(STUDY);
    project.dpgp(&["run", "study.toml", "--results", "a"]).expect(0);
    project.write("study.toml", &STUDY.replace("[5.0, 10.0]", "[5.0, 11.0]"));
    project.dpgp(&["run", "study.toml", "--results", "b"]).expect(0);
    // Runs with changed settings are other experiments: they are not compared with those of a folder.
    project.dpgp(&["run", "study.toml", "--results", "b", "--set", "model.noise_variance=2"]).expect(0);
    assert!(project.path("b/study/changed").is_dir());
    let run = project.dpgp(&["diff", "a", "b"]).expect(0);
    assert!(run.out.starts_with("16 of 24 rows changed"), "{}", run.out);
    // A summary, an empty line, a heading, a few rows, and how many more there are.
    assert_eq!(run.out.lines().count(), 3 + 4 + 1, "{}", run.out);
    assert!(run.out.ends_with("... and 12 more; use --rows to print all\n"), "{}", run.out);
    let run = project.dpgp(&["diff", "a", "b", "--rows"]).expect(0);
    assert_eq!(run.out.lines().count(), 3 + 16, "{}", run.out);
    let run = project.dpgp(&["diff", "a", "b", "--all"]).expect(0);
    assert_eq!(run.out.lines().count(), 3 + 16 + 2 + 8, "{}", run.out);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!((lines[2], lines[3 + 16 + 1]), ("study: 16 rows changed", "study: 8 rows unchanged"));
    assert!(lines[3..3 + 16].iter().all(|line| line.contains("(the row is")), "{}", run.out);
    assert!(lines[3 + 16 + 2..].iter().all(|line| line.contains("= 5,")), "{}", run.out);
    let run = project.dpgp(&["diff", "a", "a"]).expect(0);
    assert_eq!(run.out, "0 of 16 rows changed\n");
    // The folder of one experiment, or its table, is known by what the table says.
    for side in ["a/study", "a/study/table.csv"] {
        let run = project.dpgp(&["diff", side, "a"]).expect(0);
        assert!(run.out.starts_with("0 of 16 rows changed"), "{}", run.out);
    }
    assert!(project.dpgp(&["diff", "a", "study.toml"]).expect(5).err.contains("study.toml is not a table"));
    assert!(project.dpgp(&["diff", "a", "nowhere"]).expect(2).err.contains("nowhere"));
    project.dpgp(&["diff", "--", "--help", "a"]).expect(2);
}

fn git(project: &Project, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
    Run::new(command.args(arguments).current_dir(project.folder.path()).output().unwrap()).expect(0);
}

#[test]
fn cells_with_other_settings_meet_at_their_place() {
    let project = Project::with_study(STUDY);
    project.dpgp(&["run", "study.toml"]).expect(0);
    git(&project, &["init", "-q"]);
    git(&project, &["add", "results"]);
    git(&project, &["commit", "-qm", "first"]);
    project.write("study.toml", &STUDY.replace("noise_variance = 1.0", "noise_variance = 1.5"));
    project.dpgp(&["run", "study.toml"]).expect(0);
    let run = project.dpgp(&["diff", "HEAD", "results", "--format", "json"]).expect(0);
    let rows = run.json();
    assert_eq!(rows.as_array().unwrap().len(), 16);
    for row in rows.as_array().unwrap() {
        assert_eq!(row["experiment"], "study");
        assert!(row["changes"].as_array().unwrap().iter().any(|change| change["column"] == "value"), "{row}");
        assert_ne!(row["before"], row["after"]);
    }
}

/// Both means have a standard error of 1 (3 over nine replicates, 4 over sixteen), so 2 apart is the root of 2 of the difference's.
#[test]
fn two_experiments_are_compared_in_standard_errors() {
    let project = Project::empty();
    for (folder, row) in [("a", "one,c,rmse,10,3,sd-replicates,9"), ("b", "other,d,rmse,12,4,sd-replicates,16")] {
        std::fs::create_dir(project.path(folder)).unwrap();
        let headings = "experiment,cell,metric,value,spread,spread_kind,repeats";
        project.write(&format!("{folder}/table.csv"), &format!("{headings}\n{row}\n"));
    }
    let run = project.dpgp(&["diff", "a", "b"]).expect(0);
    assert!(run.out.contains("1 of 1 rows changed") && run.out.contains("10.00 -> 12.00"), "{}", run.out);
    assert!(run.out.contains("1.414 standard errors"), "{}", run.out);
    let run = project.dpgp(&["diff", "b", "a"]).expect(0);
    assert!(run.out.contains("-1.414 standard errors"), "{}", run.out);
}

/// Of three numbers with standard errors, one differs by more than two of the difference's: 6 / sqrt(2). Reduced runs in the folder
/// `quick` are another experiment.
#[test]
fn differences_beyond_chance_are_counted() {
    let project = Project::empty();
    let headings = "experiment,cell,way,metric,value,spread,spread_kind,repeats";
    for (folder, values) in [("a", [10.0, 10.0, 10.0]), ("b", [11.0, 9.0, 16.0])] {
        std::fs::create_dir_all(project.path(folder).join("quick")).unwrap();
        let rows =
            values.iter().enumerate().map(|(i, value)| format!("one,c{i},w{i},rmse,{value},3,sd-replicates,9\n"));
        project.write(&format!("{folder}/table.csv"), &format!("{headings}\n{}", rows.collect::<String>()));
    }
    project.write("a/quick/table.csv", &format!("{headings}\none,q,w0,rmse,1,3,sd-replicates,9\n"));
    let out = project.dpgp(&["diff", "a", "b"]).expect(0).out.replace('\n', " ");
    assert!(out.starts_with("3 of 3 rows changed 1 of 3 changed numbers with known errors differ"), "{out}");
    assert!(out.contains("about 0.1365 would"), "{out}");
    let rows = project.dpgp(&["diff", "a", "b", "--format", "json"]).expect(0).json();
    assert!((rows[2]["standard_errors"].as_f64().unwrap() - 6.0 / 2f64.sqrt()).abs() < 1e-12, "{rows}");
}

/// A mean over folds and replicates stands in two rows, with either spread. Folds say nothing of the error of a run, so it counts once.
#[test]
fn a_mean_with_two_spreads_counts_once() {
    let project = Project::empty();
    let headings = "experiment,cell,way,metric,value,spread,spread_kind,repeats";
    for (folder, values) in [("a", [10.0, 10.0]), ("b", [11.0, 16.0])] {
        std::fs::create_dir(project.path(folder)).unwrap();
        let rows = values.iter().enumerate().map(|(i, value)| {
            let (folds, replicates) =
                (format!("rmse,{value},30,sd-folds,9"), format!("rmse-replicates,{value},3,sd-replicates,9"));
            format!("one,c{i},w{i},{folds}\none,c{i},w{i},{replicates}\n")
        });
        project.write(&format!("{folder}/table.csv"), &format!("{headings}\n{}", rows.collect::<String>()));
    }
    let out = project.dpgp(&["diff", "a", "b"]).expect(0).out.replace('\n', " ");
    assert!(out.starts_with("4 of 4 rows changed 1 of 2 changed numbers with known errors differ"), "{out}");
    // With one replicate on one side, folds are all there is.
    project.write("a/table.csv", &format!("{headings}\none,c0,w0,rmse,10,30,sd-folds,9\n"));
    let rows = project.dpgp(&["diff", "a", "b", "--format", "json"]).expect(0).json();
    let known = rows.as_array().unwrap().iter().filter(|row| !row["standard_errors"].is_null());
    assert_eq!(known.map(|row| row["row"].as_str().unwrap()).collect::<Vec<_>>(), ["way = w0: rmse"], "{rows}");
}
