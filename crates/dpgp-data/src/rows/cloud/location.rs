//! The parts of an address, and the objects at it: one object, all below a prefix, or all that match a pattern.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use futures_util::TryStreamExt;
use glob::Pattern;
use object_store::ObjectStore;
use object_store::path::Path as Key;

use super::super::RowFile;
use super::super::files::{SCHEMES, address_error, address_scheme};
use super::super::find::{bad_pattern, ensure_supported_compression, has_wildcard, is_ignored_name, is_row_file_name};
use super::object::fetch_object_metadata;
use super::store::{open_store, wait_for_request};
use crate::DataError;
use crate::error::{FileAction, IoErrorContext};

/// An address: the store, the bucket in it (or the host), and the rest as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloudLocation {
    pub scheme: &'static str,
    pub bucket: String,
    pub rest: String,
}

impl CloudLocation {
    /// Takes an address apart. Only the environment may give access: an address stands in specs, messages and results.
    ///
    /// # Errors
    /// [`DataError::Address`].
    pub fn parse(name: &Path) -> Result<Self, DataError> {
        let known = SCHEMES.into_iter().find(|known| address_scheme(name) == Some(*known));
        let Some(scheme) = known else {
            return Err(address_error(name, "addresses begin with s3://, gs://, az:// or https://"));
        };
        let text = name.to_str().unwrap_or_default();
        let (bucket, rest) = text[scheme.len() + 3..].split_once('/').unwrap_or_default();
        if bucket.is_empty() || bucket.contains(['*', '?', '[']) {
            return Err(address_error(name, "after its scheme, an address needs a bucket (or a host), `/` and a name"));
        }
        if bucket.contains('@') || scheme == "https" && rest.contains(['?', '#']) {
            let problem = "put credentials in the environment, not in the address";
            return Err(address_error(name, problem));
        }
        Ok(Self { scheme, bucket: bucket.to_owned(), rest: rest.to_owned() })
    }

    /// The store's name of the object, or of the objects below.
    ///
    /// # Errors
    /// [`DataError::Address`] for a name with empty parts, `.` or `..`.
    pub fn object_key(&self) -> Result<Key, DataError> {
        let rest = self.rest.trim_end_matches('/');
        let key = match self.scheme {
            "https" => Key::from_url_path(rest),
            _ => Key::parse(rest),
        };
        let problem = "its name has an empty part, `.`, `..`, or a character that is not allowed";
        key.map_err(|_| address_error(&self.path_in_bucket(&self.rest), problem))
    }

    /// The address of another object in the bucket.
    pub fn path_in_bucket(&self, rest: &str) -> PathBuf {
        PathBuf::from(format!("{}://{}/{rest}", self.scheme, self.bucket))
    }
}

/// Fails for an address that is malformed. Contacts nothing.
///
/// # Errors
/// [`DataError::Address`].
pub(crate) fn check_address(name: &Path) -> Result<(), DataError> {
    CloudLocation::parse(name).map(drop)
}

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

/// Whether the name of an object, part by part, is one that patterns mean: each stands for one part, `**` for any number of
/// folders. What comes after the last pattern is in a folder that matched: all rows in it and below are meant, as on a disk.
fn is_pattern_match(patterns: &[Pattern], parts: &[&str]) -> bool {
    let Some((first, rest)) = patterns.split_first() else {
        return parts.is_empty() || is_row_file_path(parts);
    };
    if first.as_str() == "**" {
        // The last part is no folder.
        let folders =
            parts.iter().take(parts.len().saturating_sub(1)).take_while(|part| !is_ignored_name(part)).count();
        return (0..=folders).any(|skipped| is_pattern_match(rest, &parts[skipped..]));
    }
    let Some((part, others)) = parts.split_first() else { return false };
    let is_named = !is_ignored_name(part) || first.as_str().chars().next() == part.chars().next();
    is_named && first.matches(part) && is_pattern_match(rest, others)
}

/// Whether these are the parts of a file of rows in a folder or below.
fn is_row_file_path(parts: &[&str]) -> bool {
    let last = parts.last().copied().unwrap_or_default();
    is_row_file_name(Path::new(last)) && !parts.iter().any(|part| is_ignored_name(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        let location = CloudLocation::parse("s3://b/at=12%3A30/rows.csv".as_ref()).unwrap();
        assert_eq!((location.scheme, location.bucket.as_str()), ("s3", "b"));
        assert_eq!(location.object_key().unwrap().as_ref(), "at=12%3A30/rows.csv");
        let page = CloudLocation::parse("https://host:8/a%20b.csv".as_ref()).unwrap();
        assert_eq!((page.bucket.as_str(), page.object_key().unwrap().as_ref()), ("host:8", "a b.csv"));
    }

    #[test]
    fn wrong_addresses_are_refused() {
        for name in ["ftp://b/x", "s3://b", "s3:///x", "s3://*/x", "https://me@host/x", "https://host/x?sig=1"] {
            assert!(matches!(CloudLocation::parse(name.as_ref()), Err(DataError::Address { .. })), "{name}");
        }
        for name in ["s3://b/a//x", "s3://b/../x"] {
            let location = CloudLocation::parse(name.as_ref()).unwrap();
            assert!(matches!(location.object_key(), Err(DataError::Address { .. })), "{name}");
        }
    }

    /// As files of the same names on a disk.
    #[test]
    fn patterns_mean_objects() {
        for (pattern, name, meant) in [
            ("", "a.csv", true),
            ("", "deep/er/a.csv.gz", true),
            ("", "notes.txt", false),
            ("", "_temporary/a.csv", false),
            ("n*", "notes.txt", true),
            ("month=*/*.parquet", "month=06/a.parquet", true),
            ("month=*/*.parquet", "month=06/deep/a.parquet", false),
            ("month=*", "month=06/deep/a.parquet", true),
            ("month=*", "month=06/deep/_a.parquet", false),
            ("**", "month=06/a.csv", true),
            ("**", "a.csv", true),
            ("**/*.csv", "a.csv", true),
            ("**/*.csv", "x/y/a.csv", true),
            ("**/*.csv", "x/_y/a.csv", false),
            ("_*/*.csv", "_x/a.csv", true),
            ("[!b].*", "a.csv", true),
            ("*/*.csv", "a.csv", false),
        ] {
            let patterns: Vec<Pattern> =
                pattern.split('/').filter(|part| !part.is_empty()).map(|part| Pattern::new(part).unwrap()).collect();
            let parts: Vec<&str> = name.split('/').collect();
            assert_eq!(is_pattern_match(&patterns, &parts), meant, "{pattern} {name}");
        }
    }
}
