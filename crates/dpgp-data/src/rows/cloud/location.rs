//! The parts of an address.

use std::path::{Path, PathBuf};

use object_store::path::Path as Key;

use super::super::files::{SCHEMES, address_error, address_scheme};
use crate::DataError;

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
            return Err(address_error(name, "an address needs a bucket (or a host), `/` and a name after the scheme"));
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

/// Whether an address can be read, judged by its text alone.
///
/// # Errors
/// [`DataError::Address`].
pub(crate) fn check_address(name: &Path) -> Result<(), DataError> {
    CloudLocation::parse(name).map(drop)
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
}
