//! The objects at an address: one object, all below a prefix, or all that match a pattern.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use futures_util::TryStreamExt;
use glob::Pattern;
use object_store::ObjectStore;
use object_store::path::Path as Key;

use super::super::RowFile;
use super::super::files::ensure_readable;
use super::super::find::{bad_pattern, has_wildcard};
use super::location::Location;
use super::meant::is_meant;
use super::object::head;
use super::store::store;
use super::waiting::wait;
use crate::DataError;
use crate::error::{Action, Doing};

/// The files of an address, in the order of their names.
///
/// # Errors
/// [`DataError::Address`], [`DataError::BadPattern`], [`DataError::NoRowFiles`], [`DataError::Io`].
pub(crate) fn found(name: &Path) -> Result<Vec<RowFile>, DataError> {
    let location = Location::parse(name)?;
    // A page has no folders, and a signature in its address would have been refused.
    if location.scheme == "https" || is_object(name, &location)? {
        return Ok(vec![RowFile::named(name)]);
    }
    let (start, patterns) = parted(name, &location.rest)?;
    let below = Location { rest: start, ..location };
    let mut paths = Vec::new();
    for object in listed(name, &below)? {
        let inside = object.as_ref().strip_prefix(&below.rest).unwrap_or_default();
        let parts: Vec<&str> = inside.trim_start_matches('/').split('/').collect();
        if is_meant(&patterns, &parts) {
            paths.push(below.path(object.as_ref()));
        }
    }
    if paths.is_empty() {
        return Err(DataError::NoRowFiles { name: name.to_path_buf() });
    }
    paths.sort();
    ensure_readable(paths.iter().map(PathBuf::as_path))?;
    let start = below.path(&below.rest);
    Ok(paths.into_iter().map(|path| RowFile::found(path, &start)).collect())
}

/// Whether an object has this name, which then is no pattern.
fn is_object(name: &Path, location: &Location) -> Result<bool, DataError> {
    if location.rest.is_empty() || location.rest.ends_with('/') {
        return Ok(false);
    }
    match head(location)? {
        Err(cause) if cause.kind() == ErrorKind::NotFound => Ok(false),
        answer => answer.map(|_| true).doing(Action::Read, name),
    }
}

/// The folder before the first wildcard, and the patterns after it.
fn parted(name: &Path, rest: &str) -> Result<(String, Vec<Pattern>), DataError> {
    let parts: Vec<&str> = rest.split('/').filter(|part| !part.is_empty()).collect();
    let folders = parts.iter().take_while(|part| !has_wildcard(part)).count();
    let mut patterns = Vec::new();
    for part in &parts[folders..] {
        patterns.push(Pattern::new(part).map_err(|problem| bad_pattern(name, problem.msg))?);
    }
    Ok((parts[..folders].join("/"), patterns))
}

/// The names of all objects below a folder. Each page of a list is waited for by itself: a list may have any length.
fn listed(name: &Path, folder: &Location) -> Result<Vec<Key>, DataError> {
    let key = folder.key()?;
    let mut objects = store(folder).doing(Action::Read, name)?.list(Some(&key));
    let mut names = Vec::new();
    while let Some(object) = wait(objects.try_next()).doing(Action::Read, name)? {
        names.push(object.location);
    }
    Ok(names)
}
