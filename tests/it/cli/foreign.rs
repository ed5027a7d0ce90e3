//! Projects, specs and manifests of somebody else: they lead nothing out of their folder, and nothing in it is trusted that its owner could change.

use std::os::unix::fs::{MetadataExt, chown, lchown, symlink};
use std::path::Path;
use std::process::Command;

use crate::support::cli::{Project, Run};
use crate::support::energy::{RECORDS, TARGETS, energy_project};
use crate::support::http_server::{Server, Site};
use crate::support::shipped::{root, shipped};
use crate::support::study::STUDY;

/// A user that is nobody of ours.
const STRANGER: u32 = 65_534;

const RELEASE: &[&str] = &["predict", "energy.toml", "--at", "grid.csv", "--quiet", "--out"];

/// A folder beside the project in which nothing may change.
fn victim(project: &Project) {
    for name in ["table.csv", "table.md", "claims.csv", "figure.svg", "manifest.json", "timing.json"] {
        project.put(&format!("victim/{name}"), "mine");
    }
}

fn assert_untouched(project: &Project, after: &str) {
    let entries = std::fs::read_dir(project.path("victim")).unwrap();
    let names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.len(), 6, "{after}: {names:?}");
    assert!(names.iter().all(|name| project.read(&format!("victim/{name}")) == "mine"), "{after}");
}

/// Runs `dpgp` with the store and the cache of the project itself.
fn inside(project: &Project, folder: &str, arguments: &[&str]) -> Run {
    let mut command = project.command(arguments);
    for name in ["DPGP_DATA", "DPGP_STORE", "DPGP_MIRROR"] {
        command.env_remove(name);
    }
    Run::new(command.env("DPGP_LOCAL_URLS", "1").current_dir(project.path(folder)).output().unwrap())
}

/// A project with a manifest that has one file at an address.
fn fetching(path: &str, url: &str) -> Project {
    let project = Project::with_manifest(&format!(
        "[dataset.rows]\ntitle = \"\"\nlicence = \"\"\ncitation = \"\"\nsource = \"\"\nformat.csv.columns = [\"x\", \"y\"]\n\
         [[dataset.rows.file]]\npath = {path:?}\nsha256 = \"unknown\"\nmax_bytes = 100\nurls = [{url:?}]\n"
    ));
    victim(&project);
    project
}

fn server() -> Server {
    Server::start(vec![Site { path: "/rows", body: b"x,y\n1,2\n".to_vec(), ranges: true, answers: vec![] }])
}

/// The cache, a folder in it, the file, the lock file and the part of a download.
#[test]
fn downloads_go_through_no_link() {
    let server = server();
    for (link, to) in [
        ("data/cache", "../victim"),
        ("data/cache/w", "../../victim"),
        ("data/cache/w", "../../nowhere"),
        ("data/cache/w/rows.csv", "../../../nowhere"),
        ("data/cache/datasets.lock.toml", "../../nowhere"),
        ("data/cache/datasets.lock.toml.guard", "../../nowhere"),
        ("data/cache/w/rows.csv.unknown.part", "../../../nowhere"),
        ("data/cache/w/rows.csv.unknown.lock", "../../../nowhere"),
    ] {
        let project = fetching("w/rows.csv", &server.url("/rows"));
        std::fs::create_dir_all(project.path(link).parent().unwrap()).unwrap();
        symlink(to, project.path(link)).unwrap();
        let run = inside(&project, "", &["data", "fetch", "rows", "--quiet"]).expect(5);
        assert_untouched(&project, link);
        assert!(!project.path("nowhere").exists() && run.err.contains(link), "{link}: {}", run.err);
        // A folder that the user names is his, wherever it is.
        std::fs::create_dir(project.path("own")).unwrap();
        symlink("own", project.path("named")).unwrap();
        inside(&project, "", &["data", "fetch", "rows", "--quiet", "--data", "named"]).expect(0);
        assert_eq!(project.read("own/w/rows.csv"), "x,y\n1,2\n", "{link}");
    }
}

/// Folders of results and of the store, and files of results: all are refused before anything is computed.
#[test]
fn results_and_stores_go_through_no_link() {
    for (link, to) in [
        ("results", "victim"),
        ("results/study", "../victim"),
        ("results/study", "../nowhere"),
        ("results/study/table.md", "../../victim/table.md"),
        ("results/study/timing.json", "../../nowhere"),
        ("data/store", "../victim"),
        ("data", "victim"),
    ] {
        let project = Project::empty();
        project.write("study.toml", STUDY);
        victim(&project);
        std::fs::create_dir_all(project.path(link).parent().unwrap()).unwrap();
        symlink(to, project.path(link)).unwrap();
        let run = inside(&project, "", &["run", "study.toml", "--quiet"]).expect(5);
        assert_untouched(&project, link);
        assert!(!project.path("nowhere").exists() && run.err.contains("is a link"), "{link}: {}", run.err);
        assert!(!project.path("data/store").is_dir() || link == "data/store", "{link}");
    }
}

/// Whether this process may give files away.
fn is_root(project: &Project) -> bool {
    std::fs::metadata(project.path("")).unwrap().uid() == 0
}

/// A project with the toy experiment in which `work/deep` is a folder of the user's.
fn above() -> Project {
    let project = Project::empty();
    project.put("experiments/smith2021/toy.toml", shipped("experiments/smith2021/toy.toml"));
    project.put("data/datasets.toml", std::fs::read(root().join("data/datasets.toml")).unwrap());
    std::fs::create_dir_all(project.path("work/deep")).unwrap();
    project
}

#[test]
fn a_project_above_is_told() {
    let project = above();
    let run = inside(&project, "work/deep", &["list"]).expect(0);
    let folder = project.folder.path().canonicalize().unwrap();
    assert_eq!(run.err.trim(), format!("using the project in {}, above this folder", folder.display()));
    assert_eq!(inside(&project, "", &["list"]).expect(0).err, "");
}

/// Each part of a project that somebody else owns, in the folder of the command and above it.
#[test]
fn projects_of_others_are_not_used() {
    for part in ["", "experiments", "data", "data/datasets.toml"] {
        let project = above();
        if !is_root(&project) {
            return;
        }
        chown(project.path(part), Some(STRANGER), None).unwrap();
        for folder in ["", "work/deep"] {
            let run = inside(&project, folder, &["run", "smith2021/toy", "--quiet"]).expect(2);
            assert!(run.err.contains("belongs to ") && run.err.contains("(user 65534)"), "{part}: {}", run.err);
            assert!(run.err.contains("DPGP_SAFE_PROJECTS="), "{}", run.err);
            assert!(!project.path("results").exists() && !project.path("data/store").exists(), "{part}");
        }
    }
}

#[test]
fn a_project_of_somebody_else_is_used_where_that_is_said() {
    let project = above();
    if !is_root(&project) {
        return;
    }
    lchown(project.path("experiments"), Some(STRANGER), None).unwrap();
    let folder = project.folder.path().to_str().unwrap();
    for (variable, value, code) in [
        ("DPGP_SAFE_PROJECTS", folder, 0),
        ("DPGP_SAFE_PROJECTS", "*", 0),
        ("DPGP_SAFE_PROJECTS", "../..", 0),
        ("DPGP_SAFE_PROJECTS", &format!("/nowhere:{folder}"), 0),
        ("DPGP_SAFE_PROJECTS", "/nowhere", 2),
        ("DPGP_SAFE_PROJECTS", "", 2),
        ("SUDO_UID", "65534", 0),
        ("SUDO_UID", "1", 2),
    ] {
        let mut command = project.command(&["list"]);
        command.env_remove("SUDO_UID").env(variable, value).current_dir(project.path("work/deep"));
        let run = Run::new(command.output().unwrap());
        assert_eq!(run.code, code, "{variable}={value}: {}", run.err);
    }
}

/// A spec in `spec` that reads a file of this name.
fn reading(project: &Project, name: &str) {
    project.put("spec/energy.toml", TARGETS.replace("\"energy.csv\"", &format!("{name:?}")));
    project.put("spec/grid.csv", "temperature\n-5\n5\n");
}

/// Files that are reached by a path, by a link, by a pattern or as a folder are named before they are read; a file beside the spec is not.
#[test]
fn files_outside_of_the_folder_of_a_spec_are_named() {
    let project = energy_project(TARGETS);
    std::fs::create_dir(project.path("spec")).unwrap();
    std::fs::create_dir(project.path("out")).unwrap();
    std::fs::copy(project.path("energy.csv"), project.path("out/energy.csv")).unwrap();
    std::fs::copy(project.path("energy.csv"), project.path("spec/own.csv")).unwrap();
    symlink("../out/energy.csv", project.path("spec/link.csv")).unwrap();
    symlink("../out", project.path("spec/linked")).unwrap();
    let file = project.path("out/energy.csv").canonicalize().unwrap();
    let told = format!("reading {} (outside the folder of the spec)\n", file.display());
    let absolute = file.to_str().unwrap();
    for name in [absolute, "../out/energy.csv", "link.csv", "linked/energy.csv", "../out/*.csv", "../out", "linked"] {
        reading(&project, name);
        for verb in [
            &["run", "spec/energy.toml", "--quiet"][..],
            &["predict", "spec/energy.toml", "--at", "grid.csv", "--quiet"],
        ] {
            let run = project.dpgp(verb).expect(0);
            assert!(run.err.starts_with(&told) && run.err.matches("reading").count() == 1, "{name}: {}", run.err);
        }
    }
    reading(&project, "own.csv");
    assert!(!project.dpgp(&["run", "spec/energy.toml", "--quiet"]).expect(0).err.contains("reading"));
}

/// No word of a file outside stands in an error, whatever is wrong with it.
#[test]
fn errors_show_nothing_of_files_outside() {
    let secrets = [
        "hunter2-decoy\n",
        "hunter2-decoy,hunter2-decoy\n1,2\n",
        "temperature,kwh\nhunter2-decoy,1\n",
        "temperature,kwh\n1,hunter2-decoy,3\n",
    ];
    let project = Project::empty();
    for secret in secrets {
        project.put("out/secret", secret);
        project.put("out/secret.parquet", secret);
        project.put("out/secret.csv.gz", secret);
        for name in ["../out/secret", "../out/secret.parquet", "../out/secret.csv.gz"] {
            reading(&project, name);
            for verb in [&["run", "spec/energy.toml"][..], &["predict", "spec/energy.toml", "--at", "spec/grid.csv"]] {
                let run = project.dpgp(verb);
                assert_ne!(run.code, 0);
                let said = run.out + &run.err;
                assert!(said.contains("secret") && !said.contains("hunter2"), "{name}, {secret:?}: {said}");
            }
        }
    }
    reading(&project, "/proc/self/environ");
    let mut command = project.command(&["run", "spec/energy.toml"]);
    let run = Run::new(command.env("API_TOKEN", "hunter2-decoy").output().unwrap());
    assert!(run.code != 0 && run.err.contains("/environ") && !run.err.contains("hunter2"), "{}", run.err);
}

/// A file of a dataset that is a link out of the project is named, too, and a link in the place of a result is not read.
#[test]
fn errors_show_nothing_behind_linked_rows_and_results() {
    let project = fetching("w/rows.csv", "https://example.invalid/rows.csv");
    std::fs::create_dir_all(project.path("data/cache")).unwrap();
    let outer = tempfile::tempdir().unwrap();
    std::fs::write(outer.path().join("rows.csv"), "hunter2-decoy\n1\n").unwrap();
    symlink(outer.path(), project.path("data/cache/w")).unwrap();
    let inline = STUDY.lines().find(|line| line.starts_with("source.inline")).unwrap();
    project.write("study.toml", &STUDY.replace(inline, "source.dataset = \"rows\""));
    let run = inside(&project, "", &["run", "study.toml", "--quiet"]).expect(2);
    let file = outer.path().join("rows.csv").canonicalize().unwrap();
    let told = format!("reading {} (outside the folder of the project)\n", file.display());
    assert!(run.err.starts_with(&told) && !run.err.contains("hunter2"), "{}", run.err);
    project.write("study.toml", STUDY);
    inside(&project, "", &["run", "study.toml", "--quiet"]).expect(0);
    std::fs::remove_file(project.path("results/study/table.csv")).unwrap();
    symlink(&file, project.path("results/study/table.csv")).unwrap();
    for verb in [&["table", "study.toml"][..], &["check", "study.toml", "--quiet"], &["show", "study.toml"]] {
        let run = inside(&project, "", verb);
        assert!(run.code != 0 && !(run.out + &run.err).contains("hunter2"), "{verb:?}");
    }
}

/// A link in the place of a spec, a manifest or a list of coverage that leads to a file with secrets in the same language.
#[test]
fn errors_show_nothing_behind_linked_specs() {
    let secret = "[registry]\ntoken = \"hunter2-decoy\" hunter2-decoy\n";
    for (link, verb) in [
        ("experiments/a.toml", &["run", "a"][..]),
        ("experiments/a.toml", &["list"]),
        ("mine.toml", &["run", "mine.toml"]),
        ("data/datasets.toml", &["data", "list"]),
    ] {
        for text in [secret, "hunter2-decoy\n", "[experiment]\ntitle = 1\n[hunter2-decoy]\n", "hunter2-decoy = 1\n"] {
            let project = Project::empty();
            project.put("secret/credentials.toml", text);
            project.put("p/experiments/toy.toml", shipped("experiments/smith2021/toy.toml"));
            project.put("p/data/datasets.toml", std::fs::read(root().join("data/datasets.toml")).unwrap());
            let path = project.path("p").join(link);
            let _ = std::fs::remove_file(&path);
            symlink(project.path("secret/credentials.toml"), path).unwrap();
            let run = inside(&project, "p", verb);
            let said = run.out + &run.err;
            assert!(!said.contains("hunter2") && said.contains("details are hidden"), "{link}, {text}: {said}");
        }
    }
}

/// A manifest has no machine of the user's own networks asked, by whatever name, unless the user lets it.
#[test]
fn manifests_reach_the_internet_alone() {
    let server = server();
    let port = server.url("").rsplit(':').next().unwrap().to_owned();
    for host in [
        "http://127.0.0.1:PORT",
        "http://127.1:PORT",
        "http://2130706433:PORT",
        "http://0x7f.1:PORT",
        "http://localhost:PORT",
        "http://[::1]:PORT",
        "https://127.0.0.1:PORT",
        "https://[::ffff:127.0.0.1]:PORT",
        "https://localhost:PORT",
        "https://localhost.:PORT",
        "https://a.localhost:PORT",
        "https://0.0.0.0:PORT",
        "https://10.0.0.1",
        "https://192.168.0.1",
        "https://169.254.169.254",
        "https://[fe80::1]",
        "https://[fd00::1]",
    ] {
        let project = fetching("rows.csv", &format!("{}/rows", host.replace("PORT", &port)));
        let mut command = project.command(&["data", "fetch", "rows", "--quiet"]);
        let run = Run::new(command.env_remove("DPGP_MIRROR").env_remove("DPGP_LOCAL_URLS").output().unwrap());
        assert!(run.code == 3 && run.err.contains("DPGP_LOCAL_URLS"), "{host}: {}", run.err);
        assert!(!project.path("cache/rows.csv").exists());
    }
    assert_eq!(server.requests(), []);
}

/// A checkout whose own configuration names programs: git is asked for the commit, and calls none of them.
#[test]
fn git_calls_nothing_that_a_checkout_names() {
    let project = above();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let done = Command::new("git").current_dir(project.path("")).args(identity).args(arguments).output();
        assert!(done.unwrap().status.success(), "{arguments:?}");
    };
    if Command::new("git").arg("--version").output().is_err() {
        return;
    }
    project.write(".gitattributes", "*.txt filter=evil=x\n*.md filter=evil\n");
    project.write("a.txt", "a");
    project.write("a.md", "a");
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "first"]);
    let called = format!("touch '{}'", project.path("called").display());
    for key in ["core.fsmonitor", "filter.evil.clean", "filter.evil=x.clean", "filter.evil.process"] {
        git(&["config", key, &called]);
    }
    git(&["config", "filter.evil.required", "true"]);
    // As long as before, so that git looks at what stands in it.
    project.write("a.txt", "b");
    project.write("a.md", "b");
    inside(&project, "", &["run", "smith2021/toy", "--quiet"]).expect(0);
    assert!(!project.path("called").exists());
    let manifest = project.json("results/smith2021/toy/manifest.json").to_string();
    assert!(manifest.contains("-dirty"), "{manifest}");
}

/// What the state folder remembered of a ledger is missed, until the user says that it is to be forgotten.
#[test]
fn ledgers_are_not_forgotten() {
    let project = energy_project(&RECORDS.replace("epsilon = 1.0", "epsilon = 0.1"));
    let mut number = 0;
    let mut release = || {
        number += 1;
        project.dpgp(&[RELEASE, &[&format!("{number}.csv")]].concat())
    };
    release().expect(0);
    let copy = Command::new("cp").args(["-r", "state", "early"]).current_dir(project.path("")).status();
    assert!(copy.unwrap().success());
    release().expect(0);
    let heads = std::fs::read_dir(project.path("state/ledgers")).unwrap().map(|entry| entry.unwrap().path());
    let head = heads.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "head")).unwrap();
    let ledger = head.with_extension("toml");
    std::fs::copy(project.path("early/ledgers").join(ledger.file_name().unwrap()), &ledger).unwrap();
    std::fs::remove_file(&head).unwrap();
    let run = release().expect(5);
    assert!(run.err.contains(".head is missing"), "{}", run.err);
    std::fs::remove_dir_all(project.path("state/ledgers")).unwrap();
    let run = release().expect(5);
    let mark = project.path("state/counted").join(head.file_stem().unwrap());
    assert!(run.err.contains(&format!("delete {}", mark.display())), "{}", run.err);
    project.dpgp(&["ledger", "verify"]).expect(5);
    std::fs::remove_file(mark).unwrap();
    release().expect(0);
}

#[test]
fn a_limit_of_the_size_of_files_is_an_error() {
    let project = energy_project(RECORDS);
    let program = env!("CARGO_BIN_EXE_dpgp");
    let command = format!("ulimit -f 1; exec '{program}' predict energy.toml --at grid.csv --quiet --out p.csv");
    let mut shell = Command::new("sh");
    shell.args(["-c", &command]).current_dir(project.path("")).env("DPGP_STATE", project.path("state"));
    let run = Run::new(shell.output().unwrap()).expect(5);
    assert!(run.err.contains("error: ") && !project.path("p.csv").exists(), "{}", run.err);
    project.dpgp(&[RELEASE, &["p.csv"]].concat()).expect(0);
}

/// What a process of this machine that was killed left beside a file is gone after the next run.
#[cfg(target_os = "linux")]
#[test]
fn temporary_files_of_killed_processes_are_collected() {
    let project = energy_project(RECORDS);
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let left = format!(".dpgp-{}-left.tmp", boot.split('-').next().unwrap());
    project.write(&left, "half");
    project.write(".dpgp-other", "mine");
    project.dpgp(&[RELEASE, &["p.csv"]].concat()).expect(0);
    let names = std::fs::read_dir(Path::new(&project.path(""))).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(!names.iter().any(|name| name.ends_with(".tmp")), "{names:?}");
    assert!(names.contains(&".dpgp-other".to_owned()));
}
