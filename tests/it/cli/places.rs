//! Where files are found and written: inside and outside a project, links and pipes.

use std::process::Command;

use crate::support::cli::{Project, Run};
use crate::support::study::STUDY;

#[test]
fn an_empty_folder_has_the_experiments_that_come_with_the_program() {
    let (empty, whole) = (Project::empty(), Project::new());
    assert_eq!(names(&empty), names(&whole));
    let run = empty.dpgp(&["run", "smith2021/toy"]).expect(0);
    assert!(run.out.contains("written to results/smith2021/toy\n"), "{}", run.out);
    whole.dpgp(&["run", "smith2021/toy"]).expect(0);
    let table = "results/smith2021/toy/table.csv";
    assert_eq!(empty.read(table), whole.read(table));
    let run = empty.dpgp(&["check", "experiments/smith2021/toy.toml"]).expect(0);
    assert!(run.out.contains("smith2021/toy: passes"), "{}", run.out);
    // Committed tables come with the program; a table of the user's own stands above them.
    empty.dpgp(&["best", "--epsilon", "1"]).expect(0);
    empty.dpgp(&["table", "beyond/leaderboard/houses"]).expect(0);
    empty.dpgp(&["report", "honkela2021/fig1"]).expect(0);
    whole.dpgp(&["report", "honkela2021/fig1", "--results", "nothing"]).expect(2);
    assert!(empty.read("report.html").contains("agree"), "a report without results");
    empty.put("results/beyond/leaderboard/houses/table.csv", "metric\n");
    empty.dpgp(&["table", "beyond/leaderboard/houses"]).expect(2);
    assert!(empty.dpgp(&["table", "smith2021/fig4", "--results", "mine"]).expect(2).err.contains("mine"));
    assert!(!empty.path("experiments").exists() && !empty.path("data").exists());
}

fn names(project: &Project) -> Vec<String> {
    let list = project.dpgp(&["list", "--format", "json"]).expect(0).json();
    let experiments = list.as_array().unwrap().iter();
    experiments.map(|experiment| experiment["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn data_that_come_with_the_program_need_no_folder() {
    let project = Project::empty();
    let run = project.dpgp_without_mirror(&["data", "fetch", "census2011-ages", "--offline"]).expect(0);
    assert!(project.path("cache/census2011/ages_E00172420.csv").is_file(), "{}", run.out);
    let run = project.dpgp_without_mirror(&["data", "verify", "census2011-ages"]).expect(0);
    assert!(run.out.contains("ages_E00172420.csv: ok"), "{}", run.out);
}

/// A file of the user's own is never taken for one that comes with the program, even at its path.
#[test]
fn a_file_at_the_path_of_a_shipped_spec_is_the_users() {
    let project = Project::empty();
    project.put("experiments/smith2021/toy.toml", STUDY);
    let run = project.dpgp(&["run", "experiments/smith2021/toy.toml"]).expect(0);
    assert!(run.out.contains("written to results/smith2021/toy\n"), "{}", run.out);
    // The folder with it is a project, whose spec it is.
    assert!(run.out.contains("small"), "{}", run.out);
}

#[test]
fn a_project_without_specs_has_nothing_to_select() {
    let project = Project::with_manifest("[dataset]\n");
    for arguments in [&["run", "--all"][..], &["check", "--all"], &["plan", "--all"], &["run", "--quick"], &["list"]] {
        assert!(project.dpgp(arguments).expect(2).err.contains("has no specs"), "{arguments:?}");
    }
    assert!(!project.path("results").exists());
    project.write("study.toml", STUDY);
    project.dpgp(&["run", "study.toml"]).expect(0);
    project.dpgp(&["report", "study.toml"]).expect(0);
    assert!(project.read("report.html").contains("study"));
    assert!(project.dpgp(&["report", "study.toml", "--results", "nowhere"]).expect(2).err.contains("nowhere"));
}

#[test]
fn a_shipped_spec_keeps_its_name_however_it_is_addressed() {
    let project = Project::new();
    let run = project.dpgp(&["run", "experiments/smith2021/toy.toml"]).expect(0);
    assert!(run.out.contains("written to results/smith2021/toy\n"), "{}", run.out);
}

#[test]
fn a_broken_spec_does_not_hide_the_others() {
    let project = Project::empty();
    project.put("data/datasets.toml", "[dataset]\n");
    project.put("experiments/good.toml", STUDY);
    project.put("experiments/bad.toml", STUDY.replace("epsilon = 1.0", "epsilon = -1.0"));
    let run = project.dpgp(&["list"]).expect(2);
    assert!(run.out.contains("good") && run.err.contains("experiments/bad.toml:"), "{}{}", run.out, run.err);
}

#[test]
fn output_follows_links_and_is_written_into_pipes() {
    let project = Project::empty();
    project.write("study.toml", STUDY);
    project.dpgp(&["report", "study.toml", "--out", "target.html"]).expect(0);
    let page = project.read("target.html");
    project.write("target.html", &page.replace("</html>", "<!-- old --></html>"));
    std::os::unix::fs::symlink("target.html", project.path("link.html")).unwrap();
    project.dpgp(&["report", "study.toml", "--out", "link.html"]).expect(0);
    assert!(project.path("link.html").is_symlink());
    assert_eq!(project.read("target.html"), page);
    let pipe = project.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    project.dpgp(&["emit", "make", "study.toml", "--shards", "2", "--out", "pipe"]).expect(0);
    assert!(reader.join().unwrap().contains("SHARDS"));
    assert!(!pipe.is_file());
}

/// What is left of the name without its ending would mean the folder above.
#[test]
fn a_spec_of_dots_stays_inside_its_folder() {
    let project = Project::empty();
    for name in ["...toml", "..toml"] {
        project.write(name, STUDY);
        project.dpgp(&["run", &format!("./{name}"), "--results", "all/out"]).expect(0);
        let outside = std::fs::read_dir(project.path("all")).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(outside.collect::<Vec<_>>(), ["out"], "{name}");
        assert!(!project.path("all/out/table.csv").exists() && project.path(&format!("all/out/{name}")).is_dir());
    }
}

#[test]
fn an_empty_variable_is_unset() {
    let project = Project::new();
    for name in ["DPGP_MIRROR", "DPGP_DATA", "DPGP_STORE", "DPGP_JOBS"] {
        let arguments = ["plan", "smith2021/toy", "--format", "json"];
        let [empty, unset] =
            [project.command(&arguments).env(name, "").output(), project.command(&arguments).env_remove(name).output()]
                .map(|output| Run::new(output.unwrap()).expect(0));
        assert_eq!(empty.json(), unset.json(), "{name}");
    }
    let home = project.path("home");
    let mut command = project.command(&["ledger", "show"]);
    command.env("DPGP_STATE", "").env("XDG_STATE_HOME", "").env("HOME", &home);
    Run::new(command.output().unwrap()).expect(0);
    assert!(home.join(".local/state/dpgp/key").is_file());
}

#[test]
fn a_store_with_rubbish_in_it_is_read_around_it() {
    let project = Project::empty();
    project.write("study.toml", STUDY);
    project.dpgp(&["run", "study.toml"]).expect(0);
    let expected = project.read("results/study/table.csv");
    let segment = std::fs::read_dir(project.path("store")).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&segment).unwrap();
    let key = text.match_indices("\ndone ").nth(2).unwrap().0 + 10;
    std::fs::write(&segment, format!("{}x{}", &text[..key], &text[key + 1..])).unwrap();
    std::fs::create_dir(project.path("store/folder.segment")).unwrap();
    std::os::unix::fs::symlink("nowhere", project.path("store/link.segment")).unwrap();
    let run = project.dpgp(&["run", "study.toml"]).expect(0);
    assert!(run.err.contains("1 lines are damaged"), "{}", run.err);
    assert!(run.out.contains("7 of 8 results were already stored"), "{}", run.out);
    assert_eq!(project.read("results/study/table.csv"), expected);
    project.write("plain", "");
    project.dpgp(&["run", "study.toml", "--store", "plain"]).expect(5);
}

/// Whoever computes committed results again finds nothing changed that they would have to commit.
#[test]
fn the_same_numbers_leave_a_manifest_as_it_was() {
    let project = Project::new();
    let run = ["run", "smith2021/toy", "--store"];
    project.dpgp(&[&run[..], &["a"]].concat()).expect(0);
    let folder = "results/smith2021/toy";
    let names = ["manifest.json", "table.csv", "table.md", "claims.csv", "figure.svg", "figure.json"];
    let before = names.map(|name| project.read(&format!("{folder}/{name}")));
    // As if another commit had computed them.
    let other = before[0].replace("\"version\": \"", "\"version\": \"0.0.");
    project.write(&format!("{folder}/manifest.json"), &other);
    project.dpgp(&[&run[..], &["b"]].concat()).expect(0);
    assert_eq!(project.read(&format!("{folder}/manifest.json")), other);
    assert_eq!(
        names[1..].iter().map(|name| project.read(&format!("{folder}/{name}"))).collect::<Vec<_>>(),
        before[1..]
    );
    assert!(project.json(&format!("{folder}/timing.json"))["cpu_seconds"].is_number());
    assert!(!before[0].contains("seconds") && !before[0].contains("finished"));
    // Other numbers are of another computation.
    let table = project.read(&format!("{folder}/table.csv"));
    project.write(&format!("{folder}/table.csv"), &table.replacen('1', "2", 1));
    project.dpgp(&[&run[..], &["b"]].concat()).expect(0);
    assert_eq!(project.read(&format!("{folder}/manifest.json")), before[0]);
}
