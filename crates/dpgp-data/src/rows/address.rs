//! Addresses of files of rows that lie in a cloud.

use std::path::{Path, PathBuf};

use super::cloud;
use crate::DataError;

/// How the addresses begin that can be read.
#[cfg(feature = "cloud")]
pub(super) const SCHEMES: [&str; 4] = ["s3", "gs", "az", "https"];

/// Whether a name is the address of something that is not on this machine: `s3://bucket/rows.csv`.
///
/// ```
/// use dpgp_data::rows::is_address;
/// assert!(is_address("s3://bucket/rows.csv".as_ref()));
/// assert!(!is_address("rows/s3:/rows.csv".as_ref()));
/// ```
pub fn is_address(name: &Path) -> bool {
    scheme(name).is_some()
}

/// What stands before `://`, if that is the beginning of an address.
pub(super) fn scheme(name: &Path) -> Option<&str> {
    let (scheme, _) = name.to_str()?.split_once("://")?;
    let is_word = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then_some(scheme)
}

/// A file that is named relative to a folder; an address stays as it is.
pub fn beside(folder: &Path, name: &Path) -> PathBuf {
    if is_address(name) { name.to_path_buf() } else { folder.join(name) }
}

/// Fails for an address that this program cannot read, before anything is read or written.
///
/// # Errors
/// [`DataError::Address`].
pub fn ensure_addresses<'n>(names: impl IntoIterator<Item = &'n Path>) -> Result<(), DataError> {
    names.into_iter().filter(|name| is_address(name)).try_for_each(cloud::check)
}

/// The error for an address where the program cannot read any.
#[cfg(not(feature = "cloud"))]
pub(super) fn refused(name: &Path) -> DataError {
    let problem =
        "this build reads no addresses; one that does is made by `cargo install --path . --features cloud`";
    address_error(name, problem)
}

/// The error for an address that cannot be used. What may be a key of access is not told again.
pub(super) fn address_error(name: &Path, problem: &'static str) -> DataError {
    let text = name.to_string_lossy();
    let plain = text.split(['?', '#']).next().unwrap_or_default();
    let shown = match (plain.split_once("://"), plain.rsplit_once('@')) {
        (Some(parts), Some(ends)) => format!("{}://{}", parts.0, ends.1),
        _ => plain.to_owned(),
    };
    DataError::Address { name: shown.into(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_paths() {
        for (name, known) in [
            ("s3://b/rows.csv", Some("s3")),
            ("ftp://host/rows.csv", Some("ftp")),
            ("://b", None),
            ("./s3://b", None),
            ("rows", None),
        ] {
            assert_eq!(scheme(name.as_ref()), known, "{name}");
        }
        assert_eq!(beside("folder".as_ref(), "s3://b/x".as_ref()), Path::new("s3://b/x"));
        assert_eq!(beside("folder".as_ref(), "x".as_ref()), Path::new("folder/x"));
    }

    /// A signature in an address is as good as a password.
    #[test]
    fn keys_of_access_are_not_told() {
        let error = address_error("https://me:secret@host/rows.csv?sig=secret#secret".as_ref(), "no");
        assert!(!error.to_string().contains("secret"), "{error}");
        assert!(error.to_string().contains("https://host/rows.csv"), "{error}");
    }
}
