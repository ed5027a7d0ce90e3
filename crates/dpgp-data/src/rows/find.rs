//! Finds row files by folder names and patterns.

use std::path::{Component, Path, PathBuf};

use glob::Pattern;

use super::files::{
    ensure_supported_compression, entries, folder_or_current, is_ignored_name, list_folders, list_row_files,
};
use super::{RowFile, cloud, is_cloud_address};
use crate::error::DataError;

/// The files that a user means by some names, relative to a folder: a file itself; of a folder all files of rows in it and
/// below; of a pattern with `*`, `?`, `[ ]` or `**` all files that match, and those of folders that match. What begins with a
/// dot or an underscore is passed over where no name says so. Those of one name are in the order of their paths. Addresses mean
/// files in a cloud in the same way.
///
/// # Errors
/// [`DataError::NoRowFiles`] for a name without files, [`DataError::BadPattern`], and [`DataError`] for a folder that cannot be
/// read or a file that is compressed in another way than text by gzip; [`DataError::Address`].
pub fn find_row_files(folder: &Path, names: &[impl AsRef<Path>]) -> Result<Vec<RowFile>, DataError> {
    let mut files = Vec::new();
    for name in names {
        files.extend(find_named_files(folder, name.as_ref())?);
    }
    Ok(files)
}

fn find_named_files(folder: &Path, name: &Path) -> Result<Vec<RowFile>, DataError> {
    if is_cloud_address(name) {
        return cloud::find_files(name);
    }
    let whole = folder.join(name);
    let (start, mut paths) = match name.to_str().filter(|name| has_wildcard(name)) {
        _ if whole.is_dir() => (whole.clone(), list_row_files(&whole)?),
        Some(_) if !whole.exists() => find_matching_files(folder, name)?,
        _ => return Ok(vec![RowFile::from_path(&whole)]),
    };
    if paths.is_empty() {
        return Err(DataError::NoRowFiles { name: whole });
    }
    paths.sort();
    paths.dedup();
    ensure_supported_compression(paths.iter().map(PathBuf::as_path))?;
    Ok(paths.into_iter().map(|path| RowFile::from_partitioned_path(path, &start)).collect())
}

/// The folder before the first wildcard of a pattern, and the files that match.
fn find_matching_files(folder: &Path, name: &Path) -> Result<(PathBuf, Vec<PathBuf>), DataError> {
    let (mut start, mut patterns) = (folder.to_path_buf(), Vec::new());
    for component in name.components() {
        let text = component.as_os_str().to_str().unwrap_or_default();
        match component {
            Component::Normal(_) if has_wildcard(text) || !patterns.is_empty() => {
                let pattern = Pattern::new(text).map_err(|problem| bad_pattern(name, problem.msg))?;
                patterns.push(pattern);
            }
            // What stands above a wildcard is a folder, and `..` after one would be the folder of another match.
            Component::ParentDir if !patterns.is_empty() => {
                return Err(bad_pattern(name, "`..` is allowed only before the first wildcard"));
            }
            other => start.push(other),
        }
    }
    let mut paths = Vec::new();
    for path in match_entries(&start, &patterns)? {
        if path.is_dir() { paths.extend(list_row_files(&path)?) } else { paths.push(path) }
    }
    Ok((start, paths))
}

pub(super) fn bad_pattern(name: &Path, problem: &'static str) -> DataError {
    DataError::BadPattern { name: name.to_path_buf(), problem }
}

pub(super) fn has_wildcard(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// Entries of a folder that match patterns, one pattern for each component.
fn match_entries(folder: &Path, patterns: &[Pattern]) -> Result<Vec<PathBuf>, DataError> {
    let Some((first, rest)) = patterns.split_first() else { return Ok(vec![folder.to_path_buf()]) };
    let mut found = Vec::new();
    if first.as_str() == "**" && folder_or_current(folder).is_dir() {
        for folder in list_folders(folder, &mut Vec::new())? {
            found.extend(match_entries(&folder, rest)?);
        }
        return Ok(found);
    }
    for path in entries(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_meant = !is_ignored_name(&name) || first.as_str().starts_with(&name[..1]);
        if is_meant && first.matches(&name) && (rest.is_empty() || path.is_dir()) {
            found.extend(match_entries(&path, rest)?);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const FILES: [&str; 9] = [
        "b.csv",
        "a.tsv",
        "notes.txt",
        "_SUCCESS",
        ".part.csv.crc",
        "_temporary/0.csv",
        "month=07/part-1.parquet",
        "month=06/part-0.parquet",
        "month=06/deep/er/c.csv",
    ];

    /// Meaning of a name in a folder with the files above.
    fn found(name: &str) -> Result<Vec<String>, DataError> {
        let folder = tempfile::tempdir().unwrap();
        for file in FILES {
            let path = folder.path().join("rows").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink("..", folder.path().join("rows/month=06/back")).unwrap();
        let files = find_row_files(folder.path(), &[name])?.into_iter();
        Ok(files.map(|file| file.path.strip_prefix(folder.path()).unwrap().display().to_string()).collect())
    }

    #[test]
    fn names_mean_files_in_the_order_of_their_paths() {
        let all = ["rows/a.tsv", "rows/b.csv", "rows/month=06/deep/er/c.csv"];
        let parts = ["rows/month=06/part-0.parquet", "rows/month=07/part-1.parquet"];
        let both = [&all[..], &parts[..]].concat();
        for (name, expected) in [
            ("rows", &both[..]),
            ("rows/", &both[..]),
            ("r?ws", &both[..]),
            ("rows/**", &both[..]),
            ("rows/month=*/*.parquet", &parts),
            ("rows/**/*.parquet", &parts),
            ("**/month=07/*", &parts[1..]),
            ("rows/month=0[67]/part-[0-9]*", &parts),
            ("rows/*/../*.csv", &[]),
            ("rows/month=06/../[!b].*", &["rows/month=06/../a.tsv"]),
            ("rows/[!a-z]*", &[]),
            ("rows/_*/*.csv", &["rows/_temporary/0.csv"]),
            ("rows/notes.txt", &["rows/notes.txt"]),
            ("rows/none.csv", &["rows/none.csv"]),
            ("rows/n*", &["rows/notes.txt"]),
        ] {
            assert_eq!(found(name).unwrap_or_default(), expected, "{name}");
        }
    }

    #[test]
    fn names_without_files_are_refused() {
        for name in ["rows/*.orc", "none/*/a.csv", "rows/_temporary/_*", "**/none"] {
            assert!(matches!(found(name), Err(DataError::NoRowFiles { .. })), "{name}");
        }
        for name in ["rows/a**", "rows/[a", "rows/*/../*.csv"] {
            assert!(matches!(found(name), Err(DataError::BadPattern { .. })), "{name}");
        }
    }
}
