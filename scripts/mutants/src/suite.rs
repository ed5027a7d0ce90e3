//! The tests, each with what it reaches and how long it takes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::tree::Tree;

/// A binary of tests.
pub struct Suite {
    binary: PathBuf,
    names: Vec<String>,
}

/// A test that passes.
pub struct Test {
    pub binary: PathBuf,
    pub name: String,
    pub seconds: f64,
    pub reaches: BTreeSet<u32>,
}

impl Suite {
    /// Which binary this is: its name and when it was written.
    fn stamp(&self) -> String {
        let written = fs::metadata(&self.binary).and_then(|about| about.modified());
        format!("{} {written:?}", self.binary.display())
    }

    /// The tests of a binary but those that are ignored.
    pub fn of(binary: &Path) -> Result<Self, String> {
        let ignored = listed(binary, &["--ignored"])?;
        let names = listed(binary, &[])?.into_iter().filter(|name| !ignored.contains(name)).collect();
        Ok(Self { binary: binary.to_path_buf(), names })
    }
}

fn listed(binary: &Path, words: &[&str]) -> Result<Vec<String>, String> {
    let output = Command::new(binary).args(["--list", "--format", "terse"]).args(words).output();
    let output = output.map_err(|error| format!("{}: {error}", binary.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_string).collect())
}

/// Runs each test alone, unless these binaries have been measured. Tests that fail are named, and judge nothing.
pub fn measured(suites: &[Suite], tree: &Tree) -> Result<Vec<Test>, String> {
    let path = tree.work.join("tests.json");
    let stamp = suites.iter().map(Suite::stamp).collect::<Vec<_>>().join(" ");
    if let Some(tests) = fs::read(&path).ok().and_then(|bytes| kept(&bytes, &stamp)) {
        return Ok(tests);
    }
    let tests = measured_now(suites, tree)?;
    let rows = tests
        .iter()
        .map(|test| json!([test.binary, test.name, test.seconds, test.reaches]))
        .collect::<Vec<_>>();
    fs::write(&path, json!({ "stamp": stamp, "tests": rows }).to_string())
        .map_err(|error| error.to_string())?;
    Ok(tests)
}

/// The tests of a file of measurements, if they are of these binaries.
fn kept(bytes: &[u8], stamp: &str) -> Option<Vec<Test>> {
    let file = serde_json::from_slice::<Value>(bytes).ok().filter(|file| file["stamp"] == stamp)?;
    let rows = file["tests"].as_array()?.iter();
    rows.map(|row| {
        let reaches =
            row[3].as_array()?.iter().filter_map(|id| id.as_u64().and_then(|id| u32::try_from(id).ok()));
        let (binary, name) = (row[0].as_str()?.into(), row[1].as_str()?.to_string());
        Some(Test { binary, name, seconds: row[2].as_f64()?, reaches: reaches.collect() })
    })
    .collect()
}

fn measured_now(suites: &[Suite], tree: &Tree) -> Result<Vec<Test>, String> {
    let all =
        suites.iter().flat_map(|suite| suite.names.iter().map(move |name| (suite, name))).collect::<Vec<_>>();
    let tests = Mutex::new(Vec::new());
    let failed = Mutex::new(Vec::new());
    in_parallel(all.len(), |i, worker| {
        let (suite, name) = all[i];
        let seen = tree.work.join(format!("seen-{worker}"));
        let _ = fs::remove_file(&seen);
        let mut command = batch(tree, &suite.binary, std::slice::from_ref(name));
        command.env("MUTANT_SEEN", &seen);
        let begun = Instant::now();
        if ended(&mut command, Duration::from_secs(300)) == Some(true) {
            let bytes = fs::read(&seen).unwrap_or_default();
            let reaches =
                bytes.chunks_exact(4).map(|id| u32::from_le_bytes([id[0], id[1], id[2], id[3]])).collect();
            let seconds = begun.elapsed().as_secs_f64();
            let test = Test { binary: suite.binary.clone(), name: name.clone(), seconds, reaches };
            tests.lock().unwrap_or_else(|error| error.into_inner()).push(test);
        } else {
            failed.lock().unwrap_or_else(|error| error.into_inner()).push(name.clone());
        }
    });
    let mut tests = tests.into_inner().map_err(|error| error.to_string())?;
    tests.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let failed = failed.into_inner().map_err(|error| error.to_string())?;
    println!("{} tests pass alone; left out, since they do not: {}", tests.len(), failed.join(", "));
    Ok(tests)
}

/// A command that runs some tests of a binary, one after the other, within 12 GB.
pub fn batch(tree: &Tree, binary: &Path, names: &[String]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 12000000; ulimit -c 0; exec \"$0\" \"$@\""]).arg(binary);
    command.args(["--exact", "--test-threads=1", "--quiet"]).args(names).current_dir(&tree.root);
    command
        .env("PROPTEST_MAX_SHRINK_ITERS", "0")
        .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1")
        .env("INSTA_UPDATE", "no");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Whether a command succeeds; nothing if it had to be ended.
pub fn ended(command: &mut Command, limit: Duration) -> Option<bool> {
    use std::os::unix::process::CommandExt;
    let mut child = command.process_group(0).spawn().ok()?;
    let begun = Instant::now();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status.success());
        }
        if begun.elapsed() > limit {
            let _ = Command::new("kill").args(["-9", "--", &format!("-{}", child.id())]).status();
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Calls a function for each number below `count`, on as many threads as there are cores; a thread says which it is.
pub fn in_parallel(count: usize, call: impl Fn(usize, usize) + Sync) {
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (next, call) = (&next, &call);
            scope.spawn(move || {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= count {
                        return;
                    }
                    call(i, worker);
                }
            });
        }
    });
}
