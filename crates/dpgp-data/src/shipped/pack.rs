//! Lists the source files that come with the program, and packs them into one compressed piece of it. The build script reads
//! this file, too.

use std::io::{Result, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;

/// Folders with files that come with the program.
pub const FOLDERS: [&str; 3] = ["experiments", "data/census2011", "results"];

/// Results that the program ships: files that other commands read, but no figures.
const RESULTS: [&str; 4] = ["table.csv", "claims.csv", "manifest.json", "timings.csv"];

/// Folders of results of other settings than those of the specs.
const OTHERS: [&str; 2] = ["quick", "changed"];

/// The paths of the files that come with the program, relative to the folder of the sources, with `/`, sorted. A folder that
/// is not there, such as the results in a package of the sources, has none.
///
/// # Errors
/// The I/O error of a folder that cannot be read.
pub fn shipped_paths(sources: &Path) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for folder in FOLDERS {
        if sources.join(folder).is_dir() {
            collect_shipped_paths(sources, folder, &mut paths)?;
        }
    }
    paths.sort();
    Ok(paths)
}

fn collect_shipped_paths(sources: &Path, folder: &str, paths: &mut Vec<String>) -> Result<()> {
    for entry in std::fs::read_dir(sources.join(folder))? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let path = format!("{folder}/{name}");
        if entry.path().is_dir() {
            if !OTHERS.contains(&name) {
                collect_shipped_paths(sources, &path, paths)?;
            }
        } else if is_shipped(&path, name) {
            paths.push(path);
        }
    }
    Ok(())
}

fn is_shipped(path: &str, name: &str) -> bool {
    match path.split('/').next() {
        Some("results") => RESULTS.contains(&name),
        Some("experiments") => name.ends_with(".toml"),
        _ => true,
    }
}

/// Each file is a line with its path and its number of bytes, then the bytes; all are compressed together.
///
/// # Errors
/// The I/O error of a file that cannot be read, or is no text.
pub fn pack_shipped_files(sources: &Path, paths: &[String]) -> Result<Vec<u8>> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    for path in paths {
        let text = std::fs::read_to_string(sources.join(path))?;
        write!(packed, "{path}\t{}\n{text}", text.len())?;
    }
    packed.finish()
}
