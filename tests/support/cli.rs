//! The real binary, run as a user runs it.

use std::path::PathBuf;
use std::process::{Command, Output};

use super::shipped::root;

/// A project folder of the test's own: the shipped experiments and data folder are linked into it.
pub struct Project {
    pub folder: tempfile::TempDir,
}

impl Project {
    pub fn new() -> Self {
        let project = Self::empty();
        let root = root();
        for name in ["experiments", "data"] {
            std::os::unix::fs::symlink(root.join(name), project.path(name)).unwrap();
        }
        project
    }

    /// The same with a spec of its own, `study.toml`.
    pub fn with_study(spec: &str) -> Self {
        let project = Self::new();
        project.write("study.toml", spec);
        project
    }

    /// A folder with nothing in it.
    pub fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// A project without experiments, whose data folder holds this manifest only.
    pub fn with_manifest(manifest: &str) -> Self {
        let project = Self::empty();
        std::fs::create_dir_all(project.path("experiments")).unwrap();
        project.put("data/datasets.toml", manifest);
        project
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// Writes a file of any bytes; the folders that it needs are created.
    pub fn put(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, contents).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// Makes room for a file that is written anew; none may be written over.
    pub fn remove(&self, name: &str) {
        let _ = std::fs::remove_file(self.path(name));
    }

    /// Runs `dpgp` in the folder, with a cache of its own.
    pub fn dpgp(&self, arguments: &[&str]) -> Run {
        Run::new(self.command(arguments).output().unwrap())
    }

    /// The same without the mirror of the datasets.
    pub fn dpgp_without_mirror(&self, arguments: &[&str]) -> Run {
        Run::new(self.command(arguments).env_remove("DPGP_MIRROR").output().unwrap())
    }

    /// Fails the test if a run that failed has left results or stored anything.
    pub fn assert_nothing_left(&self) {
        for name in ["results", "store"] {
            assert!(!self.path(name).exists(), "{name} was left");
        }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dpgp"));
        let cache = self.path("cache");
        let store = self.path("store");
        command.args(arguments).current_dir(self.folder.path());
        command.env("DPGP_DATA", cache).env("DPGP_STORE", store).env("NO_COLOR", "1");
        command.env("DPGP_STATE", self.path("state")).env_remove("COLUMNS");
        // The servers of the tests are on this machine.
        command.env("DPGP_LOCAL_URLS", "1").env_remove("DPGP_SAFE_PROJECTS");
        command
    }
}

/// What a run left behind.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    pub fn new(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }

    /// What was printed, as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }

    /// What was said on stderr, without the names of temporary folders and the ports of local servers.
    pub fn redacted(&self, project: &Project, address: &str) -> String {
        let text = self.err.replace(project.folder.path().to_str().unwrap(), "PROJECT");
        if address.is_empty() { text } else { text.replace(address, "http://127.0.0.1:PORT") }
    }

    /// Fails the test unless the exit code is the expected one.
    pub fn expect(self, code: i32) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }
}
