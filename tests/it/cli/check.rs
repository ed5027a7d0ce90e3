//! `check` fails on any digit, claim or published value that was changed, and names it.

use crate::support::cli::Project;
use crate::support::shipped::root;
use crate::support::study::STUDY;

/// A project with copies of the toy's spec and of its committed results, in full and reduced form.
fn toy() -> Project {
    let project = Project::empty();
    let root = root();
    std::fs::create_dir_all(project.path("experiments/smith2021")).unwrap();
    std::fs::create_dir_all(project.path("data")).unwrap();
    for name in ["experiments/smith2021/toy.toml", "experiments/smith2021/coverage.toml", "data/datasets.toml"] {
        std::fs::copy(root.join(name), project.path(name)).unwrap();
    }
    project.dpgp(&["run", "--all"]).expect(0);
    project.dpgp(&["check", "--all"]).expect(0);
    project
}

/// Checks after a change of a file, and again after it is undone.
fn check_changed(project: &Project, file: &str, change: impl Fn(&str) -> String) -> String {
    let before = project.read(file);
    let after = change(&before);
    assert_ne!(after, before, "{file} was not changed");
    project.write(file, &after);
    let run = project.dpgp(&["check", "--all"]).expect(1);
    project.write(file, &before);
    project.dpgp(&["check", "--all"]).expect(0);
    run.out
}

const TABLE: &str = "results/smith2021/toy/table.csv";
const SPEC: &str = "experiments/smith2021/toy.toml";

#[test]
fn the_committed_toy_is_what_we_compute() {
    let project = toy();
    let committed = root().join(TABLE);
    assert_eq!(project.read(TABLE), std::fs::read_to_string(committed).unwrap());
}

#[test]
fn a_digit_of_the_table_is_named() {
    let project = toy();
    for row in [1, 20, 50, 71] {
        let said = check_changed(&project, TABLE, |text| {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let column = lines[0].split(',').position(|heading| heading == "value").unwrap();
            let mut fields: Vec<String> = lines[row].split(',').map(str::to_owned).collect();
            let digit = if fields[column].starts_with('1') { "2" } else { "1" };
            fields[column].replace_range(..1, digit);
            lines[row] = fields.join(",");
            lines.join("\n") + "\n"
        });
        assert!(said.contains("smith2021/toy: FAILS") && said.contains("value was"), "{said}");
    }
    let said = check_changed(&project, TABLE, |text| text.replacen(text.lines().nth(5).unwrap(), "", 1));
    assert!(said.contains("the row is new"), "{said}");
}

#[test]
fn a_claim_that_does_not_hold_is_named() {
    let project = toy();
    let said = check_changed(&project, SPEC, |text| text.replace("is = \"above\"", "is = \"below\""));
    assert!(said.contains("claims.csv: line"), "{said}");
    let said = check_changed(&project, SPEC, |text| text.replace("text = \"Under privacy", "text = \"With privacy"));
    assert!(said.contains("table.md: line") && said.contains("With privacy"), "{said}");
}

#[test]
fn every_published_number_is_compared() {
    let project = toy();
    let spec = project.read(SPEC);
    let lines: Vec<&str> = spec.lines().filter(|line| line.starts_with("    [\"")).collect();
    assert!(lines.len() >= 7);
    for line in lines.into_iter().step_by(5) {
        let mut cells = line.split([',', ' ', ']']);
        let value = cells.find(|cell| cell.parse::<f64>().is_ok()).unwrap();
        let changed = line.replacen(value, &format!("{value}1"), 1);
        let said = check_changed(&project, SPEC, |text| text.replacen(line, &changed, 1));
        assert!(said.contains("published was"), "{value}: {said}");
    }
}

#[test]
fn a_summary_that_is_not_that_of_the_tables_is_named() {
    let project = toy();
    let said = check_changed(&project, "results/CHECKS.md", |text| text.replace("| 1 / 0 / 0 |", "| 2 / 0 / 0 |"));
    assert!(said.contains("CHECKS.md: FAILS"), "{said}");
    // What a service for continuous integration reads of the same.
    project.write("results/REPRODUCTION.md", "");
    let github = project.dpgp(&["check", "--all", "--as", "github"]).expect(1).out;
    assert!(github.contains("\n::error file=results/REPRODUCTION.md,line=1,title=REPRODUCTION.md::"), "{github}");
    let junit = project.dpgp(&["check", "--all", "--as", "junit"]).expect(1).out;
    assert!(junit.starts_with("<?xml") && junit.contains("tests=\"3\" failures=\"1\""), "{junit}");
}

#[test]
fn every_other_file_is_compared_too() {
    let project = toy();
    let folder = "results/smith2021/toy";
    let changes = [
        ("manifest.json", "\"seed\": 1", "\"seed\": 2", "seed was 2, is now 1"),
        ("manifest.json", "\"cells\": 12", "\"cells\": 13", "cells was 13"),
        ("manifest.json", "{", "[", "is not a manifest"),
        ("table.md", "1589", "1590", "table.md: line"),
        ("figure.svg", "#FFFFFF", "#FFFFFE", "figure.svg: line"),
    ];
    for (file, from, to, expected) in changes {
        let said = check_changed(&project, &format!("{folder}/{file}"), |text| text.replacen(from, to, 1));
        assert!(said.contains(expected), "{file}: {said}");
    }
    let said = check_changed(&project, SPEC, |text| format!("{text}\n# another version"));
    assert!(said.contains("spec_sha256 was"), "{said}");
    for file in ["manifest.json", "table.md", "figure.svg", "table.csv"] {
        let path = project.path(&format!("{folder}/{file}"));
        let before = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let run = project.dpgp(&["check", "smith2021/toy"]).expect(1);
        assert!(run.out.contains(file), "{}", run.out);
        std::fs::write(&path, before).unwrap();
    }
    project.dpgp(&["check", "--all"]).expect(0);
    // Without committed results there is nothing to compare: this is said once, and not as a difference of each file.
    let run = project.dpgp(&["check", "smith2021/toy", "--results", "elsewhere"]).expect(1);
    assert!(run.out.contains("elsewhere/smith2021/toy: no committed results here"), "{}", run.out);
    assert_eq!(run.out.lines().count(), 2, "{}", run.out);
}

#[test]
fn reduced_settings_have_results_of_their_own() {
    let project = Project::new();
    let spec = format!(
        "{}\n[quick]\nexperiment.replicates = 1\ngrid.\"privacy.epsilon\" = [1.0]\n\n[[claim]]\ntext = \"privacy costs\"\nmetric = \"rmse\"\ncells = {{ epsilon = inf }}\nis = \"below\"\nother = {{ epsilon = 1.0 }}\n",
        STUDY
    );
    project.write("study.toml", &spec);
    let run = project.dpgp(&["run", "study.toml", "--quick", "--rows"]).expect(0);
    assert!(run.out.contains("results/study/quick") && !run.out.contains(", ours: privacy costs"), "{}", run.out);
    assert!(run.out.contains("1 number or claim is left out because of [quick]"), "{}", run.out);
    assert_eq!(project.read("results/study/quick/table.csv").lines().count(), 1 + 2 * 2);
    project.dpgp(&["check", "study.toml", "--quick"]).expect(0);
    project.dpgp(&["check", "study.toml"]).expect(1);
    let run = project.dpgp(&["run", "study.toml", "--rows"]).expect(0);
    assert!(
        run.out.contains("2 of 8 results were already stored") && run.out.contains(", ours: privacy costs"),
        "{}",
        run.out
    );
    project.dpgp(&["check", "study.toml"]).expect(0);
}
