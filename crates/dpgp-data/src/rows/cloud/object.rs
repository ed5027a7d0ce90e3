//! One version of an object, its bytes, and these as a stream.

use std::io::{self, ErrorKind, Read};
use std::ops::Range;
use std::path::Path;

use bytes::{Buf, Bytes, BytesMut};
use object_store::path::Path as Key;
use object_store::{GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt};

use super::super::FileState;
use super::location::CloudLocation;
use super::store::{SharedObjectStore, open_store, wait_for_request};
use crate::DataError;
use crate::error::{FileAction, IoErrorContext};

/// The most bytes of a request, so that each ends in time.
pub const PIECE: u64 = 1 << 23;

/// An object as it is when it is opened; if it is written to, its bytes are an error.
pub struct CloudObject {
    store: SharedObjectStore,
    key: Key,
    pub bytes: u64,
    tag: Option<String>,
}

impl CloudObject {
    /// Finds an object.
    ///
    /// # Errors
    /// [`DataError::Address`], [`DataError::Io`].
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let location = CloudLocation::parse(path)?;
        let (store, found) = fetch_object_metadata(&location)?.with_io_context(FileAction::Read, path)?;
        Ok(Self { store, key: found.location, bytes: found.size, tag: found.e_tag })
    }

    /// Some bytes, in as many requests as it takes.
    ///
    /// # Errors
    /// Those of the store, and that the object is shorter.
    pub fn fetch_bytes(&self, range: Range<u64>) -> io::Result<Bytes> {
        if range.start > range.end || range.end > self.bytes {
            return Err(io::Error::new(ErrorKind::UnexpectedEof, "the object is shorter than its stated size"));
        }
        if range.end - range.start <= PIECE {
            return self.request_bytes(range);
        }
        let mut all = BytesMut::new();
        let mut next = range.start;
        while next < range.end {
            let end = range.end.min(next + PIECE);
            all.extend_from_slice(&self.request_bytes(next..end)?);
            next = end;
        }
        Ok(all.freeze())
    }

    fn request_bytes(&self, range: Range<u64>) -> io::Result<Bytes> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let (expected, if_match) = (range.end - range.start, self.tag.clone());
        let options = GetOptions { range: Some(range.into()), if_match, ..GetOptions::default() };
        let bytes = wait_for_request(async { self.store.get_opts(&self.key, options).await?.bytes().await })?;
        // A server that knows no ranges answers with everything.
        if bytes.len() as u64 == expected {
            Ok(bytes)
        } else {
            Err(io::Error::other("the store did not send the requested bytes"))
        }
    }
}

/// The store of an object, and what it says of the object now.
pub fn fetch_object_metadata(
    location: &CloudLocation,
) -> Result<io::Result<(SharedObjectStore, ObjectMeta)>, DataError> {
    let key = location.object_key()?;
    Ok(open_store(location).and_then(|store| {
        let found = wait_for_request(store.head(&key))?;
        Ok((store, found))
    }))
}

/// Reads the size, time and version of an object. Compared before and after reading, they reveal a write in between.
pub(crate) fn read_file_version(path: &Path) -> Result<FileState, DataError> {
    let location = CloudLocation::parse(path)?;
    let (_, found) = fetch_object_metadata(&location)?.with_io_context(FileAction::Read, path)?;
    Ok(FileState { bytes: found.size, modified: found.last_modified.into(), version: found.e_tag })
}

/// The bytes of the first request: a header is often all that is read.
const FIRST: u64 = 1 << 16;

/// An object that is read from its first byte on; a piece of it is in memory.
struct ObjectReader {
    object: CloudObject,
    next: u64,
    size: u64,
    piece: Bytes,
}

/// The bytes of an object, and how many there are.
///
/// # Errors
/// As [`CloudObject::open`].
pub(crate) fn open_bytes(path: &Path) -> Result<(Box<dyn Read + Send>, u64), DataError> {
    let object = CloudObject::open(path)?;
    let all = object.bytes;
    Ok((Box::new(ObjectReader { object, next: 0, size: FIRST, piece: Bytes::new() }), all))
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() {
            let end = self.object.bytes.min(self.next + self.size);
            self.piece = self.object.fetch_bytes(self.next..end)?;
            self.next = end;
            self.size = (4 * self.size).min(PIECE);
        }
        let read = self.piece.len().min(buffer.len());
        self.piece.copy_to_slice(&mut buffer[..read]);
        Ok(read)
    }
}
