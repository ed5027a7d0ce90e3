//! The objects at an address: one object, all below a prefix, or all that match a pattern.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use futures_util::TryStreamExt;
use glob::Pattern;
use object_store::ObjectStore;
use object_store::path::Path as Key;

use super::super::RowFile;
use super::super::files::ensure_supported_compression;
use super::super::find::{bad_pattern, has_wildcard};
use super::location::CloudLocation;
use super::meant::is_pattern_match;
use super::object::fetch_object_metadata;
use super::store::open_store;
use super::waiting::wait_for_request;
use crate::DataError;
use crate::error::{FileAction, IoErrorContext};

/// The files of an address, in the order of their names.
///
/// # Errors
/// [`DataError::Address`], [`DataError::BadPattern`], [`DataError::NoRowFiles`], [`DataError::Io`].
pub(crate) fn find_files(name: &Path) -> Result<Vec<RowFile>, DataError> {
    let location = CloudLocation::parse(name)?;
    // A page has no folders, and a signature in its address would have been refused.
    if location.scheme == "https" || is_object(name, &location)? {
        return Ok(vec![RowFile::from_path(name)]);
    }
    let (start, patterns) = split_at_wildcard(name, &location.rest)?;
    let below = CloudLocation { rest: start, ..location };
    let mut paths = Vec::new();
    for object in list_objects(name, &below)? {
        let inside = object.as_ref().strip_prefix(&below.rest).unwrap_or_default();
        let parts: Vec<&str> = inside.trim_start_matches('/').split('/').collect();
        if is_pattern_match(&patterns, &parts) {
            paths.push(below.path_in_bucket(object.as_ref()));
        }
    }
    if paths.is_empty() {
        return Err(DataError::NoRowFiles { name: name.to_path_buf() });
    }
    paths.sort();
    ensure_supported_compression(paths.iter().map(PathBuf::as_path))?;
    let start = below.path_in_bucket(&below.rest);
    Ok(paths.into_iter().map(|path| RowFile::from_partitioned_path(path, &start)).collect())
}

/// Whether an object has this name, which then is no pattern.
fn is_object(name: &Path, location: &CloudLocation) -> Result<bool, DataError> {
    if location.rest.is_empty() || location.rest.ends_with('/') {
        return Ok(false);
    }
    match fetch_object_metadata(location)? {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(false),
        answer => answer.map(|_| true).with_io_context(FileAction::Read, name),
    }
}

/// The folder before the first wildcard, and the patterns after it.
fn split_at_wildcard(name: &Path, rest: &str) -> Result<(String, Vec<Pattern>), DataError> {
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
    let folders = parts.iter().take_while(|part| !has_wildcard(part)).count();
    let mut patterns = Vec::new();
    for part in &parts[folders..] {
        patterns.push(Pattern::new(part).map_err(|problem| bad_pattern(name, problem.msg))?);
    }
    Ok((parts[..folders].join("/"), patterns))
}

/// The names of all objects below a folder. Each page of a list is waited for by itself: a list may have any length.
fn list_objects(name: &Path, folder: &CloudLocation) -> Result<Vec<Key>, DataError> {
    let key = folder.object_key()?;
    let mut objects = open_store(folder).with_io_context(FileAction::Read, name)?.list(Some(&key));
    let mut names = Vec::new();
    while let Some(object) = wait_for_request(objects.try_next()).with_io_context(FileAction::Read, name)? {
        names.push(object.location);
    }
    Ok(names)
}
