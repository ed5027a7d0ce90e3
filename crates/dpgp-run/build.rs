//! Gives the program the commit of its build. A change in the output of a build script recompiles this crate
//! and all that depend on it. So development builds name no commit. Release builds name it again whenever the
//! sources or the commit change.

#[path = "src/commit.rs"]
mod commit;

use std::path::Path;

/// Where the project is, from here.
const PROJECT: &str = "../..";

/// What a release build is made of, and where git keeps the commit.
const INPUTS: [&str; 6] = ["src", "crates", "Cargo.toml", "Cargo.lock", ".git/HEAD", ".git/logs/HEAD"];

fn main() {
    println!("cargo::rustc-env=DPGP_BUILD={}", build());
}

/// What follows the version.
fn build() -> String {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("PROFILE").as_deref() != Ok("release") {
        return " (development build)".to_owned();
    }
    let project = Path::new(PROJECT);
    // A file that is not there would count as changed each time.
    for input in INPUTS.into_iter().filter(|input| project.join(input).exists()) {
        println!("cargo::rerun-if-changed={PROJECT}/{input}");
    }
    commit::find_commit(project).map(|commit| format!(" (commit {commit})")).unwrap_or_default()
}
