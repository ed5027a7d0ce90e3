//! Pages name files that exist, and the page on the architecture items that stand in them.

use crate::support::shipped::{root, shipped};

/// The folder that a page proposes to write.
const PROPOSED: &str = "crates/dpgp-task/src/mean/";

/// The words between backticks of a text.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The files and folders that a page names, as paths from the root of the project.
fn named_files(page: &str) -> Vec<&str> {
    let is_path = |word: &&str| {
        ["crates/", "src/", "tests/", "scripts/"].iter().any(|folder| word.starts_with(folder))
            && !word.contains([' ', '<', '*'])
    };
    page.lines().flat_map(quoted).filter(is_path).collect()
}

#[test]
fn named_files_exist() {
    let mut pages: Vec<String> = vec!["README.md".to_owned()];
    for folder in ["docs", "docs/proofs"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            pages.push(format!("{folder}/{}", entry.unwrap().file_name().to_str().unwrap()));
        }
    }
    pages.retain(|page| page.ends_with(".md"));
    let (mut checked, mut gone) = (0, Vec::new());
    for page in pages {
        for file in named_files(&shipped(&page)) {
            checked += 1;
            if !root().join(file).exists() && file != PROPOSED {
                gone.push(format!("{page}: {file}"));
            }
        }
    }
    assert!(checked >= 30, "only {checked} names of files were found");
    assert!(gone.is_empty(), "files that do not exist are named: {gone:#?}");
}

/// Rows of the walks: `| what happens | file | items |`.
#[test]
fn named_items_stand_in_their_files() {
    let (mut checked, mut wrong) = (0, Vec::new());
    for row in shipped("docs/architecture.md").lines() {
        let cells: Vec<&str> = row.split('|').collect();
        let [_, _, file, items, _] = cells[..] else { continue };
        let [file] = quoted(file)[..] else { continue };
        let source = std::fs::read_to_string(root().join(file)).unwrap_or_default();
        for item in quoted(items) {
            checked += 1;
            if !defines(&source, item) {
                wrong.push(format!("{file}: {item}"));
            }
        }
    }
    assert!(checked >= 30, "only {checked} items were found");
    assert!(wrong.is_empty(), "items do not stand in their files: {wrong:#?}");
}

/// The files of each walk, in the order of its rows.
fn walks(page: &str) -> Vec<Vec<&str>> {
    let walks = page.split("\n### ").skip(1).map(|walk| walk.split("\n## ").next().unwrap());
    walks.map(|walk| walk.lines().filter_map(|row| quoted(row.split('|').nth(2)?).first().copied()).collect()).collect()
}

/// A reader follows a walk from file to file, without a way back.
#[test]
fn walks_are_short_and_never_return() {
    let page = shipped("docs/architecture.md");
    let walks = walks(&page);
    assert_eq!(walks.len(), 4);
    for walk in walks {
        assert!((6..=12).contains(&walk.len()), "{} files: {walk:?}", walk.len());
        let again = (1..walk.len()).find(|&place| walk[..place].contains(&walk[place]));
        assert_eq!(again.map(|place| walk[place]), None, "a walk returns to a file");
    }
}

/// Whether a source defines a function, a type or a constant of a name; of `Type::function`, the function.
fn defines(source: &str, item: &str) -> bool {
    let name = item.rsplit("::").next().unwrap();
    let words: Vec<&str> = source.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()).collect();
    let keywords = ["fn", "struct", "enum", "trait", "type", "const"];
    words.windows(2).any(|pair| keywords.contains(&pair[0]) && pair[1] == name)
}

#[test]
fn definitions_are_told_from_uses() {
    let source = "pub struct Kernel<T>; fn matrix_of(k: &Kernel) { matrix(k) }";
    assert!(defines(source, "Kernel") && defines(source, "Kernel::matrix_of"));
    assert!(!defines(source, "matrix"));
    assert_eq!(quoted("a `b` c `d/e.rs`"), ["b", "d/e.rs"]);
}
