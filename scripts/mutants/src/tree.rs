//! A copy of the project in which all changes wait to be switched on.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::area::Area;
use crate::find;
use crate::site::{Change, Site};
use crate::suite::Suite;
use crate::weave;

/// What a place asks. The first question reads the environment; `MUTANT_SEEN` names a file to which each place that is reached is added
/// once, in any process.
const SWITCH: &str = r#"//! Which change is on.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const UNREAD: u32 = u32::MAX;
const NONE: u32 = u32::MAX - 1;
const SEEN: u32 = u32::MAX - 2;
static ON: AtomicU32 = AtomicU32::new(UNREAD);
static REACHED: [AtomicBool; 1 << 16] = [const { AtomicBool::new(false) }; 1 << 16];

/// Whether a change is on.
#[inline]
pub fn on(id: u32) -> bool {
    let on = ON.load(Ordering::Relaxed);
    if on < SEEN { on == id } else if on == NONE { false } else { asked(id) }
}

#[cold]
fn asked(id: u32) -> bool {
    let on = std::env::var("MUTANT").ok().and_then(|text| text.parse().ok());
    let file = std::env::var_os("MUTANT_SEEN");
    ON.store(on.unwrap_or(if file.is_some() { SEEN } else { NONE }), Ordering::Relaxed);
    if let Some(file) = file
        && !REACHED[id as usize].swap(true, Ordering::Relaxed)
        && let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(file)
    {
        let _ = file.write_all(&id.to_le_bytes());
    }
    on == Some(id)
}
"#;

/// A change of the program, by where it is.
pub struct Mutation {
    pub id: u32,
    pub area: &'static Area,
    /// `src/privacy/noise.rs:12:5 in draw: + becomes -`
    pub key: String,
}

pub struct Tree {
    pub work: PathBuf,
    pub root: PathBuf,
    files: BTreeMap<PathBuf, Woven>,
}

struct Woven {
    area: &'static Area,
    source: String,
    sites: Vec<Site>,
}

impl Tree {
    /// The copy, woven and compiled; and what can be switched on in it.
    pub fn grown(project: &Path, areas: &[&'static Area]) -> Result<(Self, Vec<Mutation>), String> {
        let work = project.join("target/mutants");
        let mut tree = Self { root: work.join("tree"), work, files: BTreeMap::new() };
        let tracked = tracked(project)?;
        let tests = test_places(project, &tracked);
        for file in tracked {
            let bytes =
                fs::read(project.join(&file)).map_err(|error| format!("{}: {error}", file.display()))?;
            if let Some(area) = areas.iter().find(|area| {
                area.holds(&file) && !tests.iter().any(|test| file.with_extension("").starts_with(test))
            }) {
                let source = String::from_utf8(bytes).map_err(|error| error.to_string())?;
                let sites = find::sites(&source).map_err(|error| format!("{}: {error}", file.display()))?;
                tree.files.insert(file, Woven { area, source, sites });
            } else if file == Path::new("src/lib.rs") {
                tree.write(&file, &[&bytes, b"\n#[doc(hidden)]\npub mod mutant;\n".as_slice()].concat())?;
            } else {
                tree.write(&file, &bytes)?;
            }
        }
        tree.write(Path::new("src/mutant.rs"), SWITCH.as_bytes())?;
        tree.number();
        tree.compile()?;
        let mutations = tree.mutations();
        println!("{} changes in {} files compile", mutations.len(), tree.files.len());
        Ok((tree, mutations))
    }

    fn number(&mut self) {
        let changes =
            self.files.values_mut().flat_map(|file| &mut file.sites).flat_map(|site| &mut site.changes);
        changes.zip(1..).for_each(|(change, id)| change.id = id);
    }

    fn mutations(&self) -> Vec<Mutation> {
        let mut all = Vec::new();
        for (path, file) in &self.files {
            for change in file.sites.iter().flat_map(|site| &site.changes) {
                all.push(Mutation { id: change.id, area: file.area, key: key(path, change) });
            }
        }
        all
    }

    /// Weaves and compiles, and takes out what does not compile, until all does.
    fn compile(&mut self) -> Result<(), String> {
        let list = self.work.join("not-compiled.txt");
        let mut out = fs::read_to_string(&list)
            .unwrap_or_default()
            .lines()
            .map(str::to_string)
            .collect::<BTreeSet<_>>();
        loop {
            for (path, file) in &mut self.files {
                for site in &mut file.sites {
                    site.changes.retain(|change| !out.contains(&key(path, change)));
                }
                file.sites.retain(|site| !site.changes.is_empty());
            }
            for (path, file) in &self.files {
                self.write(path, weave::woven(&file.source, &file.sites).as_bytes())?;
            }
            let (messages, ok) = self.cargo(&["build", "--lib"])?;
            if ok {
                return Ok(());
            }
            let wrong = self.wrong(&messages)?;
            println!("{} changes do not compile", wrong.len());
            out.extend(wrong);
            fs::write(&list, out.iter().map(|key| format!("{key}\n")).collect::<String>())
                .map_err(|e| e.to_string())?;
        }
    }

    /// The changes in whose text, or around whose text, the compiler found errors.
    fn wrong(&self, messages: &[Value]) -> Result<BTreeSet<String>, String> {
        let mut wrong = BTreeSet::new();
        let mut unplaced = String::new();
        for message in
            messages.iter().map(|line| &line["message"]).filter(|message| message["level"] == "error")
        {
            let spans = message["spans"].as_array().into_iter().flatten();
            let found = spans.flat_map(|span| self.changes_at(span)).collect::<Vec<_>>();
            if found.is_empty() && message["spans"].as_array().is_some_and(|spans| !spans.is_empty()) {
                unplaced += message["rendered"].as_str().unwrap_or_default();
            }
            wrong.extend(found);
        }
        if wrong.is_empty() { Err(format!("the copy does not compile:\n{unplaced}")) } else { Ok(wrong) }
    }

    fn changes_at(&self, span: &Value) -> Vec<String> {
        let path = PathBuf::from(span["file_name"].as_str().unwrap_or_default());
        let Some(file) = self.files.get(&path) else { return Vec::new() };
        let place = |name: &str| span[name].as_u64().unwrap_or(0) as usize;
        let (start, end) = (place("byte_start"), place("byte_end"));
        let text = weave::woven(&file.source, &file.sites);
        let mut found = Vec::new();
        let mut narrowest = usize::MAX;
        for change in file.sites.iter().flat_map(|site| &site.changes) {
            let (open, close) = (format!("/*<{}*/", change.id), format!("/*>{}*/", change.id));
            let (Some(from), Some(to)) = (text.find(&open), text.find(&close)) else { continue };
            if from <= start && end <= to && to - from < narrowest {
                narrowest = to - from;
                found = vec![key(&path, change)];
            } else if narrowest == usize::MAX && start <= from && to <= end {
                found.push(key(&path, change));
            }
        }
        found
    }

    /// The test binaries, compiled: that of the unit tests, and that of the others.
    pub fn suites(&self, unit: bool) -> Result<Vec<Suite>, String> {
        let (messages, ok) =
            self.cargo(&["test", "--no-run", "--lib", "--test", "it"][..if unit { 3 } else { 5 }])?;
        if !ok {
            let texts = messages.iter().filter(|message| message["message"]["level"] == "error");
            let texts =
                texts.filter_map(|message| message["message"]["rendered"].as_str()).collect::<String>();
            return Err(format!("the tests of the copy do not compile:\n{texts}"));
        }
        let tests = messages.iter().filter(|message| message["profile"]["test"] == true);
        let binaries = tests.filter_map(|message| message["executable"].as_str());
        binaries.map(|binary| Suite::of(Path::new(binary))).collect()
    }

    /// What a command of cargo says, and whether it succeeded.
    fn cargo(&self, words: &[&str]) -> Result<(Vec<Value>, bool), String> {
        let mut command = Command::new("cargo");
        command.args(words).args(["--message-format=json", "--quiet"]).current_dir(&self.root);
        command.env("CARGO_TARGET_DIR", self.work.join("target")).stderr(Stdio::null());
        let output = command.output().map_err(|error| format!("cargo: {error}"))?;
        let lines = String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>();
        Ok((lines.map_err(|error| format!("cargo: {error}"))?, output.status.success()))
    }

    /// Writes a file of the copy, if it is another: cargo compiles what is younger.
    fn write(&self, file: &Path, bytes: &[u8]) -> Result<(), String> {
        let path = self.root.join(file);
        if fs::read(&path).is_ok_and(|there| there == bytes) {
            return Ok(());
        }
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&path, bytes))
            .map_err(|e| format!("{}: {e}", path.display()))
    }
}

/// The modules that are for tests alone, as paths without their ending.
fn test_places(project: &Path, files: &[PathBuf]) -> Vec<PathBuf> {
    let mut places = Vec::new();
    for file in files
        .iter()
        .filter(|file| file.starts_with("src") && file.extension().is_some_and(|ending| ending == "rs"))
    {
        let source = fs::read_to_string(project.join(file)).unwrap_or_default();
        let root = ["mod.rs", "lib.rs"].iter().any(|name| file.ends_with(name));
        let folder = if root {
            file.parent().map(Path::to_path_buf).unwrap_or_default()
        } else {
            file.with_extension("")
        };
        places.extend(find::test_modules(&source).iter().map(|name| folder.join(name)));
    }
    places
}

fn key(path: &Path, change: &Change) -> String {
    format!("{}:{}:{} in {}: {}", path.display(), change.line, change.column, change.function, change.told)
}

/// The files of the project that a clone would have, and those not yet added.
fn tracked(project: &Path) -> Result<Vec<PathBuf>, String> {
    let mut command = Command::new("git");
    command.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).current_dir(project);
    let output = command.output().map_err(|error| format!("git: {error}"))?;
    let names = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
    Ok(names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .filter(|f| project.join(f).is_file())
        .collect())
}
