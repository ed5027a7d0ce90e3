//! Tells the program which commit it is built from.
//!
//! A change of what a build script says compiles the whole library again. So development builds, of which there are many between
//! two commits, name none; release builds ask git, again whenever the sources or the commit changed.

#[path = "src/run/commit.rs"]
mod commit;

use std::path::Path;

/// What a release build is made of, and where git keeps the commit.
const INPUTS: [&str; 6] = ["build.rs", "src", "Cargo.toml", "Cargo.lock", ".git/HEAD", ".git/logs/HEAD"];

fn main() {
    println!("cargo::rustc-env=DPGP_BUILD={}", build());
}

/// What follows the version.
fn build() -> String {
    if std::env::var("PROFILE").as_deref() != Ok("release") {
        println!("cargo::rerun-if-changed=build.rs");
        return " (development build)".to_owned();
    }
    // A file that is not there would count as changed each time.
    for input in INPUTS.into_iter().filter(|input| Path::new(input).exists()) {
        println!("cargo::rerun-if-changed={input}");
    }
    commit::commit(Path::new(".")).map(|commit| format!(" (commit {commit})")).unwrap_or_default()
}
