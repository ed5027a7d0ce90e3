//! A job array on a real one-node Slurm cluster, with a task requeued half-way.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::support::cli::{Project, Run};
use crate::support::shipped::root;
use crate::support::study::SLOW_STUDY;

/// A cluster that is stopped when the test ends, well or not.
struct Cluster {
    folder: tempfile::TempDir,
}

fn script() -> PathBuf {
    root().join("scripts/slurm-test-cluster")
}

impl Cluster {
    /// None where there is no Slurm, or we may not start one.
    fn start() -> Option<Self> {
        let folder = tempfile::Builder::new().prefix("slurm").tempdir_in("/tmp").unwrap();
        let output = Command::new(script()).arg("start").arg(folder.path()).output().unwrap();
        if output.status.code() == Some(77) {
            println!("skipped: {}", String::from_utf8_lossy(&output.stderr).trim());
            return None;
        }
        Run::new(output).expect(0);
        Some(Self { folder })
    }

    fn slurm(&self, project: &Project, program: &str, arguments: &[&str]) -> Run {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(project.folder.path());
        command.env("SLURM_CONF", self.folder.path().join("slurm.conf"));
        command.env("DPGP", env!("CARGO_BIN_EXE_dpgp")).env("DPGP_DATA", project.path("cache"));
        command.env("DPGP_STATE", project.path("state")).env_remove("DPGP_STORE");
        Run::new(command.output().unwrap())
    }

    /// Waits until no part of a job is left.
    fn wait(&self, project: &Project, job: &str) {
        let start = Instant::now();
        while !self.slurm(project, "squeue", &["-h", "-r", "-j", job, "-o", "%i"]).out.trim().is_empty() {
            assert!(start.elapsed() < Duration::from_secs(300), "job {job} did not end");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let _ = Command::new(script()).arg("stop").arg(self.folder.path()).output();
    }
}

/// Results in all segments of a store.
fn results(store: &Path) -> usize {
    let segments = std::fs::read_dir(store).into_iter().flatten();
    let texts = segments.map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    texts.map(|text| String::from_utf8_lossy(&text).matches("\ndone ").count()).sum()
}

#[test]
fn an_array_with_a_requeued_task_makes_the_whole() {
    let Some(cluster) = Cluster::start() else { return };
    let project = Project::new();
    // Long enough for a task to be caught while it runs.
    let spec = SLOW_STUDY.replace("draws = 20000", "draws = 200000");
    project.write("study.toml", &spec);
    let emitted = ["emit", "slurm", "study.toml", "--shards", "3", "--store", "shared store", "--out", "job.sh"];
    project.dpgp(&emitted).expect(0);
    let run = cluster.slurm(&project, "bash", &["job.sh", "--time=10"]).expect(0);
    let ids: Vec<&str> = run.out.split(|c: char| !c.is_ascii_digit()).filter(|s| !s.is_empty()).collect();
    let [array, collector] = ids[..] else { panic!("{}", run.out) };

    let store = project.path("shared store");
    let start = Instant::now();
    while results(&store) < 2 {
        assert!(start.elapsed() < Duration::from_secs(60), "nothing was computed");
        std::thread::sleep(Duration::from_millis(20));
    }
    cluster.slurm(&project, "scontrol", &["requeue", &format!("{array}_1")]).expect(0);
    cluster.wait(&project, collector);

    let task = cluster.slurm(&project, "scontrol", &["show", "job", "-o", &format!("{array}_1")]).expect(0);
    assert!(task.out.contains("Restarts=1") && task.out.contains("ExitCode=0:0"), "{}", task.out);
    let log = project.read(&format!("dpgp-study-{array}_1.log"));
    // Whether the blocks in flight end within the moment that a signal leaves them depends on the load of the machine.
    let is_well = ["interrupted:", "stopped: unfinished blocks are not stored"].iter().any(|end| log.contains(end));
    assert!(is_well && log.contains("shard 1/3"), "the first run stopped well:\n{log}");
    let log = project.read(&format!("dpgp-study-collect-{collector}.log"));
    assert!(log.contains("all 120 results are stored"), "{log}");
    assert_eq!(results(&store), 120, "nothing was computed twice");

    project.dpgp(&["run", "study.toml", "--results", "whole"]).expect(0);
    assert_eq!(project.read("results/study/table.csv"), project.read("whole/study/table.csv"));
}

/// The rows of a file in an array of three tasks, added afterwards: the sums of one machine to the last bit.
#[test]
fn an_array_sums_the_rows_of_a_file() {
    let Some(cluster) = Cluster::start() else { return };
    let project = Project::new();
    project.dpgp(&["generate", "--rows", "70000", "--out", "trips.parquet"]).expect(0);
    let stats = ["stats", "beyond/citibike-scale", "trips.parquet", "--out"];
    project.dpgp(&[&stats[..], &["whole.json"]].concat()).expect(0);
    let emitted =
        ["emit", "slurm", "beyond/citibike-scale", "--shards", "3", "--stats", "trips.parquet", "--out", "job.sh"];
    project.dpgp(&emitted).expect(0);
    let run = cluster.slurm(&project, "bash", &["job.sh", "--time=10"]).expect(0);
    let ids: Vec<&str> = run.out.split(|c: char| !c.is_ascii_digit()).filter(|s| !s.is_empty()).collect();
    cluster.wait(&project, ids[1]);
    assert_eq!(project.read("beyond-citibike-scale-sums.json"), project.read("whole.json"));
}
