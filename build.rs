//! Tells the program which commit it is built from, and packs the files that come with it.
//!
//! A change of what a build script says compiles the whole library again. So development builds, of which there are many between
//! two commits, name none and pack nothing; release builds do both, again whenever the sources or the commit changed.

#[path = "src/run/commit.rs"]
mod commit;
#[path = "src/data/shipped/files.rs"]
mod files;
#[path = "src/data/shipped/pack.rs"]
mod pack;

use std::io::{Error, Result};
use std::path::Path;

/// What a release build is made of, and where git keeps the commit.
const INPUTS: [&str; 9] = [
    "build.rs",
    "src",
    "Cargo.toml",
    "Cargo.lock",
    ".git/HEAD",
    ".git/logs/HEAD",
    "experiments",
    "data/census2011",
    "results",
];

fn main() -> Result<()> {
    println!("cargo::rustc-env=DPGP_BUILD={}", build());
    let folder = std::env::var("OUT_DIR").map_err(Error::other)?;
    let paths = if is_release() { files::shipped_paths(Path::new("."))? } else { Vec::new() };
    std::fs::write(Path::new(&folder).join("shipped"), pack::pack(Path::new("."), &paths)?)
}

fn is_release() -> bool {
    std::env::var("PROFILE").as_deref() == Ok("release")
}

/// What follows the version.
fn build() -> String {
    if !is_release() {
        println!("cargo::rerun-if-changed=build.rs");
        return " (development build)".to_owned();
    }
    // A file that is not there would count as changed each time.
    for input in INPUTS.into_iter().filter(|input| Path::new(input).exists()) {
        println!("cargo::rerun-if-changed={input}");
    }
    commit::commit(Path::new(".")).map(|commit| format!(" (commit {commit})")).unwrap_or_default()
}
