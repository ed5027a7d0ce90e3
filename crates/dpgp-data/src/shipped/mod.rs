//! The shipped experiments, their small data and their committed tables, for users without the sources.

#[cfg_attr(not(test), allow(dead_code, reason = "only the build script and one test use this module"))]
mod pack;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::LazyLock;

use flate2::read::ZlibDecoder;

use crate::cache::create_folder;
use crate::digest::{FileChecksum, compute_file_checksum};
use crate::error::{DataError, FileAction, IoErrorContext};
use crate::manifest::DataFile;
use dpgp_fs::temporary_file;
use pack::shipped_paths;

/// Where the sources were when the program was built.
const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Files that the build script packed: none in a build for development.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shipped"));

static SHIPPED: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let packed = unpack_shipped_files(PACKED).unwrap_or_default();
    if packed.is_empty() { read_shipped_from_sources(Path::new(SOURCES)) } else { packed }
});

/// The text of a file that comes with the program, by its path in the sources, with `/`.
///
/// ```
/// use dpgp_data::shipped_text;
///
/// assert!(shipped_text("experiments/smith2021/toy.toml").is_some_and(|text| text.contains("[experiment]")));
/// assert_eq!(shipped_text("experiments/nothing.toml"), None);
/// ```
pub fn shipped_text(path: &str) -> Option<&'static str> {
    SHIPPED.get(path).map(String::as_str)
}

/// The paths of the files below a folder that come with the program, sorted.
///
/// ```
/// use dpgp_data::shipped_paths_below;
///
/// assert!(shipped_paths_below("experiments").any(|path| path == "experiments/honkela2021/fig1.toml"));
/// ```
pub fn shipped_paths_below(folder: &str) -> impl Iterator<Item = &'static str> {
    let paths = SHIPPED.keys().map(String::as_str);
    paths.filter(move |path| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
}

/// A build for development packs nothing, so that a changed spec compiles nothing: it reads the sources that it is built from.
fn read_shipped_from_sources(sources: &Path) -> BTreeMap<String, String> {
    let paths = shipped_paths(sources).unwrap_or_default();
    let read = paths.into_iter().map(|path| Ok((path.clone(), std::fs::read_to_string(sources.join(path))?)));
    read.collect::<std::io::Result<_>>().unwrap_or_default()
}

/// Writes a file of the data folder that comes with the program to a place; none if it does not come with it.
pub(super) fn write_shipped_data_file(file: &DataFile, target: &Path) -> Result<Option<FileChecksum>, DataError> {
    let Some(text) = shipped_data_file_text(file) else { return Ok(None) };
    let folder = target.parent().unwrap_or(Path::new("."));
    create_folder(folder)?;
    let mut temporary = temporary_file(folder, 0o666).with_io_context(FileAction::Write, target)?;
    temporary.write_all(text.as_bytes()).with_io_context(FileAction::Write, target)?;
    temporary.persist(target).map_err(|refused| refused.error).with_io_context(FileAction::Rename, target)?;
    compute_file_checksum(target).map(Some)
}

/// The text of a file of the data folder that comes with the program.
pub(super) fn shipped_data_file_text(file: &DataFile) -> Option<&'static str> {
    if file.bundled { shipped_text(&format!("data/{}", file.path)) } else { None }
}

/// The files that were packed, by their paths; none if the piece is damaged.
fn unpack_shipped_files(packed: &[u8]) -> Option<BTreeMap<String, String>> {
    let mut all = String::new();
    ZlibDecoder::new(packed).read_to_string(&mut all).ok()?;
    let (mut rest, mut files) = (all.as_str(), BTreeMap::new());
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n')?;
        let (path, bytes) = line.rsplit_once('\t')?;
        let (text, others) = after.split_at_checked(bytes.parse().ok()?)?;
        files.insert(path.to_owned(), text.to_owned());
        rest = others;
    }
    Some(files)
}

#[cfg(test)]
mod tests {
    use super::pack::pack_shipped_files;
    use super::*;
    use crate::DatasetManifest;

    /// The build script packs with the same functions.
    #[test]
    fn what_is_packed_is_unpacked() {
        let sources = Path::new(SOURCES);
        let packed = pack_shipped_files(sources, &shipped_paths(sources).unwrap()).unwrap();
        assert!(packed.len() < 1 << 20, "the program grows by {} bytes", packed.len());
        let files = unpack_shipped_files(&packed).unwrap();
        assert_eq!(files, read_shipped_from_sources(sources));
        assert!(files.keys().all(|path| !path.contains("/quick/")));
        assert_eq!(unpack_shipped_files(&pack_shipped_files(sources, &[]).unwrap()).unwrap(), BTreeMap::new());
        assert_eq!(unpack_shipped_files(&packed[..packed.len() / 2]), None);
    }

    #[test]
    fn data_of_the_data_folder_is_shipped() {
        let manifest = DatasetManifest::load_shipped().unwrap();
        let bundled = manifest.iter().flat_map(|dataset| &dataset.files).filter(|file| file.bundled);
        let paths: Vec<String> = bundled.map(|file| format!("data/{}", file.path)).collect();
        assert!(!paths.is_empty());
        assert!(paths.iter().all(|path| shipped_text(path).is_some()), "{paths:?}");
    }
}
