//! What a stranger reads first: help, completions, and a spec to start from.

use crate::support::cli::{Project, Run};
use crate::support::study::STUDY;

/// The verbs, as `dpgp --help` lists them: a line each, and the last group by name.
fn verbs(project: &Project) -> Vec<String> {
    let help = project.dpgp(&["--help"]).expect(0).out;
    let list = help.split("Options:").next().unwrap();
    let (lines, more) = list.split_once("More (`dpgp COMMAND --help` explains each command):\n").unwrap();
    let lines = lines.lines().filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    let more = more.split("\n\n").next().unwrap().split(',').map(str::trim);
    let verbs: Vec<String> = lines.chain(more).map(str::to_owned).collect();
    assert!(verbs.iter().any(|verb| verb == "run") && verbs.len() > 20, "{list}");
    verbs
}

/// A newcomer sees at most a dozen verbs, in groups, on one screen.
#[test]
fn the_help_fits_a_screen() {
    let help = Project::empty().dpgp(&["--help"]).expect(0).out;
    let list = help.split("Options:").next().unwrap();
    assert!(list.lines().count() <= 26 && list.lines().all(|line| line.chars().count() <= 80), "{list}");
    for heading in ["Release your own data:", "Reproduce papers:", "Review:", "More ("] {
        assert!(list.contains(heading), "{list}");
    }
}

/// Verbs that a flag of another replaced still work.
#[test]
fn earlier_verbs_remain() {
    let project = Project::new();
    project.dpgp(&["new", "mine"]).expect(0);
    for verb in ["plan", "explain", "best", "table", "cite", "generate", "price", "stats"] {
        assert!(project.dpgp(&[verb, "--help"]).expect(0).out.contains("Examples:"), "{verb}");
    }
    let same = |earlier: &[&str], now: &[&str]| {
        let [earlier, now] = [earlier, now].map(|arguments| project.dpgp(arguments).expect(0).out);
        assert_eq!(earlier, now);
    };
    same(&["plan", "mine.toml"], &["run", "mine.toml", "--dry-run"]);
    same(&["explain", "mine.toml"], &["run", "mine.toml", "--dry-run", "--why"]);
    same(&["cite", "smith2021/toy"], &["show", "smith2021/toy", "--cite"]);
    let table = |arguments: &[&str]| project.dpgp(arguments).expect(2).err;
    assert_eq!(table(&["best", "houses"]), table(&["show", "houses", "--best"]));
    assert_eq!(table(&["table", "mine.toml"]), table(&["show", "mine.toml", "--table"]));
    assert!(!project.path("results").join("mine").exists(), "a plan computes nothing");
    assert!(project.dpgp(&["show", "smith2021/toy", "smith2021/fig2"]).expect(2).err.contains("one experiment"));
}

#[test]
fn every_verb_explains_itself_with_examples() {
    let project = Project::empty();
    let top = project.dpgp(&["--help"]).expect(0).out;
    assert!(top.contains("Exit codes:") && top.contains("75 interrupted"), "{top}");
    for verb in verbs(&project) {
        let help = project.dpgp(&[&verb, "--help"]).expect(0).out;
        assert!(help.contains("Examples:") && help.contains("--format"), "{verb}:\n{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 140), "{verb} is too wide:\n{help}");
    }
}

#[test]
fn completions_for_every_shell() {
    let project = Project::empty();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = project.dpgp(&["completions", shell]).expect(0).out;
        assert!(script.contains("DPGP_COMPLETE"), "{shell}: {script}");
    }
    let offered = completed(&project, &[""]);
    assert!(verbs(&project).iter().all(|verb| offered.contains(verb)));
}

/// What a shell of bash is told to offer for the last word.
fn completed(project: &Project, words: &[&str]) -> String {
    let mut command = project.command(&["--", "dpgp"]);
    command.args(words).env("DPGP_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    Run::new(command.output().unwrap()).expect(0).out
}

#[test]
fn names_are_completed_where_they_are_asked_for() {
    let project = Project::new();
    project.write("my.toml", STUDY);
    let offered = completed(&project, &["run", "smith2021/t"]);
    assert!(offered.contains("smith2021/table1") && !offered.contains("lawrence"), "{offered}");
    assert!(completed(&project, &["predict", "my"]).contains("my.toml"));
    assert!(completed(&project, &["data", "verify", "ab"]).contains("abalone"));
    assert!(completed(&project, &["run", "--sha"]).contains("--shard"));
    // An empty variable is none.
    let mut command = project.command(&["list", "toy"]);
    assert!(Run::new(command.env("DPGP_COMPLETE", "").output().unwrap()).expect(0).out.contains("smith2021/toy"));
}

#[test]
fn the_manual_has_a_page_for_every_verb() {
    let project = Project::empty();
    let page = project.dpgp(&["man"]).expect(0).out;
    let verbs = verbs(&project);
    assert!(page.contains(".TH dpgp 1") && verbs.iter().all(|verb| page.contains(verb)), "{page}");
    for verb in verbs {
        let page = project.dpgp(&["man", &verb]).expect(0).out;
        assert!(page.contains(&format!(".TH dpgp-{verb} 1")) && page.contains("Examples:"), "{page}");
    }
    assert!(project.dpgp(&["man", "nonesuch"]).expect(2).err.contains("nonesuch"));
}

#[test]
fn a_new_spec_runs_as_it_is() {
    let project = Project::empty();
    let run = project.dpgp(&["new", "mine"]).expect(0);
    assert!(run.out.contains("dpgp run mine.toml"), "{}", run.out);
    let run = project.dpgp(&["run", "mine.toml", "--rows"]).expect(0);
    assert!(run.out.contains("holds, ours: privacy costs accuracy"), "{}", run.out);
    project.dpgp(&["run", "mine.toml", "--quick"]).expect(0);
    let before = project.read("mine.toml");
    project.write("mine.toml", "precious");
    assert!(project.dpgp(&["new", "mine.toml"]).expect(2).err.contains("mine.toml already exists"));
    assert_eq!(project.read("mine.toml"), "precious");
    assert_ne!(before, "precious");
    project.dpgp(&["new", ""]).expect(2);
}

#[test]
fn every_verb_speaks_json() {
    let project = Project::new();
    project.dpgp(&["new", "mine"]).expect(0);
    project.dpgp(&["run", "mine.toml", "--shard", "1/2"]).expect(0);
    project.dpgp(&["run", "mine.toml", "--shard", "2/2"]).expect(0);
    let commands: &[&[&str]] = &[
        &["collect", "store"],
        &["run", "mine.toml"],
        &["check", "mine.toml"],
        &["plan", "mine.toml"],
        &["explain", "mine.toml"],
        &["diff", "results", "results"],
        &["report"],
        &["list"],
        &["emit", "make", "mine.toml", "--shards", "2"],
        &["generate", "--rows", "3", "--out", "trips.csv"],
        &["stats", "beyond/citibike-scale", "trips.csv", "--timings"],
        &["ledger", "show"],
        &["ledger", "verify"],
        &["data", "list"],
        &["data", "verify", "census2011-ages"],
        &["new", "other"],
        &["schema", "spec"],
        &["completions", "bash"],
    ];
    for command in commands {
        project.dpgp(&[*command, &["--format", "json"]].concat()).expect(0).json();
    }
}
