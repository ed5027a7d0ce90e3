//! The TOML examples of the documentation are what they say, and its links lead somewhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dpgp::data::DatasetManifest;
use dpgp::task::Experiment;

use crate::support::shipped::{root, shipped};

/// Each page of the documentation and the README, with their texts.
fn pages() -> Vec<(PathBuf, String)> {
    let folders = ["docs", "docs/proofs"].map(|folder| std::fs::read_dir(root().join(folder)).unwrap());
    let files = folders.into_iter().flatten().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let pages = files.chain(["README.md", "SECURITY.md"].map(|name| root().join(name)));
    pages.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

fn toml_blocks(text: &str) -> Vec<&str> {
    text.split("```toml\n").skip(1).map(|rest| rest.split_once("```").unwrap().0).collect()
}

fn is_spec(block: &str) -> bool {
    toml::from_str::<toml::Table>(block).unwrap().contains_key("experiment")
}

/// A spec without the sections that a fragment brings.
fn combined(spec: &str, fragment: &str) -> String {
    let mut base: toml::Table = toml::from_str(spec).unwrap();
    let more: toml::Table = toml::from_str(fragment).unwrap();
    base.extend(more);
    toml::to_string(&base).unwrap()
}

#[test]
fn examples_of_toml_are_checked() {
    let manifest = DatasetManifest::load_shipped().unwrap();
    let mut checked = 0;
    for (path, text) in pages() {
        let blocks = toml_blocks(&text);
        let spec = blocks.iter().find(|block| is_spec(block));
        for block in &blocks {
            let table: toml::Table = toml::from_str(block).unwrap();
            checked += 1;
            if table.contains_key("dataset") {
                DatasetManifest::parse(block, &path).unwrap_or_else(|error| panic!("{error}"));
                continue;
            }
            let whole = if is_spec(block) { (*block).to_owned() } else { combined(spec.unwrap(), block) };
            Experiment::parse("example", &path, whole, &manifest).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    assert!(checked >= 6, "only {checked} examples were found");
}

/// Links between pages name files, and headings that are there.
#[test]
fn links_lead_somewhere() {
    for (path, text) in pages() {
        for link in text.split("](").skip(1).map(|rest| rest.split_once(')').unwrap().0) {
            if link.starts_with("http") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let found = std::fs::read_to_string(&target);
            let found = found.unwrap_or_else(|error| panic!("{}: {link}: {error}", path.display()));
            assert!(heading.is_empty() || headings(&found).contains(&heading.to_owned()), "{link}");
        }
    }
}

/// The Rust and Python files below a folder, as one text.
fn read_sources(folder: &Path, text: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true => read_sources(&entry, text),
            false if entry.extension().is_some_and(|end| end == "rs" || end == "py") => {
                text.push_str(&std::fs::read_to_string(&entry).unwrap())
            }
            false => {}
        }
    }
}

/// The words of a text: letters, digits and underscores.
fn words(text: &str) -> BTreeSet<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
}

/// Whether code in a page is the name of a type, or a path to an item: `NoisySums`, `gp::sites::Lattice`.
fn is_item(code: &str) -> bool {
    let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_camel = code.starts_with(char::is_uppercase) && code.contains(char::is_lowercase);
    is_name(&code.replace("::", "")) && (code.contains("::") || is_camel && code[1..].contains(char::is_uppercase))
}

/// Types and paths that pages name exist, in our code or in the examples of the page itself.
#[test]
fn items_that_pages_name_exist() {
    const OF_OTHERS: [&str; 3] = ["AdaSSP", "GridSearchCV", "StandardScaler"];
    let mut sources = String::new();
    ["src", "crates", "python", "tests"].iter().for_each(|folder| read_sources(&root().join(folder), &mut sources));
    let known = words(&sources);
    let mut missing = Vec::new();
    for (path, text) in pages() {
        let parts = text.split("```").enumerate();
        let (prose, examples): (Vec<_>, Vec<_>) = parts.partition(|(place, _)| place % 2 == 0);
        let shown: String = examples.iter().map(|(_, example)| *example).collect();
        for code in prose.iter().flat_map(|(_, prose)| prose.split('`').skip(1).step_by(2)).filter(|code| is_item(code))
        {
            let name = code.rsplit("::").next().unwrap();
            if !known.contains(name) && !OF_OTHERS.contains(&name) && !shown.contains(&format!("struct {name}")) {
                missing.push(format!("{}: {code}", path.display()));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

/// The anchors of the headings of a page, as Markdown is shown on the web.
fn headings(text: &str) -> Vec<String> {
    text.lines().filter(|line| line.starts_with('#')).map(anchor).collect()
}

fn anchor(heading: &str) -> String {
    let title = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
    title.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
}

/// Every page is in the list of pages.
#[test]
fn every_page_is_listed() {
    let index = ["docs/README.md", "docs/proofs/README.md", "README.md"].map(shipped).concat();
    for (path, _) in pages() {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name == "README.md" || index.contains(&format!("]({name})")), "{name} is not listed");
        assert!(Path::new(&path).extension().is_some_and(|end| end == "md"));
    }
}
