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

/// Options for a table or a ranking are refused without it; tables call an infinite epsilon `none`.
#[test]
fn options_of_show_need_what_they_are_for() {
    let project = Project::new();
    for (options, needed) in [
        (&["--as", "latex"][..], "--table"),
        (&["--metric", "rmse"], "--table"),
        (&["--tidy"], "--table"),
        (&["--epsilon", "1"], "--best"),
    ] {
        let run = project.dpgp(&[&["show", "smith2021/toy"], options].concat()).expect(2);
        assert!(run.err.contains(needed), "{options:?}: {}", run.err);
    }
    Project::empty().dpgp(&["show", "houses", "--best", "--epsilon", "none"]).expect(0);
    project.dpgp(&["run", "smith2021/toy", "--quiet", "--set", "task.selection.epsilon=0.5,none"]).expect(0);
    let said = project.dpgp(&["show", "table1"]).expect(2).err;
    assert!(said.contains("did you mean beyond/noise/table1 or smith2016/table1 or smith2021/table1?"), "{said}");
}

/// Every row is one flag away.
#[test]
fn the_long_table_has_every_row() {
    let project = Project::new();
    let long = screen(&project, &["smith2021/toy", "--rows"]);
    let rows = project.read("results/smith2021/toy/table.csv").lines().count() - 1;
    assert!(long.lines().count() > rows, "{long}");
    assert_eq!(screen(&project, &["smith2021/toy", "-v"]).lines().count(), long.lines().count());
    // `--rows` explains the differences, and the first screen points to it. Nothing in this experiment is random.
    assert!(long.contains("why ") && long.contains(" differs: "), "{long}");
    let short = screen(&project, &["smith2021/toy"]).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(short.contains("differ by more than rounding ✗") && !short.contains("chance"), "{short}");
    assert!(short.contains("`--rows` prints every row and every claim, and why numbers differ"), "{short}");
}
