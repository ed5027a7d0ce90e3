//! What takes a while shows how far it is on a terminal, and nothing elsewhere.

use std::process::{Command, Stdio};

use crate::support::cli::{Project, Run};
use crate::support::energy::{TARGETS, energy_project};

const PREDICT: &[&str] = &["predict", "energy.toml", "--at", "grid.csv", "--out", "p.csv", "--quiet"];

/// What a command prints to a terminal; none where no program gives it one.
fn on_terminal(project: &Project, arguments: &[&str]) -> Option<String> {
    let command = project.command(arguments);
    let quoted = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted: Vec<String> = quoted.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
    let mut script = Command::new("script");
    script.args(["-qec", &quoted.join(" "), "/dev/null"]).current_dir(project.folder.path());
    script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let Ok(output) = script.env("TERM", "xterm").stdin(Stdio::null()).output() else {
        eprintln!("skipped: there is no `script`");
        return None;
    };
    Some(Run::new(output).expect(0).out)
}

#[test]
fn verbs_that_take_a_while_show_progress() {
    let project = energy_project(TARGETS);
    project.dpgp(PREDICT).expect(0);
    project.dpgp(&["generate", "--rows", "1e5", "--out", "rows.csv"]).expect(0);
    for (arguments, made, shown) in [
        (&["verify", "p.csv.certificate.json", "p.csv"][..], "none", "B/s"),
        (&["generate", "--rows", "2e5", "--out", "trips.csv"], "trips.csv", "writing"),
        (&["new", "mine", "--data", "rows.csv"], "mine.toml", "reading rows.csv"),
        (
            &["predict", "energy.toml", "--at", "grid.csv", "--out", "q.csv", "--no-ledger"],
            "q.csv",
            "designing the noise",
        ),
        (&["predict", "energy.toml", "--at", "grid.csv", "--preview"], "none", "error at each epsilon"),
        (&["report", "smith2021/toy", "--out", "page.html"], "page.html", "writing the page"),
    ] {
        let run = project.dpgp(arguments).expect(0);
        assert!(run.err.is_empty(), "{arguments:?} {}", run.err);
        for quiet in [&["--quiet"][..], &[]] {
            project.remove(made);
            project.remove(&format!("{made}.certificate.json"));
            let Some(text) = on_terminal(&project, &[arguments, quiet].concat()) else { return };
            assert_eq!(text.contains(shown), quiet.is_empty(), "{arguments:?} {text:?}");
        }
    }
}

/// The file of predictions is read in pieces; what has no end is refused, as for other texts.
#[test]
fn predictions_without_end_are_not_verified() {
    let project = energy_project(TARGETS);
    project.dpgp(PREDICT).expect(0);
    let run = project.dpgp(&["verify", "p.csv.certificate.json", "/dev/zero"]).expect(5);
    assert!(run.err.contains("/dev/zero: is larger than 256 MB"), "{}", run.err);
    let run = project.dpgp(&["ledger", "verify", "--released", "/dev/zero"]).expect(2);
    assert!(run.err.contains("larger than 256 MB"), "{}", run.err);
}
