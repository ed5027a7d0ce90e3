//! Row files: finds them by folder names and patterns, with the columns that their paths name.

use std::ffi::OsStr;
use std::fs;
use std::path::{Component, Path, PathBuf};

use glob::Pattern;

use super::unpacked::has_gzip_ending;
use super::{cloud, is_cloud_address};
use crate::error::{DataError, FileAction, IoErrorContext};
use crate::identity::RowFingerprinter;
use crate::missing::CellParsingRules;
use crate::own::is_parquet;
use crate::table_error::TableError;

/// A file of rows, and the columns that its path names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowFile {
    /// The file.
    pub path: PathBuf,
    /// The columns, in the order of the path.
    pub partitions: Vec<PathPartition>,
}

impl RowFile {
    /// A file that was named itself: its path names no columns.
    pub fn from_path(path: &Path) -> Self {
        Self { path: path.to_path_buf(), partitions: Vec::new() }
    }

    /// A file that was found in the folder `start` or below: all folders `name=value` below it are columns, and so are those
    /// that the path of `start` itself ends with.
    pub fn from_partitioned_path(path: PathBuf, start: &Path) -> Self {
        let mut partitions: Vec<PathPartition> = start.iter().rev().map_while(parse_partition).collect();
        partitions.reverse();
        let below = path.parent().and_then(|folder| folder.strip_prefix(start).ok());
        partitions.extend(below.into_iter().flatten().filter_map(parse_partition));
        Self { path, partitions }
    }

    /// Its name after those of its partitions: the same wherever the folder stands.
    pub fn name_with_partitions(&self) -> String {
        let mut name = String::new();
        for PathPartition { name: column, value } in &self.partitions {
            name.push_str(&format!("{column}={}/", value.as_deref().unwrap_or_default()));
        }
        name + &self.path.file_name().unwrap_or_default().to_string_lossy()
    }

    /// The column that the path names, if it does.
    pub fn partition(&self, column: &str) -> Option<&PathPartition> {
        self.partitions.iter().find(|partition| partition.name == column)
    }

    /// The cell of a column that the path names, as a number; NaN if it is missing and may be.
    ///
    /// # Errors
    /// [`TableError::PathCell`].
    pub(crate) fn partition_value_as_number(
        &self,
        column: &str,
        rules: &CellParsingRules,
    ) -> Result<Option<f64>, TableError> {
        let Some(PathPartition { name, value }) = self.partition(column) else { return Ok(None) };
        rules
            .parse_number(column, value.as_deref().unwrap_or_default())
            .map(Some)
            .map_err(|problem| TableError::PathCell { column: name.clone(), problem })
    }

    /// Fails if the file has a column that its path names, or the path names a column twice.
    ///
    /// # Errors
    /// [`TableError::ColumnInPath`], [`TableError::RepeatedColumn`].
    pub(crate) fn ensure_distinct_partitions(&self, columns: &[String]) -> Result<(), TableError> {
        for (place, PathPartition { name, .. }) in self.partitions.iter().enumerate() {
            if columns.contains(name) {
                return Err(TableError::ColumnInPath(name.clone()));
            }
            if self.partitions[..place].iter().any(|other| other.name == *name) {
                return Err(TableError::RepeatedColumn(name.clone()));
            }
        }
        Ok(())
    }

    /// Shows the columns that the path names to a witness, for all rows that follow; those of `read` are read by the spec.
    pub(super) fn fingerprint_partitions(&self, witness: &mut RowFingerprinter, read: &[String]) {
        for PathPartition { name, value } in &self.partitions {
            witness.add_text(value.as_deref().unwrap_or_default().as_bytes(), read.contains(name));
        }
        witness.repeat_cells_in_file();
    }
}

fn parse_partition(folder: &OsStr) -> Option<PathPartition> {
    folder.to_str().and_then(PathPartition::parse)
}

/// Word in a path for a missing value.
const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// A column with one value in all rows of a file: `name=value`, a folder of its path.
///
/// ```
/// use dpgp_data::rows::PathPartition;
/// let month = PathPartition::parse("month=06").map(|month| (month.name, month.value));
/// assert_eq!(month, Some(("month".to_owned(), Some("06".to_owned()))));
/// assert_eq!(PathPartition::parse("at=12%3A30").and_then(|at| at.value).as_deref(), Some("12:30"));
/// assert_eq!(PathPartition::parse("at=__HIVE_DEFAULT_PARTITION__").map(|at| at.value), Some(None));
/// assert_eq!(PathPartition::parse("parts"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathPartition {
    /// The column.
    pub name: String,
    /// Its cell; none if it is missing.
    pub value: Option<String>,
}

impl PathPartition {
    /// Column and value in the name of a folder, if it has them. A byte may be written as `%` and two hexadecimal
    /// digits.
    pub fn parse(folder: &str) -> Option<Self> {
        let (name, value) = folder.split_once('=')?;
        let (name, value) = (decode_percent(name), decode_percent(value));
        let value = Some(value).filter(|value| !value.trim().is_empty() && value != MISSING);
        if name.is_empty() { None } else { Some(Self { name, value }) }
    }
}

/// The text that is written with some of its bytes as `%41`.
fn decode_percent(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|digits| hex::decode(digits).ok());
        rest = if code.is_some() { &after[2..] } else { after };
        bytes.extend(code.unwrap_or_else(|| vec![*first]));
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

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
                let pattern = Pattern::new(text).map_err(|problem| bad_pattern_error(name, problem.msg))?;
                patterns.push(pattern);
            }
            // What stands above a wildcard is a folder, and `..` after one would be the folder of another match.
            Component::ParentDir if !patterns.is_empty() => {
                return Err(bad_pattern_error(name, "`..` is allowed only before the first wildcard"));
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

pub(super) fn bad_pattern_error(name: &Path, problem: &'static str) -> DataError {
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
    for path in list_entries(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_meant = !is_ignored_name(&name) || first.as_str().starts_with(&name[..1]);
        if is_meant && first.matches(&name) && (rest.is_empty() || path.is_dir()) {
            found.extend(match_entries(&path, rest)?);
        }
    }
    Ok(found)
}

/// The endings of row files in folders.
const ENDINGS: [&str; 3] = ["parquet", "csv", "tsv"];

/// The endings of compressed files.
const PACKED: [&str; 6] = ["gz", "bz2", "xz", "zst", "lz4", "zip"];

/// All row files in a folder and below, compressed ones included.
fn list_row_files(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let mut files = Vec::new();
    for folder in list_folders(folder, &mut Vec::new())? {
        for path in list_entries(&folder)? {
            let aside = path.file_name().is_none_or(|name| is_ignored_name(&name.to_string_lossy()));
            if !aside && is_row_file_name(&path) && !path.is_dir() {
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// Whether a file holds rows by its ending, compressed or not.
pub(super) fn is_row_file_name(path: &Path) -> bool {
    let inner = path.file_stem().filter(|_| has_compressed_ending(path));
    has_ending(path, &ENDINGS) || inner.is_some_and(|inner| has_ending(Path::new(inner), &ENDINGS))
}

/// A folder and all below it. One that leads back to a folder `above` it is passed over.
fn list_folders(folder: &Path, above: &mut Vec<PathBuf>) -> Result<Vec<PathBuf>, DataError> {
    let own = fs::canonicalize(folder_or_current(folder)).with_io_context(FileAction::Read, folder)?;
    let parent = folder.parent().and_then(|parent| fs::canonicalize(folder_or_current(parent)).ok());
    let leads_back = parent.is_some_and(|parent| folder.is_symlink() && parent.starts_with(&own));
    if leads_back || above.contains(&own) {
        return Ok(Vec::new());
    }
    above.push(own);
    let mut folders = vec![folder.to_path_buf()];
    for path in list_entries(folder)? {
        let aside = path.file_name().is_none_or(|name| is_ignored_name(&name.to_string_lossy()));
        if !aside && path.is_dir() {
            folders.extend(list_folders(&path, above)?);
        }
    }
    above.pop();
    Ok(folders)
}

/// Hidden, or not data: `_SUCCESS`, `_temporary`.
pub(super) fn is_ignored_name(name: &str) -> bool {
    name.starts_with(['.', '_'])
}

/// Whether a file is compressed.
fn has_compressed_ending(path: &Path) -> bool {
    has_ending(path, &PACKED)
}

/// Fails for the first file that is compressed in another way than text by gzip.
///
/// # Errors
/// [`TableError::Packed`].
pub(super) fn ensure_supported_compression<'p>(paths: impl IntoIterator<Item = &'p Path>) -> Result<(), DataError> {
    for path in paths {
        let text = has_gzip_ending(path) && !path.file_stem().is_some_and(|inner| is_parquet(inner.as_ref()));
        if has_compressed_ending(path) && !text {
            return Err(DataError::from_table_error(path, TableError::Packed));
        }
    }
    Ok(())
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|end| endings.iter().any(|known| end.eq_ignore_ascii_case(known)))
}

/// Entries of a folder; nothing if there is none.
fn list_entries(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    if !folder_or_current(folder).is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder_or_current(folder)).with_io_context(FileAction::Read, folder)? {
        paths.push(folder.join(entry.with_io_context(FileAction::Read, folder)?.file_name()));
    }
    Ok(paths)
}

/// A folder by a name that the system knows; the working directory has none.
fn folder_or_current(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
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

    #[test]
    fn folders_that_are_columns() {
        for (start, path, name) in [
            ("parts", "parts/a.csv", "a.csv"),
            ("parts", "parts/year=2017/month=06/a.csv", "year=2017/month=06/a.csv"),
            ("parts", "parts/year=2017/of/month=06/a=b.csv", "year=2017/month=06/a=b.csv"),
            ("parts/year=2017/month=06", "parts/year=2017/month=06/a.csv", "year=2017/month=06/a.csv"),
            ("", "year=2017/a.csv", "year=2017/a.csv"),
            ("/run=3/parts", "/run=3/parts/year=2017/a.csv", "year=2017/a.csv"),
            ("x", "x/a=__HIVE_DEFAULT_PARTITION__/=1/a.csv", "a=/a.csv"),
        ] {
            let file = RowFile::from_partitioned_path(path.into(), start.as_ref());
            assert_eq!(file.name_with_partitions(), name, "{start} {path}");
        }
        assert_eq!(RowFile::from_path("year=2017/a.csv".as_ref()).name_with_partitions(), "a.csv");
    }
}
