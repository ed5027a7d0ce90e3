//! Files that a command writes, before it does anything.

use std::path::{Path, PathBuf};

use super::CliError;

/// Fails if two of the files are one: the second would replace the first, or be refused when the release is paid for. Files that
/// are there are refused on their own; pipes and devices may be named twice.
pub fn distinct(targets: &[PathBuf]) -> Result<(), CliError> {
    let mut seen = Vec::new();
    for target in targets.iter().filter(|target| !target.exists()) {
        let file = resolved(target);
        if seen.contains(&file) {
            return Err(CliError::NamedTwice(target.clone()));
        }
        seen.push(file);
    }
    Ok(())
}

/// The path of a file that is not there, without links.
fn resolved(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    folder.map_or_else(|| path.clone(), |folder| folder.join(path.file_name().unwrap_or_default()))
}
