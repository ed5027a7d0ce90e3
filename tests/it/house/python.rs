//! The Python package is built like the program: it has a lock and profiles of its own, which say the same.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::support::shipped::shipped;

fn table(path: &str) -> Table {
    shipped(path).parse().unwrap()
}

/// The versions of each package of a lock.
fn versions(lock: &Table) -> BTreeMap<String, Vec<String>> {
    let mut versions: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in lock["package"].as_array().unwrap() {
        let [name, version] = ["name", "version"].map(|key| package[key].as_str().unwrap().to_owned());
        versions.entry(name).or_default().push(version);
    }
    versions
}

/// Takes the profile of the library, which is a dependency of the package, out of a manifest.
fn library(manifest: &mut Table, profile: &str) -> Table {
    let packages = manifest["profile"][profile]["package"].as_table_mut().unwrap();
    packages.remove("dpgp").unwrap().as_table().unwrap().clone()
}

#[test]
fn it_has_the_profiles_of_the_program() {
    let (mut own, of_program) = (table("python/Cargo.toml"), table("Cargo.toml"));
    for profile in ["dev", "release"] {
        let library = library(&mut own, profile);
        // What a profile does not say of a release is the third level.
        let program =
            of_program["profile"][profile].get("opt-level").and_then(Value::as_integer).unwrap_or(3);
        assert_eq!(library["opt-level"].as_integer(), Some(program), "{profile}");
    }
    assert_eq!(own["profile"], of_program["profile"]);
}

#[test]
fn it_has_the_dependencies_of_the_program() {
    let (of_program, of_python) = (versions(&table("Cargo.lock")), versions(&table("python/Cargo.lock")));
    for (name, versions) in &of_python {
        let Some(known) = of_program.get(name) else { continue };
        assert!(versions.iter().all(|version| known.contains(version)), "{name} {versions:?} {known:?}");
    }
    let only: Vec<&String> = of_python.keys().filter(|name| !of_program.contains_key(*name)).collect();
    let bindings = only.iter().filter(|name| name.contains("pyo3")).count();
    assert!(bindings > 0, "{only:?}");
}

#[test]
fn it_has_the_version_of_the_program() {
    let [own, of_program]: [Value; 2] =
        ["python/Cargo.toml", "Cargo.toml"].map(|path| table(path)["package"]["version"].clone());
    assert_eq!(own, of_program);
}
