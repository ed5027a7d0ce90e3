//! Shipped experiments as a start of one's own.

use crate::support::cli::Project;

#[test]
fn every_shipped_experiment_can_be_copied_and_keeps_its_cells() {
    let project = Project::new();
    let list = project.dpgp(&["list", "--format", "json"]).expect(0).json();
    let mut copies = vec!["plan".to_owned(), "--format".to_owned(), "json".to_owned()];
    let mut cells = Vec::new();
    for (number, experiment) in list.as_array().unwrap().iter().enumerate() {
        let (name, copy) = (experiment["name"].as_str().unwrap(), format!("copy{number}"));
        project.dpgp(&["new", &copy, "--from", name]).expect(0);
        let spec = project.read(&format!("{copy}.toml"));
        assert!(spec.starts_with(&format!("# A copy of {name} ")), "{spec}");
        let spec: toml::Table = spec.parse().unwrap();
        for dropped in ["published", "authors", "reference", "claim", "deviation"] {
            assert!(!spec.contains_key(dropped), "{name}: {dropped}");
        }
        let experiment_section = spec["experiment"].as_table().unwrap();
        assert!(!experiment_section.contains_key("paper") && !experiment_section.contains_key("artefact"), "{name}");
        copies.push(format!("{copy}.toml"));
        cells.push(experiment["cells"].clone());
    }
    let copies: Vec<&str> = copies.iter().map(String::as_str).collect();
    let plan = project.dpgp(&copies).expect(0).json();
    let planned: Vec<_> = plan.as_array().unwrap().iter().map(|plan| plan["cells"].clone()).collect();
    assert_eq!(planned, cells);
}

#[test]
fn a_copy_runs_and_finds_what_the_original_does() {
    let project = Project::new();
    let made = project.dpgp(&["new", "--from", "smith2021/toy"]).expect(0).out;
    assert!(made.contains("wrote toy.toml; try: dpgp run toy.toml"), "{made}");
    project.dpgp(&["run", "toy.toml"]).expect(0);
    project.dpgp(&["run", "smith2021/toy"]).expect(0);
    let [own, shipped] = ["results/toy", "results/smith2021/toy"].map(|folder| values(&project, folder));
    assert!(!own.is_empty());
    assert_eq!(own, shipped);
    // Nothing is written over.
    project.dpgp(&["new", "--from", "smith2021/toy"]).expect(2);
    assert!(project.dpgp(&["new", "--from", "smith2021"]).expect(2).err.contains("choose one"));
    project.dpgp(&["new", "--from", "smith2021/toy", "--data", "a.csv"]).expect(2);
}

#[test]
fn an_experiment_is_shown_with_what_its_results_say() {
    let project = Project::new();
    let text = project.dpgp(&["show", "smith2021/toy"]).expect(0).out;
    assert!(text.contains("paper:    smith2021,") && text.contains("results:  not run\n"), "{text}");
    project.dpgp(&["run", "smith2021/toy"]).expect(0);
    let run = project.dpgp(&["run", "smith2021/toy", "--rows"]).expect(0).out;
    let said = run.lines().find(|line| line.contains("claims hold")).unwrap();
    let text = project.dpgp(&["show", "smith2021/toy"]).expect(0).out;
    assert!(text.contains(&format!("results:  {said}\n")), "{text}{run}");
    assert!(text.contains("run it:   dpgp run smith2021/toy\n"));
    let json = project.dpgp(&["show", "smith2021/toy", "--format", "json"]).expect(0).json();
    assert_eq!(json["axes"].as_array().unwrap().len(), 3);
    assert_eq!(json["cells"], 12);
    project.dpgp(&["show", "smith2021"]).expect(2);
}

fn values(project: &Project, folder: &str) -> Vec<String> {
    let text = project.read(&format!("{folder}/table.csv"));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let at = reader.headers().unwrap().iter().position(|heading| heading == "value").unwrap();
    reader.records().map(|record| record.unwrap()[at].to_owned()).collect()
}
