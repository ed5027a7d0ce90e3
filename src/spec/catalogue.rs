//! The shipped experiments and how users name them.

use std::path::{Path, PathBuf};

/// A spec file and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSpec {
    /// The name, for example `smith2021/table1`.
    pub name: String,
    /// The file.
    pub path: PathBuf,
}

/// The specs below a folder, sorted by name.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    specs: Vec<NamedSpec>,
}

impl Catalogue {
    /// All `*.toml` below `folder`; the name of each is its path without the ending.
    ///
    /// # Errors
    /// The I/O error of a folder that cannot be read.
    pub fn read(folder: &Path) -> std::io::Result<Self> {
        let mut specs = Vec::new();
        collect(folder, "", &mut specs)?;
        specs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { specs })
    }

    /// All specs, sorted by name.
    pub fn specs(&self) -> &[NamedSpec] {
        &self.specs
    }

    /// The specs that `pattern` means: one of that exact name, else all whose name starts with the whole
    /// segment (`smith2021` means `smith2021/...`).
    pub fn find(&self, pattern: &str) -> Vec<&NamedSpec> {
        let exact: Vec<&NamedSpec> = self.specs.iter().filter(|s| s.name == pattern).collect();
        if !exact.is_empty() {
            return exact;
        }
        let prefix = format!("{}/", pattern.trim_end_matches('/'));
        self.specs.iter().filter(|s| s.name.starts_with(&prefix)).collect()
    }
}

fn collect(folder: &Path, prefix: &str, specs: &mut Vec<NamedSpec>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let Some(stem) = path.file_stem().and_then(|s| s.to_str()) else { continue };
        let name = format!("{prefix}{stem}");
        if path.is_dir() {
            collect(&path, &format!("{name}/"), specs)?;
        } else if path.extension().is_some_and(|e| e == "toml") {
            specs.push(NamedSpec { name, path });
        }
    }
    Ok(())
}
