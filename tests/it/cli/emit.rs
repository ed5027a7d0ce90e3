//! Job descriptions that really run.

use std::process::Command;

use crate::support::cli::{Project, Run};
use crate::support::study::STUDY;

fn project() -> Project {
    let project = Project::new();
    project.write("my study.toml", STUDY);
    project
}

#[test]
fn the_makefile_runs_the_shards_and_collects() {
    let project = project();
    project
        .dpgp(&["emit", "make", "my study.toml", "--shards", "3", "--store", "a store", "--out", "Makefile"])
        .expect(0);
    let mut make = Command::new("make");
    make.args(["-j2", &format!("DPGP={}", env!("CARGO_BIN_EXE_dpgp"))]).current_dir(project.folder.path());
    let run = Run::new(make.output().unwrap()).expect(0);
    assert!(run.out.contains("all 8 results are stored"), "{}", run.out);
    let collected = project.read("results/my study/table.csv");
    project.dpgp(&["run", "my study.toml", "--store", "other", "--results", "whole"]).expect(0);
    assert_eq!(collected, project.read("whole/my study/table.csv"));
}

#[test]
fn the_slurm_script_is_a_script_with_the_count_written_into_it() {
    let project = project();
    let script = project.dpgp(&["emit", "slurm", "my study.toml", "--shards", "7", "--cpus", "2"]).expect(0).out;
    for part in [
        "--array=1-7",
        "$SLURM_ARRAY_TASK_ID/7",
        "--requeue",
        "--signal=B:TERM@120",
        "--cpus-per-task=2",
        "exec ",
        "afterany",
    ] {
        assert!(script.contains(part), "{part} is not in\n{script}");
    }
    assert!(!script.contains("SLURM_ARRAY_TASK_COUNT"));
    project.write("job.sh", &script);
    let syntax = Command::new("bash").args(["-n", "job.sh"]).current_dir(project.folder.path()).output().unwrap();
    assert!(syntax.status.success());
    let task = Command::new("bash")
        .arg("job.sh")
        .current_dir(project.folder.path())
        .env("DPGP", env!("CARGO_BIN_EXE_dpgp"))
        .env("SLURM_ARRAY_TASK_ID", "3")
        .output()
        .unwrap();
    let run = Run::new(task).expect(0);
    assert!(run.out.contains("shard 3/7"), "{}", run.out);
}

/// Parts of sums by make, equal to the whole; a scheduler without a shared folder is refused.
#[test]
fn the_makefile_sums_files() {
    let project = Project::new();
    project.dpgp(&["generate", "--rows", "60000", "--out", "trips.parquet"]).expect(0);
    let name = "beyond/citibike-scale";
    project.dpgp(&["stats", name, "trips.parquet", "--out", "whole.json"]).expect(0);
    let emit = |target: &str, code: i32| {
        let emitted = ["emit", target, name, "--shards", "3", "--stats", "trips.parquet", "--out", "Makefile"];
        project.dpgp(&emitted).expect(code)
    };
    assert!(emit("k8s", 2).err.contains("have no shared folder"));
    emit("make", 0);
    let mut make = Command::new("make");
    make.args(["-j2", &format!("DPGP={}", env!("CARGO_BIN_EXE_dpgp"))]).current_dir(project.folder.path());
    make.env("DPGP_STATE", project.path("state"));
    Run::new(make.output().unwrap()).expect(0);
    assert_eq!(project.read("beyond-citibike-scale-sums.json"), project.read("whole.json"));
}

#[test]
fn the_slurm_script_fetches_what_the_spec_reads() {
    let project = Project::new();
    let emitted = ["emit", "slurm", "smith2021/table1", "--shards", "2", "--mirror", "a mirror"];
    let script = project.dpgp(&emitted).expect(0).out;
    assert!(script.contains("\"$dpgp\" data fetch howell1 --mirror '/"), "{script}");
    assert_eq!(script.matches("/a mirror'").count(), 3, "{script}");
    assert!(script.contains("\nstore=/"), "the store is the same wherever the script is started:\n{script}");
    let run = project.dpgp(&["emit", "slurm", "smith2021", "--shards", "2"]).expect(2);
    assert!(run.err.contains("choose one"), "{}", run.err);
}

#[test]
fn the_kubernetes_job_counts_from_one() {
    let project = project();
    let yaml = project.dpgp(&["emit", "k8s", "my study.toml", "--shards", "5", "--image", "a/b:1"]).expect(0).out;
    for part in [
        "completionMode: Indexed",
        "completions: 5",
        "JOB_COMPLETION_INDEX + 1))/5",
        "value: \"my study.toml\"",
        "image: \"a/b:1\"",
    ] {
        assert!(yaml.contains(part), "{part} is not in\n{yaml}");
    }
    // A volume is no place of this machine.
    assert!(yaml.contains("value: \"store\""), "{yaml}");
    let command = yaml.lines().find_map(|line| line.trim().strip_prefix("- exec dpgp")).unwrap();
    let shell = Command::new("sh")
        .args(["-c", &format!("exec '{}'{command}", env!("CARGO_BIN_EXE_dpgp"))])
        .current_dir(project.folder.path())
        .env("NAME", "my study.toml")
        .env("STORE", "s")
        .env("JOB_COMPLETION_INDEX", "0")
        .output()
        .unwrap();
    let run = Run::new(shell).expect(0);
    assert!(run.out.contains("shard 1/5"), "{}", run.out);
}

/// The fields of a Job of batch/v1 that is printed, with those that the API requires; `-N` is an entry of a list.
const JOB: &str = "
apiVersion
kind
metadata
metadata.name
spec
spec.completionMode
spec.completions
spec.parallelism
spec.backoffLimitPerIndex
spec.podFailurePolicy
spec.podFailurePolicy.rules
spec.podFailurePolicy.rules.-0.action
spec.podFailurePolicy.rules.-0.onExitCodes
spec.podFailurePolicy.rules.-0.onExitCodes.containerName
spec.podFailurePolicy.rules.-0.onExitCodes.operator
spec.podFailurePolicy.rules.-0.onExitCodes.values
spec.podFailurePolicy.rules.-1.action
spec.podFailurePolicy.rules.-1.onPodConditions
spec.podFailurePolicy.rules.-1.onPodConditions.-0.type
spec.podFailurePolicy.rules.-1.onPodConditions.-0.status
spec.template
spec.template.spec
spec.template.spec.restartPolicy
spec.template.spec.terminationGracePeriodSeconds
spec.template.spec.containers
spec.template.spec.containers.-0.name
spec.template.spec.containers.-0.image
spec.template.spec.containers.-0.workingDir
spec.template.spec.containers.-0.command
spec.template.spec.containers.-0.args
spec.template.spec.containers.-0.env
spec.template.spec.containers.-0.env.-0.name
spec.template.spec.containers.-0.env.-0.value
spec.template.spec.containers.-0.env.-1.name
spec.template.spec.containers.-0.env.-1.value
spec.template.spec.containers.-0.env.-2.name
spec.template.spec.containers.-0.env.-2.value
spec.template.spec.containers.-0.env.-3.name
spec.template.spec.containers.-0.env.-3.value
spec.template.spec.containers.-0.resources
spec.template.spec.containers.-0.resources.requests
spec.template.spec.containers.-0.resources.requests.cpu
spec.template.spec.containers.-0.volumeMounts
spec.template.spec.containers.-0.volumeMounts.-0.name
spec.template.spec.containers.-0.volumeMounts.-0.mountPath
spec.template.spec.volumes
spec.template.spec.volumes.-0.name
spec.template.spec.volumes.-0.persistentVolumeClaim
spec.template.spec.volumes.-0.persistentVolumeClaim.claimName
";

/// A key or an entry of a list, and the column that it begins in.
struct Step {
    column: usize,
    name: String,
}

/// The keys of a description in blocks, each as its way from the top.
fn ways(yaml: &str) -> Vec<String> {
    let (mut above, mut ways): (Vec<Step>, Vec<String>) = (Vec::new(), Vec::new());
    for line in yaml.lines().filter(|line| !line.trim_start().starts_with('#')) {
        let (mut text, mut column) = (line.trim_start(), line.len() - line.trim_start().len());
        while let Some(entry) = text.strip_prefix("- ") {
            let last = above.iter().find(|step| step.column == column).map(|step| step.name[1..].parse::<usize>());
            let number = last.map_or(0, |last| last.unwrap() + 1);
            above.retain(|step| step.column < column);
            above.push(Step { column, name: format!("-{number}") });
            (text, column) = (entry, column + 2);
        }
        let key = text.split(':').next().unwrap();
        if key.len() < text.len() && key.chars().all(char::is_alphanumeric) {
            above.retain(|step| step.column < column);
            above.push(Step { column, name: key.to_owned() });
            ways.push(above.iter().map(|step| step.name.as_str()).collect::<Vec<_>>().join("."));
        }
    }
    ways
}

/// `scripts/test-emit` asks the schema of the API for the same.
#[test]
fn the_kubernetes_job_has_the_fields_of_the_api() {
    let project = project();
    let long = format!("{}.toml", "A long name of a study ".repeat(9));
    project.write(&long, STUDY);
    let run = project.dpgp(&["emit", "k8s", "my study.toml", "--shards", "100001"]).expect(2);
    assert!(run.err.contains("at most 100000 shards"), "{}", run.err);
    for (name, shards) in [("my study.toml", "1"), (long.as_str(), "100000")] {
        let yaml = project.dpgp(&["emit", "k8s", name, "--shards", shards]).expect(0).out;
        assert_eq!(ways(&yaml).join("\n"), JOB.trim(), "{yaml}");
        let job = yaml.lines().find_map(|line| line.strip_prefix("  name: ")).unwrap();
        assert!(job.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{job}");
        assert!(!job.ends_with('-'), "{job}");
        // The name of a task's host.
        assert!(format!("{job}-{shards}").len() <= 63, "{job}");
    }
}
