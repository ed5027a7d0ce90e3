//! One version of an object.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;

use bytes::{Bytes, BytesMut};
use object_store::path::Path as Key;
use object_store::{GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt};

use super::super::FileState;
use super::location::Location;
use super::store::{Store, store};
use super::waiting::wait;
use crate::DataError;
use crate::error::{Action, Doing};

/// The most bytes of a request, so that each ends in time.
pub const PIECE: u64 = 1 << 23;

/// An object as it is when it is opened; if it is written to, its bytes are an error.
pub struct Object {
    store: Store,
    key: Key,
    pub bytes: u64,
    tag: Option<String>,
}

impl Object {
    /// Finds an object.
    ///
    /// # Errors
    /// [`DataError::Address`], [`DataError::Io`].
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let location = Location::parse(path)?;
        let (store, found) = head(&location)?.doing(Action::Read, path)?;
        Ok(Self { store, key: found.location, bytes: found.size, tag: found.e_tag })
    }

    /// Some bytes, in as many requests as it takes.
    ///
    /// # Errors
    /// Those of the store, and that the object is shorter.
    pub fn fetch(&self, range: Range<u64>) -> io::Result<Bytes> {
        if range.start > range.end || range.end > self.bytes {
            return Err(io::Error::new(
                ErrorKind::UnexpectedEof,
                "the object is shorter than its stated size",
            ));
        }
        if range.end - range.start <= PIECE {
            return self.piece(range);
        }
        let mut all = BytesMut::new();
        let mut next = range.start;
        while next < range.end {
            let end = range.end.min(next + PIECE);
            all.extend_from_slice(&self.piece(next..end)?);
            next = end;
        }
        Ok(all.freeze())
    }

    fn piece(&self, range: Range<u64>) -> io::Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let (expected, if_match) = (range.end - range.start, self.tag.clone());
        let options = GetOptions { range: Some(range.into()), if_match, ..GetOptions::default() };
        let bytes = wait(async { self.store.get_opts(&self.key, options).await?.bytes().await })?;
        // A server that knows no ranges answers with everything.
        if bytes.len() as u64 == expected {
            Ok(bytes)
        } else {
            Err(io::Error::other("the store did not send the requested bytes"))
        }
    }
}

/// The store of an object, and what it says of the object now.
pub fn head(location: &Location) -> Result<io::Result<(Store, ObjectMeta)>, DataError> {
    let key = location.key()?;
    Ok(store(location).and_then(|store| {
        let found = wait(store.head(&key))?;
        Ok((store, found))
    }))
}

/// Detects writes to an object while it is read.
pub(crate) fn state(path: &Path) -> Result<FileState, DataError> {
    let location = Location::parse(path)?;
    let (_, found) = head(&location)?.doing(Action::Read, path)?;
    Ok(FileState { bytes: found.size, modified: found.last_modified.into(), version: found.e_tag })
}
