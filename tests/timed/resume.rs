//! The store: interrupted runs go on, torn segments are read as far as they are whole, nothing is computed twice.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::support::cli::{Project, Run};
use crate::support::study::{SLOW_STUDY, STUDY};

/// The lines of a kind in all segments of a store, by key.
fn lines(store: &Path, kind: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for entry in std::fs::read_dir(store).into_iter().flatten() {
        let text = String::from_utf8_lossy(&std::fs::read(entry.unwrap().path()).unwrap()).into_owned();
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        for line in whole.filter(|line| line.starts_with(kind)) {
            *counts.entry(line[5..69].to_owned()).or_default() += 1;
        }
    }
    counts
}

/// Waits until a store holds so many results.
fn wait_for(store: &Path, results: usize) {
    while lines(store, "done").len() < results {
        std::thread::sleep(Duration::from_micros(500));
    }
}

fn reference(spec: &str) -> String {
    let project = Project::with_study(spec);
    project.dpgp(&["run", "study.toml"]).expect(0);
    project.read("results/study/table.csv")
}

fn start(project: &Project) -> Child {
    let mut command = project.command(&["run", "study.toml", "--jobs", "2", "--quiet"]);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_killed_run_goes_on_and_ends_the_same() {
    let expected = reference(SLOW_STUDY);
    let mut random = Pcg64::seed_from_u64(20);
    for _ in 0..20 {
        let project = Project::with_study(SLOW_STUDY);
        let mut child = start(&project);
        // At least so many results, and then any moment of the next block.
        wait_for(&project.path("store"), random.random_range(0..100));
        std::thread::sleep(Duration::from_micros(random.random_range(0..5000)));
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success(), "the run was over before it was killed");
        let before = lines(&project.path("store"), "done").len();
        let run = project.dpgp(&["run", "study.toml", "--format", "json"]).expect(0);
        let report = run.json();
        assert_eq!(report["stored_before"], before, "what is on disk is taken over");
        assert_eq!(project.read("results/study/table.csv"), expected);
        let done = lines(&project.path("store"), "done");
        assert!(done.values().all(|&count| count == 1), "a result was computed twice");
        assert_eq!(done.len(), 120);
    }
}

fn segments(project: &Project) -> usize {
    std::fs::read_dir(project.path("store")).unwrap().count()
}

#[test]
fn a_second_run_computes_nothing_and_changes_nothing() {
    let project = Project::with_study(STUDY);
    project.dpgp(&["run", "study.toml"]).expect(0);
    let before = project.read("results/study/manifest.json");
    assert_eq!(segments(&project), 1);
    let run = project.dpgp(&["run", "study.toml"]).expect(0);
    assert!(run.out.contains("nothing to compute: all 8 results are stored"), "{}", run.out);
    assert_eq!(project.read("results/study/manifest.json"), before);
    assert_eq!(segments(&project), 1);
}

#[test]
fn one_new_value_of_a_grid_computes_only_its_cells() {
    let project = Project::with_study(STUDY);
    project.dpgp(&["run", "study.toml"]).expect(0);
    project.write("study.toml", &STUDY.replace("[5.0, 10.0]", "[5.0, 10.0, 20.0]"));
    let run = project.dpgp(&["run", "study.toml", "--format", "json"]).expect(0);
    let report = run.json();
    assert_eq!(report["stored_before"], 8);
    // Both epsilons of the new lengthscale are one block; there are two replicates.
    assert_eq!(report["computed_blocks"], 2);
    // An inner axis: the design of each block is computed again, but only for the new epsilon.
    project.write("study.toml", &STUDY.replace("[1.0, inf]", "[1.0, inf, 2.0]"));
    project.dpgp(&["run", "study.toml"]).expect(0);
    assert_eq!(lines(&project.path("store"), "done").len(), 8 + 4 + 4);
    assert_eq!(reference(&STUDY.replace("[1.0, inf]", "[1.0, inf, 2.0]")), project.read("results/study/table.csv"));
}

#[test]
fn a_segment_cut_anywhere_is_read_as_far_as_it_is_whole() {
    let project = Project::with_study(STUDY);
    project.dpgp(&["run", "study.toml"]).expect(0);
    let expected = project.read("results/study/table.csv");
    let segment = std::fs::read_dir(project.path("store")).unwrap().next().unwrap().unwrap().path();
    let whole = std::fs::read(&segment).unwrap();
    let ends: Vec<usize> = (0..whole.len()).filter(|&i| whole[i] == b'\n').collect();
    let cuts = ends.iter().flat_map(|&end| [end.saturating_sub(40), end, end + 1, end + 30]);
    for cut in cuts.filter(|&cut| cut < whole.len()) {
        std::fs::remove_dir_all(project.path("store")).unwrap();
        std::fs::create_dir(project.path("store")).unwrap();
        std::fs::write(&segment, &whole[..cut]).unwrap();
        let kept = whole[..cut].iter().filter(|&&byte| byte == b'\n').count();
        let done = ends[..kept].iter().zip(std::iter::once(&0).chain(&ends)).filter(|(end, start)| {
            let line = &whole[**start..**end];
            line.starts_with(b"done") || line.starts_with(b"\ndone")
        });
        let done = done.count();
        let run = project.dpgp(&["run", "study.toml", "--format", "json"]).expect(0);
        let report = run.json();
        assert_eq!(report["stored_before"], done, "cut at {cut}");
        let torn = cut > 0 && whole[cut - 1] != b'\n';
        assert_eq!(run.err.contains("an incomplete record"), torn, "cut at {cut}: {}", run.err);
        assert_eq!(project.read("results/study/table.csv"), expected, "cut at {cut}");
    }
}

#[test]
fn several_processes_share_a_store_without_locks() {
    let expected = reference(SLOW_STUDY);
    let project = Project::with_study(SLOW_STUDY);
    let children: Vec<Child> = (0..3).map(|_| start(&project)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(project.read("results/study/table.csv"), expected);
    let run = project.dpgp(&["run", "study.toml"]).expect(0);
    assert!(run.out.contains("nothing to compute") && run.err.is_empty(), "{}{}", run.out, run.err);
    assert_eq!(lines(&project.path("store"), "done").len(), 120);
}

/// Whether this process, whose children inherit it, ignores SIGHUP: bit 0 of the mask in its status.
fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

#[test]
fn signals_stop_a_run_that_goes_on_and_ends_the_same() {
    let expected = reference(SLOW_STUDY);
    for signal in ["INT", "TERM", "HUP"] {
        if signal == "HUP" && ignores_hangups() {
            println!("skipped: SIGHUP is ignored here, as under nohup, and so by the program");
            continue;
        }
        let project = Project::with_study(SLOW_STUDY);
        let mut command = project.command(&["run", "study.toml", "--jobs", "1"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for(&project.path("store"), 1);
        Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        let run = Run::new(child.wait_with_output().unwrap()).expect(75);
        // On a slow machine the block in flight does not end within the grace.
        let ended = ["blocks are stored; run", "stopped: unfinished blocks are not stored"];
        let is_told = run.err.contains("stopping:") && ended.iter().any(|words| run.err.contains(words));
        assert!(is_told, "{}", run.err);
        assert!(!project.path("results").exists());
        let run = project.dpgp(&["run", "study.toml"]).expect(0);
        assert!(run.out.contains("of 120 results were already stored"), "{}", run.out);
        assert_eq!(project.read("results/study/table.csv"), expected);
    }
}

/// One block that takes minutes: the exact covariances of 3000 rows, in as many dimensions.
const LONG_BLOCK: &str = r#"
experiment.title = "long"
[data]
source.synthetic.moons = { points = 3000, noise = 0.1 }
inputs = ["x1", "x2"]
target = "class"
[model]
kernel.eq = { variance = 10.0, lengthscale = 0.01 }
[task.classification]
train = 2500
draws = 1000
iterations = 1000
positive = { is = "==", value = 1.0 }
[privacy]
epsilon = 1.0
delta = 0.01
change = 2.0
mechanism.cloaking = { objective = "log-det", rank_tolerance = 1e-8 }
"#;

/// A block that goes on is left after a moment, and every verb ends within a second of the first signal.
#[test]
fn long_blocks_are_left_at_the_first_signal() {
    for arguments in [&["run", "study.toml"][..], &["audit", "study.toml"], &["check", "study.toml"]] {
        for signal in ["INT", "TERM"] {
            let project = Project::with_study(LONG_BLOCK);
            let mut command = project.command(arguments);
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            // Until it is computing; before, the signal ends it at once.
            std::thread::sleep(Duration::from_millis(1500));
            if arguments[0] == "run" {
                assert!(child.try_wait().unwrap().is_none(), "the block was done at once");
            }
            let start = Instant::now();
            Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
            let run = Run::new(child.wait_with_output().unwrap());
            assert!(start.elapsed() < Duration::from_secs(2), "{arguments:?} {:?}", start.elapsed());
            if arguments[0] == "run" {
                assert!(run.expect(75).err.contains("stopped: unfinished blocks are not stored"));
                assert!(!project.path("results").exists());
            }
        }
    }
}

/// What keeps nothing on its way deletes its temporary file, too.
#[test]
fn signals_leave_no_temporary_files() {
    for signal in ["INT", "TERM"] {
        let project = Project::empty();
        let mut command = project.command(&["generate", "--rows", "1e12", "--out", "rows.csv"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while files(&project) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        let start = Instant::now();
        Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        Run::new(child.wait_with_output().unwrap()).expect(75);
        assert!(start.elapsed() < Duration::from_secs(2), "{signal}: {:?}", start.elapsed());
        assert_eq!(files(&project), 0, "{signal}");
    }
}

fn files(project: &Project) -> usize {
    std::fs::read_dir(project.folder.path()).unwrap().count()
}

#[test]
fn failures_keep_what_succeeded() {
    // Squares of noise on this scale overflow.
    let spec = STUDY.replace("\"privacy.epsilon\"", "\"privacy.change\" = [8.0, 1e300]\n\"privacy.epsilon\"");
    let project = Project::with_study(&spec);
    let run = project.dpgp(&["run", "study.toml"]).expect(4);
    assert!(run.err.contains("blocks failed") && run.err.contains("replicate 1"), "{}", run.err);
    assert!(!lines(&project.path("store"), "done").is_empty());
    let all = run.err.matches("cell ").count();
    let fast = Project::with_study(&spec);
    let run = fast.dpgp(&["run", "study.toml", "--fail-fast", "--jobs", "1"]).expect(4);
    assert!(run.err.matches("cell ").count() < all, "{}", run.err);
}
