//! Which file uses which: paths are followed through modules and what they export again to the file that defines the item.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::source::Source;

/// The module path of a file below `src`: `privacy/cloaking/mod.rs` is `["privacy", "cloaking"]`.
pub type Module = Vec<String>;

/// Files that use each other: each reaches all others.
pub type Circle = Vec<Module>;

/// The files of a tree of modules.
pub struct Graph {
    files: BTreeMap<Module, Source>,
}

impl Graph {
    /// The tree below a folder, without the files that exist in tests only.
    pub fn read(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        read_folder(folder, &mut Vec::new(), &mut files);
        Self::new(files)
    }

    pub fn new(mut files: BTreeMap<Module, Source>) -> Self {
        let tests: Vec<Module> = files
            .iter()
            .flat_map(|(module, source)| source.test_modules.iter().map(|name| child(module, name)))
            .collect();
        files.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
        Self { files }
    }

    pub fn modules(&self) -> impl Iterator<Item = &Module> {
        self.files.keys()
    }

    pub fn sources(&self) -> impl Iterator<Item = (&Module, &Source)> {
        self.files.iter()
    }

    /// The files that a file uses, without itself. A file without items of its own uses nothing: it only exports again.
    pub fn used_by(&self, module: &Module) -> BTreeSet<&Module> {
        let source = &self.files[module];
        if source.items.is_empty() {
            return BTreeSet::new();
        }
        let imports = source.uses.iter().map(|import| &import.path);
        let used = imports.chain(&source.paths).filter_map(|path| self.defining(module, path, 0));
        used.filter(|file| *file != module).collect()
    }

    /// The file that defines what a path in a file means; none for other crates, variants and associated items.
    fn defining(&self, from: &Module, path: &[String], depth: usize) -> Option<&Module> {
        // A path is exported again a few times at most; a circle of globs would never end.
        let (first, rest) = path.split_first().filter(|_| depth < 16)?;
        match first.as_str() {
            "crate" => self.walk(Vec::new(), rest, depth),
            "self" => self.walk(from.clone(), rest, depth),
            "super" => {
                let ups = path.iter().take_while(|segment| *segment == "super").count();
                self.walk(from[..from.len().checked_sub(ups)?].to_vec(), &path[ups..], depth)
            }
            name if self.files.contains_key(&child(from, name)) => self.walk(child(from, name), rest, depth),
            name => {
                let import = self.files[from].uses.iter().find(|import| import.name == name)?;
                let whole = [&import.path[..], rest].concat();
                // `use x;` of another crate names itself.
                (whole != path).then(|| self.defining(from, &whole, depth + 1))?
            }
        }
    }

    /// Goes down from a module as far as a path leads.
    fn walk(&self, module: Module, path: &[String], depth: usize) -> Option<&Module> {
        let (file, source) = self.files.get_key_value(&module)?;
        let Some((name, rest)) = path.split_first() else { return Some(file) };
        if self.files.contains_key(&child(&module, name)) {
            return self.walk(child(&module, name), rest, depth);
        }
        if source.items.contains(name) {
            return Some(file);
        }
        if let Some(import) = source.uses.iter().find(|import| import.name == *name) {
            return self.defining(&module, &import.path, depth + 1);
        }
        let globs = source.uses.iter().filter(|import| import.name == "*");
        let mut exported = globs.filter_map(|glob| {
            let path = [&glob.path[..glob.path.len() - 1], path].concat();
            self.defining(&module, &path, depth + 1)
        });
        exported.next_back().or(Some(file))
    }

    /// The longest circle among the files of a room; empty where there is none.
    pub fn longest_circle(&self, room: &str) -> Circle {
        let files: Vec<&Module> =
            self.modules().filter(|module| module.first().is_some_and(|r| r == room)).collect();
        let reach: BTreeMap<&Module, BTreeSet<&Module>> =
            files.iter().map(|file| (*file, self.reachable(file, room))).collect();
        let circles = files.iter().map(|file| {
            let back = reach[*file].iter().filter(|other| reach[**other].contains(*file));
            back.map(|other| (*other).clone()).collect::<Circle>()
        });
        circles.max_by_key(Vec::len).unwrap_or_default()
    }

    /// The files of a room that a file leads to, over any number of steps.
    fn reachable(&self, file: &Module, room: &str) -> BTreeSet<&Module> {
        let (mut found, mut open) = (BTreeSet::new(), vec![file]);
        while let Some(file) = open.pop() {
            let used = self.used_by(file).into_iter().filter(|used| used.first().is_some_and(|r| r == room));
            for used in used {
                if found.insert(used) {
                    open.push(self.files.get_key_value(used).unwrap().0);
                }
            }
        }
        found
    }
}

fn child(module: &[String], name: &str) -> Module {
    [module, &[name.to_owned()]].concat()
}

fn read_folder(folder: &Path, module: &mut Module, files: &mut BTreeMap<Module, Source>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if path.is_dir() {
            module.push(name.to_owned());
            read_folder(&path, module, files);
            module.pop();
        } else if path.extension().is_some_and(|end| end == "rs") && name != "main" {
            let is_folder = ["mod", "lib"].contains(&name);
            let module = if is_folder { module.clone() } else { child(module, name) };
            files.insert(module, Source::parse(&std::fs::read_to_string(&path).unwrap()));
        }
    }
}
