//! The first screen of a run.

use crate::support::cli::Project;

/// What a run of an experiment prints at 80 columns.
fn screen(project: &Project, arguments: &[&str]) -> String {
    let mut command = project.command(&[&["run", "--quiet"], arguments].concat());
    let output = command.env("COLUMNS", "80").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The paper's table, with what it prints and how far ours is, on one screen.
#[test]
fn a_run_answers_on_one_screen() {
    let project = Project::new();
    for name in ["smith2021/toy", "honkela2021/fig1"] {
        let screen = screen(&project, &[name]);
        assert!(screen.starts_with(name), "{screen}");
        assert!(screen.trim_end().lines().count() <= 24, "{name}:\n{screen}");
        assert!(screen.lines().all(|line| line.chars().count() <= 80), "{name}:\n{screen}");
        assert!(screen.contains("claim") && screen.contains("written to"), "{screen}");
    }
}

#[test]
fn printed_numbers_stand_below_ours_with_their_mark() {
    let project = Project::new();
    let screen = screen(&project, &["smith2021/toy"]);
    assert!(screen.contains("printed numbers, ours within "), "{screen}");
    assert!(screen.contains('✓') || screen.contains('≈'), "{screen}");
}

/// Every row is one flag away.
#[test]
fn the_long_table_has_every_row() {
    let project = Project::new();
    let long = screen(&project, &["smith2021/toy", "--rows"]);
    let rows = project.read("results/smith2021/toy/table.csv").lines().count() - 1;
    assert!(long.lines().count() > rows, "{long}");
    assert_eq!(screen(&project, &["smith2021/toy", "-v"]).lines().count(), long.lines().count());
}
