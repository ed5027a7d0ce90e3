//! Texts in a terminal of so many columns; `COLUMNS` says how many, also where there is no terminal.

use crate::support::cli::{Project, Run};
use crate::support::energy::{TARGETS, energy_project};
use crate::support::shipped::root;

fn within(project: &Project, columns: &str, arguments: &[&str]) -> Run {
    Run::new(project.command(arguments).env("COLUMNS", columns).output().unwrap())
}

/// The lines that are wider than so many columns although they could be broken.
fn too_wide(text: &str, columns: usize) -> Vec<&str> {
    text.lines().filter(|line| line.chars().count() > columns && line.trim().contains(' ')).collect()
}

#[test]
fn titles_claims_and_tables_keep_the_width() {
    let project = Project::empty();
    let table = root().join("results/smith2021/table1/table.csv");
    let table = table.to_str().unwrap();
    for arguments in [
        &["list"][..],
        &["show", "smith2021/table1"],
        &["best", "houses"],
        &["table", "beyond/leaderboard/houses"],
        &["grade", table, "--experiment", "smith2021/table1"],
    ] {
        let run = within(&project, "80", arguments);
        assert_eq!(too_wide(&run.out, 80), [""; 0], "{arguments:?}");
        assert!(run.out.lines().count() > 5, "{}", run.out);
        // Without a number of columns every sentence is one line, and a number that is none says nothing.
        let [whole, nothing] = ["", "0"].map(|columns| within(&project, columns, arguments).out);
        assert_eq!(whole, nothing);
        assert_eq!(whole, project.dpgp(arguments).out);
    }
    // The names of all experiments stand below each other in 80 columns.
    let list = within(&project, "80", &["list"]).out;
    assert!(list.starts_with(" name ") && list.contains("(left out at this width: dataset"), "{list}");
}

#[test]
fn a_run_keeps_the_width() {
    let title = "the energy that a house takes by the temperature of the day on which it takes it, with noise";
    let project = energy_project(&TARGETS.replace("energy by temperature", title));
    let run = within(&project, "60", &["run", "energy.toml", "--quiet"]).expect(0);
    assert!(!run.out.contains(title), "{}", run.out);
    assert_eq!(too_wide(&run.out, 60), [""; 0], "{}", run.out);
    // What there is one of is said in the singular.
    let report = project.dpgp(&["report", "energy.toml", "--out", "r.html"]).expect(0).out;
    assert_eq!(report, "1 experiment; written to r.html\n");
    let shard = project.dpgp(&["run", "energy.toml", "--quiet", "--seed", "2", "--shard", "1/1"]).expect(0).out;
    assert!(shard.starts_with("energy, shard 1/1: 1 block computed and stored in "), "{shard}");
}
