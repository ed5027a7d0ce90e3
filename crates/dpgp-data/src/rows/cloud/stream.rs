//! The bytes of an object as a stream.

use std::io::{self, Read};
use std::path::Path;

use bytes::{Buf, Bytes};

use super::object::{Object, PIECE};
use crate::DataError;

/// The bytes of the first request: a header is often all that is read.
const FIRST: u64 = 1 << 16;

/// An object that is read from its first byte on; a piece of it is in memory.
struct ObjectBytes {
    object: Object,
    next: u64,
    size: u64,
    piece: Bytes,
}

/// The bytes of an object, and how many there are.
///
/// # Errors
/// As [`Object::open`].
pub(crate) fn open(path: &Path) -> Result<(Box<dyn Read + Send>, u64), DataError> {
    let object = Object::open(path)?;
    let all = object.bytes;
    Ok((Box::new(ObjectBytes { object, next: 0, size: FIRST, piece: Bytes::new() }), all))
}

impl Read for ObjectBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() {
            let end = self.object.bytes.min(self.next + self.size);
            self.piece = self.object.fetch(self.next..end)?;
            self.next = end;
            self.size = (4 * self.size).min(PIECE);
        }
        let read = self.piece.len().min(buffer.len());
        self.piece.copy_to_slice(&mut buffer[..read]);
        Ok(read)
    }
}
