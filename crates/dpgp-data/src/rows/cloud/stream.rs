//! The bytes of an object as a stream.

use std::io::{self, Read};
use std::path::Path;

use bytes::{Buf, Bytes};

use super::object::{CloudObject, PIECE};
use crate::DataError;

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
