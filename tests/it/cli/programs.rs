//! Programs of anybody's as tasks (`task.command`), with the shell as the program.

use serde_json::{Value, json};

use crate::support::cli::Project;

const SPEC: &str = r#"
[experiment]
title = "what a program measures"
replicates = 3
[task.command]
run = ["sh", "mine.sh"]
files = ["mine.sh"]
metrics = ["rmse"]
with = { alpha = 1.0, name = "a" }
[grid]
"task.command.with.alpha" = [0.5, 2.0]
[published.table1]
all = { metric = "rmse" }
columns = ["alpha", "value", "precision", "source"]
rows = [[0.5, 0.5, 0.01, "Table 1"], [2.0, 3.0, 0.01, "Table 1"]]
"#;

/// Answers alpha, and keeps every question.
const ALPHA: &str = r#"
question=$(cat)
echo "$question" >> questions.txt
alpha=$(echo "$question" | sed 's/.*"alpha":\([0-9.]*\).*/\1/')
echo fitting
echo "{\"rmse\": [$alpha, $alpha]}"
"#;

fn project(program: &str) -> Project {
    let project = Project::new();
    project.write("s.toml", &SPEC.replace("files = [\"mine.sh\"]", "files = [\"m*.sh\"]"));
    project.write("mine.sh", program);
    project
}

fn questions(project: &Project) -> Vec<Value> {
    project.read("questions.txt").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Each cell and replicate is asked once, with a seed of its own, and a changed program is asked again.
#[test]
fn a_program_answers_for_each_cell() {
    let project = project(ALPHA);
    let run = project.dpgp(&["run", "s.toml", "--quiet"]).expect(0);
    assert!(run.err.starts_with("runs sh mine.sh: 6 times\n"), "{}", run.err);
    let told = questions(&project);
    assert_eq!(told.len(), 6);
    let mut seeds: Vec<u64> = told.iter().map(|question| question["seed"].as_u64().unwrap()).collect();
    assert!(seeds.iter().all(|seed| *seed < 1 << 63));
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 6);
    let first = told.iter().find(|question| question["replicate"] == 0 && question["cell"]["alpha"] == 0.5).unwrap();
    assert_eq!(first["cell"], json!({ "alpha": 0.5, "name": "a" }));
    assert_eq!(first["data"], Value::Null);
    assert!(!std::path::Path::new(first["folder"].as_str().unwrap()).exists(), "the folder is removed");
    let table = project.read("results/s/table.csv");
    assert!(table.contains("0.5") && table.contains("2.0"), "{table}");

    // Stored answers are not asked for again; nor is anything said.
    let run = project.dpgp(&["run", "s.toml", "--quiet"]).expect(0);
    assert!(run.err.is_empty() && questions(&project).len() == 6, "{}", run.err);
    project.write("mine.sh", &format!("{ALPHA}# another\n"));
    let run = project.dpgp(&["explain", "s.toml"]);
    assert!(run.out.contains("mine.sh"), "{}{}", run.out, run.err);
    project.dpgp(&["run", "s.toml", "--quiet"]).expect(0);
    let again = questions(&project);
    assert_eq!(again.len(), 12);
    let seeds_again: std::collections::BTreeSet<u64> =
        again[6..].iter().map(|question| question["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds_again.into_iter().collect::<Vec<_>>(), seeds, "the seed is that of the cell");

    // A longer timeout is no other result, and another argument meets the same draws.
    let spec = project.read("s.toml");
    project.write("s.toml", &spec.replace("with =", "timeout = \"9 min\"\nwith ="));
    project.dpgp(&["run", "s.toml", "--quiet"]).expect(0);
    assert_eq!(questions(&project).len(), 12);
    project.write("s.toml", &spec.replace("\"mine.sh\"]\nfiles", "\"mine.sh\", \"more\"]\nfiles"));
    project.dpgp(&["run", "s.toml", "--quiet"]).expect(0);
    let more = questions(&project);
    assert_eq!(more.len(), 18);
    let seeds_again: std::collections::BTreeSet<u64> =
        more[12..].iter().map(|question| question["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds_again.into_iter().collect::<Vec<_>>(), seeds);
}

/// The path of the data and nothing of their rows; of the environment only what is named.
#[test]
fn a_program_gets_data_and_little_of_the_environment() {
    let program = "question=$(cat); echo \"$question\" >> questions.txt; env | cut -d= -f1 | sort > env.txt; echo '{\"rmse\": 1}'";
    let project = project(program);
    project.write("rows.csv", "x,y\n1,2\n");
    project
        .write("s.toml", &SPEC.replace("[grid]", "env = [\"LC_ALL\"]\n[data]\nsource.csv.path = \"rows.csv\"\n[grid]"));
    let mut command = project.command(&["run", "s.toml", "--quiet"]);
    command.env("SECRET", "1").env("LC_ALL", "C");
    assert!(command.output().unwrap().status.success());
    let data = questions(&project)[0]["data"].clone();
    let path = project.path("rows.csv").canonicalize().unwrap();
    assert_eq!(std::path::Path::new(data["path"].as_str().unwrap()).canonicalize().unwrap(), path);
    assert_eq!(data["sha256"], Value::Null);
    let env = project.read("env.txt");
    assert!(env.contains("PATH\n") && env.contains("LC_ALL\n") && !env.contains("SECRET"), "{env}");
}

/// Every failure is told with its reason, and stored answers of other cells stay.
#[test]
fn a_program_that_fails_is_told() {
    for (program, says) in [
        (
            "echo 'no module named x' >&2; exit 3",
            "\"sh mine.sh\" ended with exit status: 3; the end of its standard error:\n  no module named x",
        ),
        ("kill -9 $$", "ended with signal: 9"),
        ("true", "wrote nothing to standard output"),
        ("echo done", "wrote \"done\" as its last line, which is not a JSON object of finite numbers"),
        ("echo '{\"mae\": 1}'", "did not return the metric \"rmse\""),
        ("echo '{\"rmse\": 1, \"mae\": 1}'", "returned \"mae\", which is not in task.command.metrics"),
        ("echo '{\"rmse\": 1e999}'", "not a JSON object"),
        ("sleep 60", "was stopped after 1 s (task.command.timeout)"),
        ("sleep 60 & echo '{\"rmse\": []}'", "returned no number for the metric \"rmse\""),
    ] {
        let project = project(program);
        // Others have time on a busy machine.
        let limit = if program == "sleep 60" { "1 s" } else { "10 min" };
        let limited = SPEC.replace("with =", &format!("timeout = {limit:?}\nwith ="));
        project.write("s.toml", &limited.replace("replicates = 3", "replicates = 1"));
        let run = project.dpgp(&["run", "s.toml", "--quiet"]).expect(4);
        assert!(
            run.err.contains(says) && run.err.contains("\n  for the same reason: cell alpha = 2, replicate 0\n"),
            "{program}: {}",
            run.err
        );
    }
    let project = project(ALPHA);
    project.write("s.toml", &SPEC.replace("\"sh\"", "\"no-such-program\""));
    let run = project.dpgp(&["run", "s.toml", "--quiet"]).expect(4);
    assert!(run.err.contains("\"no-such-program mine.sh\" cannot be started: No such file"), "{}", run.err);
}

#[test]
fn wrong_settings_of_a_program_are_refused() {
    let project = project(ALPHA);
    for (from, to, says) in [
        ("run = [\"sh\", \"mine.sh\"]", "run = []", "task.command.run"),
        ("metrics = [\"rmse\"]", "metrics = []", "task.command.metrics"),
        ("metrics = [\"rmse\"]", "metrics = [\"rmse\", \"rmse\"]", "names a metric twice"),
        ("files = [\"mine.sh\"]", "files = [\"other.sh\"]", "names \"other.sh\", which cannot be read"),
        ("files = [\"mine.sh\"]", "files = [\"*.py\"]", "names \"*.py\", which matches no file"),
        ("files = [\"mine.sh\"]", "files = [\"[.sh\"]", "names \"[.sh\", which is not a valid pattern"),
        ("with =", "timeout = \"soon\"\nwith =", "\"soon\" is not a time from 1 s to 1000 h"),
        (
            "[grid]",
            "[privacy]\nepsilon = 1.0\ndelta = 1e-6\nchange = 1.0\nmechanism.function.sensitivity = \"exact\"\n[grid]",
            "dpgp cannot certify what an external program does",
        ),
        ("with = { alpha", "wth = { alpha", "unknown field `wth`"),
        (
            "\"task.command.with.alpha\"",
            "\"task.command.with.alph\"",
            "task.command.with has no \"alph\"; did you mean \"alpha\"?",
        ),
    ] {
        project.write("s.toml", &SPEC.replace(from, to));
        let run = project.dpgp(&["run", "s.toml", "--quiet"]).expect(2);
        assert!(run.err.contains(says), "{to}: {}", run.err);
    }
}

/// A time is shown and never compared; a claim of privacy is shown as nobody's but the program's.
#[test]
fn secondary_metrics_and_claims_of_programs() {
    let program = r#"
question=$(cat)
echo "$question" >> questions.txt
echo "{\"rmse\": 0.5, \"seconds\": 1$(date +%N)}"
"#;
    let project = project(program);
    let spec = SPEC.replace(
        "metrics = [\"rmse\"]",
        "metrics = [\"rmse\", \"seconds\"]\nsecondary = [\"seconds\"]\nguarantee = { epsilon = 0.5, delta = 1e-5, by = \"their package\" }",
    );
    project.write("s.toml", &spec);
    let run = project.dpgp(&["run", "s.toml", "--quiet", "--rows"]).expect(0);
    let table = project.read("results/s/table.csv");
    let claimed = "none; their package claims (0.5, 1e-5)-DP, unchecked";
    assert!(table.contains(claimed), "{table}");
    let caption = "; epsilon: 0.5; delta: 1e-5 (claimed by programs, unchecked).";
    assert!(project.read("results/s/table.md").contains(caption), "{}", project.read("results/s/table.md"));
    assert!(run.out.contains("seconds"), "{}", run.out);
    let told = questions(&project);
    assert_eq!(told[0]["guarantee"], json!({ "epsilon": 0.5, "delta": 1e-5, "by": "their package" }));
    project.dpgp(&["check", "s.toml", "--quiet"]).expect(0);
    project.dpgp(&["check", "s.toml", "--quiet", "--twice"]).expect(0);

    // Without the word the time is compared, and differs.
    project.write("s.toml", &spec.replace("secondary = [\"seconds\"]\n", ""));
    let check = project.dpgp(&["check", "s.toml", "--quiet", "--twice"]).expect(1);
    assert!(check.out.contains("seconds: value was") && !check.out.contains("rmse: value was"), "{}", check.out);
    for (from, to, says) in [
        (
            "secondary = [\"seconds\"]",
            "secondary = [\"hours\"]",
            "names \"hours\", which is not in task.command.metrics",
        ),
        ("all = { metric = \"rmse\" }", "all = { metric = \"seconds\" }", "\"seconds\" is a secondary metric"),
        ("delta = 1e-5", "delta = 1.0", "at least 0 and below 1"),
        ("epsilon = 0.5", "epsilon = 0.0", "task.command.guarantee.epsilon"),
        ("by = \"their package\"", "by = \" \"", "task.command.guarantee.by"),
    ] {
        project.write("s.toml", &spec.replace(from, to));
        let run = project.dpgp(&["run", "s.toml", "--quiet"]).expect(2);
        assert!(run.err.contains(says), "{to}: {}", run.err);
    }
}

/// A program that fails is a finding, and hides no other experiment.
#[test]
fn a_check_goes_on_after_a_program_that_fails() {
    let project = Project::empty();
    for (name, program) in
        [("bad", "if [ -f fail ]; then exit 1; fi; echo '{\"rmse\": 1}'"), ("good", "echo '{\"rmse\": 1}'")]
    {
        project.put(&format!("experiments/{name}.toml"), SPEC.replace("mine.sh", &format!("{name}.sh")));
        project.put(&format!("experiments/{name}.sh"), program);
    }
    project.dpgp(&["run", "--all", "--quiet"]).expect(0);
    assert!(!project.path("results/REPRODUCTION.md").exists(), "there is no paper to tell of");
    // The reason comes first, then the number.
    project.put("experiments/good.sh", "echo '{\"rmse\": 2}'");
    let check = project.dpgp(&["check", "good", "--quiet"]).expect(1);
    let at = |what: &str| check.out.find(what).unwrap_or_else(|| panic!("{what}: {}", check.out));
    assert!(at("good.sh changed: its SHA-256 was") < at("value was \"1\", is now \"2\""), "{}", check.out);
    assert!(at("value was") < at("interval_high was"), "{}", check.out);
    project.put("experiments/good.sh", "echo '{\"rmse\": 1}'");
    project.put("experiments/fail", "");
    let check = project.dpgp(&["check", "--all", "--quiet", "--as", "github"]).expect(1);
    assert!(check.out.contains("::error") && check.out.contains("ended with exit status: 1"), "{}", check.out);
    assert!(check.out.contains("good: passes"), "{}", check.out);

    // A program that nobody watches is named.
    project.put("experiments/good.toml", SPEC.replace("mine.sh", "good.sh").replace("files = [\"good.sh\"]\n", ""));
    let run = project.dpgp(&["run", "good", "--quiet"]).expect(0);
    assert!(run.err.contains("note: good.sh is not in task.command.files"), "{}", run.err);
}

/// A new version of the program is another program.
#[cfg(unix)]
#[test]
fn cells_are_computed_again_for_a_new_version() {
    use std::os::unix::fs::PermissionsExt;
    let project = project(ALPHA);
    project.write(
        "s.toml",
        &SPEC.replace("\"sh\", \"mine.sh\"", "\"./mine\"").replace("with =", "version = true\nwith ="),
    );
    let write = |version: &str| {
        let program = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then {version}; exit; fi\necho asked >> asked.txt\ncat > /dev/null; echo '{{\"rmse\": 1}}'\n"
        );
        project.write("mine", &program);
        std::fs::set_permissions(project.path("mine"), std::fs::Permissions::from_mode(0o755)).unwrap();
        project.dpgp(&["run", "s.toml", "--quiet"])
    };
    let asked = || project.read("asked.txt").lines().count();
    write("echo mine 1.0").expect(0);
    write("echo mine 1.0; echo built today").expect(0);
    assert_eq!(asked(), 6);
    // To standard error, as some programs print it.
    write("echo mine 1.1 >&2").expect(0);
    assert_eq!(asked(), 12);
    let run = write("exit 1").expect(2);
    assert!(
        run.err.contains("task.command.version: cannot be read: `./mine --version` printed nothing"),
        "{}",
        run.err
    );
}

/// Specs below `experiments` are a project without a manifest of datasets. Folders of other programs are none.
#[test]
fn a_repository_of_ones_own_needs_no_manifest() {
    let project = Project::empty();
    project.put("experiments/other.toml", "[tool]\nname = \"x\"\n");
    assert!(project.dpgp(&["list"]).expect(0).out.contains("smith2021/table1"));
    std::fs::remove_file(project.path("experiments/other.toml")).unwrap();
    project.write("experiments/mine.toml", SPEC);
    project.write("experiments/mine.sh", ALPHA);
    let list = project.dpgp(&["list"]).expect(0);
    assert!(list.out.contains("mine") && !list.out.contains("smith2021"), "{}", list.out);
    project.dpgp(&["run", "--all", "--quiet"]).expect(0);
    project.dpgp(&["check", "--all", "--quiet", "--as", "github"]).expect(0);
    // Committed results say how long another machine may take.
    std::fs::remove_dir_all(project.path("store")).unwrap();
    let plan = project.dpgp(&["plan", "--all"]).expect(0);
    assert!(!plan.out.contains("unknown"), "{}", plan.out);
    // A dataset of the program's manifest is known there as well.
    project.write("experiments/mine.toml", &SPEC.replace("[grid]", "[data]\nsource.dataset = \"howell\"\n[grid]"));
    let run = project.dpgp(&["run", "mine"]).expect(2);
    assert!(run.err.contains("did you mean \"howell1\"?"), "{}", run.err);
}

/// Three works that are not ours, with data of Python packages. Skipped without Python or its packages.
#[test]
fn works_of_others_run_and_are_graded() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for (spec, needs, expected) in [
        ("longley/longley", "statsmodels", "7 agree ✓"),
        ("breast-cancer/plane", "sklearn", "1 agrees ✓"),
        ("boosting/boosting", "sklearn", "2 agree ✓, 1 inconclusive ~"),
    ] {
        let python = std::process::Command::new("python3").args(["-c", &format!("import {needs}")]).output();
        if !python.is_ok_and(|found| found.status.success()) {
            eprintln!("skipped: python3 has no {needs}");
            continue;
        }
        let project = Project::new();
        let spec = folder.join(spec).with_extension("toml");
        let run = project.dpgp(&["run", spec.to_str().unwrap(), "--quick", "--quiet"]).expect(0);
        assert!(run.out.contains(expected), "{}", run.out);
    }
}

/// From nothing to a table with two commands. Skipped without Python.
#[test]
fn a_new_program_runs_as_it_is() {
    let project = Project::new();
    project.dpgp(&["new", "ridge", "--command"]).expect(0);
    let run = project.dpgp(&["new", "ridge", "--command"]).expect(2);
    assert!(run.err.contains("ridge.toml"), "{}", run.err);
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: there is no python3");
        return;
    }
    let run = project.dpgp(&["run", "ridge.toml", "--quiet"]).expect(0);
    assert!(run.out.contains("rmse") && run.err.contains("runs python3 ridge.py: 15 times"), "{}{}", run.out, run.err);
    let schema = project.dpgp(&["schema", "command"]).expect(0);
    let schema: Value = serde_json::from_str(&schema.out).unwrap();
    assert!(schema["$defs"]["input"]["properties"]["seed"].is_object() && schema["$defs"]["output"].is_object());
}

/// A run that is stopped leaves no program behind, and goes on where it was.
#[cfg(unix)]
#[test]
fn an_interrupted_run_stops_its_programs() {
    use std::time::{Duration, Instant};
    let slow =
        "cat > /dev/null; echo $$ >> pids.txt; if [ -f fast ]; then echo '{\"rmse\": 1}'; else sleep 30 & wait; fi";
    let project = project(slow);
    let mut child = project
        .command(&["run", "s.toml", "--quiet", "--jobs", "1"])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !project.path("pids.txt").exists() && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let interrupt = |pid: &str, signal: &str| {
        std::process::Command::new("kill")
            .args([signal, pid])
            .stderr(std::process::Stdio::null())
            .status()
            .unwrap()
            .success()
    };
    assert!(interrupt(&child.id().to_string(), "-INT"));
    assert!(!child.wait().unwrap().success());
    assert!(start.elapsed() < Duration::from_secs(25));
    for pid in project.read("pids.txt").lines() {
        assert!(!interrupt(pid, "-0"), "the program is still there");
    }
    project.write("fast", "");
    project.dpgp(&["run", "s.toml", "--quiet"]).expect(0);
}

/// Runs with changed settings and that of the spec are one table, with a column for each setting that was changed.
#[test]
fn changed_runs_are_one_tidy_table() {
    let project = project(ALPHA);
    project.dpgp(&["run", "s.toml", "--quiet"]).expect(0);
    project.dpgp(&["run", "s.toml", "--quiet", "--set", "task.command.with.name=b"]).expect(0);
    project.dpgp(&["run", "s.toml", "--quiet", "--set", "task.command.timeout=9 min"]).expect(0);
    let tidy = project.dpgp(&["show", "s.toml", "--table", "--tidy"]).expect(0).out;
    let mut reader = csv::Reader::from_reader(tidy.as_bytes());
    let headings = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.unwrap()).collect();
    let at = |name: &str| headings.iter().position(|heading| heading == name).unwrap();
    let [name, timeout, metric] = ["task.command.with.name", "task.command.timeout", "metric"].map(at);
    let of = |wanted: [&str; 2]| {
        let rows = rows.iter().filter(|row| [&row[name], &row[timeout]] == wanted && &row[metric] == "rmse");
        rows.map(|row| row[at("value")].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of(["", ""]), ["0.5", "2"]);
    assert_eq!(of(["b", ""]), ["0.5", "2"]);
    assert_eq!(of(["", "9 min"]), ["0.5", "2"]);
    // An axis has its column already.
    project.dpgp(&["run", "s.toml", "--quiet", "--set", "alpha=3,4"]).expect(0);
    let tidy = project.dpgp(&["show", "s.toml", "--table", "--tidy"]).expect(0).out;
    let mut headings: Vec<&str> = tidy.lines().next().unwrap().split(',').collect();
    let all = headings.len();
    headings.sort_unstable();
    headings.dedup();
    assert_eq!(headings.len(), all, "{tidy}");
}

/// A program gets the path of the file, and would read other rows than a filter says.
#[test]
fn settings_that_no_program_sees_are_refused() {
    for key in [
        "filter = [{ column = \"x\", is = \">\", value = 1.0 }]",
        "draw.rows = 2",
        "inputs = [\"x\"]\nencode = { x = [\"a\"] }",
    ] {
        let project = Project::empty();
        project.write("rows.csv", "x,y\n1,2\n3,4\n");
        let spec = format!(
            "experiment.title = \"p\"\n[data]\nsource.csv.path = \"rows.csv\"\n{key}\n[task.command]\nrun = [\"true\"]\nmetrics = [\"m\"]\n"
        );
        project.write("p.toml", &spec);
        let run = project.dpgp(&["run", "p.toml"]).expect(2);
        assert!(run.err.contains("the program gets the path of the file"), "{key}: {}", run.err);
    }
}
