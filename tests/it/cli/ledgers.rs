//! Ledgers are found by their rows, whichever file holds them, and cannot be tampered with.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::support::cli::{Project, Run};
use crate::support::energy::{RECORDS, TARGETS, day, energy_csv, energy_project};
use crate::support::parquet_file::{Column, write_parquet};

/// Half the epsilon, so that several releases fit into a budget of 2.
fn records() -> String {
    RECORDS.replace("epsilon = 1.0", "epsilon = 0.5")
}

const BUDGET: &[&str] = &["--budget-epsilon", "2", "--budget-delta", "1e-6"];

fn rows(days: std::ops::Range<u32>) -> Vec<[f64; 3]> {
    days.map(day).collect()
}

fn project() -> Project {
    energy_project(&records())
}

fn predict(project: &Project, spec: &str, more: &[&str]) -> Run {
    project.dpgp(&[&["predict", spec, "--at", "grid.csv", "--quiet"], more].concat())
}

/// All ledgers that the state folder of a project knows.
fn ledgers(project: &Project) -> Vec<Value> {
    project.dpgp(&["ledger", "show", "--format", "json"]).expect(0).json().as_array().unwrap().clone()
}

/// The one ledger that there is, after so many releases.
fn only_ledger(project: &Project, releases: usize, after: &str) -> Value {
    let [only] = ledgers(project).try_into().unwrap_or_else(|all| panic!("{after}: {all:?}"));
    assert_eq!(only["account"]["releases"].as_u64(), Some(releases as u64), "{after}: {only}");
    only
}

fn mode(project: &Project, name: &str) -> u32 {
    std::fs::metadata(project.path(name)).unwrap().permissions().mode() & 0o777
}

/// How a file differs, its text, and what is replaced in the spec that reads it.
type OtherForm = (&'static str, String, Vec<(&'static str, &'static str)>);

/// The rows in other files: the name of the file, its text, and what is replaced in the spec.
fn other_forms() -> Vec<OtherForm> {
    let all = rows(0..120);
    let source = |to: &'static str| vec![("{ path = \"energy.csv\" }", to)];
    let formatted = all.iter().map(|[day, t, kwh]| format!("\"{day:.1}\"; {t:.6e} ;{kwh:+}\n"));
    let turned = all.iter().map(|[day, t, kwh]| format!("{kwh},{day},{t}\n"));
    let numbered = all.iter().enumerate().map(|(i, [day, t, kwh])| format!("{},{day},{t},{kwh}\n", 7 * i));
    let fewer = all.iter().map(|[_, t, kwh]| format!("{t},{kwh}\n"));
    let mut reversed = all.clone();
    reversed.reverse();
    let mut renamed = source("{ path = \"turned.csv\" }");
    renamed.extend([("[\"temperature\"]", "[\"degrees\"]"), ("target = \"kwh\"", "target = \"energy\"")]);
    vec![
        ("copy.csv", energy_csv(&all), source("{ path = \"copy.csv\" }")),
        (
            "formatted.csv",
            format!("day;temperature;kwh\n{}", formatted.collect::<String>()),
            source("{ path = \"formatted.csv\", separator = \";\" }"),
        ),
        ("turned.csv", format!("energy,day,degrees\n{}", turned.collect::<String>()), renamed),
        ("reversed.csv", energy_csv(&reversed), source("{ path = \"reversed.csv\" }")),
        ("doubled.csv", energy_csv(&[all.clone(), all.clone()].concat()), source("{ path = \"doubled.csv\" }")),
        ("half.csv", energy_csv(&all[..60]), source("{ path = \"half.csv\" }")),
        ("one-more.csv", energy_csv(&rows(0..121)), source("{ path = \"one-more.csv\" }")),
        (
            "numbered.csv",
            format!("number,day,temperature,kwh\n{}", numbered.collect::<String>()),
            source("{ path = \"numbered.csv\" }"),
        ),
        ("fewer.csv", format!("temperature,kwh\n{}", fewer.collect::<String>()), source("{ path = \"fewer.csv\" }")),
    ]
}

/// Every form of the same rows is charged to one ledger, by both verbs, and refused when its budget is spent.
#[test]
fn the_same_rows_have_one_ledger_in_every_form() {
    let project = project();
    project.write("degrees.csv", "degrees\n5\n15\n");
    predict(&project, "energy.toml", BUDGET).expect(0);
    let first = only_ledger(&project, 1, "the first release");
    let mut releases = 1;
    for (name, text, changes) in other_forms() {
        project.write(name, &text);
        let spec = changes.iter().fold(records(), |spec, (from, to)| spec.replace(from, to));
        project.write("other.toml", &spec);
        let grid = if name == "turned.csv" { "degrees.csv" } else { "grid.csv" };
        project.dpgp(&["predict", "other.toml", "--at", grid, "--quiet"]).expect(0);
        releases += 1;
        let ledger = only_ledger(&project, releases, name);
        assert_eq!(ledger["ledger"], first["ledger"]);
    }
    // Parquet, with a column of whole numbers and one of FLOAT.
    let all = rows(0..120);
    let whole = Column::Int64(all.iter().map(|row| Some(row[0] as i64)).collect());
    let narrow = Column::Float(all.iter().map(|row| Some(row[1] as f32)).collect());
    let columns = [
        ("day", whole),
        ("temperature", narrow),
        ("kwh", Column::Double(all.iter().map(|row| Some(row[2])).collect())),
    ];
    write_parquet(&project.path("energy.parquet"), &columns, 50);
    let (csv, parquet) = ("source.csv = { path = \"energy.csv\" }", "source.parquet.path = \"energy.parquet\"");
    project.write("other.toml", &records().replace(csv, parquet));
    predict(&project, "other.toml", &[]).expect(0);
    only_ledger(&project, releases + 1, "Parquet");
    let stats = ["stats", "energy.toml", "energy.parquet", "--release", "s.json", "--epsilon", "0.1"];
    let run = project.dpgp(&stats).expect(0);
    assert!(run.out.contains(&format!("{} releases have spent", releases + 2)), "{}", run.out);
    // What is left is refused to every form.
    let mut left = 40;
    while predict(&project, "energy.toml", &[]).code == 0 {
        left -= 1;
        assert!(left > 0, "the budget is never spent");
    }
    for name in ["copy.csv", "doubled.csv", "half.csv", "fewer.csv"] {
        project.write("other.toml", &records().replace("energy.csv", name));
        let run = predict(&project, "other.toml", &[]).expect(1);
        assert!(run.err.contains("is too small for this release"), "{name}: {}", run.err);
        let run = predict(&project, "other.toml", &["--ledger", "new.toml"]).expect(2);
        assert!(run.err.contains("already records releases from some or all of these rows"), "{name}: {}", run.err);
        assert!(!project.path("new.toml").exists());
    }
}

/// Files that are parts of the rows, and sums of parts, are the rows.
#[test]
fn shards_are_the_rows_that_they_make() {
    let project = project();
    project.write("a.csv", &energy_csv(&rows(0..50)));
    project.write("b.csv", &energy_csv(&rows(50..120)));
    predict(&project, "energy.toml", BUDGET).expect(0);
    let stats = |more: &[&str]| project.dpgp(&[&["stats", "energy.toml"], more].concat()).expect(0);
    stats(&["b.csv", "a.csv", "--release", "1.json", "--epsilon", "0.1"]);
    let whole = only_ledger(&project, 2, "two files");
    for shard in ["1/2", "2/2"] {
        stats(&["a.csv", "b.csv", "--shard", shard, "--out", &format!("{}.sums", &shard[..1])]);
    }
    stats(&["--add", "1.sums", "2.sums", "--release", "2.json", "--epsilon", "0.1"]);
    let whole_again = only_ledger(&project, 3, "added sums");
    assert_eq!(whole["ledger"], whole_again["ledger"]);
    let text = std::fs::read_to_string(whole["ledger"].as_str().unwrap()).unwrap();
    let totals: Vec<&str> = text.lines().filter(|line| line.starts_with("data = ")).collect();
    assert_eq!(totals.len(), 3);
    assert!(totals.iter().all(|total| *total == totals[0]), "{totals:?}");
}

/// A release about rows of two ledgers is charged to both.
#[test]
fn rows_of_two_ledgers_are_charged_to_both() {
    let project = project();
    for (name, days) in [("a.csv", 0..60), ("b.csv", 60..120)] {
        project.write(name, &energy_csv(&rows(days)));
        project.write("part.toml", &records().replace("energy.csv", name));
        predict(&project, "part.toml", &[]).expect(0);
    }
    let counts = |project: &Project| -> Vec<u64> {
        ledgers(project).iter().map(|one| one["account"]["releases"].as_u64().unwrap()).collect()
    };
    assert_eq!(counts(&project), [1, 1]);
    let run = predict(&project, "energy.toml", &[]).expect(0);
    assert!(run.err.contains("also charged, because it covers some of these rows"), "{}", run.err);
    assert_eq!(counts(&project), [2, 2]);
    // From then on both count all of these rows.
    predict(&project, "part.toml", &[]).expect(0);
    assert_eq!(counts(&project), [3, 3]);
    // The whole is in the ledgers of both parts.
    let shown = project.dpgp(&["ledger", "show", "energy.toml", "--format", "json"]).expect(0).json();
    assert_eq!(shown.as_array().map(Vec::len), Some(2));
}

/// Other rows have a ledger of their own; those that only look alike may be counted apart.
#[test]
fn other_rows_are_counted_apart() {
    let project = project();
    predict(&project, "energy.toml", BUDGET).expect(0);
    project.write("energy.csv", &energy_csv(&rows(500..600)));
    predict(&project, "energy.toml", &[]).expect(0);
    assert_eq!(ledgers(&project).len(), 2);
    project.write("energy.csv", &energy_csv(&rows(110..200)));
    predict(&project, "energy.toml", &["--other-people"]).expect(0);
    assert_eq!(ledgers(&project).len(), 3);
    // The very same rows are never those of other people.
    project.write("energy.csv", &energy_csv(&rows(0..120)));
    predict(&project, "energy.toml", &["--other-people"]).expect(0);
    assert_eq!(ledgers(&project).len(), 3);
}

#[test]
fn rows_that_are_given_twice_are_refused() {
    let project = project();
    project.write("copy.csv", &energy_csv(&rows(0..120)));
    std::os::unix::fs::symlink("energy.csv", project.path("link.csv")).unwrap();
    for second in ["energy.csv", "./energy.csv", "link.csv", "copy.csv"] {
        let run = project.dpgp(&["stats", "energy.toml", "energy.csv", second, "--out", "s.json"]).expect(2);
        assert!(run.err.contains("hold the same rows"), "{second}: {}", run.err);
        assert!(!project.path("s.json").exists());
    }
    for shard in ["1/2", "2/2"] {
        let out = format!("{}.json", &shard[..1]);
        let stats = ["stats", "energy.toml", "energy.csv", "copy.csv", "--shard", shard, "--out", &out];
        project.dpgp(&stats).expect(0);
    }
    let run = project.dpgp(&["stats", "energy.toml", "--add", "1.json", "2.json"]).expect(2);
    assert!(run.err.contains("hold the same rows"), "{}", run.err);
}

/// A count first, then a budget, which holds for what was released before it.
#[test]
fn a_budget_holds_for_earlier_releases() {
    let project = project();
    for _ in 0..2 {
        let run = predict(&project, "energy.toml", &["--out", "p.csv"]).expect(0);
        assert!(run.out.contains("no budget is set"), "{}", run.out);
        let counted = project.json("p.csv.certificate.json")["all_releases"].clone();
        assert!(counted["budget_epsilon"].is_null() && counted["epsilon"].as_f64().unwrap() >= 0.5);
        std::fs::remove_file(project.path("p.csv")).unwrap();
        std::fs::remove_file(project.path("p.csv.certificate.json")).unwrap();
    }
    let small = ["--budget-epsilon", "0.6", "--budget-delta", "1e-6"];
    let run = predict(&project, "energy.toml", &small).expect(1);
    assert!(run.err.contains("2 releases have spent"), "{}", run.err);
    only_ledger(&project, 2, "a budget that is spent already");
    // The squares of mu add up: three releases at 0.5 keep 1 at the same delta, and four do not.
    predict(&project, "energy.toml", &["--budget-epsilon", "1", "--budget-delta", "1e-6"]).expect(0);
    predict(&project, "energy.toml", &[]).expect(1);
}

/// What is done to a ledger after two releases, and what is said of it.
#[test]
fn ledgers_that_were_changed_are_refused() {
    let project = project();
    let ledger = ["--ledger", "l.toml"];
    predict(&project, "energy.toml", &[BUDGET, &ledger].concat()).expect(0);
    let first = project.read("l.toml");
    predict(&project, "energy.toml", &ledger).expect(0);
    let sound = project.read("l.toml");
    project.dpgp(&["ledger", "verify", "l.toml"]).expect(0);
    let second = sound.match_indices("[[release]]").nth(1).unwrap().0;
    let end = sound.find("[[data]]").unwrap();
    let without_last = format!("{}{}", &sound[..second], &sound[end..]);
    let start = sound.find("[[release]]").unwrap();
    let without_first = format!("{}{}", &sound[..start], &sound[second..]);
    for (changed, message) in [
        (without_last, "its seal does not match"),
        (without_first, "was edited, or an earlier one was removed"),
        (sound.replace("epsilon = 0.5", "epsilon = 0.1"), "release 1: mu = "),
        (sound.replacen("target = \"kwh\"", "target = \"day\"", 1), "release 1 was edited"),
        (sound.replacen("epsilon = 2.0", "epsilon = 8.0", 1), "its seal does not match"),
        (first, "an earlier copy was restored"),
    ] {
        assert_ne!(changed, sound);
        project.write("l.toml", &changed);
        // Whether it is named or not.
        for more in [&ledger[..], &[]] {
            let run = predict(&project, "energy.toml", more).expect(5);
            assert!(run.err.contains(message) && run.out.is_empty(), "{message}: {}", run.err);
        }
        let run = project.dpgp(&["ledger", "verify", "l.toml"]).expect(5);
        assert!(run.out.contains(message), "{}", run.out);
        assert_eq!(project.dpgp(&["ledger", "show", "--format", "json"]).code, 5);
        assert_eq!(project.read("l.toml"), changed);
    }
    std::fs::remove_file(project.path("l.toml")).unwrap();
    let run = predict(&project, "energy.toml", &[]).expect(5);
    assert!(run.err.contains("no longer exists"), "{}", run.err);
    let shown = project.dpgp(&["ledger", "show"]).expect(5).out;
    assert_eq!(shown.matches("l.toml").count(), 1, "{shown}");
    // It is found where it was moved to.
    project.write("moved.toml", &sound);
    predict(&project, "energy.toml", &["--ledger", "moved.toml"]).expect(0);
    only_ledger(&project, 3, "moved");
    // Another key in the same folder would know no rows, and begin other ledgers.
    let key = std::fs::read(project.path("state/key")).unwrap();
    std::fs::remove_file(project.path("state/key")).unwrap();
    for more in [&[][..], &["--ledger", "moved.toml"]] {
        let run = predict(&project, "energy.toml", more).expect(5);
        assert!(run.err.contains("it was written with a key other than the current key"), "{}", run.err);
    }
    std::fs::write(project.path("state/key"), key).unwrap();
    // Another key: nobody can tell.
    std::fs::remove_dir_all(project.path("state")).unwrap();
    let run = predict(&project, "energy.toml", &["--ledger", "moved.toml"]).expect(5);
    assert!(run.err.contains("sealed with the key of another state folder"), "{}", run.err);
}

/// A ledger that knew its data by a digest without a key: its entries are taken over.
#[test]
fn a_ledger_of_version_1_goes_on() {
    let project = project();
    let old = format!(
        "version = 1\ndata_sha256 = \"{}\"\n\n[budget]\nepsilon = 2.0\ndelta = 1e-6\n\n[[release]]\ntime = \
         \"2026-01-31T12:00:00Z\"\nspec = \"energy.toml\"\nspec_sha256 = \"00\"\ntarget = \"kwh\"\npublic = []\nepsilon = 1.0\ndelta = \
         3e-6\ndelta_exact = 2.924272104856407e-6\nmu = 0.25\nneighbours = {{ one-record = \"replace-one\" }}\n",
        "0".repeat(64)
    );
    project.write("old.toml", &old);
    let shown = project.dpgp(&["ledger", "show", "old.toml"]).expect(0);
    assert!(shown.out.contains("version 1 has no seal") && shown.out.contains("1 release has"), "{}", shown.out);
    // It has no check sum: whoever goes on with it says its budget.
    let run = predict(&project, "energy.toml", &["--ledger", "old.toml", "--out", "p.csv"]).expect(2);
    assert!(run.err.contains("1 release has spent") && run.err.contains("--budget-epsilon"), "{}", run.err);
    let other = ["--ledger", "old.toml", "--budget-epsilon", "3", "--budget-delta", "1e-6"];
    predict(&project, "energy.toml", &other).expect(2);
    assert_eq!(project.read("old.toml"), old);
    let run = predict(&project, "energy.toml", &[BUDGET, &["--ledger", "old.toml", "--out", "p.csv"]].concat());
    let run = run.expect(0);
    assert!(run.out.contains("2 releases have spent"), "{}", run.out);
    assert_eq!(project.read("old.toml.version-1"), old);
    assert!(!project.read("old.toml").contains("data_sha256"));
    project.dpgp(&["ledger", "verify", "old.toml"]).expect(0);
}

/// A copy of the whole state folder is as it was written; releases that it forgets are found by their files.
#[test]
fn releases_tell_of_a_state_folder_that_was_put_back() {
    let project = project();
    predict(&project, "energy.toml", &["--out", "1.csv"]).expect(0);
    let copy = Command::new("cp").args(["-a", "state", "copy"]).current_dir(project.folder.path()).status();
    assert!(copy.unwrap().success());
    predict(&project, "energy.toml", &["--out", "2.csv"]).expect(0);
    let stats = ["stats", "energy.toml", "energy.csv", "--release", "3.json", "--epsilon", "0.1"];
    project.dpgp(&stats).expect(0);
    predict(&project, "energy.toml", &["--no-ledger", "--out", "4.csv"]).expect(0);
    let files = ["1.csv.certificate.json", "2.csv.certificate.json", "3.json", "4.csv.certificate.json"];
    let verify = [&["ledger", "verify", "--released"][..], &files].concat();
    let run = project.dpgp(&verify).expect(0);
    for (number, file) in (1..).zip(&files[..3]) {
        assert!(run.out.contains(&format!("{file}: release {number} in ")), "{}", run.out);
    }
    assert!(run.out.contains("4.csv.certificate.json: not checked"), "{}", run.out);
    std::fs::remove_dir_all(project.path("state")).unwrap();
    std::fs::rename(project.path("copy"), project.path("state")).unwrap();
    project.dpgp(&["ledger", "verify"]).expect(0);
    let run = project.dpgp(&verify).expect(5);
    assert!(run.err.contains("2 of 4 releases are not in any"), "{}", run.err);
    assert!(run.out.contains("2.csv.certificate.json: NOT IN any"), "{}", run.out);
    assert!(run.out.contains("1.csv.certificate.json: release 1 in "), "{}", run.out);
    let run = project.dpgp(&[&verify[..], &["--format", "json"]].concat()).expect(5);
    assert_eq!(run.json()[3]["state"], "not-entered");
    project.dpgp(&["ledger", "verify", "--released", "energy.csv"]).expect(2);
}

/// Every way to fail between the charge and the end says that the budget is spent.
#[test]
fn what_fails_after_the_charge_says_that_it_is_spent() {
    let project = project();
    let stats = ["stats", "energy.toml", "energy.csv", "--quiet", "--release"];
    // Standard output is full, or nobody reads it; a pipe for the release is full.
    let ways: [&[&str]; 5] = [
        &["predict", "energy.toml", "--at", "grid.csv", "--quiet"],
        &["predict", "energy.toml", "--at", "grid.csv", "--quiet", "--format", "json"],
        &["predict", "energy.toml", "--at", "grid.csv", "--quiet", "--out", "p.csv"],
        &[&stats[..], &["s.json"]].concat(),
        &[&stats[..], &["/dev/full"]].concat(),
    ];
    let mut charged = 0;
    for way in ways {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let run = Run::new(project.command(way).stdout(full).output().unwrap()).expect(5);
        charged += 1;
        let says = run.err.contains("was already charged to the ledger") && run.err.contains("the charge remains");
        assert!(says, "{way:?}: {}", run.err);
        only_ledger(&project, charged, &format!("{way:?}"));
    }
    // A reader that went away is no error of other verbs; here somebody has paid for what it did not read.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let run = Run::new(project.command(ways[0]).stdout(writer).output().unwrap()).expect(5);
    assert!(run.err.contains("was already charged to the ledger"), "{}", run.err);
    // Somebody else has made the file meanwhile, or taken its folder away: the release waits for its lock.
    std::fs::create_dir(project.path("out")).unwrap();
    for (other, out) in [(true, "out/1.csv"), (false, "out/2.csv")] {
        let lock = std::fs::File::options().append(true).open(project.path("state/ledgers.lock")).unwrap();
        lock.lock().unwrap();
        let way = ["predict", "energy.toml", "--at", "grid.csv", "--quiet", "--out", out];
        let child = project.command(&way).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        // The predictions and their certificate: what comes after both are there comes after the charge.
        while hidden_files(&project, "out") < 2 {
            std::thread::sleep(Duration::from_millis(5));
        }
        if other {
            project.write(out, "precious")
        } else {
            std::fs::remove_dir_all(project.path("out")).unwrap()
        }
        drop(lock);
        let run = Run::new(child.wait_with_output().unwrap()).expect(5);
        assert!(run.err.contains("was already charged to the ledger"), "{out}: {}", run.err);
        assert!(!other || project.read(out) == "precious");
    }
    only_ledger(&project, charged + 3, "all of them");
}

/// How many files of a folder have no name yet.
fn hidden_files(project: &Project, folder: &str) -> usize {
    let entries = std::fs::read_dir(project.path(folder)).unwrap();
    entries.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with('.')).count()
}

/// A lock that another process keeps is not waited for without end.
#[test]
fn a_lock_that_is_held_is_told() {
    let project = project();
    predict(&project, "energy.toml", &[]).expect(0);
    let path = project.path("state/ledgers.lock");
    let lock = std::fs::File::options().append(true).open(&path).unwrap();
    let holder = std::fs::read_to_string(&path).unwrap();
    assert!(holder.starts_with("process "), "{holder}");
    lock.lock().unwrap();
    let run = predict(&project, "energy.toml", &[]).expect(5);
    assert!(run.err.contains("is still locked by another release (process "), "{}", run.err);
    assert!(run.err.contains("released or charged") && run.out.is_empty(), "{}", run.err);
    drop(lock);
    predict(&project, "energy.toml", &[]).expect(0);
    only_ledger(&project, 2, "a lock that is free again");
}

#[test]
fn without_a_state_folder_nothing_is_released() {
    let project = project();
    let arguments = ["predict", "energy.toml", "--at", "grid.csv", "--quiet"];
    let bare = |more: &[&str]| {
        let mut command = project.command(&[&arguments[..], more].concat());
        command.env_remove("DPGP_STATE").env_remove("XDG_STATE_HOME").env_remove("HOME");
        Run::new(command.output().unwrap())
    };
    let run = bare(&[]).expect(2);
    assert!(run.err.contains("set DPGP_STATE") && run.out.is_empty(), "{}", run.err);
    bare(&["--no-ledger"]).expect(0);
    for (name, folder) in [("XDG_STATE_HOME", "xdg/dpgp"), ("HOME", "home/.local/state/dpgp")] {
        let mut command = project.command(&arguments);
        command.env_remove("DPGP_STATE").env_remove("XDG_STATE_HOME").env_remove("HOME");
        command.env(name, project.path(folder.split('/').next().unwrap()));
        Run::new(command.output().unwrap()).expect(0);
        assert!(project.path(folder).join("key").is_file() && project.path(folder).join("ledgers").is_dir());
    }
    // Each working folder would have budgets of its own.
    for (name, folder) in [("DPGP_STATE", "relative"), ("XDG_STATE_HOME", "xdg"), ("HOME", ".")] {
        let mut command = project.command(&arguments);
        command.env_remove("DPGP_STATE").env_remove("XDG_STATE_HOME").env_remove("HOME").env(name, folder);
        let run = Run::new(command.output().unwrap()).expect(2);
        assert!(run.err.contains("is a relative path, so each working folder would have its own key"), "{}", run.err);
        assert!(!project.path("relative").exists());
    }
    project.put("state/key", "short");
    let run = project.dpgp(&arguments).expect(5);
    assert!(run.err.contains("is not a 32-byte key"), "{}", run.err);
}

/// A release that is counted nowhere says so.
#[test]
fn no_ledger_stands_in_the_certificate() {
    let project = project();
    let run = predict(&project, "energy.toml", &["--no-ledger", "--out", "p.csv"]).expect(0);
    assert!(run.out.contains("no ledger: this release is not recorded"), "{}", run.out);
    let stats = ["stats", "energy.toml", "energy.csv", "--release", "s.json", "--no-ledger"];
    project.dpgp(&stats).expect(0);
    for name in ["p.csv.certificate.json", "s.json"] {
        let released = project.json(name);
        assert!(released["all_releases"].is_null());
        assert!(released["not_covered"].to_string().contains("--no-ledger"), "{released}");
    }
    assert!(!project.path("state").exists());
    predict(&project, "energy.toml", &["--no-ledger", "--ledger", "l.toml"]).expect(2);
}

/// Processes that begin at once make one key and one ledger, which counts all of them.
#[test]
fn processes_at_once_share_one_ledger() {
    let project = project();
    project.write("energy.toml", &records().replace("epsilon = 0.5", "epsilon = 0.1"));
    let mut children = Vec::new();
    for _ in 0..4 {
        let mut command = project.command(&["predict", "energy.toml", "--at", "grid.csv", "--quiet"]);
        children.push(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    }
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    only_ledger(&project, 4, "four processes");
    project.dpgp(&["ledger", "verify"]).expect(0);
}

/// Nobody without the key can check a guess of the rows, and nobody else can read what was computed from them.
#[test]
fn what_is_private_is_for_its_owner_alone() {
    let project = project();
    project.write("energy.toml", TARGETS);
    project.dpgp(&["run", "energy.toml", "--quiet"]).expect(0);
    project.dpgp(&["predict", "energy.toml", "--at", "grid.csv", "--quiet", "--out", "p.csv"]).expect(0);
    project.write("sums.toml", &records());
    let stats = ["stats", "sums.toml", "energy.csv", "--out", "sums.json", "--release", "s.json", "--no-ledger"];
    project.dpgp(&stats).expect(0);
    let digest = dpgp::data::digest::compute_file_checksum(&project.path("energy.csv")).unwrap().digest.to_string();
    let mut seen = 0;
    let mut folders = vec![project.folder.path().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains(&digest), "{} holds the digest of the rows", path.display());
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen} files");
    let segment = std::fs::read_dir(project.path("store")).unwrap().next().unwrap().unwrap().file_name();
    let segment = format!("store/{}", segment.to_str().unwrap());
    assert!(project.read(&segment).contains("hmac-sha256:"), "changed data are noticed");
    project.dpgp(&["report", "energy.toml", "--out", "own.html"]).expect(0);
    for name in
        ["sums.json", "state/key", "results/energy/table.csv", "results/energy/manifest.json", "own.html", &segment]
    {
        assert_eq!(mode(&project, name), 0o600, "{name}");
    }
    for name in ["p.csv", "p.csv.certificate.json", "s.json"] {
        assert_ne!(mode(&project, name) & 0o044, 0, "{name} is made to be shown");
    }
    assert!(project.read("results/energy/table.md").contains("not private"));
    assert!(project.json("results/energy/manifest.json")["not_private"].is_string());
    // The store notices that the rows changed.
    assert!(project.dpgp(&["run", "energy.toml", "--quiet"]).expect(0).out.contains("nothing to compute"));
    project.write("energy.csv", &energy_csv(&rows(1..121)));
    assert!(!project.dpgp(&["run", "energy.toml", "--quiet"]).expect(0).out.contains("nothing to compute"));
    let why = project.dpgp(&["run", "energy.toml", "--quiet", "--format", "json"]).expect(0).json();
    assert!(why["not_private"].is_string());
}

/// Counts are private: without the word they are not said.
#[test]
fn counts_are_for_the_holder() {
    let project = project();
    let stats = ["stats", "energy.toml", "energy.csv"];
    for (more, says) in [(&[][..], false), (&["--for-holder"], true)] {
        let text = project.dpgp(&[&stats[..], more].concat()).expect(0).out;
        assert_eq!(text.contains("120 rows") && text.contains("clipped"), says, "{text}");
        let facts = project.dpgp(&[&stats[..], more, &["--format", "json"]].concat()).expect(0).json();
        assert_eq!(facts["rows"].is_u64() && facts["clipped"].is_u64() && facts["not_private"].is_boolean(), says);
        let run = predict(&project, "energy.toml", &[more, &["--no-ledger"]].concat()).expect(0);
        assert_eq!(run.err.contains("were clipped"), says, "{}", run.err);
    }
}

/// Both verbs refuse a guarantee with exceptions, and a delta that protects nobody in particular.
#[test]
fn weak_guarantees_need_a_word() {
    let project = project();
    let classic = records().replace("\"analytic\"", "\"classic\"").replace("epsilon = 0.5", "epsilon = 20.0");
    let large = records().replace("delta = 1e-6", "delta = 0.01");
    for (spec, message) in
        [(&classic, "outside the proof of the classic calibration"), (&large, "is not below 1 / (number of rows)")]
    {
        project.write("weak.toml", spec);
        let stats = ["stats", "weak.toml", "energy.csv", "--release", "s.json"];
        let run = project.dpgp(&stats).expect(2);
        assert!(run.err.contains(message) && !project.path("s.json").exists(), "{}", run.err);
        let run = predict(&project, "weak.toml", &[]).expect(2);
        assert!(run.err.contains(message) && run.out.is_empty(), "{}", run.err);
        project.dpgp(&[&stats[..], &["--allow-caveats", "--no-ledger"]].concat()).expect(0);
        predict(&project, "weak.toml", &["--allow-caveats", "--no-ledger"]).expect(0);
        std::fs::remove_file(project.path("s.json")).unwrap();
    }
    project.write("weak.toml", &records().replace("epsilon = 0.5", "epsilon = 20.0"));
    let run = predict(&project, "weak.toml", &["--out", "p.csv"]).expect(0);
    assert!(run.out.contains("warning: epsilon = 20 is above 10: "), "{}", run.out);
    assert!(project.json("p.csv.certificate.json")["warnings"].to_string().contains("above 10"));
    let stats = ["stats", "weak.toml", "energy.csv", "--release", "s.json"];
    assert!(project.dpgp(&stats).expect(0).out.contains("warning: epsilon = 20 is"));
}

/// A change below the width of the bounds must be asked for, and the guarantee for the whole width stands beside it.
#[test]
fn a_narrow_change_is_metric() {
    let project = project();
    let narrow = TARGETS.replace("change = 40.0", "change = 10.0");
    project.write("energy.toml", &narrow);
    for verb in [&["run", "energy.toml"][..], &["predict", "energy.toml", "--at", "grid.csv"]] {
        let run = project.dpgp(verb).expect(2);
        assert!(run.err.contains("privacy.change") && run.err.contains("relation = \"metric\""), "{}", run.err);
    }
    project.write("energy.toml", &narrow.replace("change = 10.0", "change = 10.0\nrelation = \"metric\""));
    let run = predict(&project, "energy.toml", &["--out", "p.csv"]).expect(0);
    assert!(run.out.contains("for a change by 40.0, the whole width of the bounds"), "{}", run.out);
    let certificate = project.json("p.csv.certificate.json");
    let wide = &certificate["whole_width"];
    let mu = |value: &Value| value["mu"].as_f64().unwrap();
    assert!((mu(wide) / mu(&certificate) - 4.0).abs() < 1e-12, "{certificate}");
    let (epsilon, delta) = (wide["epsilon"].as_f64().unwrap(), wide["delta"].as_f64().unwrap());
    let exact = dpgp::privacy::gaussian_delta(1.0 / mu(wide), epsilon);
    assert!(epsilon > 4.0 && (exact / delta - 1.0).abs() < 1e-9, "{epsilon} {exact}");
}

/// A path that cannot be recorded is refused before the ledger is written.
#[cfg(target_os = "linux")]
#[test]
fn a_ledger_needs_a_path_in_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let project = project();
    let name = std::ffi::OsStr::from_bytes(b"l\xff.toml");
    let mut command = project.command(&["predict", "energy.toml", "--at", "grid.csv", "--quiet", "--ledger"]);
    let run = Run::new(command.arg(name).output().unwrap()).expect(2);
    assert!(run.err.contains("is not valid UTF-8") && run.out.is_empty(), "{}", run.err);
    assert!(!project.path("").join(name).exists());
    let run = project.dpgp(&["predict", "energy.toml", "--at", "grid.csv"]).expect(0);
    assert!(run.err.contains("1 release has"), "{}", run.err);
}
