//! What the pages on specs and on experiments promise.

use crate::support::cli::Project;
use crate::support::shipped::shipped;

/// The first code block of a language on the page about specs, after some words.
fn block(words: &str, language: &str) -> String {
    let page = shipped("docs/write-a-spec.md");
    let after = page.split_once(words).unwrap().1;
    let (_, block) = after.split_once(&format!("```{language}\n")).unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

fn heights() -> String {
    format!("age,height\n{}", (0..60).map(height).collect::<String>())
}

/// A row of the file: an age and a height that grows towards 160 cm.
fn height(age: i32) -> String {
    format!("{age},{}\n", 160.0 - 90.0 * (-f64::from(age) / 8.0).exp())
}

#[test]
fn the_ten_lines_are_a_study() {
    let study = block("# Write a spec", "toml");
    assert_eq!(study.lines().count(), 10);
    let project = Project::with_study(&study);
    project.write("heights.csv", &heights());
    let run = project.dpgp(&["run", "study.toml"]).expect(0);
    assert!(run.out.contains("one target changes by <= 150"), "{}", run.out);
}

#[test]
fn the_grid_extends_the_study() {
    let study = block("# Write a spec", "toml");
    let grid = block("A grid makes a cell", "toml");
    let project = Project::with_study(&format!("{study}\n{grid}"));
    project.write("heights.csv", &heights());
    project.dpgp(&["run", "study.toml", "--quiet"]).expect(0);
    let table = project.read("results/study/table.csv");
    assert_eq!(table.lines().count(), 1 + 4 * 2 * 2 * 2);
}

#[test]
fn the_list_names_every_experiment() {
    let project = Project::new();
    let list = project.dpgp(&["list", "--format", "json"]).expect(0).json();
    let experiments = list.as_array().unwrap();
    assert!(experiments.len() > 40, "{} experiments", experiments.len());
    for experiment in experiments {
        let name = experiment["name"].as_str().unwrap();
        assert!(shipped("docs/experiments.md").contains(&format!("`{name}`")), "the page does not name {name}");
    }
}
