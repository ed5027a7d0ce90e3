//! Packs the shipped files into release builds. Development builds are frequent, so they read the files from
//! the sources.

#[path = "src/shipped/pack.rs"]
mod pack;

use std::io::{Error, Result};
use std::path::Path;

/// Where the files are, from here.
const SOURCES: &str = "../..";

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let (sources, folder) = (Path::new(SOURCES), std::env::var("OUT_DIR").map_err(Error::other)?);
    let is_release = std::env::var("PROFILE").as_deref() == Ok("release");
    let paths = if is_release {
        for folder in pack::FOLDERS {
            println!("cargo::rerun-if-changed={SOURCES}/{folder}");
        }
        pack::shipped_paths(sources)?
    } else {
        Vec::new()
    };
    std::fs::write(Path::new(&folder).join("shipped"), pack::pack_shipped_files(sources, &paths)?)
}
